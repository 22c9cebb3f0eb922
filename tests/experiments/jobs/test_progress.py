"""The progress of games: redrawn on a terminal, lines in a log, and no second line without a change."""

from __future__ import annotations

import pytest

from experiments.jobs import progress
from experiments.jobs.progress import Progress
from lite.progress_line import fitted


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests can set."""
    time = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: time[0])
    return time


def show(clock, states):
    """Show a sequence of states (seconds, completed games) of ten games, two of which were completed before."""
    done = [2]
    with Progress(10, lambda: (done[0], f"{done[0]} of 10 games")) as line:
        for clock[0], done[0] in states:
            line.show()


def test_a_terminal_has_one_line_that_is_cleared(clock, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    show(clock, [(0.2, 2), (2, 2), (20, 4), (20.1, 5)])
    drawn = capsys.readouterr().err.split("\r\x1b[K")
    assert drawn == ["", "2 of 10 games", "4 of 10 games, 1:00 left", ""]


def test_a_log_has_lines_at_intervals(clock, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: False)
    show(clock, [(20, 3), (40, 4), (50, 5), (80, 4), (120, 6)])
    assert capsys.readouterr().err.splitlines() == ["4 of 10 games, 2:00 left", "6 of 10 games, 2:00 left"]


def test_a_log_has_a_line_before_the_first_result(clock, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: False)
    show(clock, [(20, 2), (40, 2), (80, 2), (120, 3)])
    assert capsys.readouterr().err.splitlines() == ["2 of 10 games", "3 of 10 games, 14:00 left"]


def test_time_without_a_result_counts_for_the_next_one(clock, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    show(clock, [(30, 3), (50, 3), (60, 3), (120, 3)])
    left = [line.rpartition(", ")[2] for line in capsys.readouterr().err.split("\r\x1b[K") if "left" in line]
    assert left == ["3:30 left", "3:10 left", "3:00 left", "6:00 left"]


def test_without_a_total_no_remaining_time_is_shown(clock, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: False)
    done = [0]
    with Progress(None, lambda: (done[0], f"{done[0]} games")) as line:
        clock[0], done[0] = 40, 7
        line.show()
    assert capsys.readouterr().err == "7 games\n"


def test_beyond_the_total_no_remaining_time_is_shown(clock, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: False)
    show(clock, [(40, 13)])
    assert capsys.readouterr().err == "13 of 10 games, 0:00 left\n"


def test_a_line_that_stays_replaces_the_drawn_one(clock, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with Progress(10, lambda: (2, "2 of 10 games")) as line:
        clock[0] = 2
        line.show()
        line.say("a result")
    assert capsys.readouterr().err == "\r\x1b[K2 of 10 games\r\x1b[Ka result\n\r\x1b[K"


def test_a_narrow_terminal_keeps_the_time_left(clock, monkeypatch, capsys):
    """The terminal would break a longer line, and only its last row could be redrawn."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("lite.progress_line._columns", lambda: 24)
    show(clock, [(20, 4)])
    assert capsys.readouterr().err.split("\r\x1b[K")[1] == "4 of 10 g..., 1:00 left"


@pytest.mark.parametrize(
    ("text", "columns", "expected"),
    [
        ("12 games", None, "12 games, left"),
        ("12 games", 15, "12 games, left"),
        ("12 games", 14, "12 g..., left"),
        ("対局 12局", 16, "対局 12局, left"),
        ("対局 12局", 15, "対局 ..., left"),
        ("12 games", 3, "..., left"),
    ],
)
def test_a_line_fits_into_its_columns(text, columns, expected):
    assert fitted(text, ", left", columns) == expected
