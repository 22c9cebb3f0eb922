"""Several lines of a position are comparable: they belong to one depth."""

from __future__ import annotations

from dataclasses import replace

from experiments.analyse.searching import search_game
from search.alphabeta.engine import AlphaBetaEngine
from tests.experiments.invented_analysis import DATA, find_game


def test_the_lines_of_a_position_have_one_depth_and_the_order_of_their_scores() -> None:
    """Some of these searches end within a depth, whose first lines are worse than the last ones of the depth before."""
    game, engine = find_game(DATA / "wcsc28.csa", 1), AlphaBetaEngine("default", 16)
    engine.multipv = 3
    for ply, best in enumerate(search_game(replace(game, moves=game.moves[:18]), engine, None, 2000, lambda: False)):
        lines = (best, *best.others)
        scores = [line.score if ply % 2 == 0 else -line.score for line in lines]
        assert scores == sorted(scores, reverse=True)
        assert len(lines) == 3
        assert len({line.depth for line in lines}) == 1
        assert best.nodes >= 2000
