"""Exact search for mate in one: generate checks, reject most by cheap tests, and look for evasions after the rest."""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.primitives.bits import popcount
from search.rules.attacks import attackers, attacks
from search.rules.bitboard import (
    BIT,
    DEAD_ONE,
    DEAD_TWO,
    FILE,
    FILES,
    GROUP,
    GROUPS,
    NONE,
    ONE,
    RANK,
    STEP,
    bitboards,
)
from search.rules.checks import empty_board_attacks, generate_checks, meeting
from search.rules.movegen import has_unattacked, is_drop_pawn_mate
from search.rules.pins import pinned
from search.rules.position import (
    NO_KING,
    between,
    do_move,
    first_square,
    in_check,
    occupied,
    undo_move,
    without_first,
)
from search.rules.shogi import (
    DRAGON,
    DROP_ORIGIN,
    HAND_KINDS,
    KINDS,
    KING,
    KNIGHT,
    LANCE,
    PAWN,
    PROMOTE,
    PROMOTION,
    ROOK,
    SQUARES,
)


@jit
def _can_drop(pos, us, square):
    """Return whether the mover, in check, can drop a piece on a square between the checker and its king."""
    hand = pos.hands[us]
    for kind in range(KNIGHT + 1, HAND_KINDS):
        if hand[kind]:
            return True
    bit_low, bit_high = BIT[square, 0], BIT[square, 1]
    if hand[KNIGHT] and ((bit_low & DEAD_TWO[us, 0]) | (bit_high & DEAD_TWO[us, 1])) == NONE:
        return True
    if ((bit_low & DEAD_ONE[us, 0]) | (bit_high & DEAD_ONE[us, 1])) != NONE:
        return False
    if hand[LANCE]:
        return True
    if hand[PAWN] == 0:
        return False
    file = square // 9
    own_low, own_high = pos.groups[PAWN, 0] & pos.colours[us, 0], pos.groups[PAWN, 1] & pos.colours[us, 1]
    if ((own_low & FILES[file, 0]) | (own_high & FILES[file, 1])) != NONE:
        return False
    king = np.int64(pos.king[1 - us]) & 127
    piece = us * KINDS + PAWN
    if king == NO_KING or ((STEP[piece, square, 0] & BIT[king, 0]) | (STEP[piece, square, 1] & BIT[king, 1])) == NONE:
        return True
    return not is_drop_pawn_mate(pos, square)


@jit
def has_evasion(pos):
    """Return whether the mover, in check, has a legal move."""
    us = np.int64(pos.turn) & 1
    them = 1 - us
    king = np.int64(pos.king[us]) & 127
    low, high = occupied(pos)
    bare_low, bare_high = low & ~BIT[king, 0], high & ~BIT[king, 1]
    a, b = STEP[KING, king, 0] & ~pos.colours[us, 0], STEP[KING, king, 1] & ~pos.colours[us, 1]
    if has_unattacked(pos, them, a, b, bare_low, bare_high):
        return True
    checkers_low, checkers_high = pos.checkers[0], pos.checkers[1]
    if popcount(checkers_low) + popcount(checkers_high) > ONE:
        return False
    # Another piece may capture the checker or interpose. A pinned piece cannot: the checker is not on its line.
    pins_low, pins_high = pinned(pos, us)
    able_low, able_high = ~(pins_low | BIT[king, 0]), ~(pins_high | BIT[king, 1])
    checker = np.int64(first_square(checkers_low, checkers_high))
    c, d = attackers(pos, us, checker, low, high)
    if ((c & able_low) | (d & able_high)) != NONE:
        return True
    a, b = between(king, checker)
    while (a | b) != NONE:
        square = np.int64(first_square(a, b))
        a, b = without_first(a, b)
        if _can_drop(pos, us, square):
            return True
        c, d = attackers(pos, us, square, low, high)
        if ((c & able_low) | (d & able_high)) != NONE:
            return True
    return False


@jit
def is_mated(pos):
    """Return whether the mover is in check and has no legal move."""
    return in_check(pos) and not has_evasion(pos)


@jit
def _leaves_king_a_square(pos, us, king, move, free_low, free_high):
    """Return whether the king certainly has a square after a check: an undefended checker, or a free square not
    covered."""
    target, origin = move & 127, (move >> 7) & 127
    low, high = occupied(pos)
    low = (low & ~BIT[king, 0]) | BIT[target, 0]
    high = (high & ~BIT[king, 1]) | BIT[target, 1]
    left_low, left_high = NONE, NONE
    if origin >= DROP_ORIGIN:
        piece = us * KINDS + origin - DROP_ORIGIN
    else:
        piece = np.int64(pos.board[origin])
        if move & PROMOTE:
            piece += PROMOTION
        left_low, left_high = BIT[origin, 0], BIT[origin, 1]
        low &= ~left_low
        high &= ~left_high
    a, b = attacks(piece, target, low, high)
    a = free_low & ~a & ~BIT[target, 0]
    b = free_high & ~b & ~BIT[target, 1]
    if origin >= DROP_ORIGIN:
        if (a | b) != NONE:
            return True
    else:
        # The move may have opened lines from its origin that cover squares which were free.
        while (a | b) != NONE:
            square = np.int64(first_square(a, b))
            a, b = without_first(a, b)
            c, d = attackers(pos, us, square, low, high)
            if ((c & ~left_low) | (d & ~left_high)) == NONE:
                return True
    if ((STEP[KING, king, 0] & BIT[target, 0]) | (STEP[KING, king, 1] & BIT[target, 1])) != NONE:
        c, d = attackers(pos, us, target, low, high)
        if ((c & ~left_low) | (d & ~left_high)) == NONE:
            return True
    return False


