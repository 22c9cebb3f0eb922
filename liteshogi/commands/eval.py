"""`liteshogi eval`: what a network says of positions, without a search."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import tyro

from liteshogi.commands.arguments import Json
from search.evaluation.network_file import load_network
from search.evaluation.static_evaluation import evaluate_sfens


@dataclass(frozen=True)
class Command:
    """Print the static evaluation of positions: raw output, centipawns and win rate of the side to move."""

    net: tyro.conf.Positional[str]
    """A folded network file, or `default`."""
    sfen: tyro.conf.Positional[tuple[str, ...]] = ()
    """Positions: SFENs, each in quotes, or `startpos`."""
    file: Path | None = None
    """Read positions from a file, one SFEN a line; `-` reads standard input."""
    json: Json = False

    def run(self) -> None:
        sfens = [*self.sfen, *self._lines()]
        if not sfens:
            raise ValueError("no positions: give SFENs in quotes, or --file")
        found = [asdict(one) for one in evaluate_sfens(load_network(self.net), sfens)]
        if self.json:
            # A network without a draw output has no such key.
            print(json.dumps([{k: v for k, v in one.items() if v is not None} for one in found]))
            return
        for one in found:
            draw = "" if one["draw"] is None else f"  draw {100 * one['draw']:.1f} %"
            rate = f"win rate {100 * one['win_rate']:5.1f} %"
            print(f"output {one['output']:8d}  score {one['score_cp']:6d} cp  {rate}{draw}  {one['sfen']}")

    def _lines(self) -> list[str]:
        if self.file is None:
            return []
        text = sys.stdin.read() if str(self.file) == "-" else self.file.read_text(encoding="utf-8")
        return [line.strip() for line in text.splitlines() if line.strip()]
