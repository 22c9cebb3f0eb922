"""`liteshogi bench engines`: compare the speeds of several engines on the same positions."""

from __future__ import annotations

from dataclasses import dataclass

import tyro

from experiments.engine_speed import SpeedOptions, SpeedReport, measure_speeds
from lite.amounts import amount
from liteshogi.commands.arguments import Json
from liteshogi.json_output import json_text


@dataclass(frozen=True)
class Command(SpeedOptions):
    """Compare the speeds of engines on the same positions, by the CPU time of their processes.

    Every player is a USI process with one thread. All players search a position before the next position begins, so a
    busy machine slows all of them alike. Ctrl-C ends the benchmark and prints the completed searches.
    """

    players: tyro.conf.Positional[tuple[str, ...]]
    json: Json = False

    def run(self) -> None:
        found = measure_speeds(self)
        print(json_text(found, readable=True) if self.json else as_text(found))
        if found.interrupted:
            raise KeyboardInterrupt


def as_text(found: SpeedReport) -> str:
    """Return the speeds as text."""
    width = max(len("player"), *(len(one.name) for one in found.players))
    lines = [
        f"CPU {found.cpu}, kernel {found.kernel}",
        f"go {found.go}: {found.turns} searches of each player, {amount(found.positions, 'position')} in "
        f"{amount(found.rounds, 'round')}, nodes per second of CPU time and of elapsed time",
        f"{'player':{width}}    nodes/s      elapsed  time per node    error  depth",
    ]
    for number, one in enumerate(found.players):
        error = f"{one.error:.3f}" if number and one.error is not None else ""
        lines.append(f"{one.name:{width}} {one.nps:10,} {one.wall_nps:12,} {one.ratio:14.3f} {error:>8} {one.depth:6g}")
    return "\n".join(lines)
