"""Checking moves and mates in one against trying every legal move."""

from __future__ import annotations

import numpy as np
import pytest

from search.mate.in_one import has_evasion, mate_in_one
from search.rules.checks import generate_checks
from search.rules.movegen import MAX_MOVES, list_moves
from search.rules.position import do_move, in_check, undo_move
from search.rules.sfen import get_sfen, move_to_usi


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
