"""`liteshogi recipe run`: the nets of a plan, trained, measured and played."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import tyro

from experiments.jobs.results import Results
from experiments.recipe.plan import read_plan
from experiments.recipe.work import work_through
from liteshogi.commands.arguments import Json
from search.system.folder_lock import FolderLock, hold
from search.system.interrupt import ends_as_interrupts


@dataclass(frozen=True)
class Command:
    """Make, train and measure what has no result yet, in the plan's order; goes on where it was cut."""

    folder: tyro.conf.Positional[Path]
    """Where data, nets and games lie."""
    plan: Path = Path("docs/recipe/plan.toml")
    """TOML: what is to be made, trained and measured."""
    results: Path = Path("docs/recipe/results.jsonl")
    """What it comes to, a line each; what stands there is not done again."""
    only: tuple[str, ...] = ()
    """Tables whose rows are worked on; without it all."""
    games: bool = True
    """Whether they play, after all of them are trained."""
    json: Json = False

    def run(self) -> None:
        plan = read_plan(self.plan)
        with ends_as_interrupts(), FolderLock(self.folder), hold(self.results, "name other --results"):
            results = Results(self.results)
            known = set(results.lines)
            work_through(plan, results, self.folder.resolve(), self.only, self.games)
        made = [line for key, line in results.lines.items() if key not in known]
        print(json.dumps({"made": made}) if self.json else f"{self.results}: {len(made)} results more")
