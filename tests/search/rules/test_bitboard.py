"""Bitboards and their tables against walking from square to square."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from search.rules.bitboard import (
    DIRECTION,
    DIRECTION_STEPS,
    LOW_SQUARES,
    RAYS,
    STEP,
    UNALIGNED,
    bitboards,
    square_sets,
)
from search.rules.checks import CHECK_ORIGINS, empty_board_attacks, meeting
from search.rules.shogi import GOLD, KINDS, KNIGHT, PAWN, SILVER, SQUARES

square_lists = st.sets(st.integers(0, SQUARES - 1))


def members(board: np.ndarray) -> set[int]:
    mask = int(board[0]) | int(board[1]) << LOW_SQUARES
    return {square for square in range(SQUARES) if mask >> square & 1}


def walk(square: int, step: tuple[int, int], limit: int = 8) -> set[int]:
    found, (file, rank) = set(), divmod(square, 9)
    for _ in range(limit):
        file, rank = file + step[0], rank + step[1]
        if 0 <= file < 9 and 0 <= rank < 9:
            found.add(9 * file + rank)
    return found


def board(squares: set[int]) -> np.ndarray:
    return bitboards(np.isin(np.arange(SQUARES), list(squares)))


@given(square_lists)
def test_a_bitboard_holds_its_squares(squares: set[int]) -> None:
    assert members(board(squares)) == squares
    assert set(np.flatnonzero(square_sets(board(squares)))) == squares


@given(square_lists, square_lists)
def test_sets_that_meet_share_a_square(some: set[int], others: set[int]) -> None:
    found = meeting(board(some)[None], np.stack([board(others)] * SQUARES))
    assert members(found[0]) == (set(range(SQUARES)) if some & others else set())


def test_rays_and_steps_are_walked() -> None:
    for square in range(SQUARES):
        for direction, step in enumerate(DIRECTION_STEPS):
            assert members(RAYS[direction, square]) == walk(square, step)
            assert all(DIRECTION[square, one] == direction for one in walk(square, step))
        assert members(RAYS[UNALIGNED, square]) == set()
        assert DIRECTION[square, square] == UNALIGNED
        assert members(STEP[PAWN, square]) == walk(square, (0, -1), 1)
        assert members(STEP[KINDS + KNIGHT, square]) == walk(square, (-1, 2), 1) | walk(square, (1, 2), 1)
    assert (DIRECTION != UNALIGNED).sum() == sum(len(members(one)) for ray in RAYS for one in ray)


def test_a_check_comes_from_its_origins() -> None:
    """A white silver one move away from attacking the king, as it is or promoted."""
    silver, gold = empty_board_attacks(1, SILVER), empty_board_attacks(1, GOLD)
    for king in range(SQUARES):
        origins = {
            origin
            for origin in range(SQUARES)
            for target in members(silver[origin])
            if king in members(silver[target]) or (king in members(gold[target]) and (origin % 9 > 5 or target % 9 > 5))
        }
        assert members(CHECK_ORIGINS[1, SILVER, king]) == origins
