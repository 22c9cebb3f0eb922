"""The picture of an analysed game: win rate and scores over the moves, with bad moves marked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.drawing.figure import AS_TYPED, save_figure
from experiments.drawing.fonts import can_be_drawn

SIDES = {"black": "#20242b", "white": "#d9a441"}
MARKERS = {"blunder": ("X", 90), "mistake": ("X", 55), "doubtful": ("o", 26)}
WORDS = (0.12, 0.045)
"""Room that the words at a bad move take, in shares of the moves and of the win rate."""
SCORE_LIMITS = (1000, 3000)
"""Centipawns where the picture's scores end: at least and at most. Mates are drawn at the edge."""


def draw_analysis(report: dict[str, Any], path: Path, fonts: Sequence[str]) -> None:
    """A PNG of an analysed game: black's win rate and the scores over the moves, the bad moves of both sides marked.

    `report` is what `experiments.analyse.figures.figures` returns. Sides stand for names that the `fonts` cannot write.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = [row for row in report["moves"] if row["win_rate"] is not None]
    plies = [0, *[row["ply"] for row in rows]]
    rates = [100 * report["first"]["win_rate"], *[100 * row["win_rate"] for row in rows]]
    told = [abs(found["score"]) for found in (report["first"], *rows) if found["score"] is not None]
    limit = max(SCORE_LIMITS[0], min(SCORE_LIMITS[1], -(-max(told, default=0) // 500) * 500))
    scores = [_drawn_score(found, limit) for found in (report["first"], *rows)]
    with pyplot.rc_context({"font.family": list(fonts), **AS_TYPED}):
        figure, (top, bottom) = pyplot.subplots(
            2, 1, figsize=(11, 7), sharex=True, height_ratios=(3, 2), layout="constrained"
        )
        names = [
            name if name and can_be_drawn(name, fonts) else side.capitalize()
            for side, name in zip(("black", "white"), report["names"], strict=True)
        ]
        until = "" if report["complete"] else f" (analysed to move {plies[-1]})"
        handicap = "" if report["handicap"] in (None, "平手") else f"{report['handicap']}   "
        figure.suptitle(f"▲ {names[0]}   △ {names[1]}   {handicap}{report['result']}{until}", fontsize=13)

        top.fill_between(plies, 0, rates, color=SIDES["black"], alpha=0.16, lw=0)
        top.fill_between(plies, rates, 100, color=SIDES["white"], alpha=0.16, lw=0)
        top.plot(plies, rates, color=SIDES["black"], lw=1.6)
        top.axhline(50, color="#999999", lw=0.8)
        top.set(ylabel="win rate of black, %", ylim=(0, 100), yticks=range(0, 101, 25))
        right = top.secondary_yaxis("right", functions=(lambda rate: 100 - rate, lambda rate: 100 - rate))
        right.set(ylabel="of white, %", yticks=range(0, 101, 25))

        _mark_moves(top, rows)
        bottom.axhline(0, color="#999999", lw=0.8)
        bottom.plot(plies, scores, color="#1f6fb4", lw=1.4)
        bottom.set(
            xlabel="move",
            ylabel=f"score of black, centipawns\n(mates at ±{limit})",
            ylim=(-1.06 * limit, 1.06 * limit),
            xlim=(0, max(1, len(report["moves"]))),
        )
        for axis in (top, bottom):
            axis.grid(color="#dddddd", lw=0.5)
        save_figure(figure, path)


def _drawn_score(found: dict[str, Any], limit: int) -> int:
    if found["mate"] is not None:
        # A mate in no moves is one that stands on the board: the win rate says whose.
        return limit if found["win_rate"] > 0.5 else -limit
    return max(-limit, min(limit, int(found["score"])))


def _mark_moves(axis: Any, rows: list[dict[str, Any]]) -> None:
    """Markers on the bad moves, one legend entry a side and kind, and words at the worst ones."""
    from matplotlib.patheffects import withStroke

    for mark, (shape, size) in MARKERS.items():
        for side, colour in SIDES.items():
            found = [row for row in rows if row["mark"] == mark and row["side"] == side]
            if found:
                axis.scatter(
                    [row["ply"] for row in found],
                    [100 * row["win_rate"] for row in found],
                    marker=shape,
                    s=size,
                    color=colour,
                    edgecolor="white",
                    linewidth=0.8,
                    zorder=3,
                    label=f"{'▲' if side == 'black' else '△'} {mark} ({len(found)})",
                )
    worst = sorted((row for row in rows if row["mark"] in ("blunder", "mistake")), key=lambda row: -row["loss"])[:6]
    last = rows[-1]["ply"] if rows else 0
    told: list[tuple[float, float]] = []
    for row in worst:
        # A jump up leaves room below the curve on its right, and above on its left; a jump down the other way round.
        to_right = row["ply"] < 0.88 * last
        above = (row["side"] == "black") == to_right
        across = row["ply"] / last + (WORDS[0] if to_right else -WORDS[0]) / 2
        up = row["win_rate"] + (0.03 if above else -0.03)
        if any(abs(across - x) < WORDS[0] and abs(up - y) < WORDS[1] for x, y in told):
            continue  # nobody could read either of them
        told.append((across, up))
        axis.annotate(
            f"{row['ply']} {row['move_name']}",
            (row["ply"], 100 * row["win_rate"]),
            xytext=(7 if to_right else -7, 5 if above else -5),
            textcoords="offset points",
            ha="left" if to_right else "right",
            va="bottom" if above else "top",
            fontsize=8,
            color="#333333",
            # The curve often comes back through the words.
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            zorder=4,
        )
    if axis.get_legend_handles_labels()[0]:
        axis.legend(fontsize=8, loc="best", framealpha=0.9)
