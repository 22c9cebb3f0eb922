"""Comparison of engines' speeds: ratios, order of the searches, and errors of engines that cannot be timed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from experiments.engine_speed import PlayerSpeed, SpeedOptions, TimedPlayer, TimedSearch, compare_speeds, measure_speeds
from liteshogi.commands.bench.engines import Command
from search.system.options import OptionError

SCRIPT = """#!{python} -SE
import sys, time
work, behaviour = float(sys.argv[1]), sys.argv[2]
searches = 0
for line in sys.stdin:
    word = line.split()[0]
    if word == "usi":
        print("id name Scripted")
        print("option name Threads type spin default 4 min 1 max 99")
        print("option name USI_Hash type spin default 1024 min 1 max 9999")
        print("usiok", flush=True)
    elif word == "setoption":
        print(line.strip(), file=open(__file__ + ".commands", "a"))
    elif word == "isready":
        print("readyok", flush=True)
    elif word == "go":
        searches += 1
        if behaviour == "dies" and searches == 3:
            sys.exit("Segmentation fault")
        end = time.process_time() + work
        while time.process_time() < end:
            pass
        if behaviour == "sleeps":
            time.sleep(0.5)
        print("info depth 7 score cp 1", "" if behaviour == "mute" else "nodes 1000")
        print("bestmove 7g7f", flush=True)
    elif word == "quit":
        break
"""


@pytest.fixture
def scripted(tmp_path) -> Path:
    """The path of an engine, called as `scripted SECONDS BEHAVIOUR` with the CPU seconds of each search."""
    program = tmp_path / "scripted"
    program.write_text(SCRIPT.replace("{python}", sys.executable))
    program.chmod(0o755)
    return program


def test_ratios_are_geometric_means_over_positions():
    """A node of the second player takes 2 and 8 times the first's time in two positions: 4 times on average."""
    slow = {0: 2e-3, 1: 8e-3}
    turns = [
        [TimedSearch(1000 * (round_ + 1), 9, 1e-3 * (round_ + 1), 1.0), TimedSearch(1000, 8, slow[place], 1.0)]
        for round_ in range(3)
        for place in range(2)
    ]
    first, second = compare_speeds(["a", "b"], turns, 2)
    assert first == PlayerSpeed(name="a", nps=1_000_000, wall_nps=2000, ratio=1.0, error=0.0, depth=9.0)
    assert second.ratio == 4.0
    assert second.error == pytest.approx(4 * 0.6931, abs=1e-3)  # of log 2 and log 8: half of log 4
    assert (second.nps, second.wall_nps, second.depth) == (312_500, 1000, 8.0)


def test_one_position_and_incomplete_rounds_are_compared():
    turn = [TimedSearch(100, 1, 1.0, 1.0), TimedSearch(100, 1, 3.0, 1.0)]
    assert [(one.ratio, one.error) for one in compare_speeds(["a", "b"], [turn], 5)] == [(1, None), (3, None)]
    slow = [turn[0], TimedSearch(100, 1, 12.0, 1.0)]
    assert compare_speeds(["a", "b"], [turn, turn, slow], 2)[1].ratio == pytest.approx(18**0.5, abs=1e-4)


def test_engines_are_timed_by_their_own_cpu(scripted, capsys):
    players = (f"quick={scripted} 0.05 sleeps", f"slow={scripted} 0.3 plays USI_Hash=8")
    Command(players, nodes=1000, positions=2, rounds=2, json=True).run()
    found = json.loads(capsys.readouterr().out)
    assert (found["turns"], found["go"], found["interrupted"]) == (4, "nodes 1000", False)
    quick, slow = found["players"]
    assert (quick["ratio"], quick["depth"]) == (1.0, 7.0)
    assert 3 < slow["ratio"] < 9  # 6, plus or minus the small time of reading and answering
    assert slow["nps"] < quick["nps"]
    assert quick["wall_nps"] < 2000 < quick["nps"]  # it sleeps for half a second
    commands = Path(f"{scripted}.commands").read_text().splitlines()
    assert {"setoption name Threads value 1", "setoption name USI_Hash value 64"} <= set(commands)
    assert commands[-1] == "setoption name USI_Hash value 8"


