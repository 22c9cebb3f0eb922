"""`liteshogi recipe run`: the nets of a plan, trained, measured and played."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from experiments.recipe.plan import read_plan
from experiments.recipe.results import Results
from experiments.recipe.work import work_through


@dataclass(frozen=True)
class Command:
    """Make, train and measure what has no result yet, in the plan's order; goes on where it was cut."""

    folder: tyro.conf.Positional[Path]
    """Where data, nets and games lie."""
    plan: Path = Path("docs/recipe/plan.toml")
    results: Path = Path("docs/recipe/results.jsonl")
    only: tuple[str, ...] = ()
    """Tables whose rows are worked on; without it all."""
    games: bool = True
    """Whether they play, after all of them are trained."""

    def run(self) -> None:
        work_through(read_plan(self.plan), Results(self.results), self.folder.resolve(), self.only, self.games)
