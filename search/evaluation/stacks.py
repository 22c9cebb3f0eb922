"""Layer stacks: which copy of the layers evaluates a position, by king zones, hands and progress.

    stack = (hand * KING + king) * PROGRESS + progress        an absent axis counts 1 and adds 0
    king  = zones * zone(king of the mover) + zone(other king)     each king as its owner sees it
    hand  = classes * class(hand of the mover) + class(other hand)
    progress: a logistic regression over king x BonaPiece pairs, cut into N equal parts of its probability

The names of the axes and the order of the stacks are YaneuraOu's (`source/eval/nnue/architectures/sfnn_network.h`).
A table of the sum's thresholds replaces the logistic function, so that every machine finds the same stack.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numba import types

from search.compiling.jit import jit
from search.evaluation.feature_sets import BONA_END, MEN, NO_KING, feature_set
from search.primitives.llvm import make_load
from search.rules.shogi import (
    BISHOP,
    CODES,
    EMPTY,
    GOLD,
    HAND_CODES,
    HAND_KINDS,
    HAND_OFFSET,
    HAND_SLOTS,
    KINDS,
    KING,
    KNIGHT,
    LANCE,
    PAWN,
    ROOK,
    SILVER,
    SQUARES,
)

MAX_STACKS = 1 << 23
PROGRESS_STEPS = 256
PROGRESS_SHIFT = 16
"""Bits after the point of the progress table's numbers."""


