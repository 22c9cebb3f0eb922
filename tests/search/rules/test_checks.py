"""Checking moves and mates in one against trying every legal move."""

from __future__ import annotations

import numpy as np
import pytest

from search.mate.in_one import has_evasion, mate_in_one, may_mate
from search.rules.bitboard import BIT, DIRECTION, UNALIGNED
from search.rules.checks import generate_checks, write_check_squares
from search.rules.movegen import MAX_MOVES, list_moves
from search.rules.position import do_move, in_check, undo_move
from search.rules.sfen import get_sfen, move_to_usi
from search.rules.shogi import DROP_ORIGIN, KINDS, PROMOTE, PROMOTION


def tried(pos: np.void) -> tuple[set[str], set[str]]:
    """(checking moves, mating moves) found by playing every legal move."""
    checks, mates = set(), set()
    for move in list_moves(pos):
        do_move(pos, np.int64(move))
        if in_check(pos):
            checks.add(move_to_usi(move))
            evasions = list_moves(pos)
            assert bool(has_evasion(pos)) == bool(evasions)
            if not evasions:
                mates.add(move_to_usi(move))
        undo_move(pos, np.int64(move))
    return checks, mates


def test_where_a_glance_sees_no_mate_there_is_none(play_random, roots):
    told = [0, 0]
    for seed in range(8):
        for root in roots:
            for pos, _ in play_random(root, seed + 300, 60):
                told[bool(may_mate(pos))] += 1
                assert may_mate(pos) or not mate_in_one(pos), get_sfen(pos)
    assert min(told) > 20, told


@pytest.mark.parametrize("seed", range(8))
def test_checks_and_mates_in_one_are_those_that_trying_finds(play_random, roots, seed):
    buffer = np.zeros(MAX_MOVES, np.uint16)
    for root in roots:
        for pos, _ in play_random(root, seed + 300, 60):
            checks, mates = tried(pos)
            count = generate_checks(pos, buffer, np.int64(0))
            found = [move_to_usi(int(move)) for move in buffer[:count]]
            assert sorted(found) == sorted(checks), get_sfen(pos)
            mate = int(mate_in_one(pos))
            assert (move_to_usi(mate) in mates) if mate else not mates, get_sfen(pos)


@pytest.mark.parametrize("seed", range(4))
def test_moves_to_a_check_square_check_and_others_only_by_discovery(play_random, roots, seed):
    squares = np.zeros((KINDS, 2), np.uint64)
    for root in roots:
        for pos, _ in play_random(root, seed + 900, 60):
            write_check_squares(pos, squares)
            checks, _ = tried(pos)
            for move in list_moves(pos):
                target, origin = move & 127, (move >> 7) & 127
                kind = origin - DROP_ORIGIN if origin >= DROP_ORIGIN else int(pos["board"][origin]) % KINDS
                kind += PROMOTION if move & PROMOTE else 0
                direct = any(int(squares[kind, word]) & int(BIT[target, word]) for word in range(2))
                checking = move_to_usi(move) in checks
                if direct:
                    assert checking, (get_sfen(pos), move_to_usi(move))
                elif checking:
                    king = int(pos["king"][1 - int(pos["turn"])])
                    assert origin < DROP_ORIGIN
                    assert DIRECTION[king, origin] != UNALIGNED
