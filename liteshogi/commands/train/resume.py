"""The command that resumes a training run, shown when one stops before its end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lite.training.folder import RunFolder
from lite.training.options import TrainingOptions
from lite.training.run import Outcome
from lite.workers import join_workers
from search.system.command_line import command_arguments, shell_text


@contextmanager
def hint_if_interrupted(options: TrainingOptions) -> Iterator[None]:
    """Show how to resume the run where it is interrupted after it has saved a state.

    The state of a run to overwrite stays until the data are read, and is no state of this run.
    """
    state = RunFolder(options.output).state
    older = _written_at(state) if options.overwrite else None
    try:
        yield
    except KeyboardInterrupt:
        if _written_at(state) not in (None, older):
            show_how_to_resume()
        raise


def _written_at(path: Path) -> int | None:
    """Return the time at which a file was last written, in nanoseconds; None if there is no file."""
    return path.stat().st_mtime_ns if path.is_file() else None


def hint_if_unfinished(outcome: Outcome) -> None:
    """Show how to resume a run that `max_steps` has ended."""
    if outcome.step < outcome.steps:
        show_how_to_resume()


def show_how_to_resume() -> None:
    """Print the command that resumes this run, once for all of its processes."""
    workers = join_workers()
    if not workers.first:
        return
    words = [word for word in command_arguments() if word != "--overwrite"]  # the run to overwrite is gone
    program = "torchrun ... -m liteshogi" if workers.size > 1 else "liteshogi"
    resume = "" if "--resume" in words else " --resume"
    print(f"resume with: {program} {shell_text(words)}{resume}", file=sys.stderr)
