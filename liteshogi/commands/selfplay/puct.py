"""`liteshogi selfplay puct`: self-play games of a policy-value network with PUCT."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import tyro

from experiments.games.player import Ending
from experiments.jobs.totals_text import as_text
from experiments.jobs.workforce import Workforce
from experiments.puct_selfplay.exploration import Exploration
from experiments.puct_selfplay.selfplay import PuctSelfPlay, puct_self_play
from liteshogi.commands.arguments import Json, Net, Output
from liteshogi.commands.production import production_json


@dataclass(frozen=True)
class Command(PuctSelfPlay):
    """Generate self-play games of a policy-value network with PUCT (hcpe3 with visits). Resumes an interrupted run."""

    net: Net
    output: Output = Path("runs/selfplay")
    exploration: tyro.conf.OmitArgPrefixes[Exploration] = field(default_factory=Exploration)
    ending: tyro.conf.OmitArgPrefixes[Ending] = field(default_factory=lambda: Ending(win_score=1800))
    workforce: tyro.conf.OmitArgPrefixes[Workforce] = field(default_factory=Workforce)
    json: Json = False

    def run(self) -> None:
        made = puct_self_play(self)
        print(production_json(made) if self.json else as_text(made))
