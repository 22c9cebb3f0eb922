"""Games of the test data, and invented analyses of them."""

from __future__ import annotations

import random
from pathlib import Path

import cshogi

from experiments.analyse.annotated_kif import (
    Judgement,
)
from experiments.analyse.chosen import choose
from lite.notation.game import Game
from search.score import MATE

DATA = Path(__file__).parents[1] / "data"
GAMES = ("wcsc28.csa", "wcsc28.kif", "wcsc28.ki2", "scored.csa", "scored.kifu")


def find_game(path: Path, number: int) -> Game:
    """Return the game of this number in a file."""
    (chosen,) = choose((path,), number, None)
    assert isinstance(chosen.game, Game)
    return chosen.game


def invented(game: Game, seed: int, others: int = 0) -> list[Judgement]:
    """Return judgements with random scores and random legal lines, in the form of a search's results."""
    generator, board, found = random.Random(seed), cshogi.Board(game.start_sfen), []

    def judgement(others: int) -> Judgement:
        line: list[str] = []
        for _ in range(generator.randint(0, 9)):
            legal = list(board.legal_moves)
            if not legal:
                break
            board.push(generator.choice(legal))
            line.append(cshogi.move_to_usi(board.peek()))
        for _ in line:
            board.pop()
        score = generator.choice((generator.randint(-2500, 2500), generator.randint(-2500, 2500), MATE - 5, 7 - MATE))
        rate, depth, nodes = generator.random(), generator.randint(1, 20), generator.randint(1, 10**6)
        return Judgement(score, rate, depth, nodes, tuple(line), tuple(judgement(0) for _ in range(others)))

    for move in [*game.moves.tolist(), 0]:
        found.append(judgement(others))
        if move:
            board.push(board.move_from_move16(move))
    return found
