"""Who does the work, and how much of a disk it may fill: what every verb of the factory asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from experiments.jobs.produce import Place
from search.system.bounds import MOST_AT_ONCE, check_numbers
from search.system.cores import usable_cores


@dataclass(frozen=True)
class Workforce:
    """What the work is done by, which makes no difference to what is made."""

    workers: int = field(default_factory=usable_cores)
    """Threads of this machine."""
    ray: str | None = None
    """Address of a Ray cluster whose CPUs work instead, or `auto`; they need LiteShogi installed."""
    max_gb: float | None = None
    """Stop when the shards are so large, GB."""
    in_order: bool = False
    """Make the same files however many work and however often they are cut: what jobs have made lands in their order,
    and waits for those before it."""

    def place(self, folder: Path, form: str) -> Place:
        """Where that work goes. ValueError in words for numbers that make no sense."""
        check_numbers(self, "workers", most=MOST_AT_ONCE)
        if self.max_gb is not None and not 0 < self.max_gb < float("inf"):
            raise ValueError(f"--max-gb {self.max_gb}: must be more than 0")
        max_bytes = None if self.max_gb is None else int(self.max_gb * 1e9)
        return Place(folder, form, self.workers, self.ray, max_bytes=max_bytes, in_order=self.in_order)
