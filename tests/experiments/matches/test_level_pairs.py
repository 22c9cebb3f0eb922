"""Games in process with levels: they depend on the seed, vary, and are refused where levels are not supported."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from experiments.games.compiled_game import MOVE_LIMIT
from experiments.games.level_duel import LevelDuel
from experiments.games.player import Duel, Ending, Player
from experiments.jobs.protocol import Stopped
from experiments.matches.in_process_match import Match, play_match
from experiments.matches.named_player import read_player
from lite.run_folder import read_run
from search.evaluation.material import material_network
from search.levels import LEVELS
from search.rules.shogi import BLACK, WHITE
from search.system.options import OptionError

WEAK = LEVELS[1]
SHORT = Ending(max_moves=12)


def player(**changes) -> Player:
    return Player(material_network(), nodes=300, hash_mb=1, **changes)


@pytest.fixture(scope="module")
def duel() -> LevelDuel:
    return LevelDuel(player(level=WEAK), player(), SHORT)


def test_a_seed_decides_a_game(duel):
    games = []
    for seed in (1, 2, 3, 1):
        duel.forget()
        games.append(duel.play("startpos", seed=seed).moves.tolist())
    assert games[0] == games[3]
    assert games[1] != games[0] != games[2]


def test_a_game_at_full_strength_equals_the_compiled_game():
    players, ending = (player(), player(parameters={"razor_margin": 300})), Ending(max_moves=40)
    for colour in (BLACK, WHITE):
        uncompiled, compiled = (kind(*players, ending).play("startpos", colour) for kind in (LevelDuel, Duel))
        assert uncompiled.moves.tolist() == compiled.moves.tolist()
        assert (uncompiled.hcpe3(), uncompiled.counts()) == (compiled.hcpe3(), compiled.counts())


def test_the_rules_end_a_game(duel):
    game = duel.play("startpos")
    assert (game.ending, len(game.moves)) == (MOVE_LIMIT, 12)
    assert all(count > 0 for count in game.nodes)
    mated = duel.play("sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1")
    assert (mated.ended, mated.points, len(mated.moves)) == ("mate", 1.0, 1)
    assert not duel.is_over("startpos")
    declarable = "sfen +P+P+P+P+P+PK1+R/+P+P+PG5/9/9/9/9/9/9/4k4 b R2BG 10"
    assert duel.is_over(declarable)
    with pytest.raises(ValueError, match="over before it begins"):
        duel.play(declarable)


def test_a_game_is_stopped_from_another_thread():
    endless = Player(material_network(), nodes=1 << 40, hash_mb=1)
    duel = LevelDuel(player(level=WEAK), endless)
    threading.Timer(0.2, duel.stop).start()
    with pytest.raises(Stopped):
        duel.play("startpos")


def test_a_compiled_game_refuses_a_level():
    with pytest.raises(ValueError, match="level2"):
        Duel(player(level=WEAK))


def test_options_name_the_level():
    named = read_player("default", ("Level=level2",), 300, 0, "")
    assert named.player.level == WEAK
    assert named.name(False) == "default (300 nodes, Level=level2)"
    assert named.deciding == {"Level": WEAK.rule}
    assert f"temperature {WEAK.temperature}" in WEAK.rule
    with pytest.raises(ValueError, match="Level=level2"):
        _ = named.by_alphabeta
    with pytest.raises(OptionError, match=r"level0.*full, level1"):
        read_player("default", ("Level=level0",), 300, 0, "first_option")


@pytest.mark.parametrize(
    ("name", "nodes", "depth", "is_refused"),
    [
        ("level8", 14_999, 0, True),
        ("level8", 15_000, 0, False),
        ("level8", 0, 30, True),
        ("level4", 0, 1, True),
        ("level4", 100, 2, False),
    ],
)
def test_limits_below_those_of_a_level_are_refused(name, nodes, depth, is_refused):
    if is_refused:
        with pytest.raises(ValueError, match=f"Level={name}: its own limit is"):
            read_player("default", (f"Level={name}",), nodes, depth)
    else:
        assert read_player("default", (f"Level={name}",), nodes, depth).player.level.name == name


def test_a_match_of_levels_is_played(tmp_path):
    match = Match(
        "default", "default", nodes=100, first_option=("Level=level1",), games=4, max_moves=30, parallel=2,
        output=tmp_path / "first",
    )  # fmt: skip
    report = play_match(match)
    assert report.games == 4
    assert report.first == "default (100 nodes, Level=level1)"
    assert read_run(match.output).options["first_option"] == {"Level": LEVELS[0].rule}
    again = Match(**(vars(match) | {"output": tmp_path / "second", "parallel": 1}))
    play_match(again)
    shards = [np.fromfile(one.output / "shard_00000.hcpe3", np.uint8) for one in (match, again)]
    assert sorted(shards[0]) == sorted(shards[1])


def test_equal_players_of_a_level_play_different_games(tmp_path):
    level = ("Level=level1",)
    match = Match(
        "default", "default", nodes=100, first_option=level, second_option=level, games=2, max_moves=30, parallel=1,
        output=tmp_path,
    )  # fmt: skip
    report = play_match(match)
    assert report.remarks == ()
