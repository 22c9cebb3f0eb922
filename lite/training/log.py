"""What a training run says: one JSON object a line in a file, TensorBoard, and a line on the terminal."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import IO, Any, Self

from lite.training.folder import RunFolder
from search.system.files import complaints_about, write_atomically
from search.system.metadata import parse_json, quoted

TERMINAL_SECONDS = 0.5
PLAIN_SECONDS = 30.0


class RunLog:
    """Appends figures to `log.jsonl` and to `tensorboard/` in the run's directory.

    A resumed run goes on from a step: lines of later steps, written between the checkpoint and the cut, are dropped.
    Without a directory it keeps nothing.
    """

    def __init__(self, folder: RunFolder | None, resumed_step: int | None = None) -> None:
        self._file: IO[str] | None = None
        self._writer: Any = None
        if folder is None:
            return
        path = folder.log
        if path.exists():
            kept = [] if resumed_step is None else [line for line in read_log(path) if line["step"] <= resumed_step]
            write_atomically(path, "".join(json.dumps(line) + "\n" for line in kept).encode())
        self._path = path
        self._file = open(path, "a", encoding="utf-8")  # noqa: SIM115 (closed in __exit__)
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            return  # logs without TensorBoard are complete too
        except Exception as error:  # protobuf has a TypeError for a TensorBoard of another age
            why = f"{type(error).__name__}: {quoted(error)}"
            print(f"warning: no log for TensorBoard, which does not start: {why}", file=sys.stderr)
            return
        purge = None if resumed_step is None else resumed_step + 1
        self._writer = SummaryWriter(str(folder.tensorboard), purge_step=purge)  # type: ignore[no-untyped-call]

    def write(self, kind: str, step: int, figures: dict[str, Any]) -> None:
        """One line: `kind` ("train", "valid", "start", ...), the step, and figures; numbers also go to TensorBoard."""
        if self._file is None:
            return
        with complaints_about(self._path):
            self._file.write(json.dumps({"kind": kind, "step": step, **figures}) + "\n")
            self._file.flush()
        if self._writer is not None:
            for name, value in figures.items():
                if isinstance(value, int | float):
                    self._writer.add_scalar(f"{kind}/{name}", value, step)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
        if self._writer is not None:
            self._writer.close()


def read_log(path: Path) -> list[dict[str, Any]]:
    """The lines of a `log.jsonl` up to the first that is none: a crash may have cut the last one short."""
    lines: list[dict[str, Any]] = []
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = parse_json(text)
        except ValueError:
            break
        if not isinstance(line, dict) or not isinstance(line.get("step"), int):
            break
        lines.append(line)
    return lines


def positions_learnt(log: list[dict[str, Any]], batch_size: int) -> int:
    """How many positions a run has learnt from by its log, each as often as it came. A log of an older program, which
    does not tell, has as many as full batches hold."""
    told = [line["learnt"] for line in log if "learnt" in line]
    return int(told[-1]) if told else batch_size * max(line["step"] for line in log)


class Progress:
    """The progress line: loss, positions a second, time left. Redrawn on a terminal, now and then a line elsewhere."""

    def __init__(self, steps: int, done: int = 0, silent: bool = False) -> None:
        """Of so many steps, some of which were done before."""
        self._silent = silent
        self._steps, self._done_before = steps, done
        self._begun = self._shown = time.monotonic()
        self._terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def positions_per_second(self, trained: int) -> float:
        """Mean speed since the run (or its resumption) began; `trained`: the positions of its steps since then."""
        return trained / self.seconds()

    def seconds(self) -> float:
        """Since the run (or its resumption) began."""
        return max(time.monotonic() - self._begun, 1e-9)

    def show(self, step: int, trained: int, text: str) -> None:
        """Perhaps draws the line: what else is to be seen, and what follows from the steps done and `trained`."""
        now = time.monotonic()
        if now - self._shown < (TERMINAL_SECONDS if self._terminal else PLAIN_SECONDS):
            return
        self._shown = now
        speed = self.positions_per_second(trained)
        left = (self._steps - step) * self.seconds() / (step - self._done_before)
        line = f"{text}  {speed:,.0f} positions/s  {clock(left)} left"
        self._print(f"\r\x1b[K{line}" if self._terminal else line, end="" if self._terminal else "\n")

    def say(self, line: str) -> None:
        """A line that stays."""
        self._print(f"\r\x1b[K{line}" if self._terminal else line)

    def _print(self, line: str, end: str = "\n") -> None:
        if not self._silent:
            print(line, end=end, file=sys.stderr, flush=True)


def clock(seconds: float) -> str:
    """12:34 or 1:23:45."""
    hours, rest = divmod(round(seconds), 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"
