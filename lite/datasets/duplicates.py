"""Detect duplicates by 64-bit hashes (never 0): a set, an estimate for large numbers, and sums for merging.

The hash tables use open addressing and are at most half full: a set takes 16 to 32 bytes per hash, sums 80 to 160."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from search.compiling.jit import jit


@jit
def _first_slot(key, size):
    """Return the slot where the search for a hash begins, in a table whose size is a power of two."""
    return (key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20) & np.uint64(size - 1)


@jit
def _enter(slots, hashes, first):
    """Insert hashes into slots u8 (0 is free), set first bool[n] for new ones, and return the number of new ones."""
    mask = np.uint64(slots.size - 1)
    found = 0
    for index in range(hashes.size):
        key = hashes[index]
        at = _first_slot(key, slots.size)
        while slots[at] != 0 and slots[at] != key:
            at = (at + np.uint64(1)) & mask
        first[index] = slots[at] == 0
        found += first[index]
        slots[at] = key
    return found


class HashSet:
    """A set of hashes."""

    def __init__(self) -> None:
        self._slots = np.zeros(1 << 12, np.uint64)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def add(self, hashes: np.ndarray) -> np.ndarray:
        """Add hashes u8 (n,), none of them 0, and return bool (n,): whether each is new."""
        size = self._slots.size
        while (self._used + len(hashes)) * 2 > size:
            size *= 2
        if size > self._slots.size:
            self._rebuild(self.hashes(), size)
        first = np.zeros(len(hashes), bool)
        self._used += int(_enter(self._slots, np.ascontiguousarray(hashes), first))
        return first

    def hashes(self) -> np.ndarray:
        """Return all hashes, u8, in no particular order."""
        return self._slots[self._slots != 0]

    def _rebuild(self, hashes: np.ndarray, size: int) -> None:
        self._slots = np.zeros(size, np.uint64)
        self._used = int(_enter(self._slots, hashes, np.zeros(len(hashes), bool)))


class DistinctHashes(HashSet):
    """Counts different hashes in bounded memory: exactly up to `limit`, beyond it as an estimate.

    Beyond the limit only hashes below a bound are kept, and the bound is halved whenever they become too many. With
    the limit of 2^22 (at most 128 MB) the standard error of the estimate is about 0.07 %."""

    def __init__(self, limit: int = 1 << 22) -> None:
        super().__init__()
        self._limit = limit
        self._halvings = 0

    @property
    def exact(self) -> bool:
        """Whether `count` is exact."""
        return self._halvings == 0

    def count(self) -> int:
        """Return the number of different hashes."""
        return len(self) << self._halvings

    def add(self, hashes: np.ndarray) -> np.ndarray:
        """Add hashes u8 (n,), none of them 0, and return bool (m,): whether each of the m below the bound is new."""
        first = super().add(self._below(hashes))
        while len(self) > self._limit:
            self._halvings += 1
            self._rebuild(self._below(self.hashes()), self._slots.size)
        return first

    def _below(self, hashes: np.ndarray) -> np.ndarray:
        return hashes[hashes >> np.uint64(64 - self._halvings) == 0] if self._halvings else hashes


entry_dtype = np.dtype(
    [
        ("hash", np.uint64),  # 0 is free
        ("games", np.int32),  # number of occurrences that have a game result
        ("wins", np.int32),  # for the mover
        ("draws", np.int32),
        ("written", np.int32),  # 1 after the merged label was returned
        ("scored", np.int32),  # number of occurrences with a score
        ("score", np.int64),  # sum of the scores
    ],
    align=True,
)


@jit
def _find(entries, key):
    """Return the index of a hash's entry, or of the free entry where it belongs."""
    mask = np.uint64(entries.size - 1)
    at = _first_slot(key, entries.size)
    while entries[at].hash != 0 and entries[at].hash != key:
        at = (at + np.uint64(1)) & mask
    return at


@jit
def _add(entries, hashes, results, played, scored, scores, first):
    """Add occurrences of hashes: results f4 for the mover, played (whether the result is a game's), scored (whether
    there is a score), scores i2 (0 without one). Set first bool[n] for new hashes and return their number."""
    found = 0
    for index in range(hashes.size):
        at = _find(entries, hashes[index])
        entry = entries[at]
        first[index] = entry.hash == 0
        found += first[index]
        entry.hash = hashes[index]
        entry.games += played[index]
        entry.wins += played[index] and results[index] > 0.5
        entry.draws += played[index] and results[index] == 0.5
        entry.scored += scored[index]
        entry.score += scores[index]
    return found


@jit
def _move_entries(old, new):
    """Copy all entries into a larger, empty table."""
    for index in range(old.size):
        if old[index].hash != 0:
            new[_find(new, old[index].hash)] = old[index]


@jit
def _merged(entries, hashes, first, results, played, scored, scores):
    """Fill the merged label of each hash, and set first bool[n] for hashes that are requested for the first time."""
    for index in range(hashes.size):
        entry = entries[_find(entries, hashes[index])]
        first[index] = entry.written == 0
        entry.written = 1
        losses = entry.games - entry.wins - entry.draws
        if entry.wins > losses and entry.wins > entry.draws:
            results[index] = 1.0
        elif losses > entry.wins and losses > entry.draws:
            results[index] = 0.0
        else:
            results[index] = 0.5
        played[index] = entry.games > 0
        scored[index] = entry.scored > 0
        total = entry.score
        scores[index] = (total + entry.scored // 2) // max(entry.scored, 1)


@dataclass(frozen=True)
class MergedLabels:
    """Labels merged over all occurrences of each of n hashes."""

    first: np.ndarray
    """bool (n,): whether the hash is requested for the first time."""
    results: np.ndarray
    """f4 (n,): most frequent game result for the mover; a draw if there is none."""
    played: np.ndarray
    """bool (n,): whether any occurrence has a game result."""
    scored: np.ndarray
    """bool (n,): whether any occurrence has a score."""
    scores: np.ndarray
    """i2 (n,): mean score of the occurrences with a score, otherwise 0."""


class HashCounts:
    """Counts of results and sums of scores by hash."""

    def __init__(self) -> None:
        self._entries = np.zeros(1 << 12, entry_dtype)
        self._used = 0

    def __len__(self) -> int:
        """Return the number of different hashes."""
        return self._used

    def add(
        self, hashes: np.ndarray, results: np.ndarray, played: np.ndarray, scored: np.ndarray, scores: np.ndarray
    ) -> np.ndarray:
        """Add occurrences of hashes and return bool (n,): whether each hash is new.

        hashes: u8 (n,), none of them 0. results: f4, for the mover. played: bool, whether the result is a game's.
        scored: bool, whether there is a score. scores: i2, 0 without a score."""
        while (self._used + len(hashes)) * 2 > self._entries.size:
            larger = np.zeros(self._entries.size * 2, entry_dtype)
            _move_entries(self._entries, larger)
            self._entries = larger
        first = np.zeros(len(hashes), bool)
        labels = (np.ascontiguousarray(part) for part in (results, played, scored, scores))
        self._used += int(_add(self._entries, hashes, *labels, first))
        return first

    def merged(self, hashes: np.ndarray) -> MergedLabels:
        """Return the merged labels of hashes that were added before."""
        first, played, scored = (np.zeros(len(hashes), bool) for _ in range(3))
        results, scores = np.zeros(len(hashes), np.float32), np.zeros(len(hashes), np.int16)
        _merged(self._entries, hashes, first, results, played, scored, scores)
        return MergedLabels(first, results, played, scored, scores)
