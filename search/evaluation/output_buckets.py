"""Output buckets: the number of pieces in hand chooses a row of the output layer, from openings to endings.

Pieces of both hands count, except a side's pawns beyond the eighth, which have no row in `piece_square`. The first
twenty pieces are divided evenly among the buckets; the last bucket also has all positions with more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from search.compiling.jit import jit
from search.rules.shogi import HAND_KINDS, PAWN

MAX_BUCKETS = 8
"""With two outputs each they fill one block of a kernel's outputs, so that all cost as much as one."""
SHARED_MEN = 20
COUNTED_PAWNS = 8


def bucket_of_men(men: Any, buckets: int) -> Any:
    """Return the buckets of numbers of pieces in hand, int64 (B,), an array or a tensor."""
    return (men * buckets // SHARED_MEN).clip(max=buckets - 1)


def bucket_of_hands(hands: Any, buckets: int) -> Any:
    """Return the buckets of hands int64 (B, 14), own P L N S B R G then the enemy's, an array or a tensor."""
    uncounted = (hands[:, [PAWN, HAND_KINDS + PAWN]] - COUNTED_PAWNS).clip(min=0)
    return bucket_of_men(hands.sum(1) - uncounted.sum(1), buckets)


@jit
def bucket_of_position(pos, buckets):
    """Return the bucket of a position's record, int64."""
    men = np.int64(0)
    for colour in range(2):
        for kind in range(HAND_KINDS):
            held = np.int64(pos.hands[colour, kind])
            men += min(held, COUNTED_PAWNS) if kind == PAWN else held
    return min(men * buckets // SHARED_MEN, buckets - 1)
