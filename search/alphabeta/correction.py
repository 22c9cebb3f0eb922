"""Correction history: the error of the static evaluation in similar positions, and the evaluation without it.

Positions are similar if they share their pawns, their small pieces, one side's pieces without pawns, their hands, or
the last move together with the move 2 or 4 plies before the position. Each of these classes has a table of errors,
indexed by hash (Stockfish's correction histories; the class of hands is this engine's own).
"""

from __future__ import annotations

import numpy as np

from search.alphabeta.history import reward
from search.alphabeta.parameters import CORRECTION
from search.alphabeta.thread import CORRECTION_BITS, LIKENESSES
from search.compiling.jit import jit
from search.primitives.memory import prefetch
from search.rules.position import PARTS
from search.score import MAX_EVALUATION

LIMIT = 1024
"""Largest absolute entry."""
_SHARES = np.array([128, 153, 187, 187, 128, 126, 63], np.int64)
"""128ths of an error that each class learns."""
_MIX = np.array([0x165667B19E3779F9, 0xD6E8FEB86659FD93, 0x9FB21C651E98DF25, 0x94D049BB133111EB], np.uint64)
"""Odd multipliers that spread a number's bits over a word."""
_SHIFT = np.uint64(64 - CORRECTION_BITS)


@jit
def note_likenesses(pos, thread, ply):
    """Compute the node's index in the table of each class: `thread.correction_index[ply]`.

    Also prefetches the entries. Call it before the evaluation and before `correct`.
    """
    if thread.steps & CORRECTION == 0:
        return
    parts = pos.part_keys[pos.ply]
    held = pos.packed_hands[pos.ply]
    hands = np.uint64(held[0]) * _MIX[0] ^ np.uint64(held[1]) * _MIX[1]
    last = np.uint64(thread.continuation[ply])
    two = np.uint64(thread.continuation[max(ply - 1, np.int64(0))])
    four = np.uint64(thread.continuation[max(ply - 3, np.int64(0))])
    index = thread.correction_index[ply]
    for part in range(PARTS):
        index[part] = parts[part] >> _SHIFT
    index[4] = hands >> _SHIFT
    index[5] = ((two * np.uint64(4096) + last) * _MIX[2]) >> _SHIFT
    index[6] = ((four * np.uint64(4096) + last) * _MIX[3]) >> _SHIFT
    for likeness in range(LIKENESSES):
        row = thread.correction[likeness, pos.turn]
        prefetch(np.uint64(row.ctypes.data) + np.uint64(2) * np.uint64(index[likeness]))


@jit
def correct(pos, thread, ply, evaluation):
    """Return the static evaluation (int64, centipawns) minus the learnt errors of similar positions.

    Their sum stays in `thread.correction_value[ply]`, in 131072ths of a centipawn.
    """
    thread.correction_value[ply] = 0
    if thread.steps & CORRECTION == 0:
        return evaluation
    total = np.int64(0)
    for likeness in range(LIKENESSES):
        index = np.int64(thread.correction_index[ply, likeness])
        total += thread.parameters.correction_weights[likeness] * thread.correction[likeness, pos.turn, index]
    total = total * thread.parameters.correction_worth >> 10
    thread.correction_value[ply] = total
    return min(max(evaluation + (total >> 17), np.int64(-MAX_EVALUATION)), np.int64(MAX_EVALUATION))


@jit
def learn_correction(pos, thread, ply, depth, error, found):
    """Learn the error (int64, centipawns) of a node's evaluation; deeper searches count more.

    `found` says whether a move reached alpha.
    """
    if thread.steps & CORRECTION == 0:
        return
    rate = np.int64(thread.parameters.correction_found if found else thread.parameters.correction_unreached)
    bonus = error * depth * rate // 512
    bonus = min(max(bonus, np.int64(-LIMIT // 4)), np.int64(LIMIT // 4))
    for likeness in range(LIKENESSES):
        index = np.int64(thread.correction_index[ply, likeness])
        thread.correction[likeness, pos.turn, index] = reward(
            thread.correction[likeness, pos.turn, index], bonus * _SHARES[likeness] // 128, np.int64(LIMIT)
        )
