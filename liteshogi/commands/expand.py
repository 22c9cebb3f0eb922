"""`liteshogi expand`: labelled positions of the kinds that a search evaluates."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import tyro

from experiments.factory.expand import Mixture
from experiments.factory.expansion import Expansion, expand
from experiments.factory.labelling import Labelling
from experiments.jobs.totals_text import as_text
from experiments.jobs.workforce import Workforce
from liteshogi.commands.arguments import Json, Output
from liteshogi.commands.production import production_json


@dataclass(frozen=True)
class Command(Expansion):
    """Make labelled positions, like those that a search evaluates, from recorded ones. Resumes an interrupted run.

    Positions come from random moves, from a search's tree and from its leaves."""

    data: tyro.conf.Positional[tuple[Path, ...]]
    output: Output = Path("runs/expanded")
    labels: tyro.conf.OmitArgPrefixes[Labelling] = field(default_factory=Labelling)
    mixture: tyro.conf.OmitArgPrefixes[Mixture] = field(default_factory=Mixture)
    workforce: tyro.conf.OmitArgPrefixes[Workforce] = field(default_factory=Workforce)
    json: Json = False

    def run(self) -> None:
        made = expand(self)
        print(production_json(made) if self.json else as_text(made))
