"""Rows that depend on the own king's square, and how training shares their weights.

- `none`: rows do not depend on the king.
- `mirrored`: a side whose king stands on the files 6 to 9 sees the board left-right reversed, so that every pattern
  about a king is learnt for both wings at once.
- `zones`, `all`: rows of their own for each of nine zones of 3x3 squares, or for each square. In training they are a
  base that all buckets share, and what each bucket adds to it, which is nothing at first.

The engine knows one feature set for all of these, `king_piece_square`: `unfold` writes out the reversed rows, and a
network's `rows()` the sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import torch

from lite.networks.first_layer import CHECK_ROW, ROWS
from search.compiling.jit import jit
from search.evaluation.feature_sets import NO_KING, PIECE_SQUARE_ROWS, FeatureSet, king_piece_square, piece_square
from search.rules.shogi import HAND_CODES, KING, MIRRORED_SQUARE, SQUARES

KingName = Literal["none", "mirrored", "zones", "all"]
_CENTRE_FILE = 4
_KING_ROW = KING * SQUARES
MIRRORED_ROW = np.arange(ROWS, dtype=np.uint16)
"""Row of the same feature on the board left-right reversed."""
MIRRORED_ROW[:HAND_CODES] = (np.arange(28)[:, None] * SQUARES + MIRRORED_SQUARE).ravel()


@dataclass(frozen=True, eq=False)
class Kings:
    """The dependence of a network's rows on the own king's square; `kings(name)` returns one."""

    feature_set: FeatureSet
    """Feature set of the folded rows."""
    mirrored: bool = False
    """Whether the second of two buckets has the first one's rows, reversed."""

    @property
    def buckets(self) -> int:
        """Number of buckets with own rows in training."""
        return 1 if self.mirrored else int(self.feature_set.king_bucket.max()) + 1

    def unfold(self, rows: torch.Tensor) -> torch.Tensor:
        """Return the table of the feature set from the trained one: PIECE_SQUARE_ROWS per bucket, then "in check"."""
        if not self.mirrored:
            return rows
        board = rows[:PIECE_SQUARE_ROWS]
        reverse = torch.from_numpy(MIRRORED_ROW[:PIECE_SQUARE_ROWS].astype(np.int64)).to(rows.device)
        return torch.cat((board, board[reverse], rows[PIECE_SQUARE_ROWS:]))

    def of_boards(self, x1: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return boards int64 (B, 81) as the own king sees them, and the trained bucket (B,) of each."""
        if self.feature_set.king_stride == 0:
            return x1, torch.zeros_like(x1[:, 0])
        own = x1 == KING
        square = torch.where(own.any(1), own.int().argmax(1), NO_KING)
        bucket = torch.from_numpy(self.feature_set.king_bucket.astype(np.int64)).to(x1.device)[square]
        if not self.mirrored:
            return x1, bucket
        reversed_ = x1[:, torch.from_numpy(MIRRORED_SQUARE)]
        return torch.where((bucket == 1)[:, None], reversed_, x1), torch.zeros_like(bucket)

    def place(self, rows: np.ndarray, start: np.ndarray, hands_apart: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Return rows of `list_active_rows` as the own king of each sample sees them, numbered as in the trained table.

        start: of `list_active_rows`. hands_apart: whether the table has the board's rows of all buckets before the
        hands'. Returns (rows, an unsigned integer array [total], and start).
        """
        if self.feature_set.king_stride == 0:
            return rows, start
        board, hand = (HAND_CODES, PIECE_SQUARE_ROWS - HAND_CODES) if hands_apart else (PIECE_SQUARE_ROWS,) * 2
        first_hand = self.buckets * HAND_CODES if hands_apart else HAND_CODES
        strides = np.array([board, hand, first_hand - HAND_CODES, self.buckets * PIECE_SQUARE_ROWS], np.int64)
        placed = np.empty(len(rows), np.uint32)
        _place_rows(rows, start, self.feature_set.king_bucket, np.int64(self.mirrored), strides, placed)
        return placed, start


@jit
def _place_rows(rows, start, king_bucket, mirrored, strides, placed):
    """Write the numbers of rows in the trained table to `placed`, for `Kings.place`. strides: distance between buckets
    of board rows and of hand rows, offset of hand rows, and the check row."""
    for sample in range(len(start) - 1):
        king = NO_KING
        for place in range(start[sample], start[sample + 1]):
            row = np.int64(rows[place])
            if _KING_ROW <= row < _KING_ROW + SQUARES:
                king = row - _KING_ROW
                break
        bucket = np.int64(king_bucket[king])
        for place in range(start[sample], start[sample + 1]):
            row = np.int64(rows[place])
            if row == CHECK_ROW:
                placed[place] = strides[3]
            elif mirrored:
                placed[place] = MIRRORED_ROW[row] if bucket else row
            elif row < HAND_CODES:
                placed[place] = row + bucket * strides[0]
            else:
                placed[place] = row + bucket * strides[1] + strides[2]


@cache
def kings(name: str) -> Kings:
    """Return the dependence of a name in KING_NAMES."""
    squares = np.arange(SQUARES)
    if name == "none":
        return Kings(piece_square())
    if name == "mirrored":
        return Kings(king_piece_square((squares // 9 > _CENTRE_FILE).astype(np.int64)), mirrored=True)
    return Kings(king_piece_square(squares if name == "all" else None))


KING_NAMES = ("none", "mirrored", "zones", "all")
