"""The stages of a loop that are done, and their figures, as lines of the run's results."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lite.run_folder import Line, RunWriter

GATE = "gate"
"""Name of the stage in which a candidate plays the best network, and of the folder of its games."""

Figures = dict[str, Any]


@dataclass(frozen=True)
class Stage(Line, kind="stage"):
    """A stage of a generation that is done."""

    generation: int
    stage: str
    seconds: float
    """Time of the call that ended the stage."""
    figures: Figures


class Stages:
    """The stages of a loop, each of which is done once; without a writer, those of a loop that is only read."""

    def __init__(self, done: list[Stage], run: RunWriter | None = None) -> None:
        self.done = done
        """Stages that are done, in the order of their ends."""
        self._run = run

    def of_generation(self, number: int) -> dict[str, Figures]:
        """Return the figures of a generation's stages that are done, by their names."""
        return {one.stage: one.figures for one in self.done if one.generation == number}

    def once(self, generation: int, stage: str, work: Callable[[], Figures]) -> Figures:
        """Return the figures of a stage, whose work is done unless it is done already.

        An interruption before its line is on the disk has `work` called again, which must resume by itself."""
        if (done := self.of_generation(generation).get(stage)) is not None:
            return done
        assert self._run is not None
        begun = time.monotonic()
        figures = json.loads(json.dumps(work()))  # as a later call reads them
        line = Stage(generation, stage, round(time.monotonic() - begun, 1), figures)
        self._run.append(line)
        self.done.append(line)
        return figures

    def seconds(self, number: int) -> float:
        """Return the time of all stages of a generation."""
        return round(sum(one.seconds for one in self.done if one.generation == number), 1)
