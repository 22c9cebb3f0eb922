"""Kernels as plain loops over memory, for any CPU; the reference of the other kernels' speed."""

from __future__ import annotations

import numpy as np
from numba import types

from search.compiling.jit import jit
from search.primitives.llvm import make_load, make_store

OUTPUTS = 16
NARROW_OUTPUTS = 8
TOGETHER: tuple[int, ...] = (1,)
"""The number of groups of inputs that the vector kernels add together; here it has no effect."""

_load_int8, _load_uint8 = make_load(types.int8, 8), make_load(types.uint8, 8)
_load_int16, _load_int32, _load_address = (
    make_load(types.int16, 16),
    make_load(types.int32, 32),
    make_load(types.uint64, 64),
)
_store_uint8, _store_int16, _store_int32 = (
    make_store(types.uint8, 8),
    make_store(types.int16, 16),
    make_store(types.int32, 32),
)


@jit
def sum_rows(target, source, added, added_count, removed, removed_count, width, lane_bytes):
    """Add and subtract rows of int16 or int8 lanes (contract: `search.evaluation.kernels`)."""
    for lane in range(width):
        _store_int16(target, lane, _load_int16(source, lane))
    for index in range(added_count):
        row = _load_address(added, index)
        for lane in range(width):
            part = _load_int16(row, lane) if lane_bytes == 2 else np.int16(_load_int8(row, lane))
            _store_int16(target, lane, np.int16(_load_int16(target, lane) + part))
    for index in range(removed_count):
        row = _load_address(removed, index)
        for lane in range(width):
            part = _load_int16(row, lane) if lane_bytes == 2 else np.int16(_load_int8(row, lane))
            _store_int16(target, lane, np.int16(_load_int16(target, lane) - part))


@jit
def _clipped(source, extra, shift, lane):
    total = np.int16(_load_int16(source, lane) + _load_int16(extra, lane))
    return min(max(np.int64(total) >> shift, 0), 127)


@jit
def activate(source, extra, shift, target, width):
    """Clip the sums of a perspective to u8 activations (contract: `search.evaluation.kernels`)."""
    for lane in range(width):
        _store_uint8(target, lane, np.uint8(_clipped(source, extra, shift, lane)))


@jit
def activate_squared(source, extra, shift, target, width):
    """Clip the sums of a perspective to u8 and square them (contract: `search.evaluation.kernels`)."""
    for lane in range(width):
        value = _clipped(source, extra, shift, lane)
        _store_uint8(target, lane, np.uint8((value * value + 64) >> 7))


@jit
def activate_pairwise(source, extra, wrapped, shift, target, width):
    """Multiply the clipped lanes of the first half by those of the second (contract: `search.evaluation.kernels`)."""
    half = width // 2
    for lane in range(half):
        first = _wrapped(source, extra, wrapped, shift, lane)
        _store_uint8(target, lane, np.uint8((first * _wrapped(source, extra, wrapped, shift, half + lane)) >> 7))


@jit
def _wrapped(source, extra, wrapped, shift, lane):
    total = np.int64(np.int16(_load_int16(source, lane) + _load_int16(extra, lane)))
    total = np.int64(np.int16(total << wrapped))
    return min(max(total >> (shift + wrapped), 0), 127)


@jit
def square_and_clip(sums, count, shift, target):
    """Write the squares of the sums and the clipped sums as u8 (contract: `search.evaluation.kernels`)."""
    for index in range(count):
        total = np.int64(_load_int32(sums, index))
        _store_uint8(target, index, np.uint8(min((total * total) >> (2 * shift + 7), 127)))
        _store_uint8(target, count + index, np.uint8(min(max(total >> shift, 0), 127)))


@jit
def _dot(inputs, input_count, row):
    total = np.int32(0)
    for index in range(input_count):
        product = np.int32(_load_uint8(inputs, index)) * np.int32(_load_int8(row, index))
        total = np.int32(total + product)
    return total


@jit
def affine(inputs, input_count, weights, biases, output_count, together, target):
    """Compute a layer: int32 sums of u8 inputs times weights, plus biases (contract: `search.evaluation.kernels`)."""
    for output in range(output_count):
        total = _dot(inputs, input_count, weights + np.uint64(output * input_count))
        _store_int32(target, output, np.int32(total + _load_int32(biases, output)))


@jit
def affine_narrow(inputs, input_count, weights, biases, target):
    """Compute a layer of at most 8 outputs as int32 sums (contract: `search.evaluation.kernels`)."""
    for output in range(OUTPUTS):
        total = np.int32(0)
        if output < NARROW_OUTPUTS:
            total = _dot(inputs, input_count, weights + np.uint64(output * input_count))
            total = np.int32(total + _load_int32(biases, output))
        _store_int32(target, output, total)


@jit
def affine_clipped(inputs, input_count, weights, biases, output_count, shift, together, target):
    """Compute a layer and clip its sums to u8 (contract: `search.evaluation.kernels`)."""
    for output in range(output_count):
        total = _dot(inputs, input_count, weights + np.uint64(output * input_count))
        total = np.int32(total + _load_int32(biases, output))
        _store_uint8(target, output, np.uint8(min(max(np.int64(total) >> shift, 0), 127)))


def pack_weights(weight: np.ndarray, inputs: int) -> np.ndarray:
    """Return weights int8 [..., outputs, inputs'] as int8 [..., padded outputs, inputs]; the others are zero."""
    return _pack(weight, -(-weight.shape[-2] // OUTPUTS) * OUTPUTS, inputs)


def pack_narrow_weights(weight: np.ndarray, inputs: int) -> np.ndarray:
    """Return weights int8 [..., outputs, inputs'] as int8 [..., 8, inputs]; the others are zero."""
    return _pack(weight, NARROW_OUTPUTS, inputs)


def _pack(weight: np.ndarray, outputs: int, inputs: int) -> np.ndarray:
    packed = np.zeros((*weight.shape[:-2], outputs, inputs), np.int8)
    packed[..., : weight.shape[-2], : weight.shape[-1]] = weight
    return packed
