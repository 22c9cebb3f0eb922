"""Files that a command names: none is replaced by the command that reads it, and a pipe is refused, not waited for."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from liteshogi.__main__ import _run
from tests.yaneuraou_networks import network_bytes

DATA = Path(__file__).parents[1] / "data"
BOOK = "#YANEURAOU-DB2016 1.00\nsfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\n7g7f none 1 2 3\n"


@pytest.mark.parametrize(
    "line",
    [
        "book book.db -o book.db",
        "book book.db -o folder/../book.db",
        "convert games.usi records.hcpe -o records.hcpe",
        "import net.safetensors -o net.safetensors",
        "export net.bin -o net.bin",
        "fold trained.safetensors -o trained.safetensors",
        "fold trained.safetensors --onto net.safetensors -o net.safetensors",
        "fold trained.safetensors --onto net.float.safetensors --keep-float -o net.safetensors",
        "analyse games.usi -o link.kif --number 1",
        "analyse net.html game.csa -o net.kif",
        "explain startpos --net net.svg -o net.svg",
        "explain startpos --compare default net.svg -o net.svg",
    ],
)
def test_no_command_replaces_a_file_that_it_reads(line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "book.db").write_text(BOOK)
    for name in ("net.bin", "net.safetensors", "net.float.safetensors", "net.html", "net.svg"):
        (tmp_path / name).write_bytes(network_bytes("kp_32x2_8_32"))
    shutil.copy(DATA / "networks" / "lite.safetensors", "trained.safetensors")
    shutil.copy(DATA / "games.usi", "games.usi")
    shutil.copy(DATA / "wcsc28.csa", "game.csa")
    (tmp_path / "link.kif").symlink_to("games.usi")
    (tmp_path / "records.hcpe").write_bytes(bytes(38))
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert _run([*line.split(), "--overwrite"]) == 1
    assert capsys.readouterr().err.endswith("; choose another file\n")
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "line",
    [
        *(f"mate --file pipe{suffix}" for suffix in (".kif", ".csa", ".usi", ".txt", "")),
        "eval --file pipe.usi",
        "analyse pipe.kif",
        "analyse default pipe.csa",
        "match default lite-16-4-32 --openings pipe.sfen --nodes 10 --games 2 -o run",
        "match default lite-16-4-32 --openings pipe.sfen --byoyomi 10 --games 2 -o run",
        "bench evaluation default --games pipe.usi",
        "export pipe.safetensors -o net.onnx",
        "sweep pipe.toml -o run",
    ],
)
def test_a_pipe_is_refused_in_one_line(line, tmp_path, monkeypatch, capsys):
    """Its writer may never come."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LANG", "C.UTF-8")
    (name,) = (word for word in line.split() if word.startswith("pipe"))
    os.mkfifo(name)
    assert _run([*line.split(), *(["--language", "en"] if line.startswith(("mate", "analyse")) else [])]) == 1
    assert capsys.readouterr().err == f"error: {name}: a pipe or a device; name a regular file\n"
    assert os.listdir() == [name]
