"""Amounts as text."""

from __future__ import annotations

import pytest

from lite.amounts import amount
from lite.datasets.convert import ConversionSummary, WrittenFile
from liteshogi.commands.convert import as_text


@pytest.mark.parametrize(("count", "words"), [(0, "0 games"), (1, "1 game"), (2, "2 games"), (12_345, "12,345 games")])
def test_amounts_are_singular_or_plural(count: int, words: str) -> None:
    assert amount(count, "game") == words


def test_a_summary_of_one_game_is_singular() -> None:
    written = WrittenFile("a.hcpe3", 1, 1, 38)
    summary = as_text(ConversionSummary(1, 1, {}, [], 1, 1, {}, 1, (written,), []))
    assert summary.splitlines() == [
        "read     1 file, 1 game, 1 position",
        "refused  nothing",
        "left out nothing",
        "no score 1 position read, marked where written",
        "wrote    a.hcpe3: 1 game, 1 position, 38 bytes",
    ]
