"""Mate in three: every mate found is confirmed by cshogi, and nodes with few checks miss none."""

from __future__ import annotations

import random

import cshogi
import numpy as np
import pytest

from search.alphabeta.game_end import find_mate_here
from search.alphabeta.mate_in_three import find_mate_in_three
from search.alphabeta.thread import SearchThread
from search.alphabeta.transposition import TranspositionTable
from search.evaluation.material import material_network
from search.evaluation.network_file import load_network
from search.rules.position import do_move
from search.rules.sfen import move_from_usi, move_to_usi, set_sfen

PLY = np.int64(5)


def _positions(count: int, seed: int) -> list[str]:
    """Return positions of random games, late enough for exposed kings."""
    generator, found = random.Random(seed), []
    while len(found) < count:
        board = cshogi.Board()
        for _ in range(generator.randrange(60, 160)):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(generator.choice(moves))
        if not board.is_game_over() and not board.is_check():
            found.append(board.sfen())
    return found


def test_mates_equal_those_of_cshogi():
    thread = SearchThread(load_network("default"), TranspositionTable(1))
    found = missed = 0
    for sfen in _positions(3500, 3):
        set_sfen(thread.position, sfen)
        board = cshogi.Board(sfen)
        if find_mate_here(thread.position, thread.record, PLY):
            assert board.mate_move_in_1ply()
            continue
        before = thread.position["key"]
        move = int(find_mate_in_three(thread.position, thread.record, PLY))
        assert thread.position["key"] == before
        expected = board.mate_move(3)
        if move == 0:
            missed += expected != 0
            continue
        found += 1
        assert expected != 0, sfen
        line = [move_to_usi(int(m)) for m in thread.record["pv"][PLY, :3]]
        assert line[0] == move_to_usi(move)
        for usi in line:
            played = board.move_from_usi(usi)
            assert board.is_legal(played)
            board.push(played)
        assert board.is_check()
        assert not list(board.legal_moves)
    assert found >= 20
    # Nodes with many checks or answers are left to the search, as are positions where the king has many squares.
    assert missed <= found, (missed, found)


@pytest.mark.parametrize(("rounds", "mates"), [(2, True), (3, False)])
def test_a_check_into_a_fourth_occurrence_does_not_mate(rounds, mates):
    thread = SearchThread(material_network(), TranspositionTable(1))
    set_sfen(thread.position, "5S1sk/9/7G1/5R3/9/9/9/9/4K4 b P 1")
    for usi in ("4d1d", "2a1b", "1d4d", "1b2a") * rounds:
        do_move(thread.position, np.int64(move_from_usi(usi)))
    assert not find_mate_here(thread.position, thread.record, PLY)
    move = int(find_mate_in_three(thread.position, thread.record, PLY))
    assert (move == move_from_usi("4d1d")) == mates