def _zone_origins() -> np.ndarray:
    """Return the squares from which a piece of the group reaches a square beside the king on an empty board.

    Shape [2 colours, 10 groups, 81 kings, 2]. For rooks they include those from which, as a dragon, it covers squares
    beside the king off its line.
    """
    table = np.zeros((2, GROUPS, SQUARES, 2), np.uint64)
    kinds = {GROUP[kind]: kind for kind in reversed(range(KINDS))}  # one kind of each group: the unpromoted one
    near = empty_board_attacks(0, KING)
    files, ranks = np.abs(FILE - FILE[:, None]), np.abs(RANK - RANK[:, None])
    two_away = bitboards((files + ranks == 2) & (files * ranks == 0))
    for colour in range(2):
        for group, kind in kinds.items():
            beside = near | two_away if kind in (ROOK, DRAGON) else near
            table[colour, group] = meeting(beside, empty_board_attacks(colour, kind))
    return table


_ZONE_ORIGINS = _zone_origins()
MOST_LEFT = np.uint64(2)
"""Number of squares beside a king that a check may have to cover.

A distant check covers two, those on its line. A check from beside the king may cover more: of 63,000 mates in one from
searches in middle games and endgames, one in 26 covered three, and one in 270 more.
"""


@jit
def _squares_left(pos, us, king):
    """Return the squares to which the enemy king could go if the mover's pieces stayed where they are: two words."""
    # On any board only these pieces can reach a square beside the king.
    near_low, near_high = NONE, NONE
    for group in range(GROUPS):
        near_low |= pos.groups[group, 0] & _ZONE_ORIGINS[us, group, king, 0]
        near_high |= pos.groups[group, 1] & _ZONE_ORIGINS[us, group, king, 1]
    near_low &= pos.colours[us, 0]
    near_high &= pos.colours[us, 1]
    low, high = occupied(pos)
    low &= ~BIT[king, 0]
    high &= ~BIT[king, 1]
    left_low = STEP[KING, king, 0] & ~pos.colours[1 - us, 0]
    left_high = STEP[KING, king, 1] & ~pos.colours[1 - us, 1]
    while (near_low | near_high) != NONE:
        square = np.int64(first_square(near_low, near_high))
        near_low, near_high = without_first(near_low, near_high)
        a, b = attacks(np.int64(pos.board[square]), square, low, high)
        left_low &= ~a
        left_high &= ~b
    return left_low, left_high


@jit
def _mate_among(pos, moves, count, king, left_low, left_high):
    """Return the first of `count` checks (int64) that mates, or 0 (int64)."""
    us = np.int64(pos.turn) & 1
    for index in range(count):
        move = np.int64(moves[index])
        if _leaves_king_a_square(pos, us, king, move, left_low, left_high):
            continue
        do_move(pos, move)
        mate = not has_evasion(pos)
        undo_move(pos, move)
        if mate:
            return move
    return np.int64(0)


@jit
def find_mate(pos, moves):
    """Return (mating move or 0, number of checks), both int64; the checks are left in `moves` (uint16 [MAX_MOVES])."""
    count = generate_checks(pos, moves, np.int64(0))
    if count == 0:
        return np.int64(0), count
    us = np.int64(pos.turn) & 1
    king = np.int64(pos.king[1 - us]) & 127
    left_low, left_high = _squares_left(pos, us, king)
    return _mate_among(pos, moves, count, king, left_low, left_high), count


@jit
def find_likely_mate(pos, moves):
    """Return what `find_mate` does, for a search that asks at every node, but skip positions that are unlikely to be
    mates.

    Returns (0, 0) if the pieces near the king leave it more squares than MOST_LEFT. Three in five questions end there,
    and hardly any mate is missed.
    """
    us = np.int64(pos.turn) & 1
    king = np.int64(pos.king[1 - us]) & 127
    if king == NO_KING:
        return np.int64(0), np.int64(0)
    left_low, left_high = _squares_left(pos, us, king)
    if popcount(left_low) + popcount(left_high) > MOST_LEFT:
        return np.int64(0), np.int64(0)
    count = generate_checks(pos, moves, np.int64(0))
    return _mate_among(pos, moves, count, king, left_low, left_high), count
