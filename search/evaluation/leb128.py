"""Signed LEB128 blocks of an nn.bin: 17 bytes of magic, u32 bytes of payload, the payload.

A value has 7 bits a byte, low ones first; bit 7 says that another byte follows, bit 6 of the last byte is the sign.
Values are int16, so that no value is longer than three bytes. Most weights take one byte: chunks are decoded by NumPy
as if all did, and the few longer values are put in their places. A value may take more bytes than it needs; how many
is kept, so that a block can be written as it was read.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from search.primitives.memory import aligned_zeros

MAGIC = b"COMPRESSED_LEB128"
BLOCK_HEADER = struct.Struct(f"<{len(MAGIC)}sI")
LONGEST = 3
"""Bytes of the longest value."""
_CHUNK = 1 << 20
_MORE, _LOW = 0x80, 0x7F


def read_block_size(file: BinaryIO, size: int, name: str) -> int:
    """Read a block's header and return the bytes of its payload; `size` is the file's. Raises ValueError."""
    head = file.read(BLOCK_HEADER.size)
    if not head.startswith(MAGIC):
        raise ValueError(f"{name}: no LEB128 block: found {head[: len(MAGIC)]!r}, expected {MAGIC!r}")
    left = size - file.tell()
    if len(head) < BLOCK_HEADER.size or (length := BLOCK_HEADER.unpack(head)[1]) > left:
        said = f" of {length:,} bytes, and {left:,} are left" if len(head) == BLOCK_HEADER.size else ""
        raise ValueError(f"{name}: truncated: a LEB128 block{said}")
    return int(length)


@dataclass(frozen=True, eq=False)
class Block:
    """The numbers of a block."""

    values: np.ndarray
    """int8 if all of them fit, else int16; on a cache line."""
    surplus: np.ndarray | None = None
    """uint8: bytes of each value beyond those that it needs; None if no value has any."""


def read_values(file: BinaryIO, length: int, count: int, name: str) -> Block:
    """Return the `count` values of a payload of `length` bytes.

    Raises ValueError if the payload is damaged or holds another number of values.
    """
    if not count <= length <= LONGEST * count:
        raise ValueError(f"{name}: a LEB128 block of {length:,} bytes cannot hold {count:,} values")
    found, surplus = aligned_zeros(count, np.int8), None
    place = 0
    for values, places, bytes_more in _decoded(lambda most: file.read(most), length, name):
        if place + len(values) > count:
            raise ValueError(f"{name}: more than {count:,} values in the LEB128 block")
        if values.dtype == np.int16 and found.dtype == np.int8:
            narrow, found = found, aligned_zeros(count, np.int16)
            found[:place] = narrow[:place]
        found[place : place + len(values)] = values
        if len(places):
            surplus = np.zeros(count, np.uint8) if surplus is None else surplus
            surplus[place + places] = bytes_more
        place += len(values)
    if place != count:
        raise ValueError(f"{name}: {place:,} values in the LEB128 block, expected {count:,}")
    return Block(found, surplus)


def count_values(file: BinaryIO, length: int) -> int:
    """Return the number of values of a payload: of the bytes that end one."""
    count, left = 0, length
    while left > 0:
        part = np.frombuffer(file.read(min(left, _CHUNK)), np.uint8)
        if len(part) == 0:
            break
        count += int(np.count_nonzero(part < _MORE))
        left -= len(part)
    return count


_Part = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Values, int8 if all of them fit, else int16; which of them take more bytes than they need, and how many more."""
_NONE = np.zeros(0, np.int64)


def _decoded(read: Callable[[int], bytes], length: int, name: str) -> Iterator[_Part]:
    """Yield the values of a payload in parts."""
    rest, left = b"", length
    while left > 0:
        part = read(min(left, _CHUNK))
        if not part:
            raise ValueError(f"{name}: truncated: {left:,} bytes of the LEB128 block are missing")
        left -= len(part)
        content = np.frombuffer(rest + part, np.uint8)
        ends = len(content)
        while ends > 0 and content[ends - 1] >= _MORE and len(content) - ends < LONGEST:
            ends -= 1
        rest = content[ends:].tobytes()
        if len(rest) >= LONGEST:
            raise ValueError(f"{name}: a LEB128 value of more than {LONGEST} bytes")
        yield _decode(content[:ends], name)
    if rest:
        raise ValueError(f"{name}: the LEB128 block ends within a value")


