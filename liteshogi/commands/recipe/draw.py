"""`liteshogi recipe draw`: the page of what a plan's nets have come to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from experiments.jobs.results import Results
from experiments.recipe.pictures import draw_all
from experiments.recipe.plan import read_plan
from experiments.recipe.tables import write_tables
from liteshogi.commands.arguments import Json


@dataclass(frozen=True)
class Command:
    """Put the tables of what there is by now into the page, and draw a picture of each."""

    page: Path = Path("docs/recipe/tables.md")
    """Whose tables are replaced."""
    plan: Path = Path("docs/recipe/plan.toml")
    """TOML: what is made, trained and measured."""
    results: Path = Path("docs/recipe/results.jsonl")
    """What it has come to; pictures are drawn beside it."""
    json: Json = False

    def run(self) -> None:
        if not self.results.is_file():  # an empty page would be drawn of none
            raise FileNotFoundError(f"{self.results}: there is no such file; liteshogi recipe run writes it")
        plan, results = read_plan(self.plan), Results(self.results)
        write_tables(self.page, plan, results)
        pictures = [str(path) for path in draw_all(plan, results, self.results.parent)]
        print(json.dumps({"page": str(self.page), "pictures": pictures}) if self.json else "\n".join(pictures))
