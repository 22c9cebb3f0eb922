"""Labelled positions as arrays: a structured dtype of positions as they are read, and batches of columns."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from search.rules.shogi import HAND_KINDS, SQUARES

labelled_dtype = np.dtype(
    [
        ("pieces", np.uint8, SQUARES),
        ("hands", np.uint8, 2 * HAND_KINDS),
        ("in_check", np.bool_),
        ("visits_at", np.int64),  # offset of the move header before the candidates in the bytes read; -1: not read
        ("turn", np.uint8),
        ("kind_of_result", np.uint8),
        ("scored", np.bool_),
        ("score", np.int16),
        ("ply", np.int16),
        ("move", np.uint16),
        ("result", np.float32),
    ],
    align=True,
)
"""One labelled position: the fields of `Batch`, and the offset of its candidates in the bytes that were read."""


@dataclass(slots=True)
class Visits:
    """Visit counts of the moves of a batch's positions, one row per move; rows of a position are adjacent."""

    position: np.ndarray
    """i8 (rows,): index of the position in the batch, ascending. A position without known visits has no row."""
    move: np.ndarray
    """u2 (rows,): a legal move, encoded as in `Batch.move`."""
    visits: np.ndarray
    """u2 (rows,): how often the search visited the move."""


@dataclass(slots=True)
class Batch:
    """Labelled positions as arrays. All fields except `turn` and `move` are in the view of the side to move (mover)."""

    pieces: np.ndarray
    """u1 (B, 81): 0-13 own kinds, 14-27 enemy kinds, 28 empty; the board is turned so that the mover plays upward."""
    hands: np.ndarray
    """u1 (B, 14): numbers of pieces in hand, own P L N S B R G, then the enemy's."""
    in_check: np.ndarray
    """bool (B,): whether the mover is in check."""
    turn: np.ndarray
    """u1 (B,): the side to move, 0 black, 1 white."""
    kind_of_result: np.ndarray
    """u1 (B,): bits 4 sennichite, 8 declaration, 16 move limit, 32 king entered (only on request), 64 position without
    a game; 0 where the file does not record it."""
    scored: np.ndarray
    """bool (B,): whether the score is known."""
    score: np.ndarray
    """i2 (B,): score in centipawns for the mover; 0 where unknown."""
    ply: np.ndarray
    """i2 (B,): moves played before the position since the start of its record. -1 is unknown: hcpe, psv without a move
    number, and one-move games of hcpe3, which may be positions without their games."""
    move: np.ndarray
    """u2 (B,): the move played or found, 16 bits as in hcpe on the real board (not turned); 0 is unknown."""
    result: np.ndarray
    """f4 (B,): result for the mover: 1 win, 0.5 draw, 0 loss."""
    visits: Visits | None = None
    """Visit counts of the hcpe3 candidates, if the reader has `read_visits`."""

    def __len__(self) -> int:
        return len(self.score)


BATCH_FIELDS = tuple(field.name for field in fields(Batch) if field.name in (labelled_dtype.names or ()))
"""Names of the `Batch` arrays that have one row per position."""


def empty_batch(size: int) -> Batch:
    """Return a batch of `size` positions with uninitialised arrays."""
    arrays: dict[str, Any] = {
        name: np.empty((size, *labelled_dtype[name].shape), labelled_dtype[name].base) for name in BATCH_FIELDS
    }
    return Batch(**arrays)


def as_batch(positions: np.ndarray) -> Batch:
    """Return a batch of contiguous arrays copied from an array of `labelled_dtype`."""
    arrays: dict[str, Any] = {name: np.ascontiguousarray(positions[name]) for name in BATCH_FIELDS}
    return Batch(**arrays)
