"""Checking moves and mates in one against trying every legal move."""

from __future__ import annotations

import numpy as np
import pytest

from search.mate.in_one import find_likely_mate, find_mate, has_evasion
from search.rules.bitboard import BIT, DIRECTION, UNALIGNED
from search.rules.checks import generate_checks, write_check_squares
from search.rules.movegen import MAX_MOVES, list_moves
from search.rules.position import do_move, in_check, undo_move
from search.rules.sfen import get_sfen, move_to_usi
from search.rules.shogi import DROP_ORIGIN, KINDS, PROMOTE, PROMOTION


def tried(pos: np.void) -> tuple[set[str], set[str]]:
    """Return (checking moves, mating moves) found by playing every legal move."""
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


def test_the_quick_mate_search_misses_few_mates(play_random, roots):
    buffer = np.zeros(MAX_MOVES, np.uint16)
    positions = asked = mates = found = 0
    for seed in range(8):
        for root in roots:
            for pos, _ in play_random(root, seed + 300, 60):
                move, checks = find_likely_mate(pos, buffer)
                mate, every_check = find_mate(pos, np.zeros(MAX_MOVES, np.uint16))
                # It returns the complete answer or none.
                assert (move, checks) in ((mate, every_check), (0, 0)), get_sfen(pos)
                positions, asked = positions + 1, asked + (checks > 0)
                mates, found = mates + (mate != 0), found + (move != 0)
    assert mates > 50
    assert found > 0.9 * mates, (found, mates)
    assert 20 < asked < 0.7 * positions, (asked, positions)


@pytest.mark.parametrize("seed", range(8))
def test_checks_and_mates_in_one_equal_those_found_by_playing(play_random, roots, seed):
    buffer = np.zeros(MAX_MOVES, np.uint16)
    for root in roots:
        for pos, _ in play_random(root, seed + 300, 60):
            checks, mates = tried(pos)
            count = generate_checks(pos, buffer, np.int64(0))
            found = [move_to_usi(int(move)) for move in buffer[:count]]
            assert sorted(found) == sorted(checks), get_sfen(pos)
            mate = int(find_mate(pos, buffer)[0])
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
