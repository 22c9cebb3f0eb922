"""The stages of a loop that are done, and their results, as lines of the run's results."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from lite.run_folder import RESULTS, Line, RunWriter, read_lines
from lite.typed import typed

GATE = "gate"
"""Name of the stage in which a candidate plays the best network, and of the folder of its games."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Stage(Line, kind="stage"):
    """A stage of a generation that is done."""

    generation: int
    stage: str
    seconds: float
    """Seconds of the call that ended the stage."""
    figures: dict[str, Any]
    """Fields of its result, see `experiments.loop.stage_results`."""


class Stages:
    """The stages of a loop, each of which is done once; without a writer (`run`), the loop is only read."""

    def __init__(self, folder: Path, run: RunWriter | None = None) -> None:
        """Raises OSError, or ValueError that names the file, the line and the field."""
        self.done = list(read_lines(folder, Stage))
        """Stages that are done, in the order of their ends."""
        self._folder, self._run = folder, run

    def names(self, generation: int) -> list[str]:
        """Return the names of a generation's stages that are done."""
        return [one.stage for one in self.done if one.generation == generation]

    def find(self, generation: int, stage: str, kind: type[Result]) -> Result | None:
        """Return the result of a stage; None if it is not done. Raises ValueError if the file has another result."""
        for one in self.done:
            if (one.generation, one.stage) == (generation, stage):
                place = f"{self._folder / RESULTS}: stage {stage} of generation {generation}"
                return typed(kind, one.figures, place)
        return None

    def of(self, generation: int, stage: str, kind: type[Result]) -> Result:
        """Return the result of a stage. Raises KeyError if it is not done, else as `find`."""
        found = self.find(generation, stage, kind)
        if found is None:
            raise KeyError(stage)
        return found

    def once(self, generation: int, stage: str, kind: type[Result], work: Callable[[], Result]) -> Result:
        """Return the result of a stage, whose work is done unless it is done already.

        An interruption before its line is on the disk has `work` called again, which must resume by itself."""
        if (done := self.find(generation, stage, kind)) is not None:
            return done
        assert self._run is not None
        begun = time.monotonic()
        result = work()
        figures = json.loads(json.dumps(asdict(result)))  # type: ignore[call-overload]  # as a later call reads them
        line = Stage(generation, stage, round(time.monotonic() - begun, 1), figures)
        self._run.append(line)
        self.done.append(line)
        return result

    def seconds(self, number: int) -> float:
        """Return the time of all stages of a generation."""
        return round(sum(one.seconds for one in self.done if one.generation == number), 1)
