"""dlshogi's input planes and move labels, of positions as the mover sees them.

Layout and numbering are dlshogi's (`cshogi.dlshogi` has them too), so that its networks can be read here and its
engines can play with networks made here. input1 has 62 planes, 31 of the mover's and 31 of the opponent's: where each
of the 14 kinds stands, which squares each kind attacks, and which squares are attacked at least once, twice, three
times. input2 has 57 planes that are all ones or all zeros: "holds at least n" of P8 L4 N4 S4 G4 B2 R2 for each side,
and check. A plane is [9 files, 9 ranks], flat the squares 0..80 with the mover playing upward.

A plane is a bitboard until it is written. Each piece's attacks are computed once. The planes of counts are counters of
bits: a square is attacked three times if it was attacked twice before. A plane's 81 numbers are expanded from its bits
a vector at a time, zeros included, so that nothing needs clearing.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from search.compiling.jit import jit
from search.primitives.bits import trailing_zeros
from search.primitives.llvm import constant, i8, i64, splat, vector
from search.rules.attacks import attacks
from search.rules.bitboard import ALL_HIGH, ALL_LOW, NONE, ONE
from search.rules.shogi import DROP_ORIGIN, EMPTY, HAND_KINDS, KINDS, MIRRORED_SQUARE, NO_MOVE, SQUARES

PLANES1 = 62
PLANES2 = 57
LABELS = 27 * SQUARES
"""Number of move labels: 10 directions seen from the target, these with promotion, 7 kinds of drops, for each target
square."""
NO_LABEL = -1

_SIDE_PLANES = 31
_CHECK_PLANE = 56
_HELD_KINDS = np.array([0, 1, 2, 3, 6, 4, 5], np.uint8)
"""Kinds in hand in the order of their planes: P L N S G B R."""
_HELD_PLANES = np.array([8, 4, 4, 4, 4, 2, 2], np.uint8)

_ONE_BITS = {8: 1, 16: 0x3F80, 32: 0x3F800000}
"""The bits of the number 1 in uint8, in bfloat16 (which NumPy lacks: its bits are held as uint16), and in float32."""


def _pointer(context, builder, kind, array_type, array, index):
    """Return the address of a contiguous array's element, as a pointer to LLVM type `kind`."""
    start = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(start, [index]), kind.as_pointer())


