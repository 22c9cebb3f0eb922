"""Names of an exported C++ header: its files, its namespace, and what neither may be called."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from export.cpp import weights_file, write_header
from liteshogi.commands.export import Command as Export
from tests.export.test_cpp import COMPILER, FLAGS, NETWORKS


def test_the_verb_writes_both_files_or_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Export("lite-16-4-32", header := tmp_path / "lite_eval.h").run()
    weights = tmp_path / "lite_eval.bin"
    sizes = f"{header}: {header.stat().st_size:,} bytes, with {weights}, {weights.stat().st_size:,} bytes, "
    assert capsys.readouterr().out.startswith(sizes)
    assert {path.name for path in tmp_path.iterdir()} == {"lite_eval.h", "lite_eval.bin"}
    text = (tmp_path / "lite_eval.h").read_text()
    assert "namespace lite_eval {" in text
    assert "@" not in text
    (tmp_path / "lite_eval.h").unlink()
    with pytest.raises(ValueError, match=r"lite_eval.bin: already exists"):
        Export("lite-16-4-32", tmp_path / "lite_eval.h").run()
    for stem in ["lite-eval", "default", "xor", "std", "main", "small", "hyper", "lite__eval", "_Lite", "Locale"]:
        name = f"{stem}.h"
        with pytest.raises(ValueError, match=rf"{name}: its name becomes a C.* such as lite_eval\.h"):
            Export("lite-16-4-32", tmp_path / name).run()
    assert [path.name for path in tmp_path.iterdir()] == ["lite_eval.bin"]
    assert weights_file(tmp_path / "Default_2.hpp") == tmp_path / "Default_2.bin"


def test_a_header_cannot_have_the_name_of_a_macro(tmp_path: Path) -> None:
    """The compiler lists its macros; GNU dialects, the default, have more than others."""
    if not COMPILER:
        pytest.skip("no C++ compiler is at hand: install g++ or clang++, or name one in CXX")
    write_header(NETWORKS["lite"], "net.safetensors", header := tmp_path / "lite_eval.h")
    command = [*COMPILER, "-std=gnu++17", "-x", "c++", "-dM", "-E", header]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^#define (\w+) ", listed, re.MULTILINE)
    assert {"NULL", "EOF", "stdin"} <= set(names)
    for name in names:
        with pytest.raises(ValueError, match=r"becomes a C\+\+ namespace"):
            weights_file(tmp_path / f"{name}.h")


@pytest.mark.parametrize("kernel", ["plain", "AVX2"])
def test_a_header_cannot_have_the_name_of_an_included_header(kernel: str, tmp_path: Path) -> None:
    """The compiler lists the headers; one of the same name would hide a header in a folder of the include path."""
    if not COMPILER:
        pytest.skip("no C++ compiler is at hand: install g++ or clang++, or name one in CXX")
    write_header(NETWORKS["lite"], "net.safetensors", header := tmp_path / "lite_eval.h")
    command = [*COMPILER, "-std=c++17", *FLAGS[kernel].split(), "-x", "c++", "-M", header]
    listed = map(Path, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    names = {path.stem for path in listed if path.suffix == ".h" and path.parent.name == "include"}
    assert {"assert", "locale", "stdlib", "string", "time"} <= names
    for name in names:
        with pytest.raises(ValueError, match=r"becomes a C\+\+ namespace"):
            weights_file(tmp_path / f"{name}.h")
