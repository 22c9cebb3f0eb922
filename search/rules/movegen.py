"""Generation of strictly legal moves from pins and check masks.

No move is generated and then tested, except the king's if the caller tests it (KING_UNTESTED): most king moves are
never tried, and each test takes as long as generating five moves.

`generate` writes tactical moves (captures and pawn promotions), quiet moves or both, so that the search can pick moves
in stages. Moves without promotion that are never better (of a pawn, bishop or rook, or of a lance to the second rank)
are legal and counted by perft, but are generated only with INFERIOR: the search leaves them out.
"""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.primitives.bits import popcount, trailing_zeros
from search.rules.attacks import attackers, attacks
from search.rules.bitboard import (
    ALL_HIGH,
    ALL_LOW,
    BIT,
    DEAD_ONE,
    DEAD_TWO,
    DIRECTION,
    DRAGONS,
    FILES,
    GOLDS,
    HORSES,
    LOW_SQUARES,
    NONE,
    ONE,
    PROMOTION_ZONE,
    RAYS,
    STEP,
)
from search.rules.pins import pinned
from search.rules.position import NO_KING, between, first_square, occupied, without_first
from search.rules.shogi import (
    BISHOP,
    DROP_ORIGIN,
    EMPTY,
    GOLD,
    HAND_KINDS,
    HORSE,
    KINDS,
    KING,
    KNIGHT,
    LANCE,
    PAWN,
    PROMOTE,
    ROOK,
    SILVER,
    SQUARES,
)
from search.rules.sliders import lance_attacks

MAX_MOVES = 600
"""Room for the legal moves of any position: at most 593 with both kings on the board, 599 without the enemy's."""
WORDS = 2
TACTICAL, QUIET, INFERIOR, KING_UNTESTED = 1, 2, 4, 8
EVERY = TACTICAL | QUIET | INFERIOR
_NINTH_RANK, _EIGHT = np.uint64(sum(1 << 9 * file + 8 for file in range(7))), np.uint64(8)
"""The ninth rank in a word's seven files."""
_OTHER_RANKS = np.uint64(sum(0xFF << 9 * file for file in range(7)))
"""The other eight ranks in a word's seven files."""


@jit
def unattacked(pos, colour, a, b, low, high):
    """Return those of the squares (a, b) that no piece of `colour` attacks over the occupied (low, high): two words."""
    free_low, free_high = a, b
    while (a | b) != NONE:
        square = np.int64(first_square(a, b))
        a, b = without_first(a, b)
        c, d = attackers(pos, colour, square, low, high)
        if (c | d) != NONE:
            free_low &= ~BIT[square, 0]
            free_high &= ~BIT[square, 1]
    return free_low, free_high


@jit
def write_moves(moves, count, base, low, high):
    """Append `base | square` for every square of the bitboard; return the new count."""
    while low != NONE:
        square = first_square(low, NONE)
        low &= low - ONE
        moves[count] = base | np.int64(square)
        count += 1
    while high != NONE:
        square = first_square(NONE, high)
        high &= high - ONE
        moves[count] = base | np.int64(square)
        count += 1
    return count


@jit
def _write_pawns(moves, count, low, high, back, promotion):
    """Append pawn moves to every square of the bitboard; the origin is `back` squares away."""
    while (low | high) != NONE:
        square = np.int64(first_square(low, high))
        low, high = without_first(low, high)
        moves[count] = square | (square + back) << 7 | promotion
        count += 1
    return count


@jit
def _pawn_moves(pos, moves, count, which, free, goal_low, goal_high):
    """Append moves of the pawns in `free` (words) to the goal squares; return the new count."""
    us = np.int64(pos.turn) & 1
    them = 1 - us
    if us == 0:
        low, high, back = (free[0] >> ONE) & goal_low, (free[1] >> ONE) & goal_high, 1
    else:
        low, high, back = (free[0] << ONE) & goal_low, (free[1] << ONE) & goal_high, -1
    zone_low, zone_high = PROMOTION_ZONE[us, 0], PROMOTION_ZONE[us, 1]
    enemy_low, enemy_high = pos.colours[them, 0], pos.colours[them, 1]
    if which & TACTICAL:
        count = _write_pawns(moves, count, low & zone_low, high & zone_high, back, np.int64(PROMOTE))
        count = _write_pawns(
            moves, count, low & enemy_low & ~zone_low, high & enemy_high & ~zone_high, back, np.int64(0)
        )
    if which & QUIET:
        count = _write_pawns(
            moves, count, low & ~enemy_low & ~zone_low, high & ~enemy_high & ~zone_high, back, np.int64(0)
        )
    if which & INFERIOR:
        zone_low &= ~DEAD_ONE[us, 0]
        zone_high &= ~DEAD_ONE[us, 1]
        count = _write_pawns(moves, count, low & zone_low, high & zone_high, back, np.int64(0))
    return count


