"""The data of a training run: batches in a resumable order, and the scale of the scores."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from lite.records.batch import Batch
from lite.records.formats import NO_GAME
from lite.training.state import SavedRun
from lite.training.targets import fit_cp_per_logit
from lite.training.task import Task
from search.system.options import OptionError

FIT_POSITIONS = 1_000_000
"""Positions that the scale is fitted to; more would not change the third digit."""


class TrainingData:
    """The records that a run learns from."""

    def __init__(self, task: Task, saved: SavedRun | None) -> None:
        options = task.options
        self._options = options
        self.reader = task.reader(options.data, shuffle=True)
        self.waited = 0.0
        """Seconds that steps waited for their batch."""
        if saved is not None:
            with saved.named_errors():
                self.reader.resume_at(saved.state.reader)
        self.place = self.reader.place
        """Place after the last batch."""

    @property
    def steps_per_epoch(self) -> int:
        """Whole batches in the data, at least 1."""
        return max(1, self.reader.positions // self._options.batch_size)

    def epoch(self) -> Iterator[Batch]:
        """Yield the batches from the current place to the end of the epoch."""
        batches = iter(self.reader)
        while True:
            asked = time.perf_counter()
            batch = next(batches, None)
            self.waited += time.perf_counter() - asked
            if batch is None:
                return
            self.place = self.reader.place
            yield batch

    def rewind(self) -> None:
        """Take the reader back to the current place, after reading ahead."""
        self.reader.resume_at(self.place)

    def fitted_scale(self) -> float:
        """Return the scale at which the scores predict the results best; the place stays.

        Raises OptionError where there are no games or no scale fits.
        """
        scores, results, positions = [], [], 0
        for batch in self.reader:
            played = batch.kind_of_result & NO_GAME == 0
            scores.append(batch.score[played])
            results.append(batch.result[played])
            positions += len(batch)
            if positions >= FIT_POSITIONS:
                break
        self.rewind()
        data = self._options.data[0]
        if positions and not any(map(len, scores)):
            raise OptionError(
                f"`fit_scale` {data}: no position comes from a game, and the scale is fitted to the results of games; "
                "leave it out",
                "fit_scale",
            )
        try:
            return fit_cp_per_logit(np.concatenate(scores), np.concatenate(results))
        except ValueError as error:
            raise OptionError(
                f"`fit_scale` {data}: {error}; set `cp_per_logit` instead", "fit_scale", "cp_per_logit"
            ) from None
