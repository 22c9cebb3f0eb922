"""The length of mates without futile interpositions."""

from __future__ import annotations

import pytest

from liteshogi.commands.mate import Command
from search.mate.solver import MateSolver
from search.mate.tsume_length import tsume_plies_of

FUTILE = "k8/9/1K7/9/9/9/9/9/8R b r2b4g4s4n4l18p 1"
"""The rook's check from 9i can be interposed five times, each time without effect."""


@pytest.mark.parametrize(
    ("sfen", "plies", "counted"),
    [
        ("4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1", 1, 1),
        (FUTILE, 15, 5),
        ("9/5S2P/7NP/7RN/8k/9/9/9/9 b Gr2b3g3s2n4l16p 1", 9, 9),
    ],
)
def test_futile_interpositions_count_no_plies(sfen: str, plies: int, counted: int) -> None:
    solver = MateSolver(8)
    assert solver.solve(sfen).plies == plies
    assert tsume_plies_of(solver, sfen, 60_000) == counted


def test_a_check_that_only_drops_answer_is_a_mate_in_one() -> None:
    assert tsume_plies_of(MateSolver(8), "k8/2S6/1K7/9/9/9/9/9/8R b r2b4g3s4n4l18p 1", 60_000) == 1


def test_without_a_mate_or_time_there_is_no_length() -> None:
    solver = MateSolver(8)
    assert tsume_plies_of(solver, "startpos", 60_000) is None
    assert tsume_plies_of(solver, FUTILE, 0) is None


def test_the_command_reports_the_length(capsys: pytest.CaptureFixture[str]) -> None:
    Command((FUTILE,), milliseconds=60_000, tsume=True, language="en").run()
    assert "without futile interpositions: mate in 5\n" in capsys.readouterr().out
    Command((FUTILE,), milliseconds=60_000, tsume=True, language="ja").run()
    printed = capsys.readouterr().out
    assert printed.startswith("15手詰: ")
    assert "無駄合を除くと5手詰\n" in printed
