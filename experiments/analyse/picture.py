"""Draw the picture of an analysed game: win rate and scores by move, with bad moves marked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.analyse.as_text import result_text
from experiments.analyse.figures import GameFigures, LineFigures, MoveFigures, Side
from experiments.drawing.figure import AS_TYPED, save_figure
from experiments.drawing.fonts import can_be_drawn
from experiments.language.english import ENGLISH
from experiments.language.words import Words

COLOURS: dict[Side, str] = {"black": "#20242b", "white": "#d9a441"}
MARKERS = {"blunder": ("X", 90), "mistake": ("X", 55), "doubtful": ("o", 26)}
"""Shape and size of the marker of each drawn mark."""
LABEL_SIZE = (0.12, 0.045)
"""Width and height of a bad move's label, as shares of the moves and of the win rate."""
SCORE_LIMITS = (1000, 3000)
"""Least and greatest limit of the axis of scores, in centipawns. Mates are drawn at the limit."""


def draw_analysis(figures: GameFigures, path: Path, fonts: Sequence[str], words: Words = ENGLISH) -> None:
    """Write a PNG of an analysed game: black's win rate and scores by move, with the bad moves of both sides.

    The picture is in English if the `fonts` lack the language's characters; a side's name replaces a player's name that
    they lack.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    if not all(can_be_drawn(text, fonts) for text in texts(words)):
        words = ENGLISH
    named = {"black": words.sides[0], "white": words.sides[1]}
    rows = [row for row in figures.moves if row.win_rate is not None]
    plies = [0, *[row.ply for row in rows]]
    searched: list[LineFigures | MoveFigures] = [figures.first, *rows]
    rates = [100 * (found.win_rate or 0.0) for found in searched]
    scores = [abs(found.score) for found in searched if found.score is not None]
    limit = max(SCORE_LIMITS[0], min(SCORE_LIMITS[1], -(-max(scores, default=0) // 500) * 500))
    drawn = [_drawn_score(found, limit) for found in searched]
    with pyplot.rc_context({"font.family": list(fonts), **AS_TYPED}):
        figure, (top, bottom) = pyplot.subplots(
            2, 1, figsize=(11, 7), sharex=True, height_ratios=(3, 2), layout="constrained"
        )
        players = [
            name if name and can_be_drawn(name, fonts) else side.capitalize()
            for side, name in zip(words.sides, figures.names, strict=True)
        ]
        until = "" if figures.complete else words.until.format(ply=plies[-1])
        handicap = "" if figures.handicap in (None, "平手") else f"{figures.handicap}   "
        title = f"▲ {players[0]}   △ {players[1]}   {handicap}{result_text(figures, words)}{until}"
        figure.suptitle(title, fontsize=13)

        top.fill_between(plies, 0, rates, color=COLOURS["black"], alpha=0.16, lw=0)
        top.fill_between(plies, rates, 100, color=COLOURS["white"], alpha=0.16, lw=0)
        dot: Any = {"marker": "o", "clip_on": False} if len(plies) == 1 else {}  # a line of one position is invisible
        top.plot(plies, rates, color=COLOURS["black"], lw=1.6, **dot)
        top.axhline(50, color="#999999", lw=0.8)
        top.set(ylabel=words.win_rate_axis.format(**named), ylim=(0, 100), yticks=range(0, 101, 25))
        right = top.secondary_yaxis("right", functions=(lambda rate: 100 - rate, lambda rate: 100 - rate))
        right.set(ylabel=words.other_win_rate_axis.format(**named), yticks=range(0, 101, 25))

        _mark_moves(top, rows, words)
        bottom.axhline(0, color="#999999", lw=0.8)
        bottom.plot(plies, drawn, color="#1f6fb4", lw=1.4, **dot)
        bottom.set(
            xlabel=words.move_axis,
            ylabel=words.score_axis.format(limit=limit, **named),
            ylim=(-1.06 * limit, 1.06 * limit),
            xlim=(0, max(1, len(figures.moves))),
        )
        for axis in (top, bottom):
            axis.grid(color="#dddddd", lw=0.5)
        save_figure(figure, path)


def texts(words: Words) -> list[str]:
    """Return the texts of a language that the picture shows."""
    axes = (words.win_rate_axis, words.other_win_rate_axis, words.score_axis.replace("\n", ""), words.move_axis)
    return [*axes, words.until, *words.sides, *words.results.values(), *words.marks.values()]


def _drawn_score(found: LineFigures | MoveFigures, limit: int) -> int:
    if found.score is None:
        # The sign of a mate on the board, in 0 plies, follows from the win rate.
        return limit if (found.win_rate or 0.0) > 0.5 else -limit
    return max(-limit, min(limit, found.score))


def _mark_moves(axis: Any, rows: list[MoveFigures], words: Words) -> None:
    """Draw markers on the bad moves, a legend entry per side and mark, and labels of the worst moves."""
    from matplotlib.patheffects import withStroke

    for mark, (shape, size) in MARKERS.items():
        for side, colour in COLOURS.items():
            found = [row for row in rows if row.mark == mark and row.side == side]
            if found:
                axis.scatter(
                    [row.ply for row in found],
                    [100 * (row.win_rate or 0.0) for row in found],
                    marker=shape,
                    s=size,
                    color=colour,
                    edgecolor="white",
                    linewidth=0.8,
                    zorder=3,
                    label=f"{'▲' if side == 'black' else '△'} {words.marks[mark]} ({len(found)})",
                )
    worst = sorted((row for row in rows if row.mark in ("blunder", "mistake")), key=lambda row: -(row.loss or 0.0))[:6]
    last = rows[-1].ply if rows else 0
    labelled: list[tuple[float, float]] = []
    for row in worst:
        rate = row.win_rate or 0.0
        # A jump up leaves room below the curve on its right and above it on its left; a jump down the opposite.
        to_right = row.ply < 0.88 * last
        above = (row.side == "black") == to_right
        across = row.ply / last + (LABEL_SIZE[0] if to_right else -LABEL_SIZE[0]) / 2
        up = rate + (0.03 if above else -0.03)
        if any(abs(across - x) < LABEL_SIZE[0] and abs(up - y) < LABEL_SIZE[1] for x, y in labelled):
            continue  # both labels would be unreadable
        labelled.append((across, up))
        axis.annotate(
            f"{row.ply} {row.move_name}",
            (row.ply, 100 * rate),
            xytext=(7 if to_right else -7, 5 if above else -5),
            textcoords="offset points",
            ha="left" if to_right else "right",
            va="bottom" if above else "top",
            fontsize=8,
            color="#333333",
            # The curve often crosses the label.
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            zorder=4,
        )
    if axis.get_legend_handles_labels()[0]:
        axis.legend(fontsize=8, loc="best", framealpha=0.9)
