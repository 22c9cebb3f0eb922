"""Attacks of the sliding pieces, by one of three methods with equal results.

The environment variable `LITESHOGI_SLIDERS` chooses the method:

ray    toward higher squares the attacked part of a ray is `ray & (x ^ (x - 1))` with x = ray & occupied, toward lower
       squares a shift of all ones by the highest blocker: one 10 KB table.
qugiy  the same subtraction, toward lower squares on reversed bytes (the shogi engine Qugiy, WCSC31 appeal document): on
       ranks and diagonals no two squares share a byte, so a byte reversal reverses the order of the squares.
table  the occupied squares of a line packed by BMI2 `pext` index a table of attacks (388 KB); x86-64 with BMI2 only.

`search.rules.perft.measure_perft` measures the chosen method; docs/results/speed.md has the figures of all three.
"""

from __future__ import annotations

import os

import numpy as np

from search.compiling.jit import jit
from search.primitives.bits import byte_swap, extract_bits, highest_bit, popcount
from search.rules.bitboard import (
    ALL_ONES,
    DIAGONAL_LINES,
    FILE,
    NE,
    NONE,
    NW,
    ONE,
    RANK,
    RAYS,
    SE,
    SW,
    E,
    N,
    S,
    W,
    bitboards,
    square_sets,
)
from search.rules.shogi import SQUARES

SLIDER_METHODS = ("ray", "qugiy", "table")
METHOD = os.environ.get("LITESHOGI_SLIDERS", "") or "ray"
if METHOD not in SLIDER_METHODS:
    raise ValueError(f"LITESHOGI_SLIDERS={METHOD!r}: use one of {', '.join(SLIDER_METHODS)}, or unset it")


@jit
def ascending(direction, square, low, high):
    """Return the attacked squares of the ray toward higher squares (S, W, NW, SW) over the occupied squares (low,
    high)."""
    square &= 127
    ray_low, ray_high = RAYS[direction, square, 0], RAYS[direction, square, 1]
    blockers = ray_low & low
    attacked_low = ray_low & (blockers ^ (blockers - ONE))
    beyond = ray_high & high
    attacked_high = ray_high & (beyond ^ (beyond - ONE))
    return attacked_low, attacked_high if blockers == NONE else NONE


@jit
def descending(direction, square, low, high):
    """Return the attacked squares of the ray toward lower squares (N, E, NE, SE) over the occupied squares (low, high).

    `| 1` makes a ray without blockers run to its end.
    """
    square &= 127
    ray_low, ray_high = RAYS[direction, square, 0], RAYS[direction, square, 1]
    blockers = ray_high & high
    attacked_high = ray_high & (ALL_ONES << highest_bit(blockers | ONE))
    attacked_low = ray_low & (ALL_ONES << highest_bit((ray_low & low) | ONE))
    return attacked_low if blockers == NONE else NONE, attacked_high


@jit
def lance_attacks(colour, square, low, high):
    """Return the squares that a lance of a colour attacks over the occupied squares (low, high): two words."""
    if colour == 0:
        return descending(N, square, low, high)
    return ascending(S, square, low, high)


@jit
def _bishop_by_ray(square, low, high):
    a, b = ascending(NW, square, low, high)
    c, d = ascending(SW, square, low, high)
    e, f = descending(NE, square, low, high)
    g, h = descending(SE, square, low, high)
    return a | c | e | g, b | d | f | h


@jit
def _rook_by_ray(square, low, high):
    a, b = ascending(S, square, low, high)
    c, d = ascending(W, square, low, high)
    e, f = descending(N, square, low, high)
    g, h = descending(E, square, low, high)
    return a | c | e | g, b | d | f | h


