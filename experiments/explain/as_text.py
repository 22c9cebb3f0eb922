"""An explained position for a reader at a terminal."""

from __future__ import annotations

from typing import Any

from experiments.explain.explain import Explained
from search.evaluation.leave_one_out import draw_contributions

MOVES_A_LINE = 6
SHOWN_MOVES = 30
SHOWN_DIFFERENCES = 12


def as_text(explained: Explained) -> str:
    """The value, the board with contributions, the moves, and the units if the network has some."""
    figures = explained.figures
    draw = f", draw {100 * figures['draw']:.1f} %" if "draw" in figures else ""
    lines = [
        f"{figures['net']}: {figures['sfen']}",
        f"{figures['side_to_move']} to move: {figures['score_cp']:+d} cp, win rate "
        f"{100 * figures['win_rate']:.1f} %{draw}; for black {figures['black_score_cp']:+d} cp",
        "",
        "What each piece contributes for black: the value with it less the value without it, cp",
        *draw_contributions(explained.position, explained.men, explained.contributions),
    ]
    if not all(piece["possible"] for piece in figures["pieces"]):
        named = [in_words(piece) for piece in figures["pieces"] if not piece["possible"]]
        lines.append(f"(no game stands so without {', '.join(named)}: the side that has moved would be in check)")
    moves = figures["moves"]
    best = f"the best {SHOWN_MOVES} of {len(moves)}" if len(moves) > SHOWN_MOVES else f"all {len(moves)}"
    lines += ["", f"Value after a move for the side that makes it, without a search, cp ({best} moves)"]
    told = [f"{row['move']:5s} {row['score_cp']:+6d}" for row in moves[:SHOWN_MOVES]]
    lines += ["   ".join(told[at : at + MOVES_A_LINE]) for at in range(0, len(told), MOVES_A_LINE)]
    if units := figures["units"]:
        lines += ["", "Units: each channel's activation, and what the line's channels contribute to the mover, cp"]
        for kind in ("files", "ranks"):
            for row in units[kind]:
                seen = " ".join(f"{one:6.2f}" for one in row["activations"])
                lines.append(f"{kind[:-1]} {row['name']} {seen} {row['contribution_cp']:+7d}")
    else:
        lines += ["", figures["units_left_out"]]
    return "\n".join(lines)


def difference_as_text(nets: tuple[str, str], rows: list[dict[str, Any]]) -> str:
    """The pieces on which two networks disagree most."""
    width = max(14, *(len(name) for name in nets))
    head = "".join(f"{name:>{width + 2}s}" for name in nets)
    lines = [f"{'contribution for black, cp':28s}{head}  difference"]
    for row in rows[:SHOWN_DIFFERENCES]:
        told = "".join(f"{one:+{width + 2}d}" for one in row["black_contributions_cp"])
        lines.append(f"{in_words(row):28s}{told}{row['difference_cp']:+12d}")
    return "\n".join(lines)


def in_words(piece: dict[str, Any]) -> str:
    """`black R 2h`, or `white P in hand`."""
    return f"{piece['colour']} {piece['piece']} {piece['square'] or 'in hand'}"