@jit
def _write_promotable(moves, count, us, square, a, b, stay_low, stay_high):
    """Append a piece's moves to the squares (a, b): promotions, then moves without promotion to the `stay` squares."""
    zone_low, zone_high = PROMOTION_ZONE[us, 0], PROMOTION_ZONE[us, 1]
    base = square << 7
    if ((BIT[square, 0] & zone_low) | (BIT[square, 1] & zone_high)) != NONE:
        count = write_moves(moves, count, base | PROMOTE, a, b)
    else:
        count = write_moves(moves, count, base | PROMOTE, a & zone_low, b & zone_high)
    return write_moves(moves, count, base, a & stay_low, b & stay_high)


@jit
def _within(king, square, pins, goal):
    """Return the goal squares (words) of a piece on `square`: a pinned piece stays on its line with the king."""
    if ((BIT[square, 0] & pins[0]) | (BIT[square, 1] & pins[1])) == NONE:
        return goal
    line = DIRECTION[king, square]
    return goal[0] & RAYS[line, king, 0], goal[1] & RAYS[line, king, 1]


@jit
def _step_moves(pos, moves, count, pins, goal):
    """Append moves of the mover's golds (and pieces that move like them), silvers and knights to the goal squares
    (words)."""
    us = np.int64(pos.turn) & 1
    king = np.int64(pos.king[us])
    for word in range(WORDS):
        own, first = pos.colours[us, word], LOW_SQUARES * word
        rest = pos.groups[GOLDS, word] & own
        while rest != NONE:
            square = first + np.int64(trailing_zeros(rest))
            rest &= rest - ONE
            c, d = _within(king, square, pins, goal)
            a, b = STEP[us * KINDS + GOLD, square, 0] & c, STEP[us * KINDS + GOLD, square, 1] & d
            count = write_moves(moves, count, square << 7, a, b)
        rest = pos.groups[SILVER, word] & own
        while rest != NONE:
            square = first + np.int64(trailing_zeros(rest))
            rest &= rest - ONE
            c, d = _within(king, square, pins, goal)
            a, b = STEP[us * KINDS + SILVER, square, 0] & c, STEP[us * KINDS + SILVER, square, 1] & d
            if (a | b) != NONE:
                count = _write_promotable(moves, count, us, square, a, b, ALL_LOW, ALL_HIGH)
        rest = pos.groups[KNIGHT, word] & own
        while rest != NONE:
            square = first + np.int64(trailing_zeros(rest))
            rest &= rest - ONE
            c, d = _within(king, square, pins, goal)
            a, b = STEP[us * KINDS + KNIGHT, square, 0] & c, STEP[us * KINDS + KNIGHT, square, 1] & d
            if (a | b) != NONE:
                count = _write_promotable(moves, count, us, square, a, b, ~DEAD_TWO[us, 0], ~DEAD_TWO[us, 1])
    return count


@jit
def _slide_moves(pos, moves, count, which, pins, goal):
    """Append moves of the mover's lances, bishops and rooks, promoted or not, to the goal squares (words)."""
    us = np.int64(pos.turn) & 1
    king = np.int64(pos.king[us])
    low, high = occupied(pos)
    dead = DEAD_ONE if which & INFERIOR else DEAD_TWO
    zone_low, zone_high = PROMOTION_ZONE[us, 0], PROMOTION_ZONE[us, 1]
    g = pos.groups
    for word in range(WORDS):
        own, first = pos.colours[us, word], LOW_SQUARES * word
        rest = g[LANCE, word] & own
        while rest != NONE:
            square = first + np.int64(trailing_zeros(rest))
            rest &= rest - ONE
            c, d = _within(king, square, pins, goal)
            a, b = lance_attacks(us, square, low, high)
            a &= c
            b &= d
            if (a | b) != NONE:
                count = _write_promotable(moves, count, us, square, a, b, ~dead[us, 0], ~dead[us, 1])
        rest = (g[BISHOP, word] | g[HORSES, word] | g[ROOK, word] | g[DRAGONS, word]) & own
        while rest != NONE:
            square = first + np.int64(trailing_zeros(rest))
            rest &= rest - ONE
            c, d = _within(king, square, pins, goal)
            piece = np.int64(pos.board[square])
            a, b = attacks(piece, square, low, high)
            a &= c
            b &= d
            if piece - us * KINDS >= HORSE:
                count = write_moves(moves, count, square << 7, a, b)
            elif which & INFERIOR:
                count = _write_promotable(moves, count, us, square, a, b, ALL_LOW, ALL_HIGH)
            elif ((BIT[square, 0] & zone_low) | (BIT[square, 1] & zone_high)) != NONE:
                count = write_moves(moves, count, square << 7 | PROMOTE, a, b)
            else:
                count = _write_promotable(moves, count, us, square, a, b, ~zone_low, ~zone_high)
    return count


