"""What has been measured, a JSON object a line: what is there is never measured again."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

Line = dict[str, Any]


class Results:
    """The lines of a file, by what they are of: (kind, name, seed), where kind is `data`, `net` or `games`."""

    def __init__(self, path: Path) -> None:
        """Raises OSError, or ValueError for a file with other lines."""
        self._path = path
        self.lines: dict[tuple[str, str, int], Line] = {}
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole, _, torn = text.rpartition("\n")
        if torn:  # cut while it was written
            os.truncate(path, len(text.encode()) - len(torn.encode()))
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                found = json.loads(line)
                self.lines[found["kind"], found["name"], found["seed"]] = found
            except (ValueError, KeyError, TypeError):
                raise ValueError(f"{path}: line {number}: not a result; mend or remove it") from None

    def find(self, kind: str, name: str, seed: int = 0) -> Line | None:
        return self.lines.get((kind, name, seed))

    def add(self, kind: str, name: str, seed: int, figures: Line) -> None:
        """Keep a line, on the disk when this returns."""
        line = {"kind": kind, "name": name, "seed": seed, **figures}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.lines[kind, name, seed] = line
