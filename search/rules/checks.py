"""Direct generation of legal moves that give check, for every node of a mate search or a quiescence search.

A move checks in two ways. Directly: the moved piece attacks the king from its target, so the targets are where the same
piece of the other colour, standing on the king's square, would attack. By discovery: the piece was the only one between
an own slider and the king, and it leaves that line. All moves without promotion are included: not to promote can be the
only way to avoid a mate by a dropped pawn, which the rules forbid.
"""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.primitives.bits import popcount
from search.rules.attacks import attacks
from search.rules.bitboard import (
    ALL_HIGH,
    ALL_LOW,
    BIT,
    DEAD_ONE,
    DEAD_TWO,
    DIAGONAL_LINES,
    DIRECTION,
    DRAGONS,
    FILES,
    GOLDS,
    HORSES,
    NONE,
    ONE,
    PROMOTION_ZONE,
    RAYS,
    STEP,
    STRAIGHT_LINES,
    N,
    S,
    bitboards,
)
from search.rules.movegen import is_drop_pawn_mate, king_moves, write_moves
from search.rules.pins import pinned, single_blockers
from search.rules.position import NO_KING, between, first_square, occupied, without_first
from search.rules.shogi import (
    BISHOP,
    DRAGON,
    DROP_ORIGIN,
    GOLD,
    HORSE,
    KINDS,
    KING,
    KNIGHT,
    LANCE,
    PAWN,
    PROMOTE,
    PROMOTION,
    ROOK,
    SILVER,
    SQUARES,
)


def empty_board_attacks(colour: int, kind: int) -> np.ndarray:
    """Return the squares that a piece attacks from each square of an empty board: uint64 [81, 2]."""
    lines = {
        LANCE: RAYS[N if colour == 0 else S],
        BISHOP: DIAGONAL_LINES,
        HORSE: DIAGONAL_LINES,
        ROOK: STRAIGHT_LINES,
        DRAGON: STRAIGHT_LINES,
    }
    found: np.ndarray = STEP[colour * KINDS + kind] | lines.get(kind, NONE)
    return found


