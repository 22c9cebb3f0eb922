"""`liteshogi book`: an opening book in YaneuraOu's text format, written in its binary format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from experiments.jobs.progress import Progress
from lite.amounts import amount
from liteshogi.commands.arguments import Json, Overwrite
from liteshogi.json_output import json_text
from search.book.convert import require_text_book, write_binary
from search.system.interrupt import ends_as_interrupts


@dataclass(frozen=True)
class Command:
    """Convert an opening book from YaneuraOu's text format (.db) to its binary format (.ybb).

    The binary book is searched on disk, however large it is. It has moves, values and depths, but no replies and counts
    of games. Lines that cannot be read are ignored and counted. The index is kept in memory while
    the book is written: 44 bytes per position.
    """

    book: tyro.conf.Positional[Path]
    """The text book to read."""
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    """The binary book to write; by default the name of the text book with the extension .ybb."""
    overwrite: Overwrite = False
    json: Json = False

    def run(self) -> None:
        require_text_book(self.book)
        target = self.output or self.book.with_suffix(".ybb")
        size, read = self.book.stat().st_size, 0

        def done() -> tuple[int, str]:
            return read, f"{read / max(size, 1):.0%} of the book read"

        def note(so_far: int) -> None:
            nonlocal read
            read = so_far
            progress.show()

        with ends_as_interrupts(), Progress(size, done) as progress:
            made = write_binary(self.book, target, self.overwrite, note)
        if self.json:
            print(json_text(made))
            return
        print(f"{target}: {amount(made.positions, 'position')}, {amount(made.moves, 'move')}")
        if made.duplicates:
            print(f"left out {amount(made.duplicates, 'repeated position')}: the lowest move number is kept")
        if made.ignored:
            print(f"left out {amount(made.ignored, 'line')} that cannot be read, the first: {made.first_ignored}")