@jit
def has_unattacked(pos, colour, a, b, low, high):
    """Return whether no piece of `colour` attacks at least one of the squares (a, b): see `unattacked`."""
    while (a | b) != NONE:
        square = np.int64(first_square(a, b))
        a, b = without_first(a, b)
        c, d = attackers(pos, colour, square, low, high)
        if (c | d) == NONE:
            return True
    return False


@jit
def king_may_go(pos, move):
    """Return whether a move is not the king's, or takes it to a square that is not attacked."""
    us = np.int64(pos.turn) & 1
    king, origin, target = np.int64(pos.king[us]) & 127, (move >> 7) & 127, move & 127
    if origin != king or king == NO_KING:
        return True
    low, high = occupied(pos)
    # A slider attacks through the square that the king leaves.
    a, b = attackers(pos, 1 - us, target, low & ~BIT[king, 0], high & ~BIT[king, 1])
    return (a | b) == NONE


@jit
def _untested_king_moves(pos, moves, count, goal_low, goal_high):
    """Append the king's moves to the goal squares, attacked or not; return the new count."""
    king = np.int64(pos.king[np.int64(pos.turn) & 1]) & 127
    if king == NO_KING:
        return count
    return write_moves(moves, count, king << 7, STEP[KING, king, 0] & goal_low, STEP[KING, king, 1] & goal_high)


@jit
def king_moves(pos, moves, count, goal_low, goal_high):
    """Append the king's legal moves to the goal squares; return the new count."""
    us = np.int64(pos.turn) & 1
    king = np.int64(pos.king[us]) & 127
    if king == NO_KING:
        return count
    low, high = occupied(pos)
    low &= ~BIT[king, 0]  # a slider attacks through the square that the king leaves
    high &= ~BIT[king, 1]
    a, b = STEP[KING, king, 0] & goal_low, STEP[KING, king, 1] & goal_high
    a, b = unattacked(pos, 1 - us, a, b, low, high)
    return write_moves(moves, count, king << 7, a, b)


@jit
def _files_without(pawns):
    """Return the files of a word in which no square is set; bits above the board are undefined.

    Adding all ranks but the ninth to any of them carries into the ninth's bit and never into another file.
    """
    empty = ~(((pawns & _OTHER_RANKS) + _OTHER_RANKS) | pawns) & _NINTH_RANK
    return empty | (empty - (empty >> _EIGHT))


@jit
def _drops(pos, moves, count, goal_low, goal_high):
    """Append drops to the goal squares, which are empty; return the new count."""
    us = np.int64(pos.turn) & 1
    hand = pos.hands[us]
    if hand[PAWN]:
        low, high = goal_low & ~DEAD_ONE[us, 0], goal_high & ~DEAD_ONE[us, 1]
        low &= _files_without(pos.groups[PAWN, 0] & pos.colours[us, 0]) & ALL_LOW
        high &= _files_without(pos.groups[PAWN, 1] & pos.colours[us, 1]) & ALL_HIGH
        king = np.int64(pos.king[1 - us])
        if king != NO_KING:
            head_low, head_high = STEP[(1 - us) * KINDS + PAWN, king, 0], STEP[(1 - us) * KINDS + PAWN, king, 1]
            if ((low & head_low) | (high & head_high)) != NONE and is_drop_pawn_mate(
                pos, np.int64(first_square(head_low, head_high))
            ):
                low &= ~head_low
                high &= ~head_high
        count = write_moves(moves, count, (DROP_ORIGIN + PAWN) << 7, low, high)
    if hand[LANCE]:
        low, high = goal_low & ~DEAD_ONE[us, 0], goal_high & ~DEAD_ONE[us, 1]
        count = write_moves(moves, count, (DROP_ORIGIN + LANCE) << 7, low, high)
    if hand[KNIGHT]:
        low, high = goal_low & ~DEAD_TWO[us, 0], goal_high & ~DEAD_TWO[us, 1]
        count = write_moves(moves, count, (DROP_ORIGIN + KNIGHT) << 7, low, high)
    for kind in range(SILVER, HAND_KINDS):
        if hand[kind]:
            count = write_moves(moves, count, (DROP_ORIGIN + kind) << 7, goal_low, goal_high)
    return count


