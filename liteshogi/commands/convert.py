"""`liteshogi convert`: convert games and records to hcpe, hcpe3 or psv; filter, split and deduplicate them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from lite.amounts import amount
from lite.datasets.conversion import Conversion
from lite.datasets.convert import ConversionSummary, convert, reasons_text
from liteshogi.commands.arguments import Json, Output
from liteshogi.json_output import json_text
from search.system.interrupt import ends_as_interrupts


@dataclass(frozen=True)
class Command(Conversion):
    """Convert games (csa, kif, ki2, lines of USI moves) and records (hcpe, hcpe3, psv, pack) to hcpe, hcpe3 or psv.

    Scores of game notations are read from comments: floodgate's `'** 123`, and those of ShogiGUI and ShogiHome. They
    are written as centipawns for the side to move; a mate is +-32000. A missing score is written as 0 with a mark:
    training does not use it, and other programs ignore the mark.
    Every move is checked. Games and records that are illegal, damaged or without a result are refused and counted.
    """

    inputs: tyro.conf.Positional[tuple[Path, ...]]
    output: Output
    json: Json = False

    def run(self) -> None:
        with ends_as_interrupts():
            summary = convert(self)
        print(json_text(summary, readable=True) if self.json else as_text(summary))


def as_text(summary: ConversionSummary) -> str:
    """Return the summary as lines of text."""
    lines = [
        f"read     {amount(summary.files, 'file')}, {amount(summary.games_read, 'game')}, "
        f"{amount(summary.positions_read, 'position')}",
        f"refused  {reasons_text(summary.refused) or 'nothing'}",
        *(f"         {line}" for line in summary.first_refused),
        f"left out {reasons_text(summary.left_out) or 'nothing'}",
    ]
    if summary.without_score:
        lines.append(f"no score {amount(summary.without_score, 'position')} read, marked where written")
    for output in summary.outputs:
        games = f"{amount(output.games, 'game')}, " if output.games else ""
        held = f"{games}{amount(output.positions, 'position')}, {amount(output.bytes, 'byte')}"
        lines.append(f"wrote    {output.path}: {held}")
    return "\n".join(lines)