def _zones(listing: str) -> np.ndarray:
    """Return zones by square, int32 [82], from a listing of nine ranks, the ninth the owner's last."""
    ranks = [part.split(",") for part in listing.split()]
    table = np.zeros(NO_KING + 1, np.int32)
    for square in range(SQUARES):
        rank, file = square % 9, square // 9
        first = ranks[rank]
        step = int(first[1]) if len(first) == 2 else 0
        table[square] = int(first[0]) + (file // step if step else 0)
    return table


# A number is the zone of a whole rank; "n,s" has a zone for every s files, the first of them n.
KING_ZONES = {
    "k3k3": _zones("0 0 0 1 1 1 2 2 2"),
    "k9k9": _zones("0 1 2 3 4 5 6 7 8"),
    "k9k9z": _zones("0 0 0 1 1 1 2 3,3 6,3"),
    "k13k13z": _zones("0 1 2 3 4 5 6 7,3 10,3"),
    "k21k21": _zones("0 0 0 1 1 1 2 3,1 12,1"),
    "k29k29": _zones("0 0 0 1 1 1 2,1 11,1 20,1"),
}
"""int32 [82] by token: zone of a king by its square as its owner sees it."""


@dataclass(frozen=True)
class HandClasses:
    """Classes of one side's hand: bits of the kinds that it holds, plus the rounded quarter of a weighted count."""

    classes: int
    bits: tuple[int, ...]
    """By kind P L N S B R G: added once if the hand holds the kind; kinds of one bit count once together."""
    weights: tuple[int, ...] = (0,) * HAND_KINDS
    """By kind: points of each piece; the class is min(7, (points + 3) / 4)."""


def _bits(*groups: tuple[int, ...]) -> HandClasses:
    bits = [0] * HAND_KINDS
    for number, kinds in enumerate(groups):
        for kind in kinds:
            bits[kind] = 1 << number
    return HandClasses(1 << len(groups), tuple(bits))


HANDS = {
    "hand4": _bits((BISHOP,)),
    "hand16": _bits((PAWN,), (BISHOP,)),
    "hand64": _bits((PAWN, LANCE, KNIGHT), (GOLD, SILVER, ROOK), (BISHOP,)),
    "hand64z": HandClasses(8, (0,) * HAND_KINDS, (1, 2, 2, 3, 5, 5, 3)),
    "hand256": _bits((PAWN, LANCE, KNIGHT), (SILVER, GOLD), (BISHOP,), (ROOK,)),
    "hand1024": _bits((PAWN,), (LANCE, KNIGHT), (SILVER, GOLD), (BISHOP,), (ROOK,)),
}
PROGRESS = {f"progress{count}": count for count in (2, 3, 4, 8, 16, 32)}
MOST_HAND_CLASS = 7
"""Largest class of a weighted count."""


@cache
def progress_thresholds() -> np.ndarray:
    """int64 [255]: the least sum whose probability is i / 256, for i from 1."""
    rates = [step / PROGRESS_STEPS for step in range(1, PROGRESS_STEPS)]
    return np.array([round((1 << PROGRESS_SHIFT) * math.log(rate / (1 - rate))) for rate in rates], np.int64)


def axis_size(token: str) -> int:
    """Return the values of the axis that a token names; 1 for "", an absent axis."""
    if token in HANDS:
        return HANDS[token].classes ** 2
    if token in KING_ZONES:
        return (int(KING_ZONES[token].max()) + 1) ** 2
    return PROGRESS.get(token, 1)


@dataclass(frozen=True, eq=False)
class Stacks:
    """The axes of the stack index, each named by YaneuraOu's token or "" if absent."""

    hand: str = ""
    king: str = ""
    progress: str = ""
    progress_weight: np.ndarray | None = None
    """int32 [81][1548] by the king's square and the BonaPiece, in 1 / 65536; None without a progress axis."""
    progress_bias: int = 0
    """Added once to the sum, in 1 / 65536."""

    def __post_init__(self) -> None:
        for token, known in ((self.hand, HANDS), (self.king, KING_ZONES), (self.progress, PROGRESS)):
            if token != "" and token not in known:
                raise ValueError(f"unknown stack axis {token!r}: known are {', '.join(known)}")
        weight = self.progress_weight
        if (weight is not None) != (self.progress != ""):
            raise ValueError("a progress table is needed with a progress axis, and with no other")
        if weight is not None and (weight.dtype != np.int32 or weight.shape != (SQUARES, BONA_END)):
            raise ValueError(f"the progress table must be int32 [{SQUARES}, {BONA_END}], found {list(weight.shape)}")
        if type(self.progress_bias) is not int or not -(1 << 31) <= self.progress_bias < 1 << 31:
            raise ValueError(f"progress bias {self.progress_bias!r}: must be an int32")

    @property
    def axes(self) -> tuple[int, int, int]:
        """Sizes of the axes hand, king, progress; 1 for an absent one."""
        return axis_size(self.hand), axis_size(self.king), axis_size(self.progress)

    @property
    def count(self) -> int:
        """Number of stacks, the product of the axes' sizes."""
        return math.prod(self.axes)

    @property
    def tokens(self) -> tuple[str, ...]:
        """The axes that are present, in the order of the index."""
        return tuple(token for token in (self.hand, self.king, self.progress) if token)

    def index(self, pieces: np.ndarray, hands: np.ndarray) -> np.ndarray:
        """Return the stack of each position, int64 (B,): pieces u1 (B, 81) and hands u1 (B, 14) in the mover's view."""
        pieces = np.atleast_2d(np.asarray(pieces, np.int64))
        hands = np.asarray(hands, np.int64).reshape(len(pieces), 2, HAND_KINDS)
        _, kings, parts = self.axes
        found = np.zeros(len(pieces), np.int64)
        if self.hand:
            own, other = self._hand_class(hands[:, 0]), self._hand_class(hands[:, 1])
            found = HANDS[self.hand].classes * own + other
        found = found * kings
        if self.king:
            zones, squares = KING_ZONES[self.king].astype(np.int64), feature_set("k_p").king_squares
            found = found + (int(zones.max()) + 1) * zones[squares(pieces, 0)] + zones[squares(pieces, 1)]
        found = found * parts
        if self.progress:
            reached = np.searchsorted(progress_thresholds(), self.progress_sums(pieces, hands), side="right")
            found = found + reached * parts // PROGRESS_STEPS
        return found

    def _hand_class(self, hand: np.ndarray) -> np.ndarray:
        """Return the class of one side's hand, int64 (B,), from counts int64 (B, 7)."""
        chosen = HANDS[self.hand]
        bits = np.bitwise_or.reduce(np.where(hand > 0, np.array(chosen.bits), 0), 1)
        points = hand @ np.array(chosen.weights)
        return np.asarray(bits + np.minimum(MOST_HAND_CLASS, (points + 3) // 4))

    def progress_sums(self, pieces: np.ndarray, hands: np.ndarray) -> np.ndarray:
        """Return the regression's sum of each position, int64 (B,) in 1 / 65536."""
        assert self.progress_weight is not None
        features = feature_set("half_kp")
        table = np.append(self.progress_weight.reshape(-1).astype(np.int64), 0)
        sums = [table[features.active_rows(pieces, hands, view)].sum(1) for view in range(2)]
        return np.asarray(self.progress_bias + sums[0] + sums[1])


NO_STACKS = Stacks()
"""One copy of the layers for all positions."""


_AXES: dict[str, Mapping[str, object]] = {"hand": HANDS, "king": KING_ZONES, "progress": PROGRESS}
STACK_TOKENS = tuple(token for known in _AXES.values() for token in known)


def _by_axis(tokens: Sequence[str]) -> dict[str, str]:
    """Return the tokens by the names of their axes. Raises ValueError for an unknown or doubled one."""
    found: dict[str, str] = {}
    for token in tokens:
        axis = next((name for name, known in _AXES.items() if token in known), None)
        if axis is None:
            raise ValueError(f"unknown stack axis {token!r}: known are {', '.join(STACK_TOKENS)}")
        if axis in found:
            raise ValueError(f"two {axis} axes, {found[axis]} and {token}: one is possible")
        found[axis] = token
    return found


def ordered_tokens(tokens: Sequence[str]) -> tuple[str, ...]:
    """Return the tokens in the order of the index: hand, king, progress. Raises ValueError as `make_stacks`."""
    found = _by_axis(tokens)
    return tuple(found[axis] for axis in _AXES if axis in found)


def stack_count(tokens: Sequence[str]) -> int:
    """Return the number of stacks of the axes that the tokens name."""
    return math.prod(axis_size(token) for token in tokens)


def make_stacks(tokens: Sequence[str], weight: np.ndarray | None = None, bias: int = 0) -> Stacks:
    """Return the stacks of tokens in any order. Raises ValueError for an unknown or doubled token."""
    return Stacks(**_by_axis(tokens), progress_weight=weight, progress_bias=bias)


_load_int32, _load_int64 = make_load(types.int32, 32), make_load(types.int64, 64)


@jit
def _hand_class(pos, net, colour):
    bits, points = np.int64(0), np.int64(0)
    for kind in range(HAND_KINDS):
        held = np.int64(pos.hands[colour, kind])
        if held != 0:
            bits |= net.hand_bits[kind]
            points += held * net.hand_weights[kind]
    return bits + min(MOST_HAND_CLASS, (points + 3) >> 2)


@jit
def king_blocks(pos):
    """Return where the parts of the progress table for the black and for the white king begin."""
    black, white = np.int64(pos.king[0]), np.int64(SQUARES - 1) - np.int64(pos.king[1])
    # Without a king, whatever is said of the position means nothing: the first square's numbers will do.
    return black * BONA_END if black < SQUARES else np.int64(0), white * BONA_END if white >= 0 else np.int64(0)


@jit
def progress_of_code(net, black, white, code):
    """Return a piece's part of the progress regression's sum, int64; `black` and `white` are the `king_blocks`."""
    of_black = np.int64(_load_int32(net.bona_pieces, code))
    of_white = np.int64(_load_int32(net.bona_pieces, CODES + 1 + code))
    if of_black < 0:
        return np.int64(0)
    return np.int64(_load_int32(net.progress_table, black + of_black)) + np.int64(
        _load_int32(net.progress_table, white + of_white)
    )


@jit
def whole_progress(pos, net):
    """Return the progress regression's sum over all pieces, int64."""
    black, white = king_blocks(pos)
    total, men = net.progress_bias, np.int64(0)
    for square in range(SQUARES):
        piece = np.int64(pos.board[square])
        if piece != EMPTY:
            total += progress_of_code(net, black, white, piece * SQUARES + square)
            men += np.int64(piece % KINDS != KING)
    for colour in range(2):
        for kind in range(HAND_KINDS):
            held = np.int64(pos.hands[colour, kind])
            men += held
            for nth in range(held):
                code = HAND_CODES + colour * HAND_SLOTS + HAND_OFFSET[kind] + nth
                total += progress_of_code(net, black, white, code)
    missing = np.int64(_load_int32(net.progress_table, black)) + np.int64(_load_int32(net.progress_table, white))
    return total + max(np.int64(MEN) - men, np.int64(0)) * missing


@jit
def stack_of_position(pos, net, progress):
    """Return the stack of a position's record, int64; `progress` is the regression's sum where the network has that
    axis, and `net` the network's record."""
    mover = np.int64(pos.turn)
    found = np.int64(0)
    if net.hand_classes != 1:
        found = net.hand_classes * _hand_class(pos, net, mover) + _hand_class(pos, net, 1 - mover)
    if net.king_zones != 1:
        own = _load_int32(net.zones, mover * (NO_KING + 1) + np.int64(pos.king[mover]))
        other = _load_int32(net.zones, (1 - mover) * (NO_KING + 1) + np.int64(pos.king[1 - mover]))
        found = found * net.king_zones * net.king_zones + net.king_zones * np.int64(own) + np.int64(other)
    if net.progress_parts != 1:
        part = np.int64(0)
        while part < net.progress_parts - 1 and _load_int64(net.progress_limits, part) <= progress:
            part += 1
        found = found * net.progress_parts + part
    return found
