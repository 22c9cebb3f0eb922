"""A judge's answers, kept in a run folder: a question that was asked once is never asked again."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lite.run_folder import RECORD, Line, RunPlan, RunWriter

VERB = "judge answers"


@dataclass(frozen=True)
class Opinion:
    """The result of a search of a position."""

    move: str
    """Best move, or `resign` or `win`."""
    score: int
    """The mover's score: centipawns, or a mate as `search.score` has it."""


@dataclass(frozen=True)
class Answer(Line, kind="answer"):
    """A judge's search of a position."""

    position: str
    nodes: int
    move: str
    score: int


class Answers:
    """The answers of one judge, opened in a folder by one process, whose threads share them.

    A copy that is sent to another machine has no folder: new answers stay in `fresh`, for the owner of the folder to
    keep. Raises OSError, and ValueError for another judge's folder, a damaged one, or one that is in use.
    """

    def __init__(self, folder: Path, judge: Mapping[str, object]) -> None:
        self._folder: Path | None = folder
        self._plan = RunPlan(VERB, conditions={"judge": judge})
        self._writer: RunWriter | None = None
        self._opening = threading.Lock()
        self._known: dict[tuple[str, int], Opinion] = {}
        self.fresh: list[Answer] = []
        """Answers that this copy has no folder for."""
        if (folder / RECORD).exists():
            self._open()

    def _open(self) -> RunWriter:
        """Lock the folder and read its answers. The folder is created with the first answer, so that refused work
        leaves none."""
        assert self._folder is not None
        writer = RunWriter(self._folder, self._plan, "answers").__enter__()
        try:
            for line in writer.lines(Answer):
                self._known[line.position, line.nodes] = Opinion(line.move, line.score)
        except BaseException:
            writer.__exit__(ValueError)
            raise
        self._writer = writer
        return writer

    def __getstate__(self) -> dict[str, Any]:
        return {"_folder": None, "_writer": None, "_known": dict(self._known), "fresh": []}

    def __len__(self) -> int:
        return len(self._known)

    def close(self) -> None:
        """Leave the folder to others."""
        if self._writer is not None:
            self._writer.update({"answers": len(self)})
            self._writer.__exit__(None)
            self._writer = None

    def find(self, position: str, nodes: int) -> Opinion | None:
        """Return the answer if it is known."""
        return self._known.get((position, nodes))

    def enter(self, answer: Answer) -> None:
        """Keep an answer; where this copy has a folder, it is on the disk when this returns. From any thread."""
        if self._folder is None:
            self.fresh.append(answer)
        else:
            with self._opening:
                writer = self._writer or self._open()
                if (answer.position, answer.nodes) not in self._known:
                    writer.append(answer)
        self._known[answer.position, answer.nodes] = Opinion(answer.move, answer.score)