@jit
def is_drop_pawn_mate(pos, square):
    """Return whether a pawn dropped by the mover on `square`, in front of the enemy king, would be mate
    (uchifuzume)."""
    us = np.int64(pos.turn) & 1
    them = 1 - us
    king = np.int64(pos.king[them])
    low, high = occupied(pos)
    low |= BIT[square, 0]
    high |= BIT[square, 1]
    # Another piece may take the pawn, unless it is pinned to another line.
    a, b = attackers(pos, them, square, low, high)
    a &= ~BIT[king, 0]
    b &= ~BIT[king, 1]
    pins_low, pins_high = pinned(pos, them)
    line = DIRECTION[king, square]
    if ((a & (~pins_low | RAYS[line, king, 0])) | (b & (~pins_high | RAYS[line, king, 1]))) != NONE:
        return False
    # The king may step aside or take the pawn.
    low &= ~BIT[king, 0]
    high &= ~BIT[king, 1]
    a, b = STEP[KING, king, 0] & ~pos.colours[them, 0], STEP[KING, king, 1] & ~pos.colours[them, 1]
    return not has_unattacked(pos, us, a, b, low, high)


@jit
def generate(pos, moves, count, which):
    """Append legal moves to `moves` (uint16 [>= MAX_MOVES]) from index `count`; return the new count.

    `which` (int64) is a sum of TACTICAL, QUIET, INFERIOR (more moves of the kinds that the others name) and
    KING_UNTESTED (the caller must ask `king_may_go` for each move of the king).
    """
    us = np.int64(pos.turn) & 1
    them = 1 - us
    low, high = occupied(pos)
    own_low, own_high = pos.colours[us, 0], pos.colours[us, 1]
    wanted_low, wanted_high = NONE, NONE
    if which & TACTICAL:
        wanted_low, wanted_high = pos.colours[them, 0], pos.colours[them, 1]
    if which & QUIET:
        wanted_low, wanted_high = wanted_low | (ALL_LOW & ~low), wanted_high | (ALL_HIGH & ~high)
    if which & KING_UNTESTED:
        count = _untested_king_moves(pos, moves, count, wanted_low, wanted_high)
    else:
        count = king_moves(pos, moves, count, wanted_low, wanted_high)
    mask_low, mask_high = ALL_LOW, ALL_HIGH
    checkers_low, checkers_high = pos.checkers[0], pos.checkers[1]
    if (checkers_low | checkers_high) != NONE:
        if popcount(checkers_low) + popcount(checkers_high) > ONE:
            return count
        checker = np.int64(first_square(checkers_low, checkers_high))
        mask_low, mask_high = between(np.int64(pos.king[us]), checker)
        mask_low |= checkers_low
        mask_high |= checkers_high
    goal_low, goal_high = wanted_low & mask_low, wanted_high & mask_high
    pins_low, pins_high = pinned(pos, us)
    pawns_low, pawns_high = pos.groups[PAWN, 0] & own_low, pos.groups[PAWN, 1] & own_high
    king = np.int64(pos.king[us])
    # A pinned pawn may still move along its own file.
    bound_low, bound_high = pawns_low & pins_low, pawns_high & pins_high
    if (bound_low | bound_high) != NONE:
        file = king // 9
        bound_low &= ~FILES[file, 0]
        bound_high &= ~FILES[file, 1]
    # All promotions of pawns are tactical, also those that capture nothing.
    pawn_low, pawn_high = ~own_low & mask_low & ALL_LOW, ~own_high & mask_high & ALL_HIGH
    free = (pawns_low & ~bound_low, pawns_high & ~bound_high)
    count = _pawn_moves(pos, moves, count, which, free, pawn_low, pawn_high)
    pins, goal = (pins_low, pins_high), (goal_low, goal_high)
    count = _step_moves(pos, moves, count, pins, goal)
    count = _slide_moves(pos, moves, count, which, pins, goal)
    if which & QUIET:
        count = _drops(pos, moves, count, mask_low & ALL_LOW & ~low, mask_high & ALL_HIGH & ~high)
    return count


