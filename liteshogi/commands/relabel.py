"""`liteshogi relabel`: other labels for recorded positions."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import tyro

from experiments.factory.expansion import Relabelling, relabel
from experiments.factory.labelling import Labelling
from experiments.jobs.totals_text import as_text
from experiments.jobs.workforce import Workforce
from liteshogi.commands.arguments import Json, Output
from liteshogi.commands.production import production_json


@dataclass(frozen=True)
class Command(Relabelling):
    """Relabel positions with a network, a search or another engine. Resumes an interrupted run."""

    data: tyro.conf.Positional[tuple[Path, ...]]
    output: Output = Path("runs/relabelled")
    labels: tyro.conf.OmitArgPrefixes[Labelling] = field(default_factory=Labelling)
    workforce: tyro.conf.OmitArgPrefixes[Workforce] = field(default_factory=Workforce)
    json: Json = False

    def run(self) -> None:
        made = relabel(self)
        print(production_json(made) if self.json else as_text(made))
