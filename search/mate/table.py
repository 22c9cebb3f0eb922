"""The table of proof and disproof numbers: bounded memory, and one entry that serves many hands.

An entry belongs to a board with a side to move, and to a hand of the attacker. A position's pieces are a constant sum,
so on a given board the attacker's hand determines the defender's, and more for one is less for the other. A mate found
with some hand is a mate with every larger hand, and a refutation holds for every smaller one (Nagai, "Df-pn algorithm
for searching AND/OR trees and its applications", 2002; the stored hand is the one that the proof needed).

An entry has four words: the key; hand 28 bits, flag, move 16 << 32, length 16 << 48; proof number, disproof number <<
32; and the work spent, generation << 32. A refutation that holds on one path only (see dfpn.py) has its flag set. Its
last word is the key of that path, and its `length` the depth of the position that it goes back to, plus one.
"""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.primitives.memory import aligned_zeros, load_word, store_word
from search.rules.position import HAND_BORROWS as _BORROWS
from search.rules.repetition import hand_covers

WINDOW = 16
"""Number of entries that a key may occupy."""
ENTRY_BYTES = 32
INFINITE_NUMBER = 1 << 28
"""Proof number of a refuted position, and disproof number of a proved one."""
INDEPENDENT = 1 << 14
"""Depth that means "goes back to no earlier position": the result holds on every path."""
_PATH_FLAG = np.uint64(1 << 31)
_HAND_BITS = np.uint64((1 << 28) - 1)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_WORD = np.uint64(8)
_TWO, _THREE = np.uint64(16), np.uint64(24)
_ENTRY = np.uint64(ENTRY_BYTES)
_FIELD = np.uint64(0xFFFF)

HAND_BORROWS = np.uint64(_BORROWS)
# Bits above each count of a packed hand, by the width of the count (see position.HAND_BORROWS).
_WIDE = np.uint64(1 << 5)
_THREES = np.uint64((1 << 9) | (1 << 13) | (1 << 17) | (1 << 27))
_TWOS = np.uint64((1 << 20) | (1 << 23))
_UNITS = np.uint64((1 << 0) | (1 << 6) | (1 << 10) | (1 << 14) | (1 << 18) | (1 << 21) | (1 << 24))

mate_table_dtype = np.dtype([("address", np.uint64), ("entries", np.uint64), ("generation", np.uint64)], align=True)


