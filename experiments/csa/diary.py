"""The dialogue with a server, written down line by line: a file for each game, from the login before it."""

from __future__ import annotations

import threading
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO

from search.system.files import make_directory


class GameDiary:
    """Writes the lines of each game into a file of its own, as `2026-11-28T13:30:00.123 > AGREE`."""

    def __init__(self, folder: Path) -> None:
        """Make the folder. Raises OSError."""
        make_directory(folder)
        self._folder = folder
        self._file: IO[str] | None = None
        self._writing = threading.Lock()

    def open(self, number: int) -> None:
        """Append all further lines to the file of game `number`. Raises OSError."""
        with self._writing:
            self._close()
            self._file = open(self._folder / f"{number:04}.log", "a", encoding="utf-8")  # noqa: SIM115

    def write(self, mark: str, line: str) -> None:
        """Write a line with the mark of its direction. A full disk does not end a game."""
        with self._writing, suppress(OSError):
            if self._file is not None:
                self._file.write(f"{datetime.now().isoformat(timespec='milliseconds')} {mark} {line}\n")
                self._file.flush()

    def close(self) -> None:
        """Close the file."""
        with self._writing:
            self._close()

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                file.close()
