"""Results of a PUCT search: the moves at the root and the best lines.

The caller holds the tree's lock.
"""

from __future__ import annotations

from dataclasses import dataclass

from search.engine import Analysis
from search.puct.tree import PROVED_LOSS, PROVED_WIN
from search.puct.tree_memory import Tree
from search.rules.sfen import move_from_usi, move_to_usi
from search.score import MATE, score_of_rate


@dataclass(frozen=True)
class RootMove:
    """Result for one move at the root; rates are the mover's."""

    move: str
    visits: int
    prior: float
    win_rate: float
    """Win rate in which a draw counts half; that of the root if the move is unvisited."""
    draw_rate: float
    value: float
    """Win rate in which a draw counts its value to the mover."""
    mate: int = 0
    """Plies to a proved mate, negative if the mover is mated; 0 if none is proved."""


@dataclass(frozen=True)
class PuctAnalysis(Analysis):
    """Result of a search with its prediction of a draw."""

    draw_rate: float = 0.0
    """Predicted probability of a draw."""
    even_rate: float = 0.5
    """Win rate in which a draw counts as half a win."""


def list_root_moves(tree: Tree, turn: int) -> list[RootMove]:
    """Return the root's moves, best first; `turn` is the mover."""
    shift = float(tree.record["draw_value"][turn]) - 0.5
    root = tree.root
    found = []
    visited = max(1, int(root["visits"]))
    for move, prior, index in tree.moves_from(int(tree.record["root"])):
        visits, mate = 0, 0
        win, draw = float(root["win"]) / visited, float(root["draw"]) / visited
        child = tree.nodes[index]
        if index >= 0 and child["visits"]:
            visits = int(child["visits"])
            win, draw = 1 - float(child["win"]) / visits, float(child["draw"]) / visits
            if child["proof"] == PROVED_LOSS:
                mate = int(child["plies"]) + 1
            elif child["proof"] == PROVED_WIN:
                mate = -int(child["plies"]) - 1
        found.append(RootMove(move_to_usi(move), visits, prior, win, draw, win + draw * shift, mate))
    found.sort(key=_goodness, reverse=True)
    return found


def best_lines(tree: Tree, turn: int, wanted: set[int], count: int, milliseconds: int) -> list[Analysis]:
    """Return the lines of the best root moves, at most `count`.

    If `wanted` (moves of 16 bits) has any of the root's moves, only these count.
    """
    ranked = list_root_moves(tree, turn)
    if wanted:
        ranked = [one for one in ranked if move_from_usi(one.move) in wanted] or ranked
    lines: list[Analysis] = []
    for rank, one in enumerate(ranked[:count], 1):
        pv = tuple(move_to_usi(move) for move in tree.line(move_from_usi(one.move)))
        rate = min(1.0, max(0.0, one.value))
        score = score_of_rate(rate)
        if one.mate:
            score, rate = (MATE - one.mate, 1.0) if one.mate > 0 else (-MATE - one.mate, 0.0)
        lines.append(
            PuctAnalysis(
                best_move=one.move,
                ponder_move=pv[1] if len(pv) > 1 else None,
                score=score,
                depth=len(pv),
                # A tree that was kept may hold a line that is longer than the present search's depth.
                seldepth=max(int(tree.record["deepest"]), len(pv)),
                nodes=int(tree.record["visits"]),
                milliseconds=milliseconds,
                hashfull=tree.filled(),
                pv=pv,
                rank=rank,
                win_rate=rate,
                draw_rate=one.draw_rate,
                even_rate=one.win_rate,
            )
        )
    return lines


def _goodness(one: RootMove) -> tuple[int, float, float]:
    """Return the key that orders root moves: short mates first, then visits, last mates against the mover, long ones
    first."""
    if one.mate:
        return (2, -one.mate, 0.0) if one.mate > 0 else (0, -one.mate, 0.0)
    return (1, one.visits, one.value if one.visits else one.prior)