@jit
def legal_moves(pos, moves):
    """Write every legal move to `moves` (uint16 [MAX_MOVES]); return their number."""
    return generate(pos, moves, np.int64(0), np.int64(EVERY))


def list_moves(pos: np.void, which: int = EVERY) -> list[int]:
    """Return the legal moves (16 bits) of a record, for Python callers; `which` as for `generate`."""
    buffer = np.zeros(MAX_MOVES, np.uint16)
    return buffer[: generate(pos, buffer, np.int64(0), np.int64(which))].tolist()


@jit
def is_legal(pos, move):
    """Return whether a 16-bit number is a legal move here, for moves from tables, books and GUIs."""
    move = np.int64(move)
    us = np.int64(pos.turn) & 1
    target = move & 127
    origin = (move >> 7) & 127
    if target >= SQUARES or move < 0 or move > 0x7FFF or origin == target:
        return False
    low, high = occupied(pos)
    target_low, target_high = BIT[target, 0], BIT[target, 1]
    if ((target_low & pos.colours[us, 0]) | (target_high & pos.colours[us, 1])) != NONE:
        return False
    if origin >= DROP_ORIGIN:
        return _is_legal_drop(pos, move, target, origin - DROP_ORIGIN)
    if ((BIT[origin, 0] & pos.colours[us, 0]) | (BIT[origin, 1] & pos.colours[us, 1])) == NONE:
        return False
    piece = np.int64(pos.board[origin])
    kind = piece - us * KINDS
    a, b = attacks(piece, origin, low, high)
    if ((a & target_low) | (b & target_high)) == NONE:
        return False
    if move & PROMOTE:
        both_low, both_high = BIT[origin, 0] | target_low, BIT[origin, 1] | target_high
        if kind >= GOLD or ((both_low & PROMOTION_ZONE[us, 0]) | (both_high & PROMOTION_ZONE[us, 1])) == NONE:
            return False
    elif _is_dead(us, kind, target):
        return False
    king = np.int64(pos.king[us])
    if king == NO_KING:
        return True
    if kind == KING:
        return king_may_go(pos, move)
    pins_low, pins_high = pinned(pos, us)
    if ((BIT[origin, 0] & pins_low) | (BIT[origin, 1] & pins_high)) != NONE:
        line = DIRECTION[king, origin]
        if ((RAYS[line, king, 0] & target_low) | (RAYS[line, king, 1] & target_high)) == NONE:
            return False
    return _answers_check(pos, us, target)


@jit
def _is_dead(colour, kind, square):
    """Return whether an unpromoted piece of the kind could never move from `square`."""
    rank = square % 9 if colour == 0 else 8 - square % 9
    return ((kind == PAWN or kind == LANCE) and rank == 0) or (kind == KNIGHT and rank < 2)


@jit
def _answers_check(pos, us, target):
    """Return whether moving a piece other than the king to `target` ends every check."""
    low, high = pos.checkers[0], pos.checkers[1]
    if (low | high) == NONE:
        return True
    if popcount(low) + popcount(high) > ONE:
        return False
    a, b = between(np.int64(pos.king[us]), np.int64(first_square(low, high)))
    return (((a | low) & BIT[target, 0]) | ((b | high) & BIT[target, 1])) != NONE


@jit
def _is_legal_drop(pos, move, target, kind):
    us = np.int64(pos.turn) & 1
    if kind >= HAND_KINDS or move & PROMOTE or pos.board[target] != EMPTY or pos.hands[us, kind] == 0:
        return False
    if _is_dead(us, kind, target) or not _answers_check(pos, us, target):
        return False
    if kind != PAWN:
        return True
    file = target // 9
    own_low, own_high = pos.groups[PAWN, 0] & pos.colours[us, 0], pos.groups[PAWN, 1] & pos.colours[us, 1]
    if ((own_low & FILES[file, 0]) | (own_high & FILES[file, 1])) != NONE:
        return False
    king = np.int64(pos.king[1 - us])
    gives_check = king != NO_KING and (
        ((STEP[us * KINDS + PAWN, target, 0] & BIT[king, 0]) | (STEP[us * KINDS + PAWN, target, 1] & BIT[king, 1]))
        != NONE
    )
    return not (gives_check and is_drop_pawn_mate(pos, target))
