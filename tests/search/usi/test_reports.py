"""Reports of a search in a session: lines of depths, of several moves, of progress, and the last before the move."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from search.alphabeta.engine import AlphaBetaEngine
from search.engine import Analysis, Limits, OnProgress, OnReport, Progress

SOME = "3i4h 5a4b 5i5h 8c8d 3g3f 7a7b 6i6h 7b8c 5g5f 8c9b"


def test_multipv_reports_lines_in_order(session):
    session.send("setoption name MultiPV value 3", "position startpos", "go depth 2")
    numbers = [line.split()[line.split().index("multipv") + 1] for line in session.until("bestmove")[:-1]]
    assert numbers == ["1", "2", "3"] * 2


def test_lines_of_one_depth_share_nodes_and_time(session):
    session.send("setoption name MultiPV value 4", "position startpos", "go depth 6")
    lines = [line.split() for line in session.until("bestmove") if line.startswith("info depth")]
    for name in ("nodes", "time"):
        numbers = [int(words[words.index(name) + 1]) for words in lines]
        assert numbers == sorted(numbers)
        assert all(len(set(numbers[first : first + 4])) == 1 for first in range(0, len(numbers), 4))


@pytest.mark.parametrize("nodes", [300, 2_000, 7_000, 20_000])
def test_the_last_lines_are_the_best_moves_each_once(session, nodes):
    """ShogiHome, cshogi and ShogiArena keep the last line of each rank, also after an interrupted depth."""
    session.send("setoption name MultiPV value 4", "usinewgame", f"position startpos moves {SOME}", f"go nodes {nodes}")
    *lines, best = session.until("bestmove")
    last = [re.search(r" multipv (\d) .* pv (\S+)", line) for line in lines[-4:]]
    assert [found and found[1] for found in last] == ["1", "2", "3", "4"]
    assert len({found[2] for found in last}) == 4
    assert best.split()[1] == last[0][2]


@pytest.mark.parametrize("lines", [1, 2])
def test_a_search_does_not_end_with_a_line_of_progress(session, monkeypatch, lines):
    """ShogiArena and Ayane take such a line for the best one, which then has neither a score nor moves."""

    def search(engine: AlphaBetaEngine, limits: Limits, on_report: OnReport, on_progress: OnProgress) -> list[Analysis]:
        ranks = [Analysis(move, 30, depth=1, nodes=900, pv=(move,)) for move in ("7g7f", "2g2f")[:lines]]
        found = [replace(one, rank=rank) for rank, one in enumerate(ranks, 1)]
        on_report(found, False)
        on_progress(Progress(900, 1, 0))
        return found

    monkeypatch.setattr(AlphaBetaEngine, "search", search)
    session.send(f"setoption name MultiPV value {lines}", "position startpos", "go nodes 900")
    said = session.until("bestmove 7g7f")
    assert [line.rpartition(" pv ")[2] for line in said[-1 - lines : -1]] == ["7g7f", "2g2f"][:lines]


def test_the_last_reported_line_is_played(session, monkeypatch):
    """The threads may vote for another move than the first thread's without searching another node."""
    reported, voted = (Analysis(move, 30, depth=1, nodes=900, pv=(move,)) for move in ("7g7f", "2g2f"))

    def search(engine: AlphaBetaEngine, limits: Limits, on_report: OnReport, _: object) -> list[Analysis]:
        on_report([reported], True)
        return [voted]

    monkeypatch.setattr(AlphaBetaEngine, "search", search)
    lines = session.send("position startpos", "go nodes 900").until("bestmove 2g2f")
    assert lines[-2].endswith(" nodes 900 nps 900000 hashfull 0 time 0 pv 2g2f")


def test_a_long_depth_reports_progress(session, monkeypatch):
    """The line has only counters: for ShogiHome a depth, a time or a `currmove` would replace the best line."""
    monkeypatch.setattr("search.alphabeta.engine.PROGRESS_SECONDS", 0.02)
    session.send("position startpos", "go infinite")
    lines: list[str] = []
    while sum(" pv " not in line for line in lines) < 6:
        lines += session.until("info")
    lines += session.send("stop").until("bestmove")[:-1]
    reported = [re.fullmatch(r"info nodes (\d+) nps \d+ hashfull \d+", line) for line in lines if " pv " not in line]
    nodes = [int(one[1]) for one in reported if one]
    assert len(nodes) == len(reported)
    assert nodes == sorted(nodes)


def test_the_last_report_and_the_move_are_written_at_once(session, monkeypatch):
    """A line alone would wake the reader, which takes a core from the search where all are busy."""
    written: list[str] = []
    thinking = session.usi._thinking
    write = thinking._write
    monkeypatch.setattr(thinking, "_write", lambda text: (written.append(text), write(text)))
    session.send("position startpos", "go depth 2").until("bestmove")
    assert [text.count("\n") for text in written] == [2]
    session.send("go btime 0 wtime 0 byoyomi 60").until("bestmove")
    assert len(written) == 2
    session.send("go infinite").until("info depth 3")
    session.send("stop").until("bestmove")
    assert len(written) > 3
