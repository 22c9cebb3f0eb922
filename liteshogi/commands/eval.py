"""`liteshogi eval`: static evaluation of positions, without a search."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from experiments.network_kinds.position_values import evaluate
from liteshogi.commands.arguments import Json, Net
from liteshogi.json_output import json_text
from search.evaluation.static_evaluation import set_game_with_kings
from search.rules.play import without_ending
from search.rules.position import new_position
from search.system.files import read_text

_RANK = r"(?:[1-9]|\+?[PLNSGBRKplnsgbrk])+"
_POSITION = re.compile(rf"\s*(?:position\s+)?(?:startpos|(?:sfen\s+)?{_RANK}(?:/{_RANK}){{8}})(?:\s.*)?")
"""A position, which no network is called: `startpos` or an SFEN's nine ranks."""


@dataclass(frozen=True)
class Command:
    """Show the static evaluation of positions: raw output, centipawns and win rate for the side to move.

    Without a network, `default` is used.
    """

    net: Net = "default"
    """Network of any kind: a file, the folder of a training run, or the name of a shipped one, such as `default`."""
    sfen: tyro.conf.Positional[tuple[str, ...]] = ()
    """Positions, each in quotes: an SFEN or `startpos`, optionally with `moves 7g7f ...`."""
    file: Path | None = None
    """File with one position per line; lines that start with `#` are comments. `-` reads standard input."""
    json: Json = False

    def run(self) -> None:
        net, sfens = self.net, [*self.sfen, *self._lines()]
        if _POSITION.fullmatch(net):
            net, sfens = "default", [net, *sfens]
        if not sfens:
            where = "" if self.file is None else f"{self.file}: "
            raise ValueError(f"{where}no positions: give SFENs in quotes, or --file with one per line")
        found = evaluate(net, sfens)
        if self.json:
            print(json_text({"positions": found}))
            return
        for one in found:
            raw = "" if one.output is None else f"output {one.output:8d}  "
            draw = "" if one.draw is None else f"  draw {100 * one.draw:.1f} %"
            print(f"{raw}score {one.score_cp:6d} cp  win rate {100 * one.win_rate:5.1f} %{draw}  {one.sfen}")

    def _lines(self) -> list[str]:
        """Return the positions of the file. Raises OSError, or ValueError that names the line."""
        if self.file is None:
            return []
        if str(self.file) == "-":
            text = sys.stdin.buffer.read().decode("utf-8-sig", "replace")  # PowerShell pipes a byte order mark
        else:
            text = read_text(self.file)
        place = "standard input" if str(self.file) == "-" else self.file
        sfens, pos = [], new_position()
        for number, line in enumerate(map(str.strip, text.splitlines()), 1):
            if not line or line.startswith("#"):
                continue
            try:
                sfen = without_ending(line)
                set_game_with_kings(pos, sfen)
            except ValueError as error:
                raise ValueError(f"{place}: line {number}: {error}") from None
            sfens.append(sfen)
        return sfens
