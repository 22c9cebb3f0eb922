"""`liteshogi bench factory`: speed of self-play games and of labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from experiments.demo import SAMPLE
from experiments.factory.factory_speed import LABEL_NODES, NODES, measure_factory
from liteshogi.commands.arguments import Json, Net, OrSample
from liteshogi.json_output import json_text


@dataclass(frozen=True)
class Command:
    """Measure self-play in positions per hour, in process and through pipes, and labels per second by kind."""

    net: Net = "default"
    """Network to play and label with: a folded network file, an nn.bin, or the name of a shipped network."""
    data: Annotated[Path, OrSample] = SAMPLE / "teacher_sample.hcpe3"
    """Records whose positions are labelled: hcpe, hcpe3, psv or pack."""
    json: Json = False

    def run(self) -> None:
        rates = measure_factory(self.net, self.data)
        if self.json:
            print(json_text(rates))
            return
        games, pipes = rates.games, rates.pipes.positions_per_hour
        print(f"search          {rates.search_nps:>12,} nodes/s")
        print(
            f"games           {games.positions_per_hour:>12,} positions/hour at {NODES:,} nodes per move, "
            f"{games.nps:,} nodes/s, {games.of_search:.2f} of the speed of a long search"
        )
        everywhere = games.all_cores_positions_per_hour
        print(f"on {games.cores:2} cores     {everywhere:>12,} positions/hour")
        print(f"through pipes   {pipes:>12,} positions/hour by two processes")
        print(f"in process      {everywhere / pipes:>12.1f} times as many positions/hour on all cores")
        for name, rate in rates.labels.items():
            print(f"{name:15} {rate:>12,} positions/s")
        print(f"a label of {LABEL_NODES} nodes takes {rates.label_overhead:.2f} times as long as in a long search")
