"""Leagues through ShogiArena: a script, this engine in its own process, and engines that misbehave."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from experiments.arena.arena_games import ArenaGame, read_failure, recorded_games, seat_names
from experiments.arena.engine_match import UsiMatch, play_usi_match
from experiments.arena.process import ARENA, LOG
from experiments.arena.tournament import UsiGames
from experiments.league.league import count_meetings, play_league
from experiments.league.participant import Participant, parse_participant
from experiments.report.match_section import match_section
from experiments.report.section import Run
from lite.run_folder import read_run

ROOT = Path(__file__).parents[3]


def test_results_are_counted_by_meeting():
    seats = seat_names(3)
    results = [
        ArenaGame("1", "a", 1.0, "BLACK_WIN", (seats[0], seats[2])),
        ArenaGame("2", "a", 0.5, "DRAW_BY_REPETITION", (seats[0], seats[2])),
        ArenaGame("3", "b", 0.0, "WHITE_WIN", (seats[0], seats[1])),
        ArenaGame("4", "b", None, "ERROR", (seats[0], seats[1])),
    ]
    first, second = count_meetings(results, 3, [(0, 1), (0, 2)])
    assert (first.games, first.points, first.losses) == (1, 0, 1)
    assert (second.pairs, second.draws, second.wins, second.losses) == (((1.5, 2),), 1, 1, 0)


def test_a_failure_caused_by_the_machine_is_reported(tmp_path):
    """ShogiArena reports such a failure only by a line of its log."""
    assert read_failure(tmp_path) == "for a reason that shogiarena does not report"
    line = "Invalidating timeout: game=g0141-3fr7j5tskq site=update_after_move_expired origin=unknown "
    line += "reason=explanatory-lag overshoot_ms=366.4580350014148 lag_ms=867.4128156126244\n"
    (tmp_path / LOG).write_text(f"2026-11-24 20:51:28 [WARNING]: {line}")
    assert read_failure(tmp_path) == "a move was late while the machine stalled for 867 ms: explanatory-lag"


def test_this_engine_in_a_process_plays_at_equal_nodes(scripted, tmp_path):
    """The program is the `python` of a virtual environment, which is a link; the script loses by an illegal move."""
    openings = tmp_path / "openings.sfen"
    openings.write_text("startpos\nstartpos moves 7g7f 3c3d\nstartpos moves 2g2f 8c8d\n")
    players = [
        parse_participant(f"tree={ROOT} USI_Hash=4"),
        parse_participant(f"module={sys.executable} -m liteshogi USI_Hash=4 EvalFile=dense-64-16"),
        Participant("script", scripted.command("illegal")),
    ]
    rules = UsiGames(games=2, nodes=60, openings=openings, max_moves=12, output=tmp_path / "run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        patch.setenv("LITESHOGI_DIARY", str(tmp_path / "diary"))
        report = play_league(rules, players, gauntlet=True)
        assert play_league(rules, players, gauntlet=True) == report  # all games are played
    assert report.games == 4
    script = next(row for row in report.players if row.name == "script")
    assert (script.games, script.losses) == (2, 2)
    assert [remark for remark in report.remarks if remark.startswith("script")] == [
        f"script made an illegal move 2 times, counted as lost, see {rules.output / ARENA / LOG}"
    ]
    asked = [line for line in (tmp_path / "diary").read_text().splitlines() if line.startswith("go ")]
    assert asked
    assert all("nodes 60" in line and "byoyomi" not in line for line in asked)
    names = {
        line[3:]
        for path in (rules.output / "kif").iterdir()
        for line in path.read_text("utf-8").splitlines()
        if line[1:3] == "手："
    }
    assert names == {"tree", "module", "script"}


@pytest.mark.parametrize(("gauntlet", "meetings"), [(False, 3), (True, 2)])
def test_all_meetings_progress_at_the_same_pace(gauntlet, meetings, scripted, tmp_path):
    players = [Participant(name, scripted.command()) for name in "abc"]
    play_league(UsiGames(games=4, byoyomi=5000, max_moves=4, output=tmp_path / "run"), players, gauntlet)
    results = recorded_games(tmp_path / "run")
    assert len(results) == 4 * meetings
    for done in range(len(results)):
        played = Counter({one.players: 0 for one in results})
        played.update(one.players for one in results[:done])
        assert max(played.values()) - min(played.values()) <= 2


@pytest.mark.parametrize(
    ("clock", "asked", "command"),
    [
        (
            {"time": 4000, "increment": 500, "byoyomi": 0},
            "btime 3500 wtime 3500 binc 500 winc 500",
            "--time 4000 --increment 500",
        ),
        ({"time": 4000, "byoyomi": 500}, "btime 4000 wtime 4000 byoyomi 500", "--time 4000 --byoyomi 500"),
    ],
)
def test_clocks_with_main_time_reach_the_engines_and_the_report(clock, asked, command, scripted, tmp_path):
    output = tmp_path / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LITESHOGI_DIARY", str(tmp_path / "diary"))
        play_usi_match(UsiMatch(scripted.command(), scripted.command(), games=2, **clock, max_moves=6, output=output))
    commands = [line for line in (tmp_path / "diary").read_text().splitlines() if line.startswith("go ")]
    assert asked in commands[0]  # ShogiArena adds the first increment after the first move
    section = match_section([Run("run", output, read_run(output))])
    assert all(f"{word.strip('-')}={value}" in section.origins[0].command for word, value in pairs_of(command))


def pairs_of(command: str) -> list[tuple[str, str]]:
    words = command.split()
    return list(zip(words[::2], words[1::2], strict=True))


def test_a_misspelt_network_is_reported_before_missing_openings(scripted, tmp_path):
    players = [Participant("a", scripted.command()), Participant("b", "defualt")]
    with pytest.raises(FileNotFoundError, match="defualt: there is no such engine"):
        play_league(UsiGames(games=4, nodes=9, output=tmp_path / "run"), players)
    assert not (tmp_path / "run").exists()


def test_equal_nodes_require_openings(scripted, tmp_path):
    players = [Participant(name, scripted.command()) for name in "abc"]
    with pytest.raises(ValueError, match="`openings`: required, as with `nodes` or `depth` engines repeat"):
        play_league(UsiGames(games=4, nodes=9, output=tmp_path / "run"), players)
    assert not (tmp_path / "run").exists()
