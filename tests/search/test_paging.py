"""Backing a table's memory changes nothing in it."""

from __future__ import annotations

from search.paging import back_table
from search.transposition import TranspositionTable


def test_entries_survive():
    table = TranspositionTable(4)
    table._words[::1000] = 12345
    before = table._words.copy()
    back_table(table).join()
    assert (table._words == before).all()
