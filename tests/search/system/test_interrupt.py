"""Ctrl-C: a search that it interrupts ends soon, and before KeyboardInterrupt is raised."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from search.alphabeta.engine import AlphaBetaEngine
from search.evaluation.material import material_network
from search.system.interrupt import ended_by_interrupt, ends_as_interrupts, interrupted_at_once, run_beside

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to this process alone there")
WORK = """
import os, sys, time
from search.system.interrupt import interrupt_flag
with interrupt_flag() as interrupted:
    os.write(1, b"begun")
    while not interrupted():
        time.sleep(0.01)
    time.sleep(0.3)
    print("nearly done", flush=True)
    print("saved", file=sys.stderr, flush=True)
    open(sys.argv[1], "w").close()
"""
MIDDLE = "ln1g3nl/1r3kg2/p2pppsp1/3s2p1p/1pp4P1/P1P1SP2P/1PSPP1P2/2G2G1R1/LN1K3NL w Bb 28"


@pytest.fixture
def pressed():
    """`pressed(seconds)` sends Ctrl-C after that time."""
    timers = []

    def begin(seconds: float) -> None:
        timers.append(threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)))
        timers[-1].start()

    yield begin
    for timer in timers:
        timer.join()


@pytest.mark.parametrize(("threads", "multipv"), [(1, None), (1, 3), (3, None)])
def test_a_search_ends_within_a_depth(pressed, threads, multipv):
    engine = AlphaBetaEngine(material_network(), 4, threads)
    engine.analyse(MIDDLE, depth=2, multipv=multipv)  # compiles if necessary
    record = engine._threads[0].record

    def ends_in_a_depth() -> bool:
        pressed(0.5)
        with pytest.raises(KeyboardInterrupt):
            engine.analyse(MIDDLE, depth=100, multipv=multipv)
        return bool(record["depth"] < record["root_depth"])

    # Sometimes it is pressed just between two depths.
    assert any(ends_in_a_depth() for _ in range(5))
    assert engine.analyse(MIDDLE, depth=2).depth == 2


def test_a_handler_of_the_caller_stays_in_force(pressed):
    received: list[int] = []

    def until_received() -> None:
        while not received:
            time.sleep(0.01)

    before = signal.signal(signal.SIGINT, lambda *_: received.append(1))
    try:
        pressed(0.05)
        with ended_by_interrupt(pytest.fail):
            run_beside(until_received, pytest.fail)
    finally:
        signal.signal(signal.SIGINT, before)
    assert received == [1]


def test_a_second_interrupt_is_raised_at_once():
    stopped = []

    def press_twice() -> None:
        signal.raise_signal(signal.SIGINT)
        assert stopped == [1]
        signal.raise_signal(signal.SIGINT)
        pytest.fail("it was not raised")

    with pytest.raises(KeyboardInterrupt), ended_by_interrupt(lambda: stopped.append(1)):
        press_twice()
    assert stopped == [1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_work_that_stop_does_not_end_is_interrupted_at_once():
    """For example compiling, which takes half a minute; later work is stopped as usual."""
    stopped: list[int] = []

    def press_within() -> None:
        with interrupted_at_once():
            signal.raise_signal(signal.SIGINT)
            pytest.fail("it was not raised")

    def press_behind() -> None:
        with interrupted_at_once():
            pass
        signal.raise_signal(signal.SIGINT)
        assert stopped == [1]

    for press in (press_within, press_behind):
        with pytest.raises(KeyboardInterrupt), ended_by_interrupt(lambda: stopped.append(1)):
            press()
    assert stopped == [1]


def test_work_has_ended_when_an_exception_leaves(pressed):
    stop, ended = threading.Event(), []

    def work() -> None:
        assert stop.wait(60)
        time.sleep(0.3)
        ended.append(1)

    pressed(0.5)
    with pytest.raises(KeyboardInterrupt):
        run_beside(work, stop.set)
    assert ended == [1]


def test_exceptions_of_the_work_are_raised():
    with pytest.raises(ZeroDivisionError):
        run_beside(lambda: 1 // 0, pytest.fail)


@pytest.mark.parametrize("ignored", [False, True])
def test_a_closed_terminal_ends_work_in_order(tmp_path, ignored):
    """SIGHUP comes twice, from the system and from a shell, and each write to the terminal is an error.

    With `nohup` the work continues.
    """
    terminal, side = os.openpty()
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
    try:
        process = subprocess.Popen([sys.executable, "-c", WORK, tmp_path / "saved"], stdout=side, stderr=side)
    finally:
        signal.signal(signal.SIGHUP, before)
    os.close(side)
    with process:
        assert os.read(terminal, 5) == b"begun"
        os.close(terminal)
        for _ in range(2):
            process.send_signal(signal.SIGHUP)
            time.sleep(0.1)
        if ignored:
            assert process.poll() is None
            process.kill()
        else:
            assert process.wait(60) == 0
    assert (tmp_path / "saved").exists() != ignored


def test_a_background_process_can_end_its_children():
    """A shell makes background programs ignore SIGINT, `nohup` SIGHUP; their children inherit both."""
    ask = [sys.executable, "-c", "import signal; print([signal.getsignal(n) == signal.SIG_IGN for n in (2, 1)])"]
    before = [signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGHUP)]
    try:
        assert subprocess.check_output(ask, text=True) == "[True, True]\n"
        with ends_as_interrupts():
            assert subprocess.check_output(ask, text=True) == "[False, True]\n"
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGHUP, before[1])
