"""Positions that exported networks are checked on: from records, or from random games with a fixed seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from search.compiling.jit import jit
from search.rules.movegen import MAX_MOVES, legal_moves
from search.rules.position import do_move
from search.rules.sfen import position_from_sfen
from search.rules.shogi import HAND_KINDS, SQUARES
from search.rules.view import view_position

GAME_PLIES = 160
"""Length of random games: later positions have few pieces but kings."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Positions in the mover's view."""

    pieces: np.ndarray
    """u1 (B, 81)."""
    hands: np.ndarray
    """u1 (B, 14)."""
    in_check: np.ndarray
    """bool (B,)."""
    result: np.ndarray | None
    """f4 (B,), 1 win, 0.5 draw, 0 loss of the mover, NaN without a game; None for random games."""
    source: str
    """Names of the record files, or `random games`."""

    def __len__(self) -> int:
        return len(self.pieces)

    def part(self, first: int, last: int) -> Sample:
        """Return the positions of a range."""
        result = None if self.result is None else self.result[first:last]
        return Sample(self.pieces[first:last], self.hands[first:last], self.in_check[first:last], result, self.source)


@jit
def _play(pos, choices, pieces, hands, in_check, first):
    """Write the positions of a game from index `first` and return the index after them; `choices` select the moves."""
    moves = np.zeros(MAX_MOVES, np.uint16)
    index = first
    for choice in choices:
        count = legal_moves(pos, moves)
        if count == 0 or index == len(pieces):
            break
        do_move(pos, np.int64(moves[choice % count]))
        view_position(pos, pieces, hands, in_check, index)
        index += 1
    return index


def random_sample(count: int, seed: int = 1) -> Sample:
    """Return `count` positions of random legal games from the start position, without results."""
    pieces, hands = np.zeros((count, SQUARES), np.uint8), np.zeros((count, 2 * HAND_KINDS), np.uint8)
    in_check = np.zeros(count, np.bool_)
    index, generator = 0, np.random.default_rng(seed)
    while index < count:
        choices = generator.integers(0, 1 << 30, GAME_PLIES)
        index = int(_play(position_from_sfen("startpos"), choices, pieces, hands, in_check, np.int64(index)))
    return Sample(pieces, hands, in_check, None, "random games")


def read_sample(paths: Sequence[Path], count: int) -> Sample:
    """Return at most `count` shuffled positions of record files; random ones if no file is given."""
    if not paths:
        return random_sample(count)
    from lite.records.formats import NO_GAME
    from lite.records.reader import Reader

    batches, found = [], 0
    for batch in Reader(tuple(paths), min(count, 8192), shuffle=True):
        batches.append(batch)
        found += len(batch.pieces)
        if found >= count:
            break
    if not batches:
        raise ValueError(f"{paths[0]}: holds no position that can be used; name other records")
    pieces, hands, in_check, result, kind = (
        np.concatenate([getattr(batch, name) for batch in batches])
        for name in ("pieces", "hands", "in_check", "result", "kind_of_result")
    )
    result = np.where(kind & NO_GAME, np.float32(np.nan), result)
    return Sample(pieces, hands, in_check, result, ", ".join(path.name for path in paths)).part(0, count)
