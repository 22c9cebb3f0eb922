"""Declaration wins (nyugyoku): when the mover may declare a win instead of moving.

Points: 5 for each own rook and bishop (promoted or not), 1 for every other piece but the king, counted in hand and in
the enemy camp (its three ranks). The mover declares with the king in the camp, not in check, with ten more own pieces
in the camp and enough points. The 27-point rule of the CSA requires 28 of black and 27 of white. The 24-point rule
requires 31 of either side; 24 to 30 points are a draw there, so no win. In handicap games two variants reduce the
points that white, the giver of the handicap, needs by the points of the pieces left out at the start (YaneuraOu's
CSARule24H and CSARule27H). The try rule requires the king on the starting square of the enemy king; it is won by a
move, see `try_move`.
"""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.primitives.bits import popcount
from search.rules.bitboard import DRAGONS, HORSES, PROMOTION_ZONE
from search.rules.declaration_names import DeclarationRule
from search.rules.movegen import is_legal
from search.rules.position import NO_KING, in_check
from search.rules.shogi import BISHOP, HAND_KINDS, ROOK

NO_RULE, RULE_24, RULE_27, TRY_RULE, RULE_24_HANDICAP, RULE_27_HANDICAP = range(6)
RULES: dict[DeclarationRule, int] = {
    "NoEnteringKing": NO_RULE,
    "CSARule24": RULE_24,
    "CSARule24H": RULE_24_HANDICAP,
    "CSARule27": RULE_27,
    "CSARule27H": RULE_27_HANDICAP,
    "TryRule": TRY_RULE,
}
"""Numbers of the rules by YaneuraOu's names."""
ALL_POINTS = 56
"""Points of a whole set of pieces; each king counts one."""
_BLACK_TRY, _WHITE_TRY = 4 * 9, 4 * 9 + 8  # 51 and 59


@jit
def declaration_points(pos):
    """Return (points, pieces in the camp without the king, whether the king is there) of the mover."""
    us = np.int64(pos.turn)
    camp_low = PROMOTION_ZONE[us, 0] & pos.colours[us, 0]
    camp_high = PROMOTION_ZONE[us, 1] & pos.colours[us, 1]
    king = pos.king[us]
    entered = king != NO_KING and ((king % 9 < 3) if us == 0 else (king % 9 > 5))
    pieces = np.int64(popcount(camp_low) + popcount(camp_high))
    if entered:
        pieces -= 1
    g = pos.groups
    big_low = (g[BISHOP, 0] | g[ROOK, 0] | g[HORSES, 0] | g[DRAGONS, 0]) & camp_low
    big_high = (g[BISHOP, 1] | g[ROOK, 1] | g[HORSES, 1] | g[DRAGONS, 1]) & camp_high
    points = pieces + 4 * np.int64(popcount(big_low) + popcount(big_high))
    for kind in range(HAND_KINDS):
        points += np.int64(pos.hands[us, kind]) * (5 if kind == BISHOP or kind == ROOK else 1)
    return points, pieces, entered


@jit
def points_left_out(pos):
    """Return the points of the pieces that are neither on the board nor in a hand: the handicap of the game."""
    points = np.int64(0)
    for colour in range(2):
        points += np.int64(popcount(pos.colours[colour, 0]) + popcount(pos.colours[colour, 1]))
        for kind in range(HAND_KINDS):
            points += np.int64(pos.hands[colour, kind]) * (5 if kind == BISHOP or kind == ROOK else 1)
    g = pos.groups
    big_low = g[BISHOP, 0] | g[ROOK, 0] | g[HORSES, 0] | g[DRAGONS, 0]
    big_high = g[BISHOP, 1] | g[ROOK, 1] | g[HORSES, 1] | g[DRAGONS, 1]
    return ALL_POINTS - points - 4 * np.int64(popcount(big_low) + popcount(big_high))


@jit
def can_declare(pos, rule):
    """Return whether the mover may declare a win under a rule that counts points; False for the other rules."""
    if rule == NO_RULE or rule == TRY_RULE:
        return False
    if in_check(pos):
        return False
    points, pieces, entered = declaration_points(pos)
    if not entered or pieces < 10:
        return False
    needed = np.int64(31)
    if rule == RULE_27 or rule == RULE_27_HANDICAP:
        needed = np.int64(28) if pos.turn == 0 else np.int64(27)
    if pos.turn == 1 and (rule == RULE_24_HANDICAP or rule == RULE_27_HANDICAP):
        needed -= points_left_out(pos)
    return points >= needed


@jit
def try_move(pos):
    """Return the legal king move that wins by the try rule, or 0."""
    us = np.int64(pos.turn)
    if pos.king[us] == NO_KING:
        return 0
    move = np.int64(pos.king[us]) << 7 | (_BLACK_TRY if us == 0 else _WHITE_TRY)
    return move if is_legal(pos, move) else 0
