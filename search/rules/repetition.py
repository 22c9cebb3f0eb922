"""Repetition (sennichite) in the search and by the rule of the game.

The search asks at the first recurrence: a line that comes back to one of its positions could go round again, so its
value is known at once (as in Apery and YaneuraOu). The game itself ends at the fourth occurrence.

This value is sound if the line itself has visited the position before, because the side that loses by the repetition
could have moved otherwise. Moves before the root were not chosen by the line, and the opponent may find now what it
missed then. So a recurrence of a position of the game is a draw, but neither a loss by perpetual check before the rule
says so, nor a gain or loss by pieces that came into a hand since.
"""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.rules.position import HAND_BORROWS

NO_REPETITION, DRAW, WIN, LOSS, SUPERIOR, INFERIOR = range(6)
"""Verdicts from the mover's view. WIN and LOSS: the other side, or the mover, has given check all the way round.
SUPERIOR and INFERIOR: the board is the same, but the mover holds more, or less, than at the earlier ply."""


@jit
def hand_covers(larger, smaller):
    """Return whether a packed hand holds at least as many of every kind as another."""
    return ((larger - smaller) & HAND_BORROWS) == 0


@jit
def fourfold(pos):
    """Return the verdict of the game's rule at the fourth occurrence: DRAW, WIN or LOSS for the mover, else
    NO_REPETITION.

    The side that gave check with every move since the first of the four occurrences loses.
    """
    ply = np.int64(pos.ply)
    turn = np.int64(pos.turn)
    occurrences, first = 1, ply
    before = ply - 2
    while before >= ply - pos.plies_from_null and occurrences < 4:
        if pos.keys[before] == pos.keys[ply]:
            occurrences += 1
            first = before
        before -= 2
    if occurrences < 4:
        return NO_REPETITION
    if ply - first <= pos.check_runs[ply, turn]:
        return LOSS
    if ply - first <= pos.check_runs[ply, 1 - turn]:
        return WIN
    return DRAW


@jit
def repetition(pos, limit, line):
    """Return the verdict for the nearest earlier ply, at most `limit` (int64) plies back, that the position repeats.

    `line` is the number of plies (int64) since the root. For a ply before the root, perpetual check is judged by the
    rule of the game, and anything else with the same hands is a draw.
    """
    ply = np.int64(pos.ply)
    turn = np.int64(pos.turn)
    key, board_key = pos.keys[ply], pos.board_keys[ply]
    distance = np.int64(4)  # nothing recurs sooner
    while distance <= pos.plies_from_null and distance <= limit:
        before = ply - distance
        if pos.board_keys[before] == board_key:
            if pos.keys[before] == key:
                if distance <= pos.check_runs[ply, turn]:
                    return LOSS if distance <= line else fourfold(pos)
                if distance <= pos.check_runs[ply, 1 - turn]:
                    return WIN if distance <= line else fourfold(pos)
                return DRAW
            if distance <= line:
                held, earlier = pos.packed_hands[ply, turn], pos.packed_hands[before, turn]
                if hand_covers(held, earlier):
                    return SUPERIOR
                if hand_covers(earlier, held):
                    return INFERIOR
        distance += 2
    return NO_REPETITION


@jit
def game_repetition(pos, limit, line):
    """Return the verdict of the game's rule over the whole game if it has one, else that of `repetition`."""
    verdict = fourfold(pos)
    return repetition(pos, limit, line) if verdict == NO_REPETITION else verdict
