"""The figures of a training run: typed lines of results.jsonl, and TensorBoard."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self, TypeVar

from lite.progress_line import say
from lite.run_folder import Line, RunWriter, read_lines
from lite.training.metrics import Report
from search.system.metadata import one_line


@dataclass(frozen=True)
class Started(Line, kind="started"):
    """The start of a call that trains. Lines before it with later steps are of a part of the run that was lost."""

    step: int
    """Number of steps taken before this call."""
    cp_per_logit: float
    """Scale of the scores."""


@dataclass(frozen=True)
class Steps(Line, kind="steps"):
    """Means over the steps since the line before."""

    step: int
    """Last step of the means."""
    loss: float
    parts: dict[str, float]
    """Parts of the loss, by name."""
    rate: float
    """Learning rate of the last step."""
    positions_per_s: float
    """Mean speed of this call."""
    waiting: float
    """Share of the time that steps waited for records."""
    decoded_positions_per_s: float
    learnt: int
    """Training positions since the run began, each counted as often as it was used."""


@dataclass(frozen=True)
class EpochTest(Line, kind="epoch"):
    """The test on held-out games after an epoch."""

    epoch: int
    """Epoch from 1."""
    step: int
    loss: float
    """Mean held-out loss against the targets of the run's last step, see `HeldOutFigures.loss`."""
    parts: dict[str, Any]
    """Figures of this kind of network alone."""
    report: Report

    def flat(self) -> dict[str, Any]:
        """Return all figures in one JSON object: loss, parts, and the fields of the report."""
        return {"loss": self.loss, **self.parts, **asdict(self.report)}


TrainingLine = Started | Steps | EpochTest
KINDS: tuple[type[TrainingLine], ...] = (Started, Steps, EpochTest)
Kind = TypeVar("Kind", Started, Steps, EpochTest)


class RunLog:
    """Writes the lines of a run and gives their numbers to TensorBoard; without a writer it keeps nothing.

    The lines are complete without TensorBoard, whose errors, as of a full disk, end its log alone.
    """

    def __init__(self, record: RunWriter | None, tensorboard: Path, resumed_step: int | None = None) -> None:
        """`resumed_step`: the step from which a resumed run continues."""
        self._record, self._folder = record, tensorboard
        self._hook = threading.excepthook
        self._board: Any = None
        if record is not None:
            with self._board_errors():
                self._board = _summary_writer(tensorboard, resumed_step)

    def write(self, line: TrainingLine) -> None:
        """Append a line."""
        if self._record is None:
            return
        self._record.append(line)
        if self._board is not None:
            with self._board_errors():
                for name, value in _numbers(line):
                    self._board.add_scalar(f"{line.kind}/{name}", value, line.step)

    def __enter__(self) -> Self:
        threading.excepthook = self._pass_thread_error
        return self

    def __exit__(self, *_: object) -> None:
        if self._board is not None:
            with self._board_errors():
                self._board.close()
        threading.excepthook = self._hook

    @contextmanager
    def _board_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._board = None
            say(f"warning: {self._folder}: no further log for TensorBoard: {error.strerror or one_line(error)}")

    def _pass_thread_error(self, found: threading.ExceptHookArgs) -> None:
        """Show the error of a thread; one in TensorBoard's thread is raised again by its next call."""
        is_of_board = type(found.thread).__module__.startswith("tensorboard.")
        if not (is_of_board and isinstance(found.exc_value, OSError)):
            self._hook(found)


def _numbers(line: TrainingLine) -> Iterator[tuple[str, float]]:
    """Yield the numbers of a line and of the objects directly in it, by name."""
    for field in fields(line):
        value = getattr(line, field.name)
        if isinstance(value, Report):
            value = asdict(value)
        for name, number in value.items() if isinstance(value, Mapping) else ((field.name, value),):
            if isinstance(number, int | float):
                yield name, number


def _summary_writer(folder: Path, resumed_step: int | None) -> Any:
    """Return TensorBoard's writer; None where it is not installed or does not start."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None  # the lines are complete without it
    except Exception as error:  # protobuf raises TypeError for a TensorBoard of another age
        reason = f"{type(error).__name__}: {one_line(error)}"
        print(f"warning: no log for TensorBoard, which does not start: {reason}", file=sys.stderr)
        return None
    purge = None if resumed_step is None else resumed_step + 1
    return SummaryWriter(str(folder), purge_step=purge)  # type: ignore[no-untyped-call]


def read_log(folder: Path) -> list[TrainingLine]:
    """Return the lines of a run's folder, without those of steps that were lost and taken again.

    Raises OSError, or ValueError that names the file, the line and the field.
    """
    lines: list[TrainingLine] = []
    for line in read_lines(folder, *KINDS):
        if isinstance(line, Started):
            lines = [one for one in lines if one.step <= line.step]
        lines.append(line)
    return lines


def lines_of(kind: type[Kind], log: Sequence[TrainingLine]) -> list[Kind]:
    """Return the lines of one kind."""
    return [line for line in log if isinstance(line, kind)]


def positions_learnt(log: Sequence[TrainingLine]) -> int:
    """Return the number of training positions of a run, each counted as often as it was used."""
    return max((line.learnt for line in lines_of(Steps, log)), default=0)
