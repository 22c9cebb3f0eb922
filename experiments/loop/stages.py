"""The book of a loop: which stages of which generations are done, and what came of each."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from search.system.files import complaints_about, write_atomically
from search.system.metadata import parse_json, quoted

LEDGER = "ledger.json"
FORMAT = "liteshogi loop"
VERSION = 1
GATE = "gate"
"""The stage, and the folder of its games."""
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "generation": int,
    "stage": str,
    "seconds": (int, float),
    "figures": dict,
}

Figures = dict[str, Any]


class Ledger:
    """`ledger.json`: {format, version, stages: [{generation, stage, seconds, figures}]}, in the order in which they
    ended; always whole on the disk. Raises OSError, and ValueError that names a file that is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stages: list[Figures] = _read(path) if path.exists() else []

    def generation(self, number: int) -> dict[str, Figures]:
        """What came of the stages of a generation that are done, by their names."""
        return {one["stage"]: one["figures"] for one in self.stages if one["generation"] == number}

    def once(self, generation: int, stage: str, work: Callable[[], Figures]) -> Figures:
        """What came of a stage, which is worked at unless it is done. Its seconds are those of the run that ended it.

        A cut before its line is on the disk has `work` done again: it must find what it has made and go on with it."""
        if (done := self.generation(generation).get(stage)) is not None:
            return done
        begun = time.monotonic()
        figures = work()
        seconds = round(time.monotonic() - begun, 1)
        stages = [*self.stages, {"generation": generation, "stage": stage, "seconds": seconds, "figures": figures}]
        content = {"format": FORMAT, "version": VERSION, "stages": stages}
        write_atomically(self.path, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())
        self.stages = stages
        return figures

    def seconds(self, number: int) -> float:
        """Of all stages of a generation."""
        return round(sum(one["seconds"] for one in self.stages if one["generation"] == number), 1)


def _read(path: Path) -> list[Figures]:
    with complaints_about(path):
        text = path.read_bytes()
    try:
        content = parse_json(text.decode())
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT!r}")
        if content.get("version") != VERSION:
            raise ValueError(f"version {quoted(content.get('version'))}, this program reads version {VERSION}")
        stages = content.get("stages")
        if not isinstance(stages, list) or not all(_is_stage(one) for one in stages):
            raise ValueError(f"its stages must each have {', '.join(_FIELDS)}")
        json.dumps(stages, allow_nan=False)  # they are written again with those to come
    except ValueError as error:
        raise ValueError(f"{path}: no ledger of a loop ({error}); restore it from a copy, or use another -o") from None
    return stages


def _is_stage(one: Any) -> bool:
    return isinstance(one, dict) and all(isinstance(one.get(name), kind) for name, kind in _FIELDS.items())
