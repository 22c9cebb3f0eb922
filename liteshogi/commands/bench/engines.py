"""`liteshogi bench engines`: nodes a second of several engines, each in turn on the same positions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import tyro

from experiments.speed import SpeedOptions, measure_speeds
from lite.amounts import amount
from liteshogi.commands.arguments import Json


@dataclass(frozen=True)
class Command(SpeedOptions):
    """Compare the speeds of engines, each in turn on the same positions, by the CPU time of their processes.

    Players are named as in `liteshogi match`, a network's file or name standing for this engine; all are USI processes
    of one thread. Ctrl-C ends it, and what is done is printed.
    """

    players: tyro.conf.Positional[tuple[str, ...]]
    json: Json = False

    def run(self) -> None:
        found = measure_speeds(self)
        print(json.dumps(found, ensure_ascii=False) if self.json else as_text(found))
        if found["interrupted"]:
            raise KeyboardInterrupt


def as_text(found: dict[str, Any]) -> str:
    """The figures for a reader."""
    width = max(len("player"), *(len(one["name"]) for one in found["players"]))
    lines = [
        f"CPU {found['cpu']}, kernel {found['kernel']}",
        f"go {found['go']}: {found['turns']} searches of each player, {amount(found['positions'], 'position')} in "
        f"{amount(found['rounds'], 'round')}, by CPU time",
        f"{'player':{width}}    nodes/s  of all time  a node's time    error  depth",
    ]
    for number, one in enumerate(found["players"]):
        error = f"{one['error']:.3f}" if number and one["error"] is not None else ""
        speeds = f"{one['nps']:10,} {one['wall_nps']:12,}"
        lines.append(f"{one['name']:{width}} {speeds} {one['ratio']:14.3f} {error:>8} {one['depth']:6g}")
    return "\n".join(lines)