def _make_expand(lanes: int):
    """Make an intrinsic (flat array, index, word) that writes the word's low bits as zeros and ones of the array's
    type."""

    @intrinsic
    def expand(context, out, index, word):
        width = out.dtype.bitwidth

        def emit(context, builder, signature, arguments):
            element = ir.IntType(width)
            place = _pointer(context, builder, vector(element, lanes), signature.args[0], *arguments[:2])
            bits = builder.trunc(arguments[2], ir.IntType(lanes)) if lanes < 64 else arguments[2]
            mask = builder.bitcast(bits, vector(ir.IntType(1), lanes))
            ones, zeros = constant(element, lanes, _ONE_BITS[width]), constant(element, lanes, 0)
            builder.store(builder.select(mask, ones, zeros), place, align=width // 8)
            return context.get_dummy_value()

        return types.void(out, types.int64, types.uint64), emit

    return expand


_expand_64 = _make_expand(64)
_expand_32 = _make_expand(32)


@intrinsic
def _equal_64(context, array, index, value):
    """Return as bits which of the 64 bytes from an index on equal the value."""

    def emit(context, builder, signature, arguments):
        kind = vector(i8, 64)
        found = builder.load(_pointer(context, builder, kind, signature.args[0], *arguments[:2]), align=1)
        wanted = splat(builder, builder.trunc(arguments[2], i8), 64)
        return builder.bitcast(builder.icmp_unsigned("==", found, wanted), i64)

    return types.uint64(array, types.int64, types.int64), emit


@jit
def _squares_of(pieces, at, piece):
    """Return the bitboard of a piece on the board that starts at byte `at` of flat `pieces`: two words."""
    return _equal_64(pieces, at, piece) & ALL_LOW, _equal_64(pieces, at + 17, piece) >> np.uint64(46)


@jit
def _write_plane(out, plane, low, high):
    """Write the 81 numbers of a bitboard, in two overlapping vectors: squares 0-63 and 49-80."""
    at = plane * SQUARES
    _expand_64(out, at, low | high << np.uint64(63))
    _expand_32(out, at + 49, low >> np.uint64(49) | high << np.uint64(14))


@jit
def _write_board(pieces, at, out, plane):
    """Write the 62 planes of a board (flat u1 from byte `at`, the mover's view) from plane number `plane` on."""
    low, high = _squares_of(pieces, at, np.int64(EMPTY))
    low, high = low ^ ALL_LOW, high ^ ALL_HIGH
    for side in range(2):
        once_low, once_high, twice_low, twice_high, thrice_low, thrice_high = NONE, NONE, NONE, NONE, NONE, NONE
        for kind in range(KINDS):
            piece = side * KINDS + kind
            left_low, left_high = _squares_of(pieces, at, np.int64(piece))
            _write_plane(out, plane + kind, left_low, left_high)
            all_low, all_high = NONE, NONE
            while left_low | left_high:
                if left_low:
                    square = trailing_zeros(left_low)
                    left_low &= left_low - ONE
                else:
                    square = trailing_zeros(left_high) + np.uint64(63)
                    left_high &= left_high - ONE
                a, b = attacks(piece, np.int64(square), low, high)
                all_low |= a
                all_high |= b
                thrice_low |= twice_low & a
                thrice_high |= twice_high & b
                twice_low |= once_low & a
                twice_high |= once_high & b
                once_low |= a
                once_high |= b
            _write_plane(out, plane + KINDS + kind, all_low, all_high)
        _write_plane(out, plane + 2 * KINDS, once_low, once_high)
        _write_plane(out, plane + 2 * KINDS + 1, twice_low, twice_high)
        _write_plane(out, plane + 2 * KINDS + 2, thrice_low, thrice_high)
        plane += _SIDE_PLANES


@jit
def _held_features(hands, position):
    """Return the 57 features of hands u1 (B, 14), without check, as bits of a word."""
    word = NONE
    at = np.uint64(0)
    for side in range(2):
        for kind in range(HAND_KINDS):
            planes = np.uint64(_HELD_PLANES[kind])
            held = min(np.uint64(hands[position, side * HAND_KINDS + _HELD_KINDS[kind]]), planes)
            word |= ((ONE << held) - ONE) << at
            at += planes
    return word


@jit
def write_board_planes(pieces, out):
    """Write input1 only, as `write_planes` does."""
    flat = pieces.reshape(pieces.size)
    for position in range(len(pieces)):
        _write_board(flat, position * SQUARES, out, position * PLANES1)


@jit
def write_planes(pieces, hands, in_check, out1, out2):
    """Write dlshogi's planes of pieces u1 (B, 81), hands u1 (B, 14), in_check bool (B,), all as the mover sees them.

    out1 (B * 62 * 81,) and out2 (B * 57 * 81,) are flat and contiguous, both uint8, uint16 (bits of bfloat16) or
    float32.
    """
    write_board_planes(pieces, out1)
    for position in range(len(pieces)):
        word = _held_features(hands, position) | np.uint64(in_check[position]) << np.uint64(_CHECK_PLANE)
        for plane in range(PLANES2):
            ones = NONE - ((word >> np.uint64(plane)) & ONE)
            _write_plane(out2, position * PLANES2 + plane, ones, ones)


@jit
def write_held_features(hands, in_check, out):
    """Write the 57 numbers that input2's planes repeat 81 times, 0 or 1, to out (B, 57) of any type."""
    for position in range(len(hands)):
        word = _held_features(hands, position) | np.uint64(in_check[position]) << np.uint64(_CHECK_PLANE)
        for plane in range(PLANES2):
            out[position, plane] = (word >> np.uint64(plane)) & ONE


def make_planes(pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return input1 f4 (B, 62, 9, 9) and input2 f4 (B, 57, 9, 9) of a batch, as ONNX files of dlshogi's format take
    them."""
    out1, out2 = (np.empty((len(pieces), planes, 9, 9), np.float32) for planes in (PLANES1, PLANES2))
    write_planes(np.ascontiguousarray(pieces), hands, in_check, out1.reshape(-1), out2.reshape(-1))
    return out1, out2


def _directions() -> np.ndarray:
    """Return dlshogi's number of the direction from one square to another, 255 where no piece moves so: u1 [81, 81].

    Up, up-left, up-right, left, right, down, down-left, down-right, then the knight's jumps to the left and right, as
    the mover sees them; file 1 is on the right.
    """
    number = {(0, -1): 0, (1, -1): 1, (-1, -1): 2, (1, 0): 3, (-1, 0): 4, (0, 1): 5, (1, 1): 6, (-1, 1): 7}
    table = np.full((SQUARES, SQUARES), 255, np.uint8)
    for origin in range(SQUARES):
        for target in range(SQUARES):
            files, ranks = target // 9 - origin // 9, target % 9 - origin % 9
            if abs(files) == 1 and ranks == -2:
                table[origin, target] = 8 if files > 0 else 9
            elif origin != target and (files == 0 or ranks == 0 or abs(files) == abs(ranks)):
                table[origin, target] = number[np.sign(files), np.sign(ranks)]
    return table


_DIRECTIONS = _directions()


@jit
def move_label(move, turn):
    """Return the label 0..2186 of a legal move (16 bits, real board) of colour `turn`; NO_LABEL for no move."""
    if move == NO_MOVE:
        return np.int64(NO_LABEL)
    target, origin = np.int64(move) & 127, (np.int64(move) >> 7) & 127
    if turn:
        target = SQUARES - 1 - target
    if origin >= DROP_ORIGIN:
        return np.int64((20 + origin - DROP_ORIGIN) * SQUARES + target)
    if turn:
        origin = SQUARES - 1 - origin
    return np.int64(_DIRECTIONS[origin, target] + 10 * ((move >> 14) & 1)) * SQUARES + target


@jit
def _write_labels(moves, turns, labels):
    for index in range(len(moves)):
        labels[index] = move_label(np.int64(moves[index]), np.int64(turns[index]))


def move_labels(moves: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Return the labels i8 (B,) of moves u2 (B,) by the colours `turns` u1 (B,); NO_LABEL for no move."""
    labels = np.empty(len(moves), np.int64)
    _write_labels(moves, turns, labels)
    return labels


def mirrored_labels() -> np.ndarray:
    """Return for each label that of the same move on the board mirrored left and right: i8 [2187]."""
    direction_of = np.array([0, 2, 1, 4, 3, 5, 7, 6, 9, 8])
    directions = np.concatenate((direction_of, direction_of + 10, np.arange(20, 27)))
    return np.asarray((directions[:, None] * SQUARES + MIRRORED_SQUARE).reshape(-1), np.int64)
