"""What was seen before, by 64-bit hashes (never 0): sets, an estimate for any number of them, and sums to merge by.

Tables with open addressing, at most half full: a set takes 16 to 32 bytes a hash, the sums 80 to 160."""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit


@jit
def _first_slot(key, size):
    """Where the search for a hash begins in a table whose size is a power of two."""
    return (key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20) & np.uint64(size - 1)


@jit
def _enter(slots, hashes, first):
    """Enter hashes into slots u8 (0: free); first bool[n]: not seen before. Returns how many of those."""
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
    """Which hashes were seen."""

    def __init__(self) -> None:
        self._slots = np.zeros(1 << 12, np.uint64)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def add(self, hashes: np.ndarray) -> np.ndarray:
        """Enter hashes u8 (n,), none of them 0; bool (n,): seen first."""
        size = self._slots.size
        while (self._used + len(hashes)) * 2 > size:
            size *= 2
        if size > self._slots.size:
            self._rebuild(self.hashes(), size)
        first = np.zeros(len(hashes), bool)
        self._used += int(_enter(self._slots, np.ascontiguousarray(hashes), first))
        return first

    def hashes(self) -> np.ndarray:
        """All of them, u8, in no order."""
        return self._slots[self._slots != 0]

    def _rebuild(self, hashes: np.ndarray, size: int) -> None:
        self._slots = np.zeros(size, np.uint64)
        self._used = int(_enter(self._slots, hashes, np.zeros(len(hashes), bool)))


class DistinctHashes(HashSet):
    """How many different hashes were seen, in bounded memory: exact up to `limit`, beyond it an estimate.

    Beyond the limit only hashes below a bound are kept, and the bound is halved whenever they become too many. With
    the limit of 2^22 (at most 128 MB) the estimate is good to some 0.07 %."""

    def __init__(self, limit: int = 1 << 22) -> None:
        super().__init__()
        self._limit = limit
        self._halvings = 0

    @property
    def exact(self) -> bool:
        return self._halvings == 0

    def count(self) -> int:
        """How many different hashes."""
        return len(self) << self._halvings

    def add(self, hashes: np.ndarray) -> np.ndarray:
        """Enter hashes; bool: seen first, of those below the bound."""
        first = super().add(self._below(hashes))
        while len(self) > self._limit:
            self._halvings += 1
            self._rebuild(self._below(self.hashes()), self._slots.size)
        return first

    def _below(self, hashes: np.ndarray) -> np.ndarray:
        return hashes[hashes >> np.uint64(64 - self._halvings) == 0] if self._halvings else hashes


entry_dtype = np.dtype(
    [
        ("hash", np.uint64),  # 0: free
        ("games", np.int32),  # how many of those seen have a game with a result behind them
        ("wins", np.int32),  # of the mover
        ("draws", np.int32),
        ("written", np.int32),
        ("scored", np.int32),
        ("score", np.int64),  # sum of those scored
    ],
    align=True,
)


@jit
def _find(entries, key):
    """The entry of a hash, or the free one where it belongs."""
    mask = np.uint64(entries.size - 1)
    at = _first_slot(key, entries.size)
    while entries[at].hash != 0 and entries[at].hash != key:
        at = (at + np.uint64(1)) & mask
    return at


@jit
def _add(entries, hashes, results, played, scored, scores, first):
    """Enter hashes with the mover's results f4, whether they are a game's, whether there is a score, and scores i2 (0
    where there is none); first bool[n]: seen first. Returns how many of those."""
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
    for index in range(old.size):
        if old[index].hash != 0:
            new[_find(new, old[index].hash)] = old[index]


@jit
def _merged(entries, hashes, first, results, played, scored, scores):
    """The merged label of each hash; first bool[n]: not asked for before."""
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


class HashCounts:
    """Counts and sums of what was seen under each hash."""

    def __init__(self) -> None:
        self._entries = np.zeros(1 << 12, entry_dtype)
        self._used = 0

    def __len__(self) -> int:
        """How many different hashes."""
        return self._used

    def add(
        self, hashes: np.ndarray, results: np.ndarray, played: np.ndarray, scored: np.ndarray, scores: np.ndarray
    ) -> np.ndarray:
        """Enter hashes u8 (n,), none of them 0, with the mover's results f4, bools whether these are a game's, bools
        whether there is a score, and scores i2, 0 where there is none; bool (n,): seen first."""
        while (self._used + len(hashes)) * 2 > self._entries.size:
            larger = np.zeros(self._entries.size * 2, entry_dtype)
            _move_entries(self._entries, larger)
            self._entries = larger
        first = np.zeros(len(hashes), bool)
        labels = (np.ascontiguousarray(part) for part in (results, played, scored, scores))
        self._used += int(_add(self._entries, hashes, *labels, first))
        return first

    def merged(self, hashes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Of hashes entered before: (bool first asked for, f4 most frequent result of games or a draw, bool whether any
        was of a game, bool whether any had a score, i2 mean score of those that had, else 0)."""
        first, played, scored = (np.zeros(len(hashes), bool) for _ in range(3))
        results, scores = np.zeros(len(hashes), np.float32), np.zeros(len(hashes), np.int16)
        _merged(self._entries, hashes, first, results, played, scored, scores)
        return first, results, played, scored, scores
