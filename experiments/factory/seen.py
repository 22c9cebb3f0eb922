"""Recently seen positions, in memory that does not grow."""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.primitives.memory import sparse_zeros

MEGABYTES = 256
"""Room for 33 million positions. Of the last 10 million it knows all but one in 2,000, of 16 million all but one in
150, of all 33 million all but one in eight."""
BUCKET = 8
"""Hashes of a bucket, which fills a cache line."""


@jit
def _enter(slots, hashes, first):
    mask = np.uint64(slots.size // BUCKET - 1)
    for index in range(hashes.size):
        key = hashes[index]
        start = np.int64((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32) & mask) * BUCKET
        place = start
        while place < start + BUCKET - 1 and slots[place] != key:
            place += 1
        first[index] = slots[place] != key
        while place > start:  # the newest comes first, and the oldest is dropped
            slots[place] = slots[place - 1]
            place -= 1
        slots[start] = key


class Seen:
    """A table of hashes in which a new hash replaces the oldest of its bucket of eight. It may forget a hash, and makes
    no other errors."""

    def __init__(self, megabytes: int = MEGABYTES) -> None:
        """`megabytes` is a power of two."""
        self._slots = sparse_zeros(megabytes << 17, np.uint64)

    def add(self, hashes: np.ndarray) -> np.ndarray:
        """Enter hashes u8 (n,), none of them 0; returns bool (n,): not seen before."""
        first = np.zeros(len(hashes), np.bool_)
        _enter(self._slots, np.ascontiguousarray(hashes), first)
        return first


@jit
def _hash(words, hashes):
    for index in range(words.shape[0]):
        key = np.uint64(0)
        for word in range(4):
            key = (key ^ words[index, word]) * np.uint64(0xBF58476D1CE4E5B9)
            key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            key ^= key >> np.uint64(31)
        hashes[index] = max(key, np.uint64(1))


def code_hashes(codes: np.ndarray) -> np.ndarray:
    """Return hashes u8 (n,), never 0, of hcp codes u1 (n, 32), by splitmix64's finaliser over their words.

    A position has one code."""
    hashes = np.zeros(len(codes), np.uint64)
    _hash(np.ascontiguousarray(codes).view(np.uint64).reshape(len(codes), 4), hashes)
    return hashes
