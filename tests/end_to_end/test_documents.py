"""Tests of the README and the documents: the command line accepts every command, and every link has a target."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from experiments.sweep.checked_plan import plan_of
from experiments.sweep.plan_file import read_entries
from liteshogi import __main__ as front_door
from liteshogi.verbs import SECTIONS, VERBS, correction
from tests.end_to_end.documents import DOCUMENTS, PROGRAM, ROOT, blocks_of, named

NAMES_OF_FORMATS = ("liteshogi evaluation network",)
INLINE = re.compile(r"`(liteshogi [a-z][^`]*)`")
OTHERS = {"make", "py", ".venv\\Scripts\\pip", "pip", "python", "pyftsubset", "torchrun", "git", "npm",
          "cmake", "c++", "g++", "curl", "sudo", "apt", "apt-get", "pytest", "ruby", "docker", "cd", "ray",
          "tensorboard", "tar", "sha256sum", "export", "ar", "cc", "rustc"}  # fmt: skip
"""Other programs that documents call; they need not be installed."""


def parsed(words: list[str]) -> str:
    """Return why the command line refuses these words after its name; empty if it accepts them."""
    words = words[: words.index(">")] if ">" in words else words
    words = [word for word in words if word not in ("...", "[NET]")]
    if not words or words[0].startswith("-") or words[0] == "help" or "--help" in words:
        return ""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            if reason := correction(words[0], words[1:]):
                return reason
            front_door.parse(words[0], words[1:])
        except SystemExit as refused:
            return said.getvalue() if refused.code else ""
        except (
            OSError,
            ValueError,
        ) as missing:  # a file of options, which a document may name although it does not exist
            return "" if "--config" in words else str(missing)
    return ""


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_the_command_line_accepts_every_command(path: Path) -> None:
    for block in blocks_of(path):
        for words in block.commands():
            program, *rest = words
            if program in (PROGRAM, f".venv\\Scripts\\{PROGRAM}", f".venv/bin/{PROGRAM}"):
                assert not (why := parsed(rest)), f"{shlex.join(words)}\n{why}"
            else:
                assert program in OTHERS, (
                    f"{path.name}: {shlex.join(words)}: add the program to OTHERS, or correct the name"
                )


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_commands_in_sentences_have_known_verbs_and_options(path: Path) -> None:
    """Commands in sentences are incomplete, so only the names of verbs and options are checked."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for found in INLINE.findall(text):
        words = found.split()[1:]
        if found in NAMES_OF_FORMATS:
            continue
        assert words[0] in VERBS, f"{path.name}: {found}"
        options = [word.split("=")[0] for word in words if word.startswith("--") and word != "--help"]
        if not options:
            continue
        kinds = VERBS[words[0]].kinds
        kind = words[1:2] if words[1] in kinds else [VERBS[words[0]].default_kind or kinds[0]] if kinds else []
        output = io.StringIO()
        with contextlib.redirect_stdout(output), pytest.raises(SystemExit):
            front_door._run([words[0], *kind, "--help"])
        known = set(re.findall(r"--[a-z0-9-]+", output.getvalue()))
        assert set(options) <= known, f"{path.name}: {found}: no option {set(options) - known}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_every_link_has_a_target(path: Path) -> None:
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
        if "://" not in target and not target.startswith(("mailto:", "#")):
            assert (path.parent / target.split("#")[0]).exists(), f"{path.name}: {target}"


def test_contributing_leads_to_every_package() -> None:
    named_there = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    packages = [path.parent.relative_to(ROOT).as_posix() for path in ROOT.glob("*/*/__init__.py")]
    assert len(packages) > 30
    assert [one for one in packages if not one.startswith("tests/") and f"`{one}`" not in named_there] == []


@pytest.mark.parametrize("name", ["README.md", "README.ja.md"])
def test_the_table_of_verbs_has_the_groups_of_the_help(name: str) -> None:
    rows = re.findall(r"^\| ([^|]+) \| (`[a-z]+`[^|]*) \|", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    assert [re.findall(r"`(\w+)`", verbs) for _, verbs in rows] == [list(section) for section in SECTIONS.values()]
    if name == "README.md":
        assert [purpose for purpose, _ in rows] == list(SECTIONS)


@pytest.mark.parametrize("name", ["README.md", "README.ja.md"])
def test_the_example_in_python_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text(encoding="utf-8"), re.M | re.S)
    exec(example, {})
    printed = capsys.readouterr().out
    assert printed.count("score_cp=") == 1
    assert printed.count("best_move=") == 1


def test_the_example_of_a_sweep_is_a_valid_plan(tmp_path: Path) -> None:
    (example,) = re.findall(
        r"^```toml\n(.*?)^```", (ROOT / "docs/guide/sweep.md").read_text(encoding="utf-8"), re.M | re.S
    )
    (tmp_path / "sweep.toml").write_text(example, encoding="utf-8")
    assert plan_of(read_entries(tmp_path / "sweep.toml"), "sweep.toml").spaces
