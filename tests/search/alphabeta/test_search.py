"""The search: compiled once, correct mate lengths, legal lines, repetition, and agreement with plain minimax."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from search.alphabeta.game_end import PATH_SCORE_FREE, path_score
from search.alphabeta.quiescence import quiesce
from search.alphabeta.root import search_root
from search.alphabeta.search import search_node
from search.alphabeta.thread import SearchThread
from search.alphabeta.transposition import TranspositionTable
from search.evaluation.material import material_network
from search.rules.movegen import QUIET, TACTICAL, generate, is_legal, list_moves
from search.rules.position import do_move, in_check
from search.rules.sfen import get_sfen, move_from_usi, move_to_usi, position_from_sfen, set_sfen
from search.rules.shogi import BLACK
from search.score import INFINITE, MATE, draw_value, is_mate, mate_plies


@pytest.fixture(scope="module")
def thread() -> SearchThread:
    return SearchThread(material_network(), TranspositionTable(16))


def run(thread: SearchThread, sfen: str, depth: int, moves: tuple[str, ...] = ()) -> tuple[int, list[str]]:
    """Search a position with iterations 1 to `depth`; return (score, line)."""
    record = thread.record
    thread.clear()
    thread.table.clear()
    set_sfen(thread.position, sfen)
    for move in moves:
        do_move(thread.position, np.int64(move_from_usi(move)))
    record["root_count"] = generate(thread.position, record["root_moves"], np.int64(0), np.int64(TACTICAL | QUIET))
    record["root_first"] = record["stop"] = record["nodes"] = record["node_limit"] = 0
    score = 0
    for iteration in range(1, depth + 1):
        window = (np.int64(-INFINITE), np.int64(INFINITE))
        score = search_root(
            thread.position,
            record,
            thread.accumulators.record,
            thread.accumulators.network,
            np.int64(iteration),
            *window,
        )
    line = record["pv"][0][: record["pv_length"][0]]
    return int(score), [move_to_usi(int(move)) for move in line]


# The second and third are problems from nshogi's test set.
MATES = [
    ("4k4/9/4P4/9/9/9/9/9/4K4 b G 1", 1),
    ("ln7/1+R5p1/1N+L1l+R2+P/1k1p3g1/1p2p4/P1G1PS1b1/2KP1sP2/1G3p3/LN4B2 b G2SN5P3p 145", 3),
    ("l3pssnl/5k3/p1+P1NppS1/7Pp/9/6+R2/1P1PPPP1P/B1GS5/L4K1NL b RBGN4P2gp 139", 5),
]


@pytest.mark.parametrize(("sfen", "plies"), MATES)
def test_mates_are_found_and_their_lines_mate(thread, sfen, plies):
    score, line = run(thread, sfen, 13)
    assert is_mate(score)
    assert mate_plies(score) == len(line)
    assert len(line) >= plies
    pos = position_from_sfen(sfen)
    for usi in line:
        assert is_legal(pos, np.int64(move_from_usi(usi)))
        do_move(pos, np.int64(move_from_usi(usi)))
    assert in_check(pos)
    assert not list_moves(pos)


def test_being_mated_is_scored_from_the_other_side(thread):
    _, line = run(thread, MATES[1][0], 13)
    score, rest = run(thread, MATES[1][0], 12, (line[0],))
    assert (score, len(rest)) == (-(MATE - 2), 2)


def test_a_free_rook_is_taken(thread):
    score, line = run(thread, "4k4/9/9/4r4/9/4R4/9/9/4K4 b - 1", 4)
    assert line[0] == "5f5d"
    assert score > 900


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))])
def test_lines_are_legal_and_the_position_is_restored(thread, play_random, roots, seed):
    for root in roots[:3]:
        for pos, line in play_random(root, seed, 40):
            if len(line) % 13:
                continue
            sfen = get_sfen(pos)
            if not list_moves(pos):
                break
            _, principal = run(thread, sfen, 5)
            assert get_sfen(thread.position) == sfen
            walk = position_from_sfen(sfen)
            for usi in principal:
                assert is_legal(walk, np.int64(move_from_usi(usi))), (sfen, principal)
                do_move(walk, np.int64(move_from_usi(usi)))


def test_a_repetition_scores_as_the_draw_value(thread):
    """The search sees a repetition of a game's position at once and scores it as the draw value."""
    shuffle = ("5i5h", "5a5b", "5h5i", "5b5a")
    sfen = "4k4/9/9/9/9/9/9/1R7/4K4 w - 1"
    worth = round(600 * math.log(0.3 / 0.7))
    thread.set_draw_value(draw_value(0.3, BLACK, 600))
    for side, expected in (("b", worth), ("w", -worth)):
        set_sfen(thread.position, sfen.replace(" w ", f" {side} "))
        moves = shuffle if side == "b" else (shuffle[1], shuffle[0], shuffle[3], shuffle[2])
        for move in moves:
            do_move(thread.position, np.int64(move_from_usi(move)))
        assert path_score(thread.position, thread.record, np.int64(1)) == expected
        thread.record["analysis"] = 1  # in an analysis only the fourth occurrence is a draw, anywhere in the tree
        assert path_score(thread.position, thread.record, np.int64(3)) == PATH_SCORE_FREE
        for move in moves * 2:
            do_move(thread.position, np.int64(move_from_usi(move)))
        assert path_score(thread.position, thread.record, np.int64(3)) == expected
        thread.record["analysis"] = 0
    thread.set_draw_value((0, 0))


def test_the_stop_flag_and_the_node_limit_end_the_search(thread):
    record = thread.record
    run(thread, "startpos", 2)
    record["node_limit"] = 5000
    record["nodes"] = 0
    arguments = (thread.accumulators.record, thread.accumulators.network)
    search_root(thread.position, record, *arguments, np.int64(30), np.int64(-INFINITE), np.int64(INFINITE))
    assert record["stop"] == 1
    assert 5000 <= record["nodes"] < 5100
    assert get_sfen(thread.position).startswith("lnsgkgsnl/1r5b1/")
    record["node_limit"] = record["stop"] = 0


def test_every_recursive_function_is_compiled_once(thread):
    """A bare literal argument would compile a second version, which Numba's cache cannot load (numba issue 6061)."""
    run(thread, "startpos", 4)
    assert len(search_root.overloads) == 1
    for function in (search_node, quiesce, search_root):
        directory = Path(function.stats.cache_path)
        assert len(list(directory.glob(f"{function.__name__}-*.nbc"))) == 1
