"""`liteshogi explain`: contributions of the pieces to a network's evaluation, as text and as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from experiments.explain.as_text import as_text, difference_as_text
from experiments.explain.explain import SIDES, Difference, Explained, MoveValue, PieceFigures, compare, explain
from experiments.explain.line_units import LineUnits, UnitsLeftOut
from experiments.language.choose import Language, words_for
from experiments.language.english import ENGLISH
from experiments.language.words import Words
from experiments.network_kinds.kind import network_file_of
from liteshogi.commands.arguments import Json, Overwrite
from liteshogi.json_output import json_text
from search.system.files import check_output
from search.system.options import OptionError


@dataclass(frozen=True)
class PrintedExplanation:
    """A position, and the figures of one network."""

    net: str
    """The network as it was named."""
    sfen: str
    """The position."""
    side_to_move: str
    """`black` or `white`."""
    score_cp: int
    """Value for the side to move in centipawns."""
    win_rate: float
    """Expected result of the side to move, 0 to 1; a draw counts one half."""
    draw: float | None
    """Probability of a draw; None if the network has no draw output."""
    black_score_cp: int
    """Value for Black in centipawns."""
    pieces: tuple[PieceFigures, ...]
    """Contributions of the pieces, except the kings."""
    moves: tuple[MoveValue, ...]
    """Legal moves, the best first."""
    units: LineUnits | None
    """Units of files and ranks; None if the network has none to show."""
    units_left_out: str | None
    """Reason why there are no units; None if there are."""


@dataclass(frozen=True)
class PrintedComparison:
    """A position, and the figures of two networks."""

    nets: tuple[PrintedExplanation, ...]
    """Figures of each network."""
    differences: tuple[Difference, ...]
    """Contributions of each piece, those first that differ most."""


@dataclass(frozen=True)
class Command:
    """Show each piece's contribution to the evaluation, and the evaluation after each legal move."""

    sfen: tyro.conf.Positional[str]
    """Position in quotes: an SFEN or `startpos`, optionally with `moves 7g7f ...`."""
    net: str | None = None
    """Network of any kind: a file, the folder of a training run, or the name of a shipped one. Default: `default`."""
    compare: tuple[str, str] | None = None
    """Explain two networks, and show the pieces on which they disagree most."""
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    """Picture to write, .svg or .png: the board coloured by contribution, one board per network."""
    overwrite: Overwrite = False
    language: Language = "auto"
    """Language of texts and errors: ja, en, or auto. auto is Japanese if the system's locale is Japanese."""
    json: Json = False

    @property
    def words(self) -> Words:
        """Return the texts of the reader's language."""
        return words_for(self.language)

    def run(self) -> None:
        if self.net is not None and self.compare is not None:
            raise OptionError("`net` and `compare` both name networks; choose one", "net", "compare")
        nets = self.compare or (self.net or "default",)
        if self.output is not None:
            check_output(self.output, (".svg", ".png"), self.overwrite, map(network_file_of, nets))
        found = [explain(net, self.sfen) for net in nets]
        words = self.words
        differences = compare(*found) if self.compare else None
        if self.output is not None:
            from experiments.explain.board_picture import draw_contributions

            draw_contributions(found, self.output, words)
        if self.json:
            shown = tuple(map(printed, found))
            whole = shown[0] if differences is None else PrintedComparison(shown, tuple(differences))
            print(json_text(whole))
            return
        print("\n\n".join(as_text(one, words) for one in found))
        if differences is not None and self.compare:
            print("\n" + difference_as_text(self.compare, differences, words))


def printed(found: Explained) -> PrintedExplanation:
    """Return an explained position as it is printed."""
    return PrintedExplanation(
        net=found.net,
        sfen=found.sfen,
        side_to_move=SIDES[found.turn],
        score_cp=found.value.score_cp,
        win_rate=found.value.win_rate,
        draw=found.value.draw,
        black_score_cp=found.black_score_cp,
        pieces=found.pieces,
        moves=found.moves,
        units=None if isinstance(found.units, UnitsLeftOut) else found.units,
        units_left_out=ENGLISH.no_units[found.units.value] if isinstance(found.units, UnitsLeftOut) else None,
    )
