"""Draws the pictures of idea.md out of a shipped network: `python docs/draw_idea.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from experiments.drawing.figure import write_figure
from experiments.drawing.fonts import japanese_fonts
from search.evaluation.network import EvalNetwork
from search.evaluation.network_file import load_network
from search.rules.diagram import KANJI
from search.rules.play import set_game
from search.rules.position import new_position
from search.rules.shogi import EMPTY, KINDS

FOLDER = Path(__file__).with_name("pictures")
RANKS = "一二三四五六七八九"
SHOWN = 72
"""Lanes that the network has; those behind them fill its rows up to a multiple of 32."""


def rows_of(net: EvalNetwork, moves: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Row i2 [N] of each piece on the board after moves from the start, as black sees it, by its name: `▲歩７七`."""
    pos = new_position()
    set_game(pos, "startpos", moves)
    table = np.concatenate((net.rows, np.zeros((1, net.width), np.int16)))
    active = net.feature_set.active_rows(pos["board"], pos["hands"])[0]
    found = {}
    for square, piece in enumerate(pos["board"].tolist()):
        if piece != EMPTY:
            place = "１２３４５６７８９"[square // 9] + RANKS[square % 9]
            found[f"{'▲△'[piece // KINDS]}{KANJI[piece % KINDS]}{place}"] = table[active[square]]
    return found


def draw_strips(strips: list[tuple[str, np.ndarray]], path: Path) -> None:
    """A picture of rows, one below the other: blue where they add, red where they take away."""
    from matplotlib import pyplot

    with pyplot.rc_context({"font.family": japanese_fonts()}):
        figure, places = pyplot.subplots(len(strips), 1, figsize=(9, 0.42 * len(strips) + 0.2))
        for place, (name, row) in zip(places, strips, strict=True):
            limit = max(float(np.abs(row).max()), 1)
            place.imshow(row[None, :SHOWN].astype(float), cmap="RdBu", vmin=-limit, vmax=limit, aspect="auto")
            place.set(xticks=[], yticks=[])
            place.set_ylabel(name, rotation=0, ha="right", va="center", fontsize=11)
        write_figure(figure, path)


def sum_of(net: EvalNetwork, rows: Any) -> np.ndarray:
    """The accumulator i4 [N]: the bias and all rows."""
    return net.bias.astype(np.int32) + np.sum([row.astype(np.int32) for row in rows], axis=0)


def main() -> None:
    """Both pictures."""
    matplotlib.use("Agg")
    net = load_network("lite-16-4-32")
    before, after = rows_of(net, ()), rows_of(net, ("7g7f",))
    names = ["▲飛２八", "▲角８八", "▲歩７七", "△玉５一", "△歩３三"]
    first = sum_of(net, before.values())
    inputs = np.clip(first >> net.input_shift, 0, 127)
    strips = [(name, before[name]) for name in names]
    draw_strips(
        [
            *strips,
            ("35 more", sum_of(net, [row for name, row in before.items() if name not in names])),
            ("sum", first),
            ("activation", inputs),
        ],
        FOLDER / "sum.png",
    )
    second = sum_of(net, after.values())
    assert (second == first - before["▲歩７七"] + after["▲歩７六"]).all()
    draw_strips(
        [
            ("sum before", first),
            ("− ▲歩７七", -before["▲歩７七"]),
            ("+ ▲歩７六", after["▲歩７六"]),
            ("sum after", second),
        ],
        FOLDER / "move.png",
    )


if __name__ == "__main__":
    main()
