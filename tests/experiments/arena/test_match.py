"""Matches of a scripted engine through ShogiArena: results, messages and the log."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.arena.arena_games import ArenaGame, pair_results, read_arena_games, recorded_games
from experiments.arena.engine_match import UsiMatch, play_usi_match, tally_games
from experiments.arena.process import ARENA, LOG, write_inputs
from experiments.elo.strength import elo_of
from lite.run_folder import RunPlan, RunWriter, read_run
from liteshogi.commands.match import as_text
from search.system.options import OptionError

ROOT = Path(__file__).parents[3]


def test_results_are_counted_for_the_first_engine():
    results = [
        ArenaGame("1", "a", 1.0, "BLACK_WIN"),
        ArenaGame("2", "a", 0.5, "DRAW_BY_REPETITION"),
        ArenaGame("3", "b", 0.0, "BLACK_WIN"),
        ArenaGame("4", "b", None, "ERROR"),
        ArenaGame("5", "c", 1.0, "WHITE_WIN"),
    ]
    report = tally_games(results)
    assert (report.games, report.wins, report.draws, report.losses, report.points) == (4, 2, 1, 1, 2.5)
    assert report.failed == 1
    assert report.endings == {"BLACK_WIN": 2, "DRAW_BY_REPETITION": 1, "ERROR": 1, "WHITE_WIN": 1}
    assert pair_results(results) == [(1.5, 2), (0.0, 1), (1.0, 1)]
    assert (report.elo, report.elo_low) == (pytest.approx(elo_of(2.5 / 4)), None)
    others = [ArenaGame("", pair, points, "WHITE_WIN") for pair in "defg" for points in (0.0, 1.0)]
    more = tally_games([*results, *others])
    assert more.elo is not None
    assert more.elo_low is not None
    assert more.elo_high is not None
    assert more.elo_low < more.elo < more.elo_high


@pytest.fixture(scope="module")
def played(scripted, tmp_path_factory):
    """A match of four games. The first engine has an option with a file; the second crashes once."""
    place = tmp_path_factory.mktemp("match")
    (place / "mine.bin").write_text("a net")
    (place / "openings.sfen").write_bytes(
        b"\xef\xbb\xbf# two\r\nstartpos\r\n\r\nstartpos\r\nposition startpos moves 5i5h 5a5b\r\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setenv("LITESHOGI_DIARY", str(place / "diary"))
        match = UsiMatch(
            scripted.command(),
            scripted.command("crash once"),
            games=4,
            byoyomi=5000,
            openings=Path("openings.sfen"),
            first_option=("EvalFile=mine.bin",),
            max_moves=8,
            output=Path("run"),
        )
        report = play_usi_match(match)
        yield match, report


def test_relative_files_reach_the_engine_as_absolute_paths(played):
    commands = Path("diary").read_text().splitlines()
    files = {line for line in commands if line.startswith("setoption name EvalFile")}
    assert files == {f"setoption name EvalFile value {Path('mine.bin').absolute()}"}
    assert len([line for line in commands if line == "usinewgame"]) == 8
    assert "setoption name NetworkDelay value 0" in commands


def test_openings_are_written_in_the_format_of_shogiarena(played):
    assert Path("run", ARENA, "openings.sfen").read_text() == "startpos\nstartpos moves 5i5h 5a5b\n"


def test_a_crash_is_counted_and_reported_with_the_name_of_the_player(played):
    _, report = played
    assert (report.first, report.second) == ("Scripted (play EvalFile=mine.bin)", "Scripted (crash once)")
    assert (report.wins, report.draws, report.losses, report.failed) == (1, 3, 0, 0)
    log = Path("run", ARENA, LOG)
    *remarks, times = report.remarks
    assert remarks == [
        f"Scripted (crash once) broke off 1 times, counted as lost, see {log}",
        "reasons of wins: resignation or crash 1",
    ]
    assert times.startswith("time per move, median (90th percentile): Scripted (")
    assert sorted(pair_results(recorded_games(Path("run")))) == [(1.0, 2), (1.5, 2)]
    names = set()
    for path in sorted(Path("run/kif").iterdir()):
        names |= {line.split("：", 1)[1] for line in path.read_text("utf-8").splitlines() if line[1:3] == "手："}
    assert names == {report.first, report.second}


def test_the_command_reports_players_results_and_failures(played):
    _, report = played
    *lines, mishap, reasons, times = as_text(report).splitlines()
    assert lines == [
        "Scripted (play EvalFile=mine.bin): 2.5 of 4 points (62.5 %) against Scripted (crash once)",
        "1 wins, 3 draws, 0 losses; too few games for an Elo",
        "ends of games: " + ", ".join(f"{ending} {count}" for ending, count in report.endings.items()),
    ]
    assert (mishap, reasons, times) == report.remarks


def test_the_output_of_shogiarena_goes_to_a_log_and_not_to_the_terminal(played, capfd):
    match, report = played
    assert play_usi_match(match) == report  # all games are played
    assert read_run(match.output).goal["players"] == [report.first, report.second]
    assert read_run(match.output).state == "done"
    said = "run: complete (4 of 4 games, first engine 2.5 points of 4), so nothing is added; another seed in another "
    assert capfd.readouterr() == ("", f"{said}folder plays other games\n")
    assert "Traceback" in (match.output / ARENA / LOG).read_text()


def test_a_folder_of_another_match_is_refused_and_unchanged(played, scripted):
    match, _ = played
    before = {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()}
    for other, words in (
        (replace(match, first_option=()), r"another first: options EvalFile .*, not null"),
        (replace(match, byoyomi=100), "`byoyomi` 5000, not 100"),
        (replace(match, second=scripted.command("slow")), "another second: command "),
    ):
        with pytest.raises(OptionError, match=f"`output` run: holds a run with {words}"):
            play_usi_match(other)
    Path("mine.bin").write_text("another net")
    with pytest.raises(OptionError, match=r"another first: files .*mine\.bin"):
        play_usi_match(match)
    Path("mine.bin").write_text("a net")
    assert {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()} == before


def test_a_match_of_other_sources_of_this_engine_is_refused(scripted, tmp_path):
    """Command, options and files are the same."""
    scripted.sign(669983)
    match = UsiMatch(scripted.command("liteshogi"), scripted.command(), games=2, max_moves=4, output=tmp_path / "run")
    report = play_usi_match(match)
    assert play_usi_match(match) == report
    scripted.sign(669984)
    with pytest.raises(OptionError, match='another first: signature "669983", not "669984"'):
        play_usi_match(match)


def test_files_of_a_match_that_has_begun_must_stay_the_same(tmp_path):
    write_inputs(tmp_path, {"first.yaml": {"environment": {"HOME": "/a"}}})
    (tmp_path / "games").mkdir()
    write_inputs(tmp_path, {"first.yaml": {"environment": {"HOME": "/b"}}})  # nothing was played
    (tmp_path / "games" / "game.db").touch()
    write_inputs(tmp_path, {"first.yaml": {"environment": {"HOME": "/c"}}})
    assert json.loads((tmp_path / "first.yaml").read_text())["environment"] == {"HOME": "/b"}


def test_a_folder_is_used_by_one_run_at_a_time(scripted, tmp_path):
    match = UsiMatch(scripted.command(), scripted.command(), output=tmp_path)
    with (
        RunWriter(tmp_path, RunPlan("any")),
        pytest.raises(ValueError, match=f"another run is at work here .process {os.getpid()}"),
    ):
        play_usi_match(match)


@pytest.mark.skipif(sys.platform == "win32", reason="a script of the shell")
def test_a_match_without_a_finished_game_fails(scripted, tmp_path):
    """The engine starts when it is asked for its options, but not for games."""
    once = tmp_path / "once"
    once.write_text(f"#!/bin/sh\nrm {tmp_path}/ticket && exec {scripted.command()}\n")
    once.chmod(0o755)
    (tmp_path / "ticket").touch()
    with pytest.raises(
        ValueError, match=f"no game came to an end: 2 games failed .*see .*{LOG}; .* remove .*run or give"
    ):
        play_usi_match(UsiMatch(str(once), scripted.command(), games=2, output=tmp_path / "run"))
    assert {one.ending for one in recorded_games(tmp_path / "run")} == {"ERROR"}


@pytest.mark.skipif(sys.platform == "win32", reason="signals are a matter of the system")
def test_ctrl_c_leaves_no_engine_and_the_same_command_resumes(scripted, tmp_path):
    script = (
        "import sys; from pathlib import Path; from experiments.arena.engine_match import UsiMatch, play_usi_match\n"
        f"match = UsiMatch({scripted.command('slow')!r}, {scripted.command()!r}, games=4, byoyomi=5000, max_moves=8,"
        f" output=Path({str(tmp_path / 'run')!r}))\n"
        "try: print(play_usi_match(match).games)\nexcept KeyboardInterrupt: sys.exit(130)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LITESHOGI_DIARY": str(tmp_path / "diary")}
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        end = time.monotonic() + 60
        while not read_arena_games(tmp_path / "run" / ARENA):
            assert time.monotonic() < end
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, messages = process.communicate(timeout=60)
    assert process.returncode == 130
    assert messages.splitlines() == ["run the same command again to resume"]
    done = len(read_arena_games(tmp_path / "run" / ARENA))
    assert 1 <= done < 4
    diary = (tmp_path / "diary").read_text()
    assert subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60).stdout == "4\n"
    again = (tmp_path / "diary").read_text().removeprefix(diary)
    assert again.count("usinewgame") == 2 * (4 - done)


def test_invalid_matches_are_refused_before_anything_is_written(scripted, tmp_path):
    run, good = tmp_path / "run", scripted.command()
    with pytest.raises(FileNotFoundError, match="no such engine"):
        play_usi_match(UsiMatch("liteshogi-of-nowhere", good, output=run))
    with pytest.raises(ValueError, match="ended before usiok"):
        play_usi_match(UsiMatch(good, scripted.command("die"), output=run))
    weak = UsiMatch("liteshogi", good, nodes=1000, games=2, first_option=("Level=level8",), output=run)
    with pytest.raises(ValueError, match="Level=level8: its own limit is"):
        play_usi_match(weak)
    with pytest.raises(ValueError, match="no option Nodes"):
        play_usi_match(UsiMatch(good, good, second_option=("Nodes=1",), output=run))
    with pytest.raises(FileNotFoundError, match=r"none\.sfen: there is no such file"):
        play_usi_match(UsiMatch(good, good, openings=tmp_path / "none.sfen", output=run))
    openings = tmp_path / "openings.sfen"
    openings.write_text("startpos\nstartpos moves 7g7f\nstartpos\n")
    with pytest.raises(ValueError, match="2 openings, and each of 3 pairs of games takes one of its own"):
        play_usi_match(UsiMatch(good, good, games=5, openings=openings, output=run))
    openings.write_text("startpos\n4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1\n")
    with pytest.raises(ValueError, match=r"openings\.sfen line 2: the game is over \(mate\)"):
        play_usi_match(UsiMatch(good, good, games=2, openings=openings, output=run))
    openings.write_text("startpos\nstartpos moves 7g7c\n")
    with pytest.raises(ValueError, match=r"openings\.sfen line 2: move 1, 7g7c, is not legal"):
        play_usi_match(UsiMatch(good, good, games=2, openings=openings, output=run))
    with pytest.raises(ValueError, match="must be at least"):
        play_usi_match(UsiMatch(good, good, games=0, output=run))
    assert not run.exists()
