"""Gather decoded positions, scattered over a pool, into batches, with the visit counts of their candidates."""

from __future__ import annotations

import numpy as np

from lite.records.batch import BATCH_FIELDS, Batch, Visits
from lite.records.formats import move_dtype
from search.compiling.jit import jit
from search.primitives.memory import prefetch
from search.rules.shogi import HAND_KINDS, SQUARES

_CANDIDATES = 4
"""Offset of the number of candidates in a move header."""
_MOVE_BYTES = move_dtype.itemsize
_AHEAD = 12
"""Positions between a prefetch and its use: about the latency of main memory."""
_LINE = 64


@jit
def gather_positions(
    pool, address, order, at, pieces, hands, in_check, turn, kind_of_result, scored, score, ply, move, result
):
    """Copy pool[order] (`labelled_dtype`, at `address`) into a batch's arrays, starting at row `at`.

    The rows are scattered over more memory than the caches hold, so each one is prefetched."""
    row_bytes = np.uint64(pool.itemsize)
    for index in range(order.size):
        if index + _AHEAD < order.size:
            coming = np.uint64(address) + np.uint64(order[index + _AHEAD]) * row_bytes
            prefetch(coming)
            prefetch(coming + np.uint64(_LINE))
        record = pool[order[index]]
        row = at + index
        for square in range(SQUARES):
            pieces[row, square] = record.pieces[square]
        for kind in range(2 * HAND_KINDS):
            hands[row, kind] = record.hands[kind]
        in_check[row] = record.in_check
        turn[row] = record.turn
        kind_of_result[row] = record.kind_of_result
        scored[row] = record.scored
        score[row] = record.score
        ply[row] = record.ply
        move[row] = record.move
        result[row] = record.result


def gather(pool: np.ndarray, order: np.ndarray, batch: Batch, at: int) -> None:
    """Copy the positions pool[order] into `batch`, starting at its row `at`."""
    arrays = [getattr(batch, name) for name in BATCH_FIELDS]
    gather_positions(pool, np.uint64(pool.ctypes.data), order, np.int64(at), *arrays)


@jit
def _count_candidates(raw, places):
    """Return the total number of candidates of the moves at these offsets in `raw`; offsets below 0 are skipped."""
    total = 0
    for at in places:
        if at >= 0:
            total += np.int64(raw[at + _CANDIDATES]) | np.int64(raw[at + _CANDIDATES + 1]) << 8
    return total


@jit
def _copy_candidates(raw, places, first, position, words):
    """Fill position i8[rows] and words u2[rows, 2] (move, visits); the first offset belongs to position `first`."""
    row = 0
    for index in range(len(places)):
        at = places[index]
        if at < 0:
            continue
        count = np.int64(raw[at + _CANDIDATES]) | np.int64(raw[at + _CANDIDATES + 1]) << 8
        at += _MOVE_BYTES
        for _ in range(count):
            position[row] = first + index
            for half in range(2):
                words[row, half] = np.int64(raw[at]) | np.int64(raw[at + 1]) << 8
                at += 2
            row += 1


def gather_visits(raw: np.ndarray, places: np.ndarray, first: int) -> Visits:
    """Return the visit counts of a batch's positions from index `first` on; places: their `visits_at`, i8 (n,), which
    are offsets in `raw` (u1)."""
    rows = int(_count_candidates(raw, places))
    position, words = np.empty(rows, np.int64), np.empty((rows, 2), np.uint16)
    _copy_candidates(raw, places, np.int64(first), position, words)
    return Visits(position, words[:, 0].copy(), words[:, 1].copy())


def join_visits(parts: list[Visits]) -> Visits:
    """Return the rows of all parts, concatenated."""
    return Visits(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("position", "move", "visits")))
