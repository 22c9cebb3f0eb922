"""The transposition table, shared by threads without locks.

An entry is two words: the data, and the key XORed with the data. If two threads write an entry at once, a reader finds
that the words do not match the key and treats the entry as absent (Hyatt and Mann, "A lock-less transposition-table
implementation for parallel search", ICGA Journal 25, 2002). Four entries share a cache line.

Data, from the low bit: move 16, score 16, static evaluation 16, depth 8, bound 2, on a principal variation 1, age 5.
"""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.primitives.memory import CACHE_LINE, aligned_zeros, load_word, prefetch, store_word
from search.score import MATE_BOUND
from search.system.bounds import check_megabytes

NO_BOUND, UPPER, LOWER, EXACT = range(4)
ENTRIES = 4
NO_EVALUATION = -32768
AGES = 32
"""Number of searches that the ages of entries distinguish."""
_WORD = np.uint64(8)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)

table_dtype = np.dtype([("address", np.uint64), ("clusters", np.uint64), ("age", np.int64)], align=True)


class TranspositionTable:
    """A table of `megabytes` MiB; compiled code takes its `.record` (table_dtype)."""

    def __init__(self, megabytes: int) -> None:
        """Reserve the memory, which the system backs when it is touched.

        Raises MemoryError if it does not fit, ValueError for an impossible size.
        """
        check_megabytes("a table", megabytes)
        size = megabytes << 20
        try:
            self._words = aligned_zeros(size // 8, np.uint64)
        except (MemoryError, ValueError, OverflowError):
            raise MemoryError(f"a table of {megabytes} MB does not fit into memory") from None
        self.megabytes = megabytes
        self.clusters = min(size // CACHE_LINE, 0xFFFFFFFF)  # an index has 32 bits
        self.record = np.zeros(1, table_dtype)[0]
        self.record["address"] = self._words.ctypes.data
        self.record["clusters"] = self.clusters

    def clear(self) -> None:
        """Clear the part in use; the rest is untouched, see `search.alphabeta.paging`."""
        self._words[: int(self.record["clusters"]) * CACHE_LINE // 8] = 0
        self.record["age"] = 0

    def new_search(self) -> None:
        """Begin a search: entries of earlier searches are replaced first."""
        self.record["age"] = (int(self.record["age"]) + 1) % AGES

    def filled(self) -> int:
        """Fill of the part in use by the current search, in thousandths, counted in its first 1,000 entries."""
        return int(_count_recent(self.record))

    def hashfull(self) -> int:
        """Fill of the whole table by the current search, in thousandths."""
        return self.filled() * int(self.record["clusters"]) // self.clusters

    def grow(self) -> None:
        """Double the number of clusters in use, at most to all; every entry stays findable."""
        _spread(self.record)


@jit
def _count_recent(table):
    """Count the current search's entries among the first 1,000."""
    count = np.int64(0)
    for index in range(1000):
        data = load_word(table.address + np.uint64(16 * index) + _WORD)
        if data != np.uint64(0) and np.int64(data >> np.uint64(59)) == table.age:
            count += 1
    return count


@jit
def cluster_address(table, key):
    """Address of a key's cluster: the key's upper half scaled to the number of clusters."""
    index = ((key >> _HALF) * (table.clusters & _LOW_HALF)) >> _HALF
    return table.address + index * np.uint64(CACHE_LINE)


@jit
def _spread(table):
    """Double the number of clusters in use and move each entry to where it is looked for then.

    The entries of a cluster go to one of two clusters, neither of them nearer to the start of the table. So, from the
    last cluster to the first, none meets an entry that still has to move. Threads may search meanwhile: the keys detect
    entries that they miss or misplace.
    """
    cluster = table.address + table.clusters * np.uint64(CACHE_LINE)
    table.clusters *= np.uint64(2)
    while cluster > table.address:
        cluster -= np.uint64(CACHE_LINE)
        for number in range(ENTRIES):
            entry = cluster + np.uint64(16 * number)
            word, data = load_word(entry), load_word(entry + _WORD)
            store_word(entry, np.uint64(0))
            store_word(entry + _WORD, np.uint64(0))
            if data != np.uint64(0):
                _put(cluster_address(table, word ^ data), word, data)


@jit
def _put(cluster, word, data):
    """Store an entry's two words in a cluster if there is room."""
    for number in range(ENTRIES):
        entry = cluster + np.uint64(16 * number)
        if load_word(entry + _WORD) == np.uint64(0):
            store_word(entry, word)
            store_word(entry + _WORD, data)
            return


@jit
def prefetch_cluster(table, key):
    """Prefetch the key's cluster."""
    prefetch(cluster_address(table, key))


@jit
def probe(table, key):
    """Return the data word of a key, or 0; the functions below read its parts."""
    address = cluster_address(table, key)
    for _ in range(ENTRIES):
        data = load_word(address + _WORD)
        if load_word(address) ^ data == key and data != np.uint64(0):
            return data
        address += np.uint64(16)
    return np.uint64(0)


@jit
def data_move(data):
    """Best move (16 bits), 0 if none."""
    return np.int64(data & np.uint64(0xFFFF))


@jit
def _signed(word):
    number = np.int64(word & np.uint64(0xFFFF))
    return number - 65536 if number >= 32768 else number


@jit
def data_score(data, ply):
    """Score, with mates counted from the root."""
    score = _signed(data >> np.uint64(16))
    if score > MATE_BOUND:
        return score - ply
    if score < -MATE_BOUND:
        return score + ply
    return score


@jit
def data_evaluation(data):
    """Static evaluation, NO_EVALUATION if the position was in check."""
    return _signed(data >> np.uint64(32))


@jit
def data_depth(data):
    """Depth of the search that gave the score."""
    return np.int64((data >> np.uint64(48)) & np.uint64(0xFF))


@jit
def data_bound(data):
    """UPPER, LOWER or EXACT."""
    return np.int64((data >> np.uint64(56)) & np.uint64(3))


@jit
def data_pv(data):
    """Whether the position is or was on a principal variation (int64, 0 or 1)."""
    return np.int64((data >> np.uint64(58)) & np.uint64(1))


@jit
def settles(bound, score, alpha, beta):
    """Whether a result with this bound is exact, or lies at beta and above or at alpha and below."""
    return bound == EXACT or (bound == LOWER and score >= beta) or (bound == UPPER and score <= alpha)


@jit
def betters(bound, score, estimate):
    """Whether a result with this bound improves an estimate: it lies on the side that the bound covers."""
    return settles(bound, score, estimate - 1, estimate + 1)


@jit
def store(table, key, move, score, evaluation, depth, bound, ply, pv):
    """Store a result; mates are counted from the position, so that they are valid on any path to it."""
    if score > MATE_BOUND:
        score += ply
    elif score < -MATE_BOUND:
        score -= ply
    address = cluster_address(table, key)
    victim, worst = address, np.int64(1 << 30)
    for _ in range(ENTRIES):
        data = load_word(address + _WORD)
        if load_word(address) ^ data == key:
            victim = address
            if move == 0:
                move = data_move(data)
            # A shallower bound does not replace a deeper result of the same position.
            if bound != EXACT and depth + 3 < data_depth(data) and np.int64(data >> np.uint64(59)) == table.age:
                return
            break
        age = (table.age - np.int64(data >> np.uint64(59))) & (AGES - 1)
        worth = data_depth(data) - 8 * age if data != np.uint64(0) else np.int64(-1000)
        if worth < worst:
            victim, worst = address, worth
        address += np.uint64(16)
    data = (
        np.uint64(move & 0xFFFF)
        | np.uint64(score & 0xFFFF) << np.uint64(16)
        | np.uint64(evaluation & 0xFFFF) << np.uint64(32)
        | np.uint64(min(max(depth, np.int64(0)), np.int64(255))) << np.uint64(48)
        | np.uint64(bound) << np.uint64(56)
        | np.uint64(pv) << np.uint64(58)
        | np.uint64(table.age) << np.uint64(59)
    )
    store_word(victim, key ^ data)
    store_word(victim + _WORD, data)
