"""Games in this process: every ending becomes a Game, and its KIF is read as the same game."""

from __future__ import annotations

import pytest

from experiments.games import demo_game as game_module
from experiments.games.demo_game import ending_in_english, play_game, result_in_english
from lite.notation.kif import read_kif
from lite.notation.kif_writer import kif_text
from search.engine import Analysis


class Scripted:
    """A player of given moves that then resigns."""

    def __init__(self, moves: list[str], depth: int = 1) -> None:
        self.moves = moves
        self.depth = depth

    def analyse(self, start: str, moves: list[str], nodes: int) -> Analysis:
        best = self.moves[len(moves)] if len(moves) < len(self.moves) else None
        return Analysis(best, score=50, depth=self.depth, milliseconds=2000)


SHUFFLE = ["2h3h", "8b7b", "3h2h", "7b8b"] * 3
CHASE = ["5h4h", "4a5a", "4h5h", "5a4a"] * 4


@pytest.mark.parametrize(
    ("start", "moves", "ending", "winner"),
    [
        (None, ["7g7f", "3c3d"], "resignation", "b wins (white)"),
        (None, SHUFFLE, "sennichite", "a draw"),
        ("4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1", ["G*5b"], "mate", "a wins (black)"),
        ("5k3/9/9/9/9/9/9/4R4/8K b - 1", CHASE, "perpetual check", "b wins (white)"),
        ("9/9/9/9/9/9/+p+p+p+p+p+p+p+p+p/+p4k3/8K b 2r2b4g4s4n4l8p 1", ["1i2i"], "declaration", "b wins (white)"),
    ],
)
def test_every_ending_is_recorded(start, moves, ending, winner):
    player = Scripted(moves)
    given = {} if start is None else {"start": start}
    game = play_game((player, player), ("a", "b"), nodes=10, **given)
    assert (ending_in_english(game), result_in_english(game)) == (ending, winner)
    again = read_kif(kif_text(game), "game")
    assert (again.result, again.names) == (game.result, ("a", "b"))
    assert again.moves.tolist() == game.moves.tolist()
    assert again.scores.tolist() == game.scores.tolist() == [50] * len(game.moves)
    assert again.times.tolist() == game.times.tolist() == [2000] * len(game.moves) + [-1]
    assert "**評価値=50\n" in kif_text(game)


def test_the_last_move_before_the_limit_may_mate(monkeypatch):
    monkeypatch.setattr(game_module, "MOVE_LIMIT", 1)
    mate, not_mate = Scripted(["G*5b"]), Scripted(["G*4b"])
    start = "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1"
    ends = [ending_in_english(play_game((one, one), ("a", "b"), nodes=10, start=start)) for one in (mate, not_mate)]
    assert ends == ["mate", "move limit"]


def test_a_search_interrupted_at_once_has_no_score():
    """Black's searches are interrupted at once."""
    lines = []
    players = Scripted(["7g7f", "3c3d", "2g2f"], depth=0), Scripted(["7g7f", "3c3d", "2g2f"])
    game = play_game(players, ("a", "b"), nodes=1, progress=lambda *line: lines.append(line))
    assert game.scored.tolist() == [False, True, False]
    assert read_kif(kif_text(game), "game").scored.tolist() == [False, True, False]
    assert [score for _, _, score in lines] == ["no score", "cp 50", "no score"]
