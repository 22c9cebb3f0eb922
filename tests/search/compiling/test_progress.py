"""Progress of a first start: an estimate from the functions compiled so far, and lines every few seconds."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import threading

import pytest

from search.compiling import progress
from search.compiling.progress import SUBJECTS, CompileProgress, compile_times
from tests.usi_session import InProcess, Process

TABLE = {"search": {"a": 10.0, "b": 20.0, "c": 70.0}, "beside": {"m": 30.0}, "games": {"g": 6.0, "h": 4.0}}


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def made(monkeypatch, clock) -> CompileProgress:
    monkeypatch.setattr(progress, "compile_times", lambda: TABLE)
    found = CompileProgress(clock)
    found.watched = True
    return found


def compile_one(made: CompileProgress, clock: Clock, name: str, seconds: float) -> None:
    with made.compiling():
        made.begin(name)
        clock.now += seconds
        made.end(name)


def test_nothing_is_reported_if_nothing_is_compiled(made, clock):
    assert made.state() is None
    with made.compiling():
        made.load("a")
    assert made.state() is None


@pytest.mark.parametrize("pace", [0.5, 1.0, 3.0])
def test_the_estimate_follows_this_machines_pace(made, clock, pace):
    made.expect("search")
    with made.compiling():
        made.begin("a")
        assert made.seconds_left() == pytest.approx(100)
        clock.now += 10 * pace
        made.end("a")
        made.begin("b")
        clock.now += 20 * pace
        made.end("b")
        assert made.seconds_left() == pytest.approx(70 * pace, rel=0.15)
        made.begin("c")
        clock.now += 60 * pace
        assert made.seconds_left() == pytest.approx(10 * pace, abs=5 * pace)
        clock.now += 200 * pace  # slower than expected: the estimate must not stay at zero
        assert made.seconds_left() >= 1
        made.end("c")
    assert made.seconds_left() == 1
    assert made.state() is not None
    clock.now += 10
    assert made.state() is None


def test_functions_in_the_cache_are_not_expected(made, clock):
    made.expect("search")
    made.load("c")
    compile_one(made, clock, "a", 10)
    assert made.seconds_left() == pytest.approx(20, rel=0.1)


def test_the_second_process_is_included_in_the_estimate(made, clock):
    made.expect("search", beside=("beside",))
    made.load("c")
    made.load("b")
    compile_one(made, clock, "a", 10)
    assert made.seconds_left() == pytest.approx(20, rel=0.1)
    with made.compiling():
        clock.now += 15
        assert made.state() == "compiling the engine for this CPU, only once: about 5 s left"


def test_functions_of_the_search_are_expected_without_a_call(made, clock):
    with made.compiling():
        made.begin("other")
        clock.now += 7
        assert made.state() == "compiling further functions for this CPU, only once: 7 s so far"
        made.end("other")
        made.begin("a")
        assert "about 1" in made.state()


def test_functions_of_other_verbs_are_named_and_expected(made, clock):
    made.load("a")  # including the functions that it calls
    with made.compiling():
        made.begin("g")
        assert made.state() == "compiling games in this process for this CPU, only once: about 10 s left"
        made.begin("b")  # during the other, for other types than in the engine
        assert made.state() == "compiling games in this process for this CPU, only once: about 30 s left"
        clock.now += 20
        made.end("b")
        clock.now += 6
        made.end("g")
        assert made.state() == "compiling games in this process for this CPU, only once: about 4 s left"


def test_a_function_of_a_compiled_engine_does_not_announce_the_engine(made, clock):
    made.load("a")
    with made.compiling():
        made.begin("b")
        assert made.state() == "compiling further functions for this CPU, only once: about 20 s left"
        clock.now += 20
        made.end("b")
        made.begin("unknown")
        clock.now += 2
        assert made.state() == "compiling further functions for this CPU, only once: 22 s so far"


def test_the_time_since_earlier_compiling_is_not_counted(made, clock):
    compile_one(made, clock, "other", 3)
    clock.now += 600
    with made.compiling():
        made.begin("another")
        clock.now += 4
        assert made.state() == "compiling further functions for this CPU, only once: 4 s so far"


def test_a_function_that_cannot_be_compiled_leaves_no_trace(made, clock):
    with contextlib.suppress(TypeError), made.compiling():
        made.begin("a")
        raise TypeError
    clock.now += 10
    assert made.state() is None
    compile_one(made, clock, "b", 3)
    assert set(made.seconds) >= {"b"}


def test_the_measured_times_name_functions_of_this_engine():
    times = compile_times()
    assert set(times) == set(SUBJECTS)
    assert sum(times["search"].values()) > 20
    names = [name for part, functions in times.items() if part != "puct" for name in functions]
    assert len(set(names)) == len(names), "a function is in two parts"
    names += times["puct"]
    found = 0
    for name in names:
        module, _, function = name.rpartition(".")
        source = module.replace(".", "/") + ".py"
        with open(source, encoding="utf-8") as file:
            found += f"def {function}(" in file.read()
    assert found > 0.8 * len(names), "measure the times of compiling again: python -m release.compile_times"


def test_a_missing_table_gives_no_estimate(monkeypatch, tmp_path, clock):
    monkeypatch.setattr(progress, "TABLE", tmp_path / "nothing.json")
    compile_times.cache_clear()
    try:
        made = CompileProgress(clock)
        made.watched = True
        made.expect("search", beside=("beside",))
        compile_one(made, clock, "a", 3)
        assert made.state() == "compiling further functions for this CPU, only once: 3 s so far"
    finally:
        compile_times.cache_clear()


def test_a_gui_gets_estimates_while_compiling(monkeypatch, made, clock):
    monkeypatch.setattr("search.usi.session.PROGRESS", made)
    monkeypatch.setattr("search.usi.session.KEEP_ALIVE_SECONDS", 0.02)
    release, entered = threading.Event(), threading.Event()

    def make(*_: object) -> None:
        made.expect("search")
        with made.compiling():
            made.begin("a")
            entered.set()
            release.wait(60)
        raise ValueError("enough")

    session = InProcess()
    monkeypatch.setattr(session.usi._adapter, "make", make)
    session.send("isready")
    assert entered.wait(60)
    for _ in range(3):
        session.until("info string compiling the engine for this CPU, only once: about 100 s left")
    clock.now += 5
    session.until("info string compiling the engine for this CPU, only once: about 95 s left")
    release.set()
    session.until("info string Error! enough")


def test_a_first_start_reports_seconds_left(start_cold):
    """Test a real process with an empty cache, through a GUI's pipe and on a terminal."""
    session = start_cold
    session.send("usi", "isready")
    lines = session.until("info string compiling the engine for this CPU, only once: about ")
    assert int(re.search(r"about (\d+) s left", lines[-1])[1]) > 5
    session.until("info string compiling the engine for this CPU, only once: about ")
    session.kill()


@pytest.fixture
def start_cold(tmp_path):
    session = Process(LITESHOGI_CACHE=str(tmp_path / "cache"))
    yield session
    session.kill()


def test_a_terminal_gets_estimates_while_compiling(tmp_path):
    code = "from search.warmup import warm_up; warm_up()"
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "LITESHOGI_CACHE": str(tmp_path / "cache")},
    )
    try:
        for _ in range(2):
            assert re.fullmatch(
                r"liteshogi: compiling the engine for this CPU, only once: about \d+ s left\n",
                process.stderr.readline(),
            )
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