def test_liteshogi_is_also_timed_as_a_process(scripted, capsys):
    Command(("default", f"other={scripted} 0.01 plays"), nodes=2000, positions=1, rounds=1).run()
    machine, limits, _, own, _ = capsys.readouterr().out.splitlines()
    assert machine.startswith("CPU ")
    assert "kernel" in machine
    assert limits.startswith("go nodes 2000: 1 searches of each player")
    assert own.split()[0] == "default"


def _record(monkeypatch, until: int) -> list[str]:
    """Record the players of all searches; search number `until` is interrupted as by Ctrl-C."""
    order: list[str] = []

    def search(self, position, limits):
        if len(order) == until:
            raise KeyboardInterrupt
        order.append(self._name)
        return TimedSearch(1000, 5, 0.1, 0.2)

    monkeypatch.setattr(TimedPlayer, "search", search)
    return order


def test_players_begin_rounds_alternately(scripted, monkeypatch):
    order = _record(monkeypatch, 100)
    measure_speeds(SpeedOptions(tuple(f"{name}={scripted} 0 plays" for name in "abc"), positions=2, rounds=3))
    assert "".join(order) == "abc" + "abcabc" + "bcabca" + "cabcab"


def test_completed_searches_are_reported_after_an_interrupt(scripted, monkeypatch, capsys):
    players = tuple(f"{name}={scripted} 0 plays" for name in "ab")
    _record(monkeypatch, 2 + 5)
    with pytest.raises(KeyboardInterrupt):
        Command(players).run()
    assert ": 2 searches of each player, 12 positions" in capsys.readouterr().out
    _record(monkeypatch, 3)
    with pytest.raises(KeyboardInterrupt):
        Command(players).run()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("dies", r"^bad: .*scripted 0 dies: ended before bestmove \(status 1\): Segmentation fault$"),
        ("mute", "^bad: reported no nodes for startpos$"),
    ],
)
def test_an_error_names_an_engine_that_cannot_be_timed(scripted, behaviour, words):
    with pytest.raises(ValueError, match=words):
        measure_speeds(SpeedOptions((f"good={scripted} 0 plays", f"bad={scripted} 0 {behaviour}")))


def test_an_error_names_a_silent_engine(scripted, monkeypatch):
    monkeypatch.setattr("experiments.usi_client.searcher.ANSWER_SECONDS", 1.0)
    with pytest.raises(ValueError, match=r"^late: .*: no bestmove within 1 seconds"):
        measure_speeds(SpeedOptions((f"late={scripted} 1000000000 plays",)))


@pytest.mark.skipif(sys.platform == "win32", reason="a script of the shell")
def test_a_script_that_starts_an_engine_is_refused(scripted, tmp_path):
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f"#!/bin/sh\n'{scripted}' 0 plays\n")
    wrapper.chmod(0o755)
    with pytest.raises(ValueError, match=r"^wrapper: used no CPU time itself; name the program"):
        measure_speeds(SpeedOptions((str(wrapper),)))


def test_nodes_together_with_a_clock_are_refused():
    with pytest.raises(OptionError) as refused:
        measure_speeds(SpeedOptions(("default",), nodes=7, byoyomi=50))
    assert refused.value.fields == ("nodes", "byoyomi")


@pytest.mark.parametrize("options", [{"players": ()}, {"rounds": 0}, {"nodes": 0}, {"positions": 0}, {"byoyomi": 0}])
def test_empty_measurements_are_refused(options):
    with pytest.raises(OptionError) as refused:
        measure_speeds(SpeedOptions(**({"players": ("default",)} | options)))
    assert refused.value.fields == tuple(options)


def test_limits_are_those_of_usi():
    assert SpeedOptions(("default",), nodes=5).limits == "nodes 5"
    assert SpeedOptions(("default",), byoyomi=200).limits == "btime 0 wtime 0 byoyomi 200"
