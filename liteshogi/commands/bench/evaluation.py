"""`liteshogi bench evaluation`: nanoseconds of an incremental update, of the layers after it, and of a refresh."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from lite.amounts import amount
from liteshogi.commands.arguments import Json
from search.evaluation.bench import bench_evaluation


@dataclass(frozen=True)
class Command:
    """Measure the evaluation along recorded games: nanoseconds of update, layers, refresh; NNUE's size beside."""

    net: Annotated[tyro.conf.Positional[str | None], tyro.conf.arg(metavar="NET")] = None
    """Network file to measure, or `default`; without it the dimensions of (16, 4, 32), and the default net beside."""
    games: Path | None = None
    """Games from the start position: JSON lines with `moves`, or lines `startpos moves ...`, packed by xz or not.
    Without them those of LITESHOGI_DATA or ../shared/data, or random ones where there are none."""
    count: int = 1000
    """Games to walk along."""
    runs: int = 7
    """Runs to take the median of."""
    json: Json = False

    def run(self) -> None:
        figures = bench_evaluation(self.net, self.games, self.count, self.runs)
        print(json.dumps(figures) if self.json else as_text(figures))


def as_text(figures: dict[str, Any]) -> str:
    """The figures for a reader."""
    counts = f"{amount(figures['positions'], 'position')} of {amount(figures['games'], 'game')} ({figures['source']})"
    lines = [
        f"{counts}, kernel {figures['kernel']}",
        f"{'nanoseconds a position':34}   update   layers     both  refresh (a perspective)",
    ]
    for part in (figures, figures.get("default"), figures["half_kp"]):
        if part:
            times = (part["update_ns"], part["forward_ns"], part["update_ns"] + part["forward_ns"], part["refresh_ns"])
            lines.append(f"{part['network']:34}" + "".join(f" {nanoseconds:8.1f}" for nanoseconds in times))
    return "\n".join(lines)
