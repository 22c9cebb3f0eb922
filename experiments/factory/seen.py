"""Which positions were met lately, in memory that does not grow."""

from __future__ import annotations

import numpy as np

from search.machine.jit import jit
from search.machine.memory import sparse_zeros

MEGABYTES = 256
"""For 33 million positions: what was met longer ago than that may be met again."""


@jit
def _enter(slots, hashes, first):
    mask = np.uint64(slots.size - 1)
    for index in range(hashes.size):
        key = hashes[index]
        slot = (key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32) & mask
        first[index] = slots[slot] != key
        slots[slot] = key


class Seen:
    """A table of hashes in which a later one takes an earlier one's slot: it forgets, and never errs otherwise."""

    def __init__(self, megabytes: int = MEGABYTES) -> None:
        """`megabytes` is a power of two."""
        self._slots = sparse_zeros(megabytes << 17, np.uint64)

    def add(self, hashes: np.ndarray) -> np.ndarray:
        """Enter hashes u8 (n,), none of them 0; bool (n,): not met before."""
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
    """u8 (n,) of hcp codes u1 (n, 32); never 0. A position has one code (splitmix64's finaliser over its words)."""
    hashes = np.zeros(len(codes), np.uint64)
    _hash(np.ascontiguousarray(codes).view(np.uint64).reshape(len(codes), 4), hashes)
    return hashes
