"""The default folder of a match, which depends on the players."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.league.participant import parse_participant
from liteshogi.__main__ import parse
from liteshogi.commands.match import NAMED_AFTER_PLAYERS, folder_of


@pytest.mark.parametrize(
    ("players", "name"),
    [
        (("default", "squared-64-16"), "match-default-squared-64-16"),
        (("default", "nets/mine.safetensors"), "match-default-mine"),
        (("new=default", "old=default USI_Hash=64"), "match-new-old"),
        (("default", "default USI_Hash=64 Threads=1"), "match-default-default_USI_Hash=64_Threads=1"),
        (("default", "水匠=/engines/YaneuraOu"), "match-default-水匠"),
        (("a=default", "b=default", "c=default", "d=default", "e=default"), "match-a-b-c-d-and-1-more"),
    ],
)
def test_the_folder_is_named_after_the_players(players: tuple[str, ...], name: str) -> None:
    assert folder_of([parse_participant(text) for text in players]) == Path("runs", name)


def test_the_command_uses_the_default_folder_unless_another_is_given() -> None:
    assert parse("match", ["default", "default"]).output == NAMED_AFTER_PLAYERS
    assert parse("match", ["default", "default", "-o", "there"]).output == Path("there")
