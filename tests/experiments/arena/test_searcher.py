"""What an engine behind pipes says of a position."""

from __future__ import annotations

import pytest

from experiments.arena.searcher import read_score
from search.score import MATE


@pytest.mark.parametrize(
    ("lines", "score"),
    [
        (["info depth 3 score cp -40 nodes 9", "bestmove 7g7f"], -40),
        (["info score mate 5", "bestmove x"], MATE - 5),
        (["info score mate -6", "bestmove x"], -(MATE - 6)),
        (["info score mate +", "bestmove x"], MATE - 1),
        (["info score mate -", "bestmove x"], -(MATE - 1)),
        (["info score cp 99999", "bestmove x"], 29_999),
        (["info score cp 10", "info score cp 90 lowerbound", "info multipv 2 score cp 3", "bestmove x"], 10),
        (["info multipv 1 score cp 8", "info string score cp none", "bestmove x"], 8),
        (["bestmove resign"], None),
    ],
)
def test_scores_are_read_as_engines_write_them(lines, score):
    assert read_score(lines) == score