class MateTable:
    """A table of `megabytes` MiB, whose memory is touched as it fills; jitted code takes `.record`."""

    def __init__(self, megabytes: int) -> None:
        """Allocate a table of `megabytes` MiB. Raises MemoryError if it does not fit."""
        try:
            entries = min((megabytes << 20) // ENTRY_BYTES, 0xFFFFFFFF)  # an index has 32 bits
            self._words = aligned_zeros((entries + WINDOW) * 4, np.uint64)
        except (MemoryError, ValueError, OverflowError):
            raise MemoryError(f"a mate table of {megabytes} MB does not fit into memory") from None
        self.megabytes = megabytes
        self.record = np.zeros(1, mate_table_dtype)[0]
        self.record["address"] = self._words.ctypes.data
        self.record["entries"] = entries

    def clear(self) -> None:
        """Clear the table."""
        self._words[:] = 0

    def new_search(self) -> None:
        """Begin a search: entries of earlier searches are replaced first."""
        self.record["generation"] = (int(self.record["generation"]) + 1) & 0xFFFF

    def filled(self) -> int:
        """Return the number of used entries among the first thousand."""
        return int((self._words[: 4 * 1000].reshape(-1, 4)[:, 2] != 0).sum())


@jit
def _fields(borrows):
    """Return ones in all bits of the counts whose upper bit is set in `borrows`."""
    return borrows - (
        ((borrows & _WIDE) >> np.uint64(5))
        | ((borrows & _THREES) >> np.uint64(3))
        | ((borrows & _TWOS) >> np.uint64(2))
    )


@jit
def larger_counts(first, second):
    """Return the packed hand that holds the larger count of two hands for each kind."""
    mask = _fields(((first | HAND_BORROWS) - second) & HAND_BORROWS)
    return (first & mask) | (second & ~mask & ~HAND_BORROWS)


@jit
def held_alone(winner, loser):
    """Return the winner's hand without the kinds that the loser's hand holds."""
    some = ((loser | HAND_BORROWS) - _UNITS) & HAND_BORROWS
    return winner & _fields(HAND_BORROWS & ~some)


@jit
def _first_entry(table, key):
    return table.address + (((key >> _HALF) * (table.entries & _LOW_HALF)) >> _HALF) * _ENTRY


@jit
def probe(table, key, hand, path):
    """Look up a board with an attacker's hand.

    Returns (proof number, disproof number, hand, move, length, depth that the result goes back to). Both numbers are
    negative if nothing is stored for the hand: they are then estimates from other hands, -1 without any. For a solved
    position `hand` is the hand that it was solved with. `path` (uint64) selects among the refutations that hold on one
    path only.
    """
    hand = np.uint64(hand)
    address = _first_entry(table, key)
    pn, dn, exact = np.int64(1), np.int64(1), False
    for _ in range(WINDOW):
        numbers = load_word(address + _TWO)
        if numbers == np.uint64(0):
            break
        if load_word(address) == key:
            word = load_word(address + _WORD)
            stored = word & _HAND_BITS
            entry_pn, entry_dn = np.int64(numbers & _LOW_HALF), np.int64(numbers >> _HALF)
            move, length = np.int64((word >> _HALF) & _FIELD), np.int64(word >> np.uint64(48))
            if word & _PATH_FLAG:
                if stored == hand and load_word(address + _THREE) == path:
                    return entry_pn, entry_dn, stored, move, np.int64(0), length - 1
            elif entry_pn == 0:
                if hand_covers(hand, stored):
                    return entry_pn, entry_dn, stored, move, length, np.int64(INDEPENDENT)
            elif entry_dn == 0:
                if hand_covers(stored, hand):
                    return entry_pn, entry_dn, stored, move, length, np.int64(INDEPENDENT)
            elif stored == hand:
                pn, dn, exact = max(pn, entry_pn), max(dn, entry_dn), True
            elif hand_covers(stored, hand):  # with less it is at least as hard to mate
                pn = max(pn, entry_pn)
            elif hand_covers(hand, stored):
                dn = max(dn, entry_dn)
        address += _ENTRY
    if exact:
        return pn, dn, hand, np.int64(0), np.int64(0), np.int64(INDEPENDENT)
    # Numbers of other hands are only a hint for the first estimate; negative numbers mark it.
    return -pn, -dn, hand, np.int64(0), np.int64(0), np.int64(INDEPENDENT)


@jit
def keep(table, key, hand, pn, dn, move, length, back, path, work):
    """Store the numbers of a position; `back` is the depth that a refutation goes back to, or INDEPENDENT."""
    hand = np.uint64(hand)
    address = _first_entry(table, key)
    victim, least = address, np.int64(1 << 62)
    on_path = back != INDEPENDENT
    for _ in range(WINDOW):
        numbers = load_word(address + _TWO)
        if numbers == np.uint64(0):
            victim = address
            break
        last = load_word(address + _THREE)
        word = load_word(address + _WORD)
        entry_on_path = (word & _PATH_FLAG) != np.uint64(0)
        if load_word(address) == key and entry_on_path == on_path:
            stored = word & _HAND_BITS
            same = stored == hand and (not on_path or last == path)
            if not on_path and not same:
                # The result replaces an entry that it makes superfluous.
                same = (pn == 0 and hand_covers(stored, hand)) or (dn == 0 and hand_covers(hand, stored))
            if same:
                victim = address
                if not on_path:
                    work += np.int64(last & _LOW_HALF)
                break
        if entry_on_path:
            effort = np.int64(1)
        else:
            effort = np.int64(last & _LOW_HALF) + 1
            if last >> _HALF != table.generation:
                effort >>= 6
        if effort < least:
            victim, least = address, effort
        address += _ENTRY
    store_word(victim, key)
    word = np.uint64(hand) | np.uint64(move) << _HALF
    if on_path:
        word |= _PATH_FLAG | np.uint64(back + 1) << np.uint64(48)
        store_word(victim + _THREE, path)
    else:
        word |= np.uint64(length) << np.uint64(48)
        store_word(victim + _THREE, np.uint64(min(work, np.int64(0x7FFFFFFF))) | table.generation << _HALF)
    store_word(victim + _WORD, word)
    store_word(victim + _TWO, np.uint64(pn) | np.uint64(dn) << _HALF)
