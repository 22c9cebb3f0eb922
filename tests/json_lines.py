"""A ledger of what long work by hand has come to: a line of JSON for each record, a dataclass."""

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
    """Those of a file; none of a file that is not there."""
    if not path.exists():
        return []
    return [kind(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
