"""The held-out games of a training run: the test after every epoch, and the epoch that is best on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lite.datasets.provenance import sha256_of
from lite.records.file import Refusals
from lite.records.formats import record_files
from lite.training.leakage import LeakageCheck, drawn_from_all
from lite.training.log import EpochTest
from lite.training.remarks import refused_while_reading
from lite.training.state import BestEpoch, SavedRun
from lite.training.targets import TargetSchedule
from lite.training.task import HeldOutFigures, Task


class HeldOut:
    """The held-out games, the figures of the last test on them, and the best epoch."""

    def __init__(self, task: Task, saved: SavedRun | None) -> None:
        """Raises OSError, ValueError for files that cannot be read, before an epoch is trained."""
        self._task = task
        self._files = task.options.valid
        self.lost = task.reader(self._files, shuffle=False).lost if self._files else Refusals()
        """Records that opening the files has refused."""
        self.refused = ""
        """Line about the records that the last test has refused; empty if there are none."""
        digests = tuple(sorted(map(sha256_of, record_files(self._files)))) if self._files else ()
        self.digests = digests if self._files or saved is None else saved.state.held_out
        """Digests of the files that `best` is chosen by."""
        self.changed = saved is not None and self.digests != saved.state.held_out
        """Whether the run was begun with other games."""
        self.last = None if saved is None or self.changed else saved.state.tested
        """The last test."""
        self.best, self.forgotten = (None, "") if saved is None else self._kept(saved.state.best)
        """The best epoch so far, and the reason why it is chosen again; empty if it is not."""

    def _kept(self, best: BestEpoch | None) -> tuple[BestEpoch | None, str]:
        """Return the best epoch of a resumed run if its loss can be compared with later ones, else the reason."""
        if best is not None and self.changed:
            return None, "the best on other held-out games than these"
        if best is not None and self._files and best.loss_version != self._task.loss_version:
            return None, "the best by a loss that this program computes differently"
        return best, ""

    def leakage_check(self, positions: int) -> LeakageCheck:
        """Return the check that these games are not among the data; `positions` is the size of the data."""
        batches = drawn_from_all(self._files, self._task.options.batch_size) if self._files else ()
        return LeakageCheck(batches, positions)

    def test(self, model: Any, targets: TargetSchedule, epoch: int, step: int) -> HeldOutFigures:
        """Test the network of an epoch, and keep its figures as the last ones.

        Raises FloatingPointError, with the last figures kept, if the loss is not finite.
        """
        reader = self._task.reader(self._files, shuffle=False)
        with np.errstate(all="ignore"):  # an overflow ends in a loss that is refused below
            # Epochs are compared by the targets of the last step.
            figures = self._task.test(model, ((batch, targets.at(batch, targets.steps - 1)) for batch in reader))
        for loss in (figures.loss, figures.report.log_loss):
            if loss is not None and not np.isfinite(loss):
                raise FloatingPointError(f"held-out loss {loss}")
        self.refused = refused_while_reading(reader)
        self.last = EpochTest(epoch, step, figures.loss, dict(figures.parts), figures.report)
        return figures

    def is_best(self) -> bool:
        """Return whether the last test gave the lowest loss so far, and keep it as the best if it did."""
        last = self.last
        if last is None or (self.best is not None and not last.loss < self.best.loss):
            return False
        self.best = BestEpoch(last.epoch, last.step, last.loss, self._task.loss_version)
        return True

    def figures_at(self, step: int) -> EpochTest | None:
        """Return the figures of the network after a step; None where it was not tested."""
        return self.last if self.last is not None and self.last.step == step else None
