"""Before a move is marked as bad, it and the best move are searched again with equal limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from experiments.analyse.figures import MoveFigures, figures
from experiments.analyse.searching import CHECK_NODES, search_game
from search.engine import Analysis, Engine, Rules
from search.rules.sfen import move_to_usi
from tests.experiments.invented_analysis import DATA, find_game

BEST = "2g2f"


class Scripted:
    """An engine that prefers `BEST` at the start and finds that the move played there has lost 8 %."""

    multipv, rules = 1, Rules()

    def __init__(self, best_rate: float) -> None:
        self.best_rate = best_rate
        """White's win rate after `BEST`."""
        self.asked: list[tuple[tuple[str, ...], int | None, int | None]] = []

    def analyse(
        self, sfen: str, moves: Sequence[str], *, nodes: int | None, time_ms: int | None, **_: Any
    ) -> list[Analysis]:
        assert sfen == "startpos" or sfen.startswith("lnsgkgsnl")
        self.asked.append((tuple(moves), nodes, time_ms))
        if not moves:
            return [Analysis(BEST, 0, pv=(BEST,), win_rate=0.55)]
        rate = {1: self.best_rate if moves[0] == BEST else 0.53}.get(len(moves), 0.5)
        return [Analysis("9c9d", 0, pv=("9c9d",), win_rate=rate)]

    def stop(self) -> None:
        raise AssertionError("nothing interrupts this search")


def first_move(engine: Scripted, milliseconds: int | None, nodes: int | None) -> MoveFigures:
    game = find_game(DATA / "games.usi", 1)
    assert move_to_usi(int(game.moves[0])) != BEST
    return figures(game, search_game(game, cast(Engine, engine), milliseconds, nodes, lambda: False)).moves[0]


@pytest.mark.parametrize(
    ("best_rate", "loss", "mark"),
    [(0.5, 0.03, None), (0.54, 0.0, None), (0.47, 0.06, "slack"), (0.4, 0.13, "doubtful")],
)
def test_a_mark_is_based_on_equal_searches_of_both_moves(best_rate: float, loss: float, mark: str | None) -> None:
    row = first_move(Scripted(best_rate), None, 5000)
    assert (row.loss, row.mark, row.compared) == (loss, mark, "checked")
    assert row.win_rate == 0.47  # from the search of the game


@pytest.mark.parametrize(
    ("milliseconds", "nodes", "limits"),
    [(None, 5000, (CHECK_NODES, None)), (None, 10 * CHECK_NODES, (10 * CHECK_NODES, None)), (1000, None, (None, 1000))],
)
def test_checks_have_the_limit_of_a_position_but_a_minimum_of_nodes(
    milliseconds: int | None, nodes: int | None, limits: tuple[int | None, int | None]
) -> None:
    engine = Scripted(0.5)
    played = first_move(engine, milliseconds, nodes).move
    assert engine.asked[:4] == [
        ((), nodes, milliseconds),
        ((played,), nodes, milliseconds),
        ((BEST,), *limits),
        ((played,), *limits),
    ]
