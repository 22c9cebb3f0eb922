"""Draw the board with each square coloured by its piece's contribution."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.drawing.figure import AS_TYPED, save_figure
from experiments.drawing.fonts import can_be_drawn, japanese_fonts
from experiments.explain.explain import Explained
from experiments.language.english import ENGLISH
from experiments.language.words import Words
from search.rules.diagram import KANJI
from search.rules.sfen import square_to_usi
from search.rules.shogi import EMPTY, KINDS, KING, SQUARES

COLOURS = "RdBu"
"""Matplotlib's colour map: red helps White, blue helps Black."""
KING_COLOUR = "#d8d4cc"


def draw_contributions(found: Sequence[Explained], path: Path, words: Words = ENGLISH) -> None:
    """Write an .svg or .png with a board for each network.

    Each square is coloured by its piece's contribution, which is written below the piece; the hands stand beside the
    board. All boards have the same scale, the square root of centipawns, so that pawns are visible beside rooks. In an
    SVG the square 2h is the element `square_2h`. The texts are in English if the system has no Japanese font.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import cm, colors, pyplot

    largest = max(1, *(abs(value) for one in found for value in one.contributions))
    scale = colors.FuncNorm((_signed_root, _signed_square), vmin=-largest, vmax=largest)
    paint = cm.ScalarMappable(scale, COLOURS)
    fonts = japanese_fonts()
    if not can_be_drawn(words.contribution_axis + words.picture_title, fonts):
        words = ENGLISH
    settings: Any = {"font.family": fonts, "svg.hashsalt": "liteshogi", **AS_TYPED}
    with pyplot.rc_context(settings):
        figure, boards = pyplot.subplots(
            1, len(found), figsize=(7.6 * len(found) + 0.6, 6.6), squeeze=False, layout="constrained"
        )
        for number, (one, axes) in enumerate(zip(found, boards.flat, strict=True)):
            _draw_board(axes, one, paint, "" if number == 0 else f"{number}_", words)
        steps = [largest * share for share in (-1, -0.25, -0.04, 0, 0.04, 0.25, 1)]
        bar = figure.colorbar(paint, ax=boards, fraction=0.03, shrink=0.9, ticks=steps, format="{x:+.0f}")
        bar.set_label(words.contribution_axis)
        save_figure(figure, path)


def _signed_root(value: Any) -> Any:
    return np.sign(value) * np.sqrt(np.abs(value))


def _signed_square(value: Any) -> Any:
    return np.sign(value) * np.square(value)


def _draw_board(axes: Any, one: Explained, paint: Any, prefix: str, words: Words) -> None:
    """Draw one board, files from 9 to 1 and ranks downward, each square 1 wide; the hands stand on their sides."""
    contributions = {man.square: value for man, value in zip(one.men, one.contributions, strict=True)}
    for square in range(SQUARES):
        piece, place = int(one.position["board"][square]), (8.0 - square // 9, float(square % 9))
        king = piece != EMPTY and piece % KINDS == KING
        colour = KING_COLOUR if king else paint.to_rgba(contributions.get(square, 0))
        _draw_cell(axes, place, colour, f"{prefix}square_{square_to_usi(square)}")
        if piece != EMPTY:
            _draw_piece(axes, place, piece, contributions.get(square), colour)
    for colour_of_hand, side in enumerate((9.35, -1.35)):
        held = [
            (man, value)
            for man, value in zip(one.men, one.contributions, strict=True)
            if man.square is None and man.piece // KINDS == colour_of_hand
        ]
        for number, (man, value) in enumerate(reversed(held)):
            # Black's hand from the bottom right upward, White's from the top left downward.
            place = (side, number if colour_of_hand else 8 - number)
            colour = paint.to_rgba(value)
            _draw_cell(axes, place, colour, f"{prefix}hand_{man.letters}")
            _draw_piece(axes, place, man.piece, value, colour, man.held)
    for line in range(9):
        axes.text(8.5 - line, -0.12, str(line + 1), ha="center", va="bottom", fontsize=9)
        axes.text(9.08, line + 0.5, "一二三四五六七八九"[line], ha="left", va="center", fontsize=9)
    title = words.picture_title.format(
        network=Path(one.net).name,
        side=words.sides[one.turn],
        score=f"{one.value.score_cp:+d}",
        rate=f"{100 * one.value.win_rate:.1f}",
    )
    axes.set_title(title, fontsize=11)
    axes.set(xlim=(-1.5, 10.5), ylim=(9.1, -0.5), aspect="equal")
    axes.axis("off")


def _draw_cell(axes: Any, place: tuple[float, float], colour: Any, name: str) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle(place, 1, 1, facecolor=colour, edgecolor="#333333", linewidth=0.8, gid=name))


def _draw_piece(
    axes: Any,
    place: tuple[float, float],
    piece: int,
    value: int | None,
    colour: Any,
    held: int = 0,
) -> None:
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(colour)
    ink = "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else "black"
    turned = 180 if piece >= KINDS else 0
    name = KANJI[piece % KINDS]
    middle = place[0] + (0.36 if held > 1 else 0.5)
    axes.text(middle, place[1] + 0.38, name, ha="center", va="center", fontsize=19, rotation=turned, color=ink)
    if held > 1:
        axes.text(place[0] + 0.8, place[1] + 0.42, f"×{held}", ha="center", va="center", fontsize=8, color=ink)
    if value is not None:
        axes.text(place[0] + 0.5, place[1] + 0.95, f"{value:+d}", ha="center", va="bottom", fontsize=7.5, color=ink)
