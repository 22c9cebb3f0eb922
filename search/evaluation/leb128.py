"""Signed LEB128 blocks of an nn.bin: 17 bytes of magic, u32 bytes of payload, the payload.

A value has 7 bits per byte, low ones first; bit 7 says that another byte follows, bit 6 of the last byte is the sign.
Values are int16, so that no value is longer than three bytes. Most weights take one byte: chunks are decoded by NumPy
as if all did, and the few longer values are put in their places.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
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
    if len(head) < len(MAGIC) and MAGIC.startswith(head):
        raise ValueError(f"{name}: truncated: a LEB128 block is missing")
    if not head.startswith(MAGIC):
        raise ValueError(f"{name}: no LEB128 block: found {head[: len(MAGIC)]!r}, expected {MAGIC!r}")
    left = size - file.tell()
    if len(head) < BLOCK_HEADER.size or (length := BLOCK_HEADER.unpack(head)[1]) > left:
        said = f" of {length:,} bytes, and {left:,} are left" if len(head) == BLOCK_HEADER.size else ""
        raise ValueError(f"{name}: truncated: a LEB128 block{said}")
    return int(length)


def read_values(file: BinaryIO, length: int, count: int, name: str) -> np.ndarray:
    """Return the `count` values of a payload of `length` bytes: int8 if all of them fit, else int16; on a cache line.

    Raises ValueError if the payload is damaged or holds another number of values.
    """
    if not count <= length <= LONGEST * count:
        raise ValueError(f"{name}: a LEB128 block of {length:,} bytes cannot hold {count:,} values")
    found = aligned_zeros(count, np.int8)
    place = 0
    for values in _decoded(lambda most: file.read(most), length, name):
        if place + len(values) > count:
            raise ValueError(f"{name}: more than {count:,} values in the LEB128 block")
        if values.dtype == np.int16 and found.dtype == np.int8:
            narrow, found = found, aligned_zeros(count, np.int16)
            found[:place] = narrow[:place]
        found[place : place + len(values)] = values
        place += len(values)
    if place != count:
        raise ValueError(f"{name}: {place:,} values in the LEB128 block, expected {count:,}")
    return found


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


def _decoded(read: Callable[[int], bytes], length: int, name: str) -> Iterator[np.ndarray]:
    """Yield the values of a payload in parts, int8 where all of a part fit, else int16."""
    rest, left = b"", length
    while left > 0:
        part = read(min(left, _CHUNK))
        if not part:
            raise ValueError(f"{name}: truncated: expected a LEB128 block of {length:,} bytes, found {length - left:,}")
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


def _decode(content: np.ndarray, name: str) -> np.ndarray:
    """Return the values of bytes that end with a value."""
    last = (content << 1).view(np.int8) >> 1  # of a value's last byte, with its sign
    more = np.flatnonzero(content & _MORE)
    if len(more) == 0:
        return last
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
    return values[kept]


def encode_block(values: np.ndarray) -> list[bytes]:
    """Return a block of int8 or int16 values in their shortest form, in parts."""
    flat = values.reshape(-1)
    parts = [_encode(flat[start : start + _CHUNK]) for start in range(0, len(flat), _CHUNK)]
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
