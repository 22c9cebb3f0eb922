"""`liteshogi relabel`: other labels for recorded positions."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import tyro

from experiments.factory.expansion import Labelling, Relabelling, relabel
from experiments.jobs.summary import as_text
from experiments.jobs.workforce import Workforce
from liteshogi.commands.arguments import Json, Output


@dataclass(frozen=True)
class Command(Relabelling):
    """Give recorded positions the labels of a network, a search or another engine; goes on where it was cut."""

    data: tyro.conf.Positional[tuple[Path, ...]]
    output: Output = Path("runs/relabelled")
    labels: tyro.conf.OmitArgPrefixes[Labelling] = field(default_factory=Labelling)
    workforce: tyro.conf.OmitArgPrefixes[Workforce] = field(default_factory=Workforce)
    json: Json = False

    def run(self) -> None:
        report = relabel(self)
        print(json.dumps(report) if self.json else as_text(report))
