"""Small leagues in process: results, resuming after a kill, and KIF."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import tyro

from experiments.arena.arena_games import ArenaGame
from experiments.arena.tournament import Played, UsiGames
from experiments.drawing.pictures import draw_ratings
from experiments.elo.ratings import Meeting
from experiments.language.catalogue import label, reading
from experiments.language.japanese import JAPANESE
from experiments.league.in_process import Crosstable, LeagueTask, meetings_of
from experiments.league.league import PICTURE, play_league
from experiments.league.participant import parse_participant
from experiments.league.ratings_table import standings
from experiments.matches.in_process_games import InProcessGames
from experiments.report.verify import SAME, verify
from lite.notation.kif import read_kif
from lite.records.formats import DRAW, WINNER_MASK
from lite.run_folder import RESULTS, read_run
from liteshogi.commands.match import Command
from search.alphabeta.bench import SIGNATURE
from search.evaluation.material import material_network
from search.evaluation.network_file import save_network
from search.system.options import OptionError

ROOT = Path(__file__).parents[3]
PAIRS = 2


def command(*arguments: str) -> Command:
    return tyro.cli(Command, args=arguments)


@pytest.fixture(scope="module")
def league(tmp_path_factory):
    """Play a league of three; return its arguments, its report, and its folder with KIF."""
    place = tmp_path_factory.mktemp("league")
    save_network(material_network(), place / "material.safetensors")
    players = [str(place / "material.safetensors"), "default", "wide$x_$=default razor_margin=400"]
    arguments = [*players, "--nodes", "30", "--games", str(2 * PAIRS), "--parallel", "2", "--max-moves", "60"]
    return arguments, command(*arguments, "-o", str(place / "whole"), "--kif").play()[0], place / "whole"


def jobs_of(folder: Path) -> list[int]:
    return [json.loads(line)["job"] for line in (folder / RESULTS).read_text().splitlines()]


def test_all_players_have_met_and_the_table_adds_up(league):
    _, report, folder = league
    assert {(one.first, one.second) for one in report.meetings} == {
        ("material", "default"),
        ("material", "wide$x_$"),
        ("default", "wide$x_$"),
    }
    assert all(one.games == 2 * sum(one.pentanomial) == 2 * PAIRS for one in report.meetings)
    assert sum(row.points for row in report.players) == report.games == 6 * PAIRS
    assert sum(row.elo for row in report.players) == pytest.approx(0, abs=1e-6)
    assert read_run(folder).goal["players"] == ["material", "default", "wide$x_$"]
    assert (folder / PICTURE).read_bytes()[:4] == b"\x89PNG"
    checks = {Path(one.file).name: one.state for one in verify((folder,))}
    assert checks == {"material.safetensors": SAME, "default": SAME, "shard_00000.hcpe3": SAME}


def test_kif_has_players_and_results(league):
    _, report, folder = league
    points = dict.fromkeys((row.name for row in report.players), 0.0)
    files = sorted((folder / "kif").iterdir())
    assert len(files) == report.games
    for path in files:
        game = read_kif(path.read_text("utf-8"), str(path))
        winner = game.result & WINNER_MASK
        for colour, name in enumerate(game.names):
            points[name] += 0.5 if winner == DRAW else float(winner == colour + 1)
        assert game.scored.all()
    assert points == {row.name: row.points for row in report.players}
    names = [path.read_text("utf-8").split("手：")[1].splitlines()[0] for path in files[:2]]
    assert names[0] != names[1]  # colours are swapped


@pytest.mark.skipif(sys.platform == "win32", reason="signals are a matter of the system")
@pytest.mark.slow
def test_a_killed_league_resumes_without_repeats(league, tmp_path):
    arguments, report, _ = league
    words = [sys.executable, "-m", "liteshogi", "match", *arguments, "-o", str(tmp_path)]
    process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ledger, end = tmp_path / RESULTS, time.monotonic() + 200
    while (not ledger.exists() or not ledger.read_bytes().count(b"\n")) and time.monotonic() < end:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait(60)
    done = jobs_of(tmp_path)
    again = command(*arguments, "-o", str(tmp_path)).play()[0]
    assert jobs_of(tmp_path)[: len(done)] == done
    assert sorted(jobs_of(tmp_path)) == list(range(3 * PAIRS))
    assert replace(again, folder=report.folder) == report


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_league_on_a_cluster_has_the_results_of_threads(league, cluster, tmp_path):
    arguments, report, _ = league
    there = command(*arguments, "--ray", cluster.address, "-o", str(tmp_path)).play()[0]
    assert replace(there, folder=report.folder) == report


def test_another_league_cannot_resume(league, monkeypatch):
    arguments, _, folder = league
    players = [parse_participant(text) for text in (arguments[0], "default", "wide$x_$=default razor_margin=399")]
    rules = InProcessGames(nodes=30, games=2 * PAIRS, max_moves=60, output=folder)
    with pytest.raises(OptionError, match=r"`players` .*399"):
        play_league(rules, players)
    with pytest.raises(ValueError, match="`gauntlet` false, not true"):
        play_league(rules, [*players[:2], parse_participant(arguments[2])], gauntlet=True)
    monkeypatch.setattr("experiments.matches.named_player.search_signature", lambda: SIGNATURE + 1)
    with pytest.raises(ValueError, match=f"another signature: {SIGNATURE}, not {SIGNATURE + 1}; "):
        play_league(rules, [*players[:2], parse_participant(arguments[2])])


def test_a_pair_is_played_and_counted_in_its_meeting():
    class Pairs:
        def __init__(self, meeting: int) -> None:
            self.meeting = meeting

        def open(self) -> Pairs:
            return self

        def run(self, round_number: int) -> tuple[int, int]:
            return self.meeting, round_number

    worker = LeagueTask(tuple(map(Pairs, range(3)))).open()  # type: ignore[arg-type]
    assert [worker.run(number) for number in range(6)] == [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]
    table = Crosstable("abc", meetings_of(3, False), 2)
    for number in range(6):
        winner = "losses" if number % 3 == 1 else "wins"  # a beats b, c beats a, b beats c; c once more than it loses
        counts = {f"{winner} as black": 1, f"{winner} as white": 1}
        table.see(number, {"draws as black": 1, "wins as white": 1} if number == 5 else counts)
    assert [(one.first, one.second, one.points) for one in table.meetings()] == [(0, 1, 4), (0, 2, 0), (1, 2, 3.5)]
    games, words = table.measure()
    assert games == 12
    assert words.startswith("12 of 12 games, c leads with +")


def test_games_through_shogiarena_are_counted_for_every_meeting(tmp_path, monkeypatch):
    asked: list[object] = []

    def play(rules, verb, players, call, total, gauntlet):
        asked.extend((total, gauntlet))
        ends = (("a", "first", "second", 1.0), ("a", "first", "second", 0.5), ("b", "second", "player3", None))
        ends += (("c", "second", "player3", 0.0),)
        games = [ArenaGame(str(n), pair, points, "", (one, other)) for n, (pair, one, other, points) in enumerate(ends)]
        return Played(list(call([])), games, ["late"])

    monkeypatch.setattr("experiments.league.league.play_engines", play)
    monkeypatch.setattr("experiments.league.league.draw_ratings", lambda *_: None)
    players = [parse_participant(name) for name in ("x", "y", "z")]
    report = play_league(UsiGames(games=4, output=tmp_path), players)
    assert asked == [12, False]
    meetings = [[one.first, one.second, one.wins, one.draws, one.losses] for one in report.meetings]
    assert meetings == [["x", "y", 1, 1, 0], ["y", "z", 0, 0, 1]]
    assert report.remarks[-1] == "late"


def test_a_leagues_picture_has_japanese_names(tmp_path, recwarn):
    (tmp_path / "kept").mkdir()
    with reading(JAPANESE):
        axis = label("Elo (mean 0)")
    draw_ratings(standings(["先手", "歩"], [Meeting(0, 1, ((1.5, 2),) * 4, 0)]).players, tmp_path / "ratings.png", axis)
    assert axis == "レート差（Elo、平均 0）"
    assert not [one for one in recwarn if "missing from font" in str(one.message)]


def test_a_gauntlet_is_the_first_against_all_others():
    assert meetings_of(4, gauntlet=True) == [(0, 1), (0, 2), (0, 3)]
    assert meetings_of(3, gauntlet=False) == [(0, 1), (0, 2), (1, 2)]


def test_neighbours_are_within_the_given_distance():
    assert meetings_of(4, False, neighbours=1) == [(0, 1), (1, 2), (2, 3)]
    assert meetings_of(4, False, neighbours=2) == [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
    assert meetings_of(4, False, neighbours=3) == meetings_of(4, False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("default", "default", "a=default"), "2 players are called default"),
        (("a=default", "a=dense-64-16"), "2 players are called a"),
        (("default", "a=default", "b=default", "--sprt", "0", "5"), "`sprt`: is for two players"),
        (("default", "a=default razor=3", "b=default"), "default: razor=3: a player in this process has no such"),
        (("default", "missing.bin", "b=default"), "missing.bin: there is no such network"),
        (("default", "a=default", "--gauntlet"), "`gauntlet`: is for more than two players"),
        (("default", "a=default", "--neighbours", "1"), "`neighbours`: is for more than two players"),
        (("default", "a=default", "b=default", "--neighbours", "-1"), "`neighbours` -1: must be"),
        (("default", "a=default", "b=default", "--gauntlet", "--neighbours", "1"), "`neighbours`: has no effect"),
    ],
)
def test_invalid_leagues_are_refused_before_a_folder_is_made(arguments, words, tmp_path):
    with pytest.raises((ValueError, OSError)) as raised:
        command(*arguments, "--nodes", "30", "-o", str(tmp_path / "l")).play()
    assert str(raised.value).startswith(words)
    assert not (tmp_path / "l").exists()
