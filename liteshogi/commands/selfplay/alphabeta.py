"""`liteshogi selfplay`: self-play games of a network with alpha-beta search."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import tyro

from experiments.factory.selfplay import SelfPlay, self_play
from experiments.games.player import Ending, Variety
from experiments.jobs.totals_text import as_text
from experiments.jobs.workforce import Workforce
from liteshogi.commands.arguments import Json, Net, Output
from liteshogi.commands.production import production_json


@dataclass(frozen=True)
class Command(SelfPlay):
    """Generate self-play games with alpha-beta search (hcpe3). Resumes an interrupted run."""

    net: Net = "default"
    output: Output = Path("runs/selfplay")
    variety: tyro.conf.OmitArgPrefixes[Variety] = field(default_factory=lambda: Variety(soft_plies=16))
    ending: tyro.conf.OmitArgPrefixes[Ending] = field(default_factory=lambda: Ending(win_score=2500))
    workforce: tyro.conf.OmitArgPrefixes[Workforce] = field(default_factory=Workforce)
    json: Json = False

    def run(self) -> None:
        made = self_play(self)
        print(production_json(made) if self.json else as_text(made))
