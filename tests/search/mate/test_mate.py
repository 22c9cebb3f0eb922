"""The mate solver against cshogi: what it proves is so, what it refutes is not, and it knows when to stop."""

from __future__ import annotations

import json
import random
import threading

import cshogi
import pytest

from search.alphabeta.engine import Analysis
from search.mate.mate_verb import Mate
from search.mate.root import RootMate, with_mate
from search.mate.solver import MateSolver, MateStatus, StopFlag
from search.rules.sfen import position_from_sfen
from search.score import MATE

MATE_IN_ELEVEN = "1B2G4/1+N2s3+P/l4+Ps1p/5L3/pp2p4/PP3Rr1P/S1P2Sg1G/3PBkp1L/LNK1P1PNG b 4Pn 167"
PAWN_DROP_ONLY = "7nk/8l/7S1/9/9/9/9/9/4K4 b P 1"
"""A pawn before the king would mate, which the rules forbid."""


@pytest.fixture(scope="module")
def solver() -> MateSolver:
    return MateSolver(4)


def _positions(count: int, seed: int, plies: tuple[int, int] = (50, 180)) -> list[str]:
    generator, found = random.Random(seed), []
    while len(found) < count:
        board = cshogi.Board()
        for _ in range(generator.randrange(*plies)):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(generator.choice(moves))
        if not board.is_game_over():
            found.append(board.sfen())
    return found


def _assert_mates(sfen: str, moves: tuple[str, ...]) -> None:
    board = cshogi.Board(sfen)
    assert len(moves) % 2 == 1
    for number, usi in enumerate(moves):
        move = board.move_from_usi(usi)
        assert board.is_legal(move), f"{usi} in {board.sfen()}"
        board.push(move)
        if number % 2 == 0:
            assert board.is_check()
    assert not list(board.legal_moves)


def test_it_agrees_with_cshogi_on_positions_of_random_games(solver):
    mates = refuted = 0
    for sfen in _positions(1200, 5):
        result = solver.solve(sfen, nodes=20_000)
        board = cshogi.Board(sfen)
        if result.status is MateStatus.MATE:
            mates += 1
            _assert_mates(sfen, result.moves)
        elif result.status is MateStatus.NO_MATE:
            refuted += 1
            assert board.is_check() or not board.mate_move_in_1ply()
            assert not board.mate_move(5), sfen
        if not board.is_check() and board.mate_move(3):
            assert result.status is MateStatus.MATE
    assert mates > 50
    assert refuted > 300


def test_the_shortest_is_found_and_said(solver):
    result = solver.solve(MATE_IN_ELEVEN)
    assert result.status is MateStatus.MATE
    assert result.plies == 11
    assert result.shortest
    assert solver.solve("4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1").moves == ("G*5b",)


def test_a_pawn_drop_does_not_mate(solver):
    assert solver.solve(PAWN_DROP_ONLY).moves[:1] != ("P*1b",)
    assert solver.solve("8k/9/7GG/9/9/9/9/9/4K4 b P 1").status is MateStatus.MATE


def test_a_full_table_costs_no_truth():
    small = MateSolver(1)
    for sfen in _positions(150, 9, (120, 250)):
        result = small.solve(sfen, nodes=50_000)
        if result.status is MateStatus.MATE:
            _assert_mates(sfen, result.moves)
    assert small.table.filled() > 900  # thousandths: it was full indeed


def test_it_stops_when_it_is_told(solver):
    flag = StopFlag()
    flag.set()
    assert MateSolver(1).solve("startpos", stop=flag).status in (MateStatus.UNKNOWN, MateStatus.NO_MATE)
    assert MateSolver(1).solve(MATE_IN_ELEVEN, nodes=50).status is MateStatus.UNKNOWN
    assert solver.solve("startpos", nodes=1).status in (MateStatus.UNKNOWN, MateStatus.NO_MATE)


def test_what_is_no_position_is_refused_in_words(solver, tmp_path):
    with pytest.raises(ValueError, match="SFEN"):
        solver.solve("nonsense")
    file = tmp_path / "problems.txt"
    file.write_text("4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1\nnonsense\n")
    with pytest.raises(ValueError, match=r"problems\.txt: line 2"):
        Mate(file=file).run()
    with pytest.raises(ValueError, match="no position"):
        Mate().run()


def test_the_verb_prints_one_object(capsys):
    Mate((MATE_IN_ELEVEN,), json=True).run()
    (position,) = json.loads(capsys.readouterr().out)["positions"]
    assert (position["status"], position["plies"]) == ("mate", 11)


def test_a_mate_at_the_root_ends_the_search():
    beside, proved = RootMate(), threading.Event()
    beside.begin(position_from_sfen(MATE_IN_ELEVEN), 1_000_000, proved.set)
    assert proved.wait(30)
    mate = beside.end()
    assert mate is not None
    assert mate.plies == 11
    seen = Analysis("1a1b", 120, depth=3, nodes=500, pv=("1a1b",))
    better = with_mate(seen, mate)
    assert (better.best_move, better.score, better.pv) == (mate.moves[0], MATE - 11, mate.moves)
    shorter = Analysis("1a1b", MATE - 5, depth=7, nodes=500, pv=("1a1b",))
    assert with_mate(shorter, mate) is shorter


def test_no_mate_at_the_root_is_silent():
    beside = RootMate()
    beside.begin(position_from_sfen("startpos"), 1_000, lambda: pytest.fail("there is no mate"))
    assert beside.end() is None
    beside.begin(position_from_sfen("9/9/4P4/9/9/9/9/9/4K4 b G 1"), 1_000, lambda: pytest.fail("no king to mate"))
    assert beside.end() is None
