"""The commands of the README and the documents, as blocks."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("experiments/**/*.md"), *ROOT.glob("tests/**/*.md")]
)
PROGRAM = "liteshogi"
_BLOCK = re.compile(r"(?:^<!-- (run|not run:)(.*?)-->\n)?^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block of commands and the comment above it.

    `<!-- run -->`: a test runs the commands unchanged. `<!-- run WORD=>"OTHER WORDS" ... -->`: a test replaces words
    to use files that exist and to save time. `<!-- not run: why -->`: no test runs them.
    """

    mark: str | None
    """`run` or `not run:`."""
    words: str
    """Text of the comment after `run` or `not run:`."""
    script: str

    def commands(self) -> Iterator[list[str]]:
        """Yield the words of each command, without comments and shell operators, with variables filled in."""
        text = self.script
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

    @property
    def replacements(self) -> dict[str, str]:
        """Return the words that a test replaces, {word: replacement}."""
        return dict(one.split("=>", 1) for one in shlex.split(self.words))

    def to_run(self) -> Iterator[list[str]]:
        """Yield the commands with words replaced for a test."""
        for program, *words in self.commands():
            yield [
                program,
                *(new for word in words for new in shlex.split(self.replacements.get(word, shlex.quote(word)))),
            ]


def blocks_of(path: Path) -> list[Block]:
    """Return the blocks of commands of a document."""
    return [
        Block(mark or None, words, script) for mark, words, script in _BLOCK.findall(path.read_text(encoding="utf-8"))
    ]


def named(path: Path) -> str:
    """Return the name of a document in test ids."""
    return path.relative_to(ROOT).as_posix()
