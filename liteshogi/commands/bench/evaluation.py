"""`liteshogi bench evaluation`: nanoseconds of an incremental update, of the layers after it, and of a refresh."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from lite.amounts import amount
from liteshogi.commands.arguments import Json
from liteshogi.json_output import json_text
from search.evaluation.evaluation_speed import EvaluationBench, bench_evaluation


@dataclass(frozen=True)
class Command:
    """Measure the evaluation along recorded games: nanoseconds of update, layers and refresh, beside HalfKP."""

    net: Annotated[tyro.conf.Positional[str | None], tyro.conf.arg(metavar="NET")] = None
    """Network file to measure, or `default`. Without it, random weights with the dimensions of the (16, 4, 32) network
    are measured, and the default network."""
    games: Path | None = None
    """Games from the start position: JSON lines with `moves`, or lines `startpos moves ...`, xz or plain. Default:
    random games."""
    count: int = 1000
    """Number of games to replay."""
    runs: int = 7
    """Number of runs; the median is reported."""
    json: Json = False

    def run(self) -> None:
        found = bench_evaluation(self.net, self.games, self.count, self.runs)
        print(as_json(found) if self.json else as_text(found))


def as_json(found: EvaluationBench) -> str:
    """Return the figures as JSON: those of the network itself at the top."""
    return json_text(found.times, found, without=("times",))


def as_text(found: EvaluationBench) -> str:
    """Return the figures for a reader."""
    counts = f"{amount(found.positions, 'position')} of {amount(found.games, 'game')} ({found.source})"
    lines = [
        f"{counts}, kernel {found.kernel}",
        f"{'nanoseconds per position':34}   update   layers     both  refresh (per perspective)",
    ]
    for part in (found.times, found.default, found.half_kp):
        if part is not None:
            times = (part.update_ns, part.forward_ns, part.update_ns + part.forward_ns, part.refresh_ns)
            lines.append(f"{part.network:34}" + "".join(f" {nanoseconds:8.1f}" for nanoseconds in times))
    return "\n".join(lines)