def meeting(some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return for each of n bitboards which of 81 bitboards intersect it: uint64 [n, 2] of [n, 2] and [81, 2]."""
    common = some[:, None] & others
    return bitboards(common[..., 0] | common[..., 1] != NONE)


def _check_origins() -> np.ndarray:
    """Return the squares from which a piece of the group could check in one move: [2 colours, 7 groups, 81 kings, 2].

    Pieces in the way are ignored. Bishops and rooks are left out: they could nearly always check, and there are only
    four of them.
    """
    table = np.zeros((2, GOLDS + 1, SQUARES, 2), np.uint64)
    groups = {PAWN: PAWN, LANCE: LANCE, KNIGHT: KNIGHT, SILVER: SILVER, GOLD: GOLDS}
    for colour in range(2):
        zone = PROMOTION_ZONE[colour]
        promoted = empty_board_attacks(1 - colour, GOLD)  # the squares from which a gold attacks each king
        for kind, group in groups.items():
            reach = empty_board_attacks(colour, kind)
            table[colour, group] = meeting(meeting(BIT, reach), reach)
            if kind != GOLD:  # it promotes if it enters the zone or leaves it
                table[colour, group] |= meeting(promoted & zone, reach) | meeting(promoted, reach) & zone
    return table


CHECK_ORIGINS = _check_origins()


@jit
def _check_squares(pos, us, king, low, high):
    """Return the squares from which a slider of `us` would check the enemy king: words for bishop, rook and lance."""
    diagonal_low, diagonal_high = attacks(np.int64(BISHOP), king, low, high)
    straight_low, straight_high = attacks(np.int64(ROOK), king, low, high)
    side = S if us == 0 else N  # a black lance checks from the south
    return (
        diagonal_low,
        diagonal_high,
        straight_low,
        straight_high,
        straight_low & RAYS[side, king, 0],
        straight_high & RAYS[side, king, 1],
    )


@jit
def _direct(us, kind, king, lines):
    """Return the squares from which a piece of `us` and this kind attacks the king.

    `lines` is the result of `_check_squares`.
    """
    piece = (1 - us) * KINDS + kind
    a, b = STEP[piece, king, 0], STEP[piece, king, 1]
    if kind == LANCE:
        a, b = lines[4], lines[5]
    elif kind == BISHOP or kind == HORSE:
        a |= lines[0]
        b |= lines[1]
    elif kind == ROOK or kind == DRAGON:
        a |= lines[2]
        b |= lines[3]
    return a, b


@jit
def _checking_drops(pos, moves, count, king, lines, empty_low, empty_high):
    """Append the drops that give check, on the given empty squares."""
    us = np.int64(pos.turn) & 1
    hand = pos.hands[us]
    if hand[PAWN]:
        a, b = _direct(us, np.int64(PAWN), king, lines)
        a &= empty_low & ~DEAD_ONE[us, 0]
        b &= empty_high & ~DEAD_ONE[us, 1]
        if (a | b) != NONE:
            file = king // 9
            own_low, own_high = pos.groups[PAWN, 0] & pos.colours[us, 0], pos.groups[PAWN, 1] & pos.colours[us, 1]
            if ((own_low & FILES[file, 0]) | (own_high & FILES[file, 1])) == NONE and not is_drop_pawn_mate(
                pos, np.int64(first_square(a, b))
            ):
                count = write_moves(moves, count, (DROP_ORIGIN + PAWN) << 7, a, b)
    if hand[LANCE]:
        low, high = empty_low & ~DEAD_ONE[us, 0], empty_high & ~DEAD_ONE[us, 1]
        count = write_moves(moves, count, (DROP_ORIGIN + LANCE) << 7, lines[4] & low, lines[5] & high)
    if hand[KNIGHT]:
        a, b = _direct(us, np.int64(KNIGHT), king, lines)
        low, high = empty_low & ~DEAD_TWO[us, 0], empty_high & ~DEAD_TWO[us, 1]
        count = write_moves(moves, count, (DROP_ORIGIN + KNIGHT) << 7, a & low, b & high)
    for kind in range(SILVER, GOLD + 1):
        if hand[kind]:
            a, b = _direct(us, np.int64(kind), king, lines)
            count = write_moves(moves, count, (DROP_ORIGIN + kind) << 7, a & empty_low, b & empty_high)
    return count


@jit
def generate_checks(pos, moves, count):
    """Append every legal move that gives check from index `count` (int64) of `moves` (uint16); return the new count.

    The mover may be in check or have no king. If the other side has no king, there are no checks.
    """
    us = np.int64(pos.turn) & 1
    them = 1 - us
    king = np.int64(pos.king[them]) & 127
    if king == NO_KING:
        return count
    low, high = occupied(pos)
    own_low, own_high = pos.colours[us, 0], pos.colours[us, 1]
    blockers_low, blockers_high = single_blockers(pos, them)
    blockers_low &= own_low
    blockers_high &= own_high
    own_king = np.int64(pos.king[us]) & 127
    if own_king != NO_KING and ((BIT[own_king, 0] & blockers_low) | (BIT[own_king, 1] & blockers_high)) != NONE:
        # The king itself leaves the line between its slider and the enemy king.
        line = DIRECTION[king, own_king]
        count = king_moves(pos, moves, count, ~own_low & ~RAYS[line, king, 0], ~own_high & ~RAYS[line, king, 1])
    mask_low, mask_high = ALL_LOW, ALL_HIGH
    checkers_low, checkers_high = pos.checkers[0], pos.checkers[1]
    if (checkers_low | checkers_high) != NONE:
        if popcount(checkers_low) + popcount(checkers_high) > ONE:
            return count
        mask_low, mask_high = between(own_king, np.int64(first_square(checkers_low, checkers_high)))
        mask_low |= checkers_low
        mask_high |= checkers_high
    lines = _check_squares(pos, us, king, low, high)
    count = _checking_drops(pos, moves, count, king, lines, mask_low & ~low, mask_high & ~high)
    pins_low, pins_high = pinned(pos, us)
    zone_low, zone_high = PROMOTION_ZONE[us, 0], PROMOTION_ZONE[us, 1]
    g = pos.groups
    rest_low = g[BISHOP, 0] | g[HORSES, 0] | g[ROOK, 0] | g[DRAGONS, 0] | blockers_low
    rest_high = g[BISHOP, 1] | g[HORSES, 1] | g[ROOK, 1] | g[DRAGONS, 1] | blockers_high
    for group in (PAWN, LANCE, KNIGHT, SILVER, GOLDS):
        rest_low |= g[group, 0] & CHECK_ORIGINS[us, group, king, 0]
        rest_high |= g[group, 1] & CHECK_ORIGINS[us, group, king, 1]
    rest_low &= own_low & ~g[KING, 0]
    rest_high &= own_high & ~g[KING, 1]
    while (rest_low | rest_high) != NONE:
        square = np.int64(first_square(rest_low, rest_high))
        bit_low, bit_high = BIT[square, 0], BIT[square, 1]
        rest_low, rest_high = without_first(rest_low, rest_high)
        piece = np.int64(pos.board[square]) & 31
        kind = piece - us * KINDS
        a, b = attacks(piece, square, low, high)
        a &= ~own_low & mask_low
        b &= ~own_high & mask_high
        if ((bit_low & pins_low) | (bit_high & pins_high)) != NONE:
            line = DIRECTION[own_king, square]
            a &= RAYS[line, own_king, 0]
            b &= RAYS[line, own_king, 1]
        if (a | b) == NONE:
            continue
        off_low, off_high = NONE, NONE  # targets that discover a check
        if ((bit_low & blockers_low) | (bit_high & blockers_high)) != NONE:
            line = DIRECTION[king, square]
            off_low, off_high = ~RAYS[line, king, 0], ~RAYS[line, king, 1]
        c, d = _direct(us, kind, king, lines)
        c |= off_low
        d |= off_high
        if kind < GOLD:
            e, f = _direct(us, np.int64(kind + PROMOTION) if kind >= BISHOP else np.int64(GOLD), king, lines)
            e = (e | off_low) & a
            f = (f | off_high) & b
            if ((bit_low & zone_low) | (bit_high & zone_high)) == NONE:
                e &= zone_low
                f &= zone_high
            count = write_moves(moves, count, square << 7 | PROMOTE, e, f)
            if kind == PAWN or kind == LANCE:
                c &= ~DEAD_ONE[us, 0]
                d &= ~DEAD_ONE[us, 1]
            elif kind == KNIGHT:
                c &= ~DEAD_TWO[us, 0]
                d &= ~DEAD_TWO[us, 1]
        count = write_moves(moves, count, square << 7, a & c, b & d)
    return count


@jit
def write_check_squares(pos, squares):
    """Write the squares from which a piece of the mover's would check, for each kind, to `squares` (uint64 [14, 2]).

    They are empty if the other side has no king.
    """
    us = np.int64(pos.turn) & 1
    king = np.int64(pos.king[1 - us]) & 127
    if king == NO_KING:
        squares[:] = NONE
        return
    low, high = occupied(pos)
    lines = _check_squares(pos, us, king, low, high)
    for kind in range(KINDS):
        squares[kind, 0], squares[kind, 1] = _direct(us, np.int64(kind), king, lines)
