"""The workers of a data factory and its limit on disk space."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from experiments.jobs.produce import Place
from search.system.bounds import MOST_AT_ONCE, check_numbers
from search.system.cores import usable_cores
from search.system.options import OptionError


@dataclass(frozen=True)
class Workforce:
    """The workers of a run, which make no difference to its results."""

    workers: int = field(default_factory=usable_cores)
    """Jobs at a time on this machine."""
    ray: str | None = None
    """Address of a Ray cluster whose CPUs work instead, or `auto`. Its machines need LiteShogi installed."""
    max_gb: float | None = None
    """Size of all shards in GB at which the run stops; None means no limit."""
    in_order: bool = False
    """Make the same files regardless of the number of workers and of interruptions: results are written in the order of
    their jobs."""

    def place(self, folder: Path, form: str) -> Place:
        """Return where the work is done. Raises OptionError for numbers out of bounds."""
        check_numbers(self, "workers", most=MOST_AT_ONCE)
        if self.max_gb is not None and not 0 < self.max_gb < float("inf"):
            raise OptionError(f"`max_gb` {self.max_gb}: must be above 0", "max_gb")
        max_bytes = None if self.max_gb is None else int(self.max_gb * 1e9)
        return Place(folder, form, self.workers, self.ray, max_bytes=max_bytes, in_order=self.in_order)
