"""What has been measured, a JSON object a line: what is there is never measured again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lite.datasets.description import describe_data
from lite.datasets.provenance import digest_of, sha256_of
from lite.program import program
from search.system.metadata import json_bytes, parse_json

Line = dict[str, Any]

DATA, NET, FILE = "data", "net", "file"
"""Kinds of lines whose files can be told from others later: data by `of`, their description, and nets, whose file is
`net`, and other files by `sha256`."""


class Results:
    """The lines of a file, by what they are of: (kind, name, seed), kind being `data`, `net`, `games` or the like.

    One process at a time adds to it; others may read meanwhile."""

    def __init__(self, path: Path) -> None:
        """Raises OSError, or ValueError for a file with other lines."""
        self.path = path
        self.lines: dict[tuple[str, str, int], Line] = {}
        content = path.read_bytes() if path.exists() else b""
        self._good = content.rfind(b"\n") + 1
        """Bytes of whole lines: what is behind them was cut while it was written, or is being written."""
        for number, line in enumerate(content[: self._good].splitlines(), 1):
            try:
                found = parse_json(line.decode())
                self.lines[found["kind"], found["name"], found["seed"]] = found
            except (ValueError, KeyError, TypeError):
                raise ValueError(f"{path}: line {number}: not a result; mend or remove it") from None

    def find(self, kind: str, name: str, seed: int = 0) -> Line | None:
        return self.lines.get((kind, name, seed))

    def describe(self, name: str, path: Path) -> None:
        """Keep the digest of the data at `path`, where there are such and it is not kept already."""
        if self.find(DATA, name) is None and path.exists():
            self.add(DATA, name, 0, {"of": describe_data(path), **program()})

    def has_changed(self, name: str, path: Path) -> bool:
        """Whether the data at `path` are others than those whose digest is kept. Raises OSError, ValueError."""
        kept = (self.find(DATA, name) or {}).get("of", {}).get("sha256")
        return kept is not None and path.exists() and digest_of(path) != kept

    def describe_file(self, name: str, path: Path) -> None:
        """Likewise of a file that is no data: a network, openings."""
        if self.find(FILE, name) is None and path.is_file():
            self.add(FILE, name, 0, {"sha256": sha256_of(path), **program()})

    def add(self, kind: str, name: str, seed: int, figures: Line) -> None:
        """Keep a line, on the disk when this returns."""
        line = {"kind": kind, "name": name, "seed": seed, **figures}
        text = json_bytes(line) + b"\n"
        with self.path.open("ab") as file:
            file.truncate(self._good)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        self._good += len(text)
        self.lines[kind, name, seed] = line
