"""`liteshogi analyse`: every position of a game searched; an annotated KIF, and a picture of the win rate."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from experiments.analyse.analyse import IN_ENGLISH, MOVE_COLUMNS, Analysing, analyse_game
from lite.notation.kif_writer import in_columns
from liteshogi.commands.arguments import Json, Net


@dataclass(frozen=True)
class Command(Analysing):
    """Search every position of a game; write it as KIF with scores and best lines, and draw the win rate.

    Ctrl-C ends it, and what is done is written.
    """

    net: Net
    game: tyro.conf.Positional[Path]
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    json: Json = False

    def run(self) -> None:
        report = analyse_game(self)
        print(json.dumps(report, ensure_ascii=False) if self.json else as_text(report))
        if report["interrupted"]:
            raise KeyboardInterrupt


def as_text(report: dict[str, Any]) -> str:
    """The figures for a reader."""
    lines = [
        f"{report['names'][0] or 'black'} - {report['names'][1] or 'white'}: {report['result']}",
        "        moves  best move  mean loss  " + "  ".join(f"{mark:>8s}" for mark in IN_ENGLISH.values()),
    ]
    for side in ("black", "white"):
        found = report[side]
        loss = "" if found["mean_loss"] is None else f"{100 * found['mean_loss']:.1f} %"
        counts = "  ".join(f"{found[mark]:8d}" for mark in IN_ENGLISH.values())
        lines.append(f"{side}  {found['moves']:7d}  {found['as_the_best']:9d}  {loss:>9s}  {counts}")
    worst = sorted((row for row in report["moves"] if row["loss"]), key=lambda row: -row["loss"])[:5]
    lines += [
        f"{row['ply']:3d} {in_columns(row['move_name'], MOVE_COLUMNS)} lost {100 * row['loss']:4.1f} % "
        f"({row['mark']}); best was {row['best_name']}"
        for row in worst
        if row["mark"]
    ]
    return "\n".join([*lines, f"{report['kif']}", f"{report['picture']}"])
