"""Static exchange evaluation: whether a move wins a given amount in the captures on its target square."""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.evaluation.material import PIECE_VALUE
from search.rules.attacks import attackers_of_both, sliders_to
from search.rules.bitboard import BIT, DRAGONS, GOLDS, GROUP, GROUPS, HORSES, NONE
from search.rules.position import first_square, occupied
from search.rules.shogi import (
    BISHOP,
    DROP_ORIGIN,
    EMPTY,
    KINDS,
    KING,
    KNIGHT,
    LANCE,
    PAWN,
    PROMOTE,
    PROMOTION,
    ROOK,
    SILVER,
)

_KING_VALUE = 15000
EXCHANGE_VALUE = np.where(np.arange(KINDS) == KING, _KING_VALUE, PIECE_VALUE)
"""Centipawns of each kind; the king's value exceeds what an exchange can win."""
# Groups from the least to the most valuable attacker.
_ATTACK_ORDER = np.array([PAWN, LANCE, KNIGHT, SILVER, GOLDS, BISHOP, HORSES, ROOK, DRAGONS, KING], np.int64)
_GROUP_VALUE = np.zeros(GROUPS, np.int64)
_GROUP_VALUE[GROUP] = EXCHANGE_VALUE


@jit
def capture_gain(pos, move):
    """Centipawns that a move wins at once: the captured piece and the gain of promotion."""
    target, origin = move & 127, (move >> 7) & 127
    gain = np.int64(0)
    taken = np.int64(pos.board[target])
    if taken != EMPTY:
        gain = EXCHANGE_VALUE[taken % KINDS]
    if move & PROMOTE:
        kind = np.int64(pos.board[origin]) % KINDS
        gain += EXCHANGE_VALUE[kind + PROMOTION] - EXCHANGE_VALUE[kind]
    return gain


@jit
def exchange_wins(pos, move, threshold):
    """Whether the exchange started by `move` on its target square wins at least `threshold` centipawns.

    Both sides capture with their least valuable piece and stop when that is better; pins are ignored.
    """
    move = np.int64(move)
    target, origin = move & 127, (move >> 7) & 127
    us = np.int64(pos.turn)
    balance = capture_gain(pos, move) - threshold
    if balance < 0:
        return False
    low, high = occupied(pos)
    low |= BIT[target, 0]
    high |= BIT[target, 1]
    if origin >= DROP_ORIGIN:
        kind = origin - DROP_ORIGIN
    else:
        kind = np.int64(pos.board[origin]) % KINDS
        if move & PROMOTE:
            kind += PROMOTION
        low &= ~BIT[origin, 0]
        high &= ~BIT[origin, 1]
    balance -= EXCHANGE_VALUE[kind]
    if balance >= 0:
        return True
    side = 1 - us
    all_low, all_high = attackers_of_both(pos, target, low, high)
    wins = True
    while True:
        all_low &= low
        all_high &= high
        mine_low, mine_high = all_low & pos.colours[side, 0], all_high & pos.colours[side, 1]
        if (mine_low | mine_high) == NONE:
            break
        group = np.int64(KING)
        piece_low, piece_high = NONE, NONE
        for candidate in _ATTACK_ORDER:
            piece_low, piece_high = mine_low & pos.groups[candidate, 0], mine_high & pos.groups[candidate, 1]
            if (piece_low | piece_high) != NONE:
                group = candidate
                break
        if group == KING:
            # The king captures only if no attacker is left.
            other_low, other_high = all_low & pos.colours[1 - side, 0], all_high & pos.colours[1 - side, 1]
            if (other_low | other_high) == NONE:
                wins = not wins
            break
        wins = not wins
        balance = -balance - 1 - _GROUP_VALUE[group]
        if balance >= 0:
            break
        square = np.int64(first_square(piece_low, piece_high))
        low &= ~BIT[square, 0]
        high &= ~BIT[square, 1]
        if group != KNIGHT:  # nothing stands behind a knight's jump
            a, b = sliders_to(pos, target, low, high)
            all_low |= a
            all_high |= b
        side = 1 - side
    return wins
