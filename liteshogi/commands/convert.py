"""`liteshogi convert`: games and records of every format to hcpe, hcpe3 or psv; filtered, split, without duplicates."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from lite.amounts import amount
from lite.datasets.convert import Conversion, convert, counted
from liteshogi.commands.arguments import Json, Output
from search.system.interrupt import ends_as_interrupts


@dataclass(frozen=True)
class Command(Conversion):
    """Convert games (csa, kif, ki2, lines of USI moves) and records (hcpe, hcpe3, psv) to hcpe, hcpe3 or psv.

    Scores of notations come from their comments: centipawns in black's view, turned to the mover's, a mate +-32000;
    floodgate's `'** 123`, and what ShogiGUI and ShogiHome write. A missing score is written as 0, counted, and marked:
    training does not take it for a score, and other programs pass over the mark.
    Every move is checked against the rules; what is illegal, broken or without a result is refused and counted.
    """

    inputs: tyro.conf.Positional[tuple[Path, ...]]
    output: Output
    json: Json = False

    def run(self) -> None:
        with ends_as_interrupts():
            summary = convert(self)
        print(json.dumps(summary, ensure_ascii=False) if self.json else as_text(summary))


def as_text(summary: dict[str, Any]) -> str:
    """The summary for people."""
    lines = [
        f"read     {amount(summary['files'], 'file')}, {amount(summary['games_read'], 'game')}, "
        f"{amount(summary['positions_read'], 'position')}",
        f"refused  {counted(summary['refused']) or 'nothing'}",
        *(f"         {line}" for line in summary["first_refused"]),
        f"left out {counted(summary['left_out']) or 'nothing'}",
    ]
    if summary["without_score"]:
        lines.append(f"no score {amount(summary['without_score'], 'position')} read, marked where written")
    for output in summary["outputs"]:
        games = f"{amount(output['games'], 'game')}, " if output["games"] else ""
        held = f"{games}{amount(output['positions'], 'position')}, {amount(output['bytes'], 'byte')}"
        lines.append(f"wrote    {output['path']}: {held}")
    return "\n".join(lines)
