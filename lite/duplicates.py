"""A set of 64-bit hashes that counts and sums what was seen of each: 40 bytes an entry, any number of them."""

from __future__ import annotations

import numpy as np

from search.jit import jit

entry_dtype = np.dtype(
    [
        ("hash", np.uint64),  # 0: free
        ("count", np.int32),
        ("wins", np.int32),  # of the mover
        ("draws", np.int32),
        ("written", np.int32),
        ("score", np.int64),  # sum
    ],
    align=True,
)


@jit
def _find(entries, key):
    """The entry of a hash, or the free one where it belongs; open addressing, the size is a power of two."""
    mask = np.uint64(entries.size - 1)
    at = (key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20) & mask
    while entries[at].hash != 0 and entries[at].hash != key:
        at = (at + np.uint64(1)) & mask
    return at


@jit
def _add(entries, hashes, results, scores, first):
    """Enter hashes with the mover's results f4 and scores i2; first bool[n]: seen first. Returns how many of those."""
    found = 0
    for index in range(hashes.size):
        at = _find(entries, hashes[index])
        entry = entries[at]
        first[index] = entry.hash == 0
        found += first[index]
        entry.hash = hashes[index]
        entry.count += 1
        entry.wins += results[index] > 0.5
        entry.draws += results[index] == 0.5
        entry.score += scores[index]
    return found


@jit
def _move_entries(old, new):
    for index in range(old.size):
        if old[index].hash != 0:
            new[_find(new, old[index].hash)] = old[index]


@jit
def _merged(entries, hashes, first, results, scores):
    """The merged label of each hash; first bool[n]: not asked for before."""
    for index in range(hashes.size):
        entry = entries[_find(entries, hashes[index])]
        first[index] = entry.written == 0
        entry.written = 1
        losses = entry.count - entry.wins - entry.draws
        if entry.wins > losses and entry.wins > entry.draws:
            results[index] = 1.0
        elif losses > entry.wins and losses > entry.draws:
            results[index] = 0.0
        else:
            results[index] = 0.5
        half = entry.count // 2
        total = entry.score
        scores[index] = (total + half) // entry.count


class HashCounts:
    """What was seen under each hash."""

    def __init__(self) -> None:
        self._entries = np.zeros(1 << 12, entry_dtype)
        self._used = 0

    def __len__(self) -> int:
        """How many different hashes."""
        return self._used

    def add(
        self, hashes: np.ndarray, results: np.ndarray | None = None, scores: np.ndarray | None = None
    ) -> np.ndarray:
        """Enter hashes u8 (n,), none of them 0, with the mover's results f4 and scores i2; bool (n,): seen first."""
        while (self._used + len(hashes)) * 2 > self._entries.size:
            larger = np.zeros(self._entries.size * 2, entry_dtype)
            _move_entries(self._entries, larger)
            self._entries = larger
        first = np.zeros(len(hashes), bool)
        results = np.zeros(len(hashes), np.float32) if results is None else np.ascontiguousarray(results)
        scores = np.zeros(len(hashes), np.int16) if scores is None else np.ascontiguousarray(scores)
        self._used += int(_add(self._entries, hashes, results, scores, first))
        return first

    def merged(self, hashes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of hashes entered before: (bool first asked for, f4 most frequent result or a draw, i2 mean score)."""
        first = np.zeros(len(hashes), bool)
        results, scores = np.zeros(len(hashes), np.float32), np.zeros(len(hashes), np.int16)
        _merged(self._entries, hashes, first, results, scores)
        return first, results, scores
