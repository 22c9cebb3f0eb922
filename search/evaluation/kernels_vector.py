"""Kernels in LLVM vectors: what all but the plain ones share; the dot product of four bytes has a file for each.

LLVM finds no such dot product in a loop by itself, hence the intrinsics. The groups of four inputs of a turn go to
accumulators of their own, which hides the latency of the dot product; blocks of 16 outputs go in pairs. Where a dot
product takes several instructions (AVX2), those of up to four groups are added before the last one. Groups of zeros are
not skipped: finding them takes longer.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from search.compiling.jit import KERNEL, jit
from search.primitives.llvm import add_offset, clip, constant, i8, i16, i32, i64, load, shuffle, splat, store, vector

if KERNEL == "avx2":
    from search.evaluation.kernels_avx2 import LONG_UNROLL, PARTS, TOGETHER, UNROLL, WIDEST_TILE, dot, spread
elif KERNEL == "neon":
    from search.evaluation.kernels_neon import LONG_UNROLL, PARTS, TOGETHER, UNROLL, WIDEST_TILE, dot, spread
else:
    from search.evaluation.kernels_vnni import LONG_UNROLL, PARTS, TOGETHER, UNROLL, WIDEST_TILE, dot, spread

BLOCK = 32
"""int16 lanes per step."""
OUTPUTS = 16
"""int32 outputs per block."""
NARROW_OUTPUTS = 8
"""Outputs of a layer that takes two groups of inputs per block."""
_NARROW_UNROLL = 4


def _make_sum_tile(tile: int) -> Any:
    """Return an intrinsic for `tile` blocks of `sum_rows` from lane `first` on, kept in registers over all rows."""

    def places(builder, first, lane_bytes):
        start = builder.mul(first, ir.Constant(i64, lane_bytes))
        return [builder.add(start, ir.Constant(i64, lane_bytes * BLOCK * step)) for step in range(tile)]

    def sum_all(builder, sums, lists, first, lane_bytes):
        lanes = vector(i16, BLOCK)
        stored = vector(i8, BLOCK) if lane_bytes == 1 else lanes
        for rows, count, operation in lists:
            with cgutils.for_range(builder, count) as loop:
                row = load(builder, rows, builder.mul(loop.index, ir.Constant(i64, 8)), i64)
                for place, total in zip(places(builder, first, lane_bytes), sums, strict=True):
                    part = load(builder, row, place, stored)
                    part = builder.sext(part, lanes) if lane_bytes == 1 else part
                    builder.store(operation(builder.load(total), part), total)

    @intrinsic
    def sum_tile(context, target, source, added, added_count, removed, removed_count, first, lane_bytes):
        def emit(context, builder, signature, arguments):
            target, source, added, added_count, removed, removed_count, first, lane_bytes = arguments
            lists = (added, added_count, builder.add), (removed, removed_count, builder.sub)
            lanes = vector(i16, BLOCK)
            sums = [cgutils.alloca_once(builder, lanes) for _ in range(tile)]
            for place, total in zip(places(builder, first, 2), sums, strict=True):
                builder.store(load(builder, source, place, lanes), total)
            with builder.if_else(builder.icmp_signed("==", lane_bytes, ir.Constant(i64, 1))) as (narrow, wide):
                with narrow:
                    sum_all(builder, sums, lists, first, 1)
                with wide:
                    sum_all(builder, sums, lists, first, 2)
            for place, total in zip(places(builder, first, 2), sums, strict=True):
                store(builder, target, place, builder.load(total))
            return context.get_dummy_value()

        address, count = types.uint64, types.int64
        return types.void(address, address, address, count, address, count, count, count), emit

    return sum_tile


_sum_one, _sum_two, _sum_three, _sum_four = (_make_sum_tile(tile) for tile in (1, 2, 3, 4))
_sum_widest = _make_sum_tile(WIDEST_TILE)


@jit
def sum_rows(target, source, added, added_count, removed, removed_count, width, lane_bytes):
    """Add and subtract rows of int16 or int8 lanes (contract: `search.evaluation.kernels`)."""
    blocks = width // BLOCK
    first = np.int64(0)
    if WIDEST_TILE > 4:
        while blocks >= WIDEST_TILE:
            _sum_widest(target, source, added, added_count, removed, removed_count, first, lane_bytes)
            first += WIDEST_TILE * BLOCK
            blocks -= WIDEST_TILE
    while blocks >= 4:
        _sum_four(target, source, added, added_count, removed, removed_count, first, lane_bytes)
        first += 4 * BLOCK
        blocks -= 4
    if blocks == 3:
        _sum_three(target, source, added, added_count, removed, removed_count, first, lane_bytes)
    elif blocks == 2:
        _sum_two(target, source, added, added_count, removed, removed_count, first, lane_bytes)
    elif blocks == 1:
        _sum_one(target, source, added, added_count, removed, removed_count, first, lane_bytes)


def _make_activate(squared: bool, shifted: bool = True) -> Any:
    """Return an intrinsic that turns blocks of sums into inputs of a layer: clipped and, if asked, squared lanes."""

    @intrinsic
    def activate_blocks(context, source, extra, shift, target, blocks):
        def emit(context, builder, signature, arguments):
            source, extra, shift, target, blocks = arguments
            lanes = vector(i16, BLOCK)
            shifts = splat(builder, builder.trunc(shift, i16), BLOCK)
            with cgutils.for_range(builder, blocks) as loop:
                place = builder.mul(loop.index, ir.Constant(i64, 64))
                total = builder.add(load(builder, source, place, lanes), load(builder, extra, place, lanes))
                value = clip(builder, builder.ashr(total, shifts) if shifted else total, i16, BLOCK)
                if squared:
                    half_up = builder.add(builder.mul(value, value), constant(i16, BLOCK, 64))
                    value = builder.lshr(half_up, constant(i16, BLOCK, 7))
                bytes_ = builder.trunc(value, vector(i8, BLOCK))
                store(builder, target, builder.mul(loop.index, ir.Constant(i64, BLOCK)), bytes_)
            return context.get_dummy_value()

        address = types.uint64
        return types.void(address, address, types.int64, address, types.int64), emit

    return activate_blocks


_activate_blocks, _activate_squared_blocks = _make_activate(False), _make_activate(True)
_clip_blocks = _make_activate(squared=False, shifted=False)


@jit
def activate(source, extra, shift, target, width):
    """Clip the sums of a perspective to u8 activations (contract: `search.evaluation.kernels`)."""
    if shift == 0:
        _clip_blocks(source, extra, shift, target, width // BLOCK)
    else:
        _activate_blocks(source, extra, shift, target, width // BLOCK)


@jit
def activate_squared(source, extra, shift, target, width):
    """Clip the sums of a perspective to u8 and square them (contract: `search.evaluation.kernels`)."""
    _activate_squared_blocks(source, extra, shift, target, width // BLOCK)


def _make_pairwise(block: int) -> Any:
    """Return an intrinsic that multiplies blocks of clipped sums with those that lie `apart` bytes after them."""

    @intrinsic
    def multiply_blocks(context, source, extra, apart, wrapped, shift, target, blocks):
        def emit(context, builder, signature, arguments):
            source, extra, apart, wrapped, shift, target, blocks = arguments
            lanes = vector(i16, block)
            up = splat(builder, builder.trunc(wrapped, i16), block)
            down = splat(builder, builder.trunc(builder.add(wrapped, shift), i16), block)

            def clipped(place):
                total = builder.add(load(builder, source, place, lanes), load(builder, extra, place, lanes))
                return clip(builder, builder.ashr(builder.shl(total, up), down), i16, block)

            with cgutils.for_range(builder, blocks) as loop:
                place = builder.mul(loop.index, ir.Constant(i64, 2 * block))
                product = builder.mul(clipped(place), clipped(builder.add(place, apart)))
                product = builder.lshr(product, constant(i16, block, 7))
                bytes_ = builder.trunc(product, vector(i8, block))
                store(builder, target, builder.mul(loop.index, ir.Constant(i64, block)), bytes_)
            return context.get_dummy_value()

        address, number = types.uint64, types.int64
        return types.void(address, address, number, number, number, address, number), emit

    return multiply_blocks


@intrinsic
def _multiply_doubled(context, source, extra, apart, target, blocks):
    """Multiply pairs as `_make_pairwise` does, for sums of 15 bits and no shift. Doubling is an addition, which more
    units of a CPU execute than shifts."""

    def emit(context, builder, signature, arguments):
        source, extra, apart, target, blocks = arguments
        lanes, wide = vector(i16, BLOCK), vector(i32, BLOCK)

        def doubled(place):
            total = builder.add(load(builder, source, place, lanes), load(builder, extra, place, lanes))
            return clip(builder, builder.add(total, total), i16, BLOCK, 254)

        with cgutils.for_range(builder, blocks) as loop:
            place = builder.mul(loop.index, ir.Constant(i64, 2 * BLOCK))
            first = builder.shl(doubled(place), constant(i16, BLOCK, 7))
            factors = (builder.zext(one, wide) for one in (first, doubled(builder.add(place, apart))))
            product = builder.lshr(builder.mul(*factors), constant(i32, BLOCK, 16))  # one instruction: vpmulhuw
            bytes_ = builder.trunc(builder.trunc(product, lanes), vector(i8, BLOCK))
            store(builder, target, builder.mul(loop.index, ir.Constant(i64, BLOCK)), bytes_)
        return context.get_dummy_value()

    address, number = types.uint64, types.int64
    return types.void(address, address, number, address, number), emit


_multiply_blocks, _multiply_half_blocks = _make_pairwise(BLOCK), _make_pairwise(BLOCK // 2)


@jit
def activate_pairwise(source, extra, wrapped, shift, target, width):
    """Multiply the clipped lanes of the first half by those of the second (contract: `search.evaluation.kernels`)."""
    half = width // 2
    blocks = half // BLOCK
    if wrapped == 1 and shift == 0:
        _multiply_doubled(source, extra, width, target, blocks)
    else:
        _multiply_blocks(source, extra, width, wrapped, shift, target, blocks)
    if half % BLOCK != 0:
        done = np.uint64(blocks * BLOCK)
        source, extra, target = source + done + done, extra + done + done, target + done
        _multiply_half_blocks(source, extra, width, wrapped, shift, target, np.int64(1))


@intrinsic
def _square_and_clip(context, sums, blocks, shift, target):
    def emit(context, builder, signature, arguments):
        sums, blocks, shift, target = arguments
        lanes, number = vector(i32, OUTPUTS), ir.Constant(i64, OUTPUTS)
        narrow = builder.trunc(shift, i32)
        shifts = splat(builder, narrow, OUTPUTS)
        twice = builder.add(builder.add(narrow, narrow), ir.Constant(i32, 7))
        square_shifts = splat(builder, twice, OUTPUTS)
        # A square of this number is beyond the limit already, and int32 holds it. Larger shifts than those of squared
        # sums are of layers with a shortcut alone, whose squares nothing reads.
        bound = builder.shl(ir.Constant(i32, 128), narrow)
        most, least = (splat(builder, one, OUTPUTS) for one in (bound, builder.neg(bound)))
        limit, clipped = constant(i32, OUTPUTS, 127), builder.add(target, builder.mul(blocks, number))
        with cgutils.for_range(builder, blocks) as loop:
            place = builder.mul(loop.index, number)
            total = load(builder, sums, builder.mul(place, ir.Constant(i64, 4)), lanes)
            bounded = builder.select(builder.icmp_signed("<", total, most), total, most)
            bounded = builder.select(builder.icmp_signed(">", bounded, least), bounded, least)
            square = builder.lshr(builder.mul(bounded, bounded), square_shifts)
            square = builder.select(builder.icmp_signed("<", square, limit), square, limit)
            store(builder, target, place, builder.trunc(square, vector(i8, OUTPUTS)))
            linear = clip(builder, builder.ashr(total, shifts), i32, OUTPUTS)
            store(builder, clipped, place, builder.trunc(linear, vector(i8, OUTPUTS)))
        return context.get_dummy_value()

    return types.void(types.uint64, types.int64, types.int64, types.uint64), emit


@jit
def square_and_clip(sums, count, shift, target):
    """Write the squares of the sums and the clipped sums as u8 (contract: `search.evaluation.kernels`)."""
    _square_and_clip(sums, count // OUTPUTS, shift, target)


def _visit_all(
    builder: Any, inputs: Any, groups: Any, visit: Callable[[int, list[Any], list[Any]], None], turns: int, count: int
) -> None:
    """Call `visit(turn, groups, inputs)` for every `count` groups, `inputs` as `dot` takes them. The number of groups
    is a multiple of `turns` times `count`."""
    step = turns * count
    with cgutils.for_range(builder, builder.udiv(groups, ir.Constant(i64, step))) as loop:
        first = builder.mul(loop.index, ir.Constant(i64, step))
        address = builder.add(inputs, builder.mul(first, ir.Constant(i64, 4)))
        fours: list[Any] = []
        for start in range(0, step, UNROLL):
            fours += spread(builder, add_offset(builder, address, 4 * start), UNROLL)
        numbers = [builder.add(first, ir.Constant(i64, number)) for number in range(step)]
        for turn in range(turns):
            together = slice(turn * count, (turn + 1) * count)
            visit(turn, numbers[together], fours[together])


def _make_affine_blocks(pair: int, clipped: bool, unroll: int = UNROLL) -> Any:
    """Return an intrinsic for `pair` blocks of 16 outputs; `stride` is the bytes of a group's weights.

    One group at a time, `unroll` sums are in flight; several groups together are added to one sum.
    """
    parts = PARTS
    lanes = OUTPUTS // parts
    kind = vector(i32, lanes)

    @intrinsic
    def affine_blocks(context, inputs, groups, weights, stride, biases, shift, together, target):
        def emit(context, builder, signature, arguments):
            inputs, groups, weights, stride, biases, shift, together, target = arguments
            sums = [[cgutils.alloca_once(builder, kind) for _ in range(pair * parts)] for _ in range(unroll)]
            for part, place in enumerate(sums[0]):
                builder.store(load(builder, biases, 4 * lanes * part, kind), place)
            for places in sums[1:]:
                for place in places:
                    builder.store(constant(i32, lanes, 0), place)

            def add_groups(turn, numbers, fours):
                rows = [builder.add(weights, builder.mul(number, stride)) for number in numbers]
                for block in range(pair):
                    places = sums[turn][block * parts : (block + 1) * parts]
                    before = [builder.load(place) for place in places]
                    after = dot(builder, before, fours, [add_offset(builder, row, 64 * block) for row in rows])
                    for place, value in zip(places, after, strict=True):
                        builder.store(value, place)

            for count in TOGETHER:
                is_asked = builder.icmp_signed("==", together, ir.Constant(i64, count))
                with builder.if_then(is_asked) if len(TOGETHER) > 1 else nullcontext():
                    _visit_all(builder, inputs, groups, add_groups, unroll if count == 1 else 1, count)
            for part in range(pair * parts):
                total = builder.load(sums[0][part])
                for places in sums[1:]:
                    total = builder.add(total, builder.load(places[part]))
                if clipped:
                    shifted = builder.ashr(total, splat(builder, builder.trunc(shift, i32), lanes))
                    cut = builder.trunc(clip(builder, shifted, i32, lanes), vector(i8, lanes))
                    store(builder, target, lanes * part, cut)
                else:
                    store(builder, target, 4 * lanes * part, total)
            return context.get_dummy_value()

        address, number = types.uint64, types.int64
        return types.void(address, number, address, number, address, number, number, address), emit

    return affine_blocks


_two, _one = (_make_affine_blocks(pair, clipped=False) for pair in (2, 1))
_two_clipped, _one_clipped = (_make_affine_blocks(pair, clipped=True) for pair in (2, 1))
_one_long = _make_affine_blocks(1, clipped=False, unroll=LONG_UNROLL)


@jit
def affine(inputs, input_count, weights, biases, output_count, together, target):
    """Compute a layer: int32 sums of u8 inputs times weights, plus biases (contract: `search.evaluation.kernels`)."""
    groups, stride, unused = input_count // 4, output_count * 4, np.int64(0)
    left = output_count
    pair = np.uint64(8 * OUTPUTS)  # bytes of two blocks: of a group's weights, of biases, of int32 sums
    while left >= 2 * OUTPUTS:
        _two(inputs, groups, weights, stride, biases, unused, together, target)
        weights, biases, target = weights + pair, biases + pair, target + pair
        left -= 2 * OUTPUTS
    if left > 0:
        if groups % LONG_UNROLL == 0:
            _one_long(inputs, groups, weights, stride, biases, unused, together, target)
        else:
            _one(inputs, groups, weights, stride, biases, unused, together, target)


@jit
def affine_clipped(inputs, input_count, weights, biases, output_count, shift, together, target):
    """Compute a layer and clip its sums to u8 (contract: `search.evaluation.kernels`)."""
    groups, stride = input_count // 4, output_count * 4
    left = output_count
    pair = np.uint64(8 * OUTPUTS)
    while left >= 2 * OUTPUTS:
        _two_clipped(inputs, groups, weights, stride, biases, shift, together, target)
        weights, biases, target = weights + pair, biases + pair, target + np.uint64(2 * OUTPUTS)
        left -= 2 * OUTPUTS
    if left > 0:
        _one_clipped(inputs, groups, weights, stride, biases, shift, together, target)


@intrinsic
def _narrow(context, inputs, pairs, weights, biases, target):
    """Eight outputs, two groups of inputs per block of 16 sums: one in each half."""

    def emit(context, builder, signature, arguments):
        inputs, pairs, weights, biases, target = arguments
        lanes = OUTPUTS // PARTS
        kind, two = vector(i32, lanes), vector(i32, 2)
        sums = [[cgutils.alloca_once(builder, kind) for _ in range(PARTS)] for _ in range(_NARROW_UNROLL)]
        for places in sums:
            for place in places:
                builder.store(constant(i32, lanes, 0), place)
        step = ir.Constant(i64, _NARROW_UNROLL)
        with cgutils.for_range(builder, builder.udiv(pairs, step)) as loop:
            first = builder.mul(loop.index, step)
            for turn, places in enumerate(sums):
                pair = builder.add(first, ir.Constant(i64, turn))
                groups = load(builder, inputs, builder.mul(pair, ir.Constant(i64, 8)), two)
                row = builder.add(weights, builder.mul(pair, ir.Constant(i64, 64)))
                for part, place in enumerate(places):
                    wanted = range(lanes * part, lanes * (part + 1))
                    four = shuffle(builder, groups, [lane // NARROW_OUTPUTS for lane in wanted])
                    (after,) = dot(builder, [builder.load(place)], [four], [add_offset(builder, row, 4 * lanes * part)])
                    builder.store(after, place)
        totals = [builder.load(place) for place in sums[0]]
        for places in sums[1:]:
            totals = [builder.add(total, builder.load(place)) for total, place in zip(totals, places, strict=True)]
        if PARTS == 1:
            totals = [shuffle(builder, totals[0], list(range(at, at + NARROW_OUTPUTS))) for at in (0, NARROW_OUTPUTS)]
        half = len(totals) // 2
        kept = NARROW_OUTPUTS // half
        for part in range(half):
            total = builder.add(totals[part], totals[half + part])
            total = builder.add(total, load(builder, biases, 4 * kept * part, vector(i32, kept)))
            store(builder, target, 4 * kept * part, total)
        store(builder, target, 4 * NARROW_OUTPUTS, constant(i32, NARROW_OUTPUTS, 0))
        return context.get_dummy_value()

    address, count = types.uint64, types.int64
    return types.void(address, count, address, address, address), emit


@jit
def affine_narrow(inputs, input_count, weights, biases, target):
    """Compute a layer of at most 8 outputs as int32 sums (contract: `search.evaluation.kernels`)."""
    _narrow(inputs, input_count // 8, weights, biases, target)


def pack_weights(weight: np.ndarray, inputs: int) -> np.ndarray:
    """Return weights int8 [..., outputs, inputs'] as int8 [..., inputs / 4, padded outputs, 4]; the others are zero."""
    return _pack(weight, -(-weight.shape[-2] // OUTPUTS) * OUTPUTS, inputs)


def pack_narrow_weights(weight: np.ndarray, inputs: int) -> np.ndarray:
    """Return weights int8 [..., outputs, inputs'] as int8 [..., inputs / 4, 8, 4]; the others are zero."""
    return _pack(weight, NARROW_OUTPUTS, inputs)


def _pack(weight: np.ndarray, outputs: int, inputs: int) -> np.ndarray:
    padded = np.zeros((*weight.shape[:-2], outputs, inputs), np.int8)
    padded[..., : weight.shape[-2], : weight.shape[-1]] = weight
    groups = padded.reshape(*weight.shape[:-2], outputs, inputs // 4, 4)
    return np.ascontiguousarray(np.swapaxes(groups, -3, -2))
