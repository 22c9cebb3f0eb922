"""Draw the pictures of how/idea.md from a shipped network: `python docs/pictures/draw_idea.py`."""

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

FOLDER = Path(__file__).parent
RANKS = "一二三四五六七八九"
SHOWN = 72
"""Number of lanes of the network; padding fills its rows up to a multiple of 32."""


def rows_of(network: EvalNetwork, moves: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Return {name: row i2 [N]} of each piece after moves from the start, in black's perspective: `▲歩７七`."""
    pos = new_position()
    set_game(pos, "startpos", moves)
    table = np.concatenate((network.rows, np.zeros((1, network.width), np.int16)))
    active = network.feature_set.active_rows(pos["board"], pos["hands"])[0]
    found = {}
    for square, piece in enumerate(pos["board"].tolist()):
        if piece != EMPTY:
            place = "１２３４５６７８９"[square // 9] + RANKS[square % 9]
            found[f"{'▲△'[piece // KINDS]}{KANJI[piece % KINDS]}{place}"] = table[active[square]]
    return found


def draw_strips(strips: list[tuple[str, np.ndarray]], path: Path) -> None:
    """Write a picture of rows, one below the other: blue adds, red subtracts."""
    from matplotlib import pyplot

    with pyplot.rc_context({"font.family": japanese_fonts()}):
        figure, places = pyplot.subplots(len(strips), 1, figsize=(9, 0.42 * len(strips) + 0.2))
        for place, (name, row) in zip(places, strips, strict=True):
            limit = max(float(np.abs(row).max()), 1)
            place.imshow(row[None, :SHOWN].astype(float), cmap="RdBu", vmin=-limit, vmax=limit, aspect="auto")
            place.set(xticks=[], yticks=[])
            place.set_ylabel(name, rotation=0, ha="right", va="center", fontsize=11)
        write_figure(figure, path)


def sum_of(network: EvalNetwork, rows: Any) -> np.ndarray:
    """Return the accumulator i4 [N]: the bias and all rows."""
    return network.bias.astype(np.int32) + np.sum([row.astype(np.int32) for row in rows], axis=0)


def main() -> None:
    """Draw both pictures."""
    matplotlib.use("Agg")
    network = load_network("lite-16-4-32")
    before, after = rows_of(network, ()), rows_of(network, ("7g7f",))
    names = ["▲飛２八", "▲角８八", "▲歩７七", "△玉５一", "△歩３三"]
    first = sum_of(network, before.values())
    inputs = np.clip(first >> network.input_shift, 0, 127)
    strips = [(name, before[name]) for name in names]
    draw_strips(
        [
            *strips,
            ("35 more", sum_of(network, [row for name, row in before.items() if name not in names])),
            ("sum", first),
            ("activation", inputs),
        ],
        FOLDER / "sum.png",
    )
    second = sum_of(network, after.values())
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
