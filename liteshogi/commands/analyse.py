"""`liteshogi analyse`: search every position of games; write annotated KIF, pages and pictures."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from experiments.analyse.analyse import MOVE_COLUMNS, Analysing, analyse_games
from experiments.analyse.figures import IN_ENGLISH
from lite.amounts import amount
from lite.notation.kif_writer import in_columns
from liteshogi.commands.arguments import Json, Net
from search.engine import DECLARE


@dataclass(frozen=True)
class Command(Analysing):
    """Search every position of games and report scores, best lines and mistakes.

    Each game is written as KIF with comments, as an HTML page to step through, and as a picture of the win rate. Ctrl-C
    ends the analysis and writes the completed part. With a folder of games, the same command resumes it.
    """

    net: Net
    games: tyro.conf.Positional[tuple[Path, ...]]
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    json: Json = False

    def run(self) -> None:
        found = analyse_games(self)
        print(json.dumps(found, ensure_ascii=False) if self.json else as_text(found))
        if found["interrupted"]:
            raise KeyboardInterrupt
        if found["refused"] and not (found["games"] or found["skipped"]):
            raise ValueError("no game can be read")


def as_text(found: dict[str, Any]) -> str:
    """Return the results as text."""
    parts = [_game_as_text(report) for report in found["games"]]
    if found["skipped"]:
        parts.append(f"{amount(len(found['skipped']), 'game')} already done and skipped; --overwrite repeats them")
    parts += [f"refused: {why}" for why in found["refused"]]
    return "\n".join(parts)


def _game_as_text(report: dict[str, Any]) -> str:
    handicap = "" if report["handicap"] in (None, "平手") else f" ({report['handicap']})"
    lines = [
        f"{report['names'][0] or 'black'} - {report['names'][1] or 'white'}{handicap}: {report['result']}",
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
        f"({row['mark']}); best was {'declaration' if row['best'] == DECLARE else row['best_name']}"
        for row in worst
        if row["mark"]
    ]
    return "\n".join([*lines, report["kif"], report["page"], report["picture"]])