@jit
def _descending_by_reversal(direction, square, low, high):
    """Return what `descending` does, for a rank or diagonal: reverse the bytes, subtract, reverse back."""
    square &= 127
    ray_low, ray_high = RAYS[direction, square, 0], RAYS[direction, square, 1]
    reversed_high, reversed_low = byte_swap(ray_high), byte_swap(ray_low)
    blockers = reversed_high & byte_swap(high & ray_high)
    attacked_high = reversed_high & (blockers ^ (blockers - ONE))
    beyond = reversed_low & byte_swap(low & ray_low)
    attacked_low = reversed_low & (beyond ^ (beyond - ONE))
    return byte_swap(attacked_low) if blockers == NONE else NONE, byte_swap(attacked_high)


@jit
def _bishop_by_reversal(square, low, high):
    a, b = ascending(NW, square, low, high)
    c, d = ascending(SW, square, low, high)
    e, f = _descending_by_reversal(NE, square, low, high)
    g, h = _descending_by_reversal(SE, square, low, high)
    return a | c | e | g, b | d | f | h


@jit
def _rook_by_reversal(square, low, high):
    a, b = ascending(S, square, low, high)
    c, d = ascending(W, square, low, high)
    e, f = descending(N, square, low, high)  # a file shares bytes: no reversal there
    g, h = _descending_by_reversal(E, square, low, high)
    return a | c | e | g, b | d | f | h


def _line_tables(lines: np.ndarray, attacks) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Build the tables of the lines through each square: relevant masks [81, 2], first entry [81], attacks [entries,
    2]."""
    masks, offsets = np.zeros((SQUARES, 2), np.uint64), np.zeros(SQUARES, np.uint32)
    entries: list[tuple[np.uint64, np.uint64]] = []
    for square in range(SQUARES):
        # An occupied edge changes nothing, except along that edge itself.
        end_of_file = (RANK % 8 == 0) & (RANK[square] != RANK)
        end_of_rank = (FILE % 8 == 0) & (FILE[square] != FILE)
        inner = square_sets(lines[square]) & ~end_of_file & ~end_of_rank
        members = np.flatnonzero(inner)
        subsets = np.zeros((1 << len(members), SQUARES), np.bool_)
        subsets[:, members] = np.arange(len(subsets))[:, None] >> np.arange(len(members)) & 1
        offsets[square] = len(entries)
        entries += [attacks(np.uint64(square), *occupied) for occupied in bitboards(subsets)]
        masks[square] = bitboards(inner)
    return masks, offsets, np.array(entries, np.uint64).reshape(-1, 2)


if METHOD == "table":

    @jit
    def _rank_by_ray(square, low, high):
        a, b = ascending(W, square, low, high)
        c, d = descending(E, square, low, high)
        return a | c, b | d

    _BISHOP_MASK, _BISHOP_OFFSET, _BISHOP_TABLE = _line_tables(DIAGONAL_LINES, _bishop_by_ray)
    _RANK_MASK, _RANK_OFFSET, _RANK_TABLE = _line_tables(RAYS[E] | RAYS[W], _rank_by_ray)

    @jit
    def _bishop_by_table(square, low, high):
        mask_low, mask_high = _BISHOP_MASK[square, 0], _BISHOP_MASK[square, 1]
        packed = extract_bits(low, mask_low) | extract_bits(high, mask_high) << popcount(mask_low)
        entry = np.uint64(_BISHOP_OFFSET[square]) + packed
        return _BISHOP_TABLE[entry, 0], _BISHOP_TABLE[entry, 1]

    @jit
    def _rook_by_table(square, low, high):
        mask_low, mask_high = _RANK_MASK[square, 0], _RANK_MASK[square, 1]
        packed = extract_bits(low, mask_low) | extract_bits(high, mask_high) << popcount(mask_low)
        entry = np.uint64(_RANK_OFFSET[square]) + packed
        a, b = ascending(S, square, low, high)
        c, d = descending(N, square, low, high)
        return _RANK_TABLE[entry, 0] | a | c, _RANK_TABLE[entry, 1] | b | d

    bishop_attacks, rook_attacks = _bishop_by_table, _rook_by_table
elif METHOD == "qugiy":
    bishop_attacks, rook_attacks = _bishop_by_reversal, _rook_by_reversal
else:
    bishop_attacks, rook_attacks = _bishop_by_ray, _rook_by_ray
