"""What README and documents say: every command is one of the command line's, marked ones run, links lead somewhere."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments.sweep.configuration import read_configuration
from liteshogi import __main__ as front_door

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("experiments/**/*.md"), *ROOT.glob("tests/**/*.md")]
)
SHELL = re.compile(r"(?:^<!-- run\b([^>]*)-->\n)?^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
"""A block of commands. One behind `<!-- run -->` is run as it stands, behind `<!-- run WORD="OTHER WORDS" ... -->` with
these words in place of those: files that are here, and less work."""
MARKED = re.compile(r"^<!-- run\b", re.MULTILINE)
NAMES_OF_FORMATS = ("liteshogi evaluation network",)
INLINE = re.compile(r"`(liteshogi [a-z][^`]*)`")
PROGRAM = "liteshogi"
OTHERS = {"make", "py", ".venv\\Scripts\\pip", "pip", "python", "pyftsubset", "torchrun", "git", "npm", "cmake", "c++",
          "g++", "curl", "sudo", "apt", "docker", "cd", "ray", "tensorboard", "tar", "sha256sum", "export"}  # fmt: skip
"""Programs that documents call besides; what of them exists is not looked at."""


def commands_of(text: str) -> Iterator[list[str]]:
    """The words of each command of a shell script without comments and the shell's own signs; variables filled in."""
    for name, quoted, bare in re.findall(r'(?:^|;\s*)([A-Z]\w*)=(?:"([^"]*)"|([^\s;]*))', text, re.MULTILINE):
        text = re.sub(rf"\${name}\b", (quoted or bare).replace("\\", "\\\\"), text)
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line.replace("\\", "\\\\"), comments=True)
        command: list[str] = []
        for word in [*words, "&&"]:
            if word in ("&&", "||", "|", ";", "&"):
                while command and re.fullmatch(r"[A-Z]\w*=.*", command[0]):
                    del command[0]
                if command:
                    yield command
                command = []
            else:
                command += [word.rstrip(";")] if word.rstrip(";") else []


def parsed(words: list[str]) -> str:
    """Why the command line refuses these words behind its name; empty if it takes them."""
    words = words[: words.index(">")] if ">" in words else words
    words = [word for word in words if word not in ("...", "[NET]")]
    if not words or words[0].startswith("-") or words[0] == "help" or "--help" in words:
        return ""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            if reason := front_door._misspelled(words[0], words[1:]):
                return reason
            front_door.parse(words[0], words[1:])
        except SystemExit as refused:
            return said.getvalue() if refused.code else ""
        except (OSError, ValueError) as missing:  # a file of options, which a document may name without bringing it
            return "" if "--config" in words else str(missing)
    return ""


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_command_line_takes_every_command(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for _, script in SHELL.findall(text):
        for words in commands_of(script):
            program, *rest = words
            if program in (PROGRAM, f".venv\\Scripts\\{PROGRAM}", f".venv/bin/{PROGRAM}"):
                assert not (why := parsed(rest)), f"{shlex.join(words)}\n{why}"
            else:
                assert program in OTHERS, (
                    f"{path.name}: {shlex.join(words)}: add the program to OTHERS, or mend the name"
                )


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_commands_in_sentences_have_verbs_and_options_that_there_are(path: Path) -> None:
    """Sentences leave out what a whole command needs: so only names are looked at."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for found in INLINE.findall(text):
        words = found.split()[1:]
        if found in NAMES_OF_FORMATS:
            continue
        assert words[0] in front_door.VERBS, f"{path.name}: {found}"
        named = [word.split("=")[0] for word in words if word.startswith("--") and word != "--help"]
        if not named:
            continue
        kinds = front_door.VERBS[words[0]]
        kind = words[1:2] if words[1] in kinds else [front_door.WITHOUT_KIND.get(words[0], *kinds[:1])] if kinds else []
        told = io.StringIO()
        with contextlib.redirect_stdout(told), pytest.raises(SystemExit):
            front_door._run([words[0], *kind, "--help"])
        options = set(re.findall(r"--[a-z0-9-]+", told.getvalue()))
        assert set(named) <= options, f"{path.name}: {found}: no option {set(named) - options}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
        if "://" not in target and not target.startswith(("mailto:", "#")):
            assert (path.parent / target.split("#")[0]).exists(), f"{path.name}: {target}"


def test_the_example_of_a_sweep_is_one(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```toml\n(.*?)^```", (ROOT / "docs/sweep.md").read_text(encoding="utf-8"), re.M | re.S)
    (tmp_path / "sweep.toml").write_text(example, encoding="utf-8")
    assert read_configuration(tmp_path / "sweep.toml").spaces


RUNNING = [path for path in DOCUMENTS if MARKED.search(path.read_text(encoding="utf-8"))]


def with_others(words: list[str], others: str) -> list[str]:
    """The words of a command, each that a mark has others for replaced by them."""
    instead = dict(one.split("=", 1) for one in shlex.split(others))
    return [new for word in words for new in shlex.split(instead.get(word, shlex.quote(word)))]


@pytest.mark.slow
@pytest.mark.timeout(1800)  # some minutes where the cores are free and nothing is compiled yet
@pytest.mark.parametrize("path", RUNNING, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_marked_commands_run_one_after_the_other(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of their own, from which the sample and the tests' games are seen as from the repository."""
    monkeypatch.chdir(tmp_path)
    for name in ("experiments", "tests"):
        os.symlink(ROOT / name, tmp_path / name)
    for block in SHELL.finditer(path.read_text(encoding="utf-8")):
        others, script = block.groups()
        for command in commands_of(script) if others is not None else ():
            words = with_others(command, others)
            assert words[0] == PROGRAM
            assert front_door._run(words[1:]) == 0, shlex.join(words)