def _decode(content: np.ndarray, name: str) -> _Part:
    """Return the values of bytes that end with a value."""
    last = (content << 1).view(np.int8) >> 1  # of a value's last byte, with its sign
    more = np.flatnonzero(content & _MORE)
    if len(more) == 0:
        return last, _NONE, _NONE
    first = np.append(True, np.diff(more) != 1)
    lengths = np.diff(np.append(np.flatnonzero(first), len(more)))
    if lengths.max() >= LONGEST:
        raise ValueError(f"{name}: a LEB128 value of more than {LONGEST} bytes")
    starts = more[first]
    low, high = (content[starts + step].astype(np.int64) & _LOW for step in range(2))
    two = low | last[starts + 1].astype(np.int64) << 7
    third = starts + np.minimum(lengths, 2)
    long_values = np.where(lengths == 2, low | high << 7 | last[third].astype(np.int64) << 14, two)
    smallest, largest = int(long_values.min()), int(long_values.max())
    if smallest < -(1 << 15) or largest >= 1 << 15:
        raise ValueError(f"{name}: a LEB128 value of {max(largest, -smallest):,}, which is no int16")
    narrow = smallest >= -128 and largest <= 127
    values = last if narrow else last.astype(np.int16)
    values[starts] = long_values
    kept = np.ones(len(content), np.bool_)
    kept[more + 1] = False
    surplus = lengths + 1 - _shortest(long_values)
    longer = np.flatnonzero(surplus)
    before = np.cumsum(lengths) - lengths  # bytes of earlier values that are not their first
    return values[kept], (starts - before)[longer], surplus[longer]


def _shortest(values: np.ndarray) -> np.ndarray:
    """Return the bytes that each value needs."""
    return 1 + ((values < -64) | (values > 63)) + ((values < -8192) | (values > 8191)).astype(np.int64)


def encode_block(values: np.ndarray, surplus: np.ndarray | None = None) -> list[bytes]:
    """Return a block of int8 or int16 values in parts: in their shortest form, or with the surplus of a `Block`."""
    flat = values.reshape(-1)
    places = [slice(start, start + _CHUNK) for start in range(0, len(flat), _CHUNK)]
    if surplus is None:
        parts = [_encode(flat[part]) for part in places]
    else:
        parts = [_encode_longer(flat[part], surplus[part]) for part in places]
    length = sum(map(len, parts))
    if length >= 1 << 32:
        raise ValueError(f"{length:,} bytes of weights: a LEB128 block holds less than 4 GiB")
    return [BLOCK_HEADER.pack(MAGIC, length), *parts]


def _encode(values: np.ndarray) -> bytes:
    wide = values.astype(np.int16)
    coded = (wide & _LOW).astype(np.uint8)
    longer = np.flatnonzero((wide < -64) | (wide > 63))
    if len(longer) == 0:
        return coded.tobytes()
    rest = wide[longer].astype(np.int32)
    longest = (rest < -8192) | (rest > 8191)
    coded[longer] |= _MORE
    second = (rest >> 7 & _LOW) | np.where(longest, _MORE, 0)
    places = np.concatenate((longer, longer[longest])) + 1
    added = np.concatenate((second, rest[longest] >> 14 & _LOW)).astype(np.uint8)
    return np.insert(coded, places, added).tobytes()  # of one place, in the order given


def _encode_longer(values: np.ndarray, surplus: np.ndarray) -> bytes:
    if not surplus.any():
        return _encode(values)
    wide = values.astype(np.int32)
    last = np.minimum(_shortest(wide) + surplus, LONGEST) - 1
    coded = np.stack([wide >> 7 * step & _LOW | np.where(step < last, _MORE, 0) for step in range(LONGEST)], 1)
    return coded.astype(np.uint8)[np.arange(LONGEST) <= last[:, None]].tobytes()
