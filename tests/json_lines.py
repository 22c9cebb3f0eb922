"""Logs of long work that is started by hand: one line of JSON per record, which is a dataclass."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

Record = TypeVar("Record")


def append(path: Path, record: Any) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(record)) + "\n")


def read(path: Path, kind: type[Record]) -> list[Record]:
    """Return the records of a file; a missing file has none."""
    if not path.exists():
        return []
    return [kind(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
