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


def test_networks_of_one_file_name_have_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a/net.safetensors", "b/net.safetensors", "c/net.safetensors"):
        Path(name).parent.mkdir()
        Path(name).touch()
    found = [
        folder_of([parse_participant(f"{one}/net.safetensors") for one in players]).name
        for players in ("ab", "bc", "aa")
    ]
    assert found[:2] == ["match-a_net.safetensors-b_net.safetensors", "match-b_net.safetensors-c_net.safetensors"]
    assert found[2] == "match-net-net"


def test_long_names_that_begin_alike_differ() -> None:
    players = [[parse_participant("default"), parse_participant(f"{'n' * 60}{end}=default")] for end in "ab"]
    first, second = (folder_of(pair).name for pair in players)
    assert first != second
    assert max(len(first), len(second)) <= len("match-default-") + 40


def test_the_command_uses_the_default_folder_unless_another_is_given() -> None:
    assert parse("match", ["default", "default"]).output == NAMED_AFTER_PLAYERS
    assert parse("match", ["default", "default", "-o", "there"]).output == Path("there")
