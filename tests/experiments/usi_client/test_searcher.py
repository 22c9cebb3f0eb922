"""Results of searches by an engine behind pipes."""

from __future__ import annotations

import sys

import pytest

from experiments.usi_client.engines import ask_engine
from experiments.usi_client.searcher import Answer, Searcher, read_score
from search.score import MATE


@pytest.mark.parametrize(
    ("lines", "score"),
    [
        (["info depth 3 score cp -40 nodes 9", "bestmove 7g7f"], -40),
        (["info score mate 5", "bestmove x"], MATE - 5),
        (["info score mate -6", "bestmove x"], -(MATE - 6)),
        (["info score mate +", "bestmove x"], MATE - 1),
        (["info depth 0 score mate 0", "bestmove (none)"], -MATE),
        (["info depth 0 score mate -0", "bestmove resign"], -MATE),
        (["info score mate -", "bestmove x"], -(MATE - 1)),
        (["info score cp 99999", "bestmove x"], 29_999),
        (["info score cp 10", "info score cp 90 lowerbound", "info multipv 2 score cp 3", "bestmove x"], 10),
        (["info multipv 1 score cp 8", "info string score cp none", "bestmove x"], 8),
        (["bestmove resign"], None),
    ],
)
def test_scores_of_engines_are_read(lines, score):
    assert read_score(lines) == score


def test_words_may_be_separated_by_any_blanks(tmp_path):
    program = tmp_path / "aligned"
    answers = {"usi": "usiok", "isready": "readyok", "go nodes 1": " info  score   cp  -7\nbestmove\t7g7f"}
    talk = f"answers = {answers!r}\nfor line in iter(input, 'quit'):\n    print(answers.get(line, ''), flush=True)\n"
    program.write_text(f"#!{sys.executable}\n{talk}")
    program.chmod(0o755)
    answer = Searcher(ask_engine(str(program))).search("startpos", "nodes 1")
    assert (answer.move, answer.score) == ("7g7f", -7)


def test_the_last_reported_number_is_read():
    lines = [
        "info depth 4 seldepth 9 nodes 70",
        "info depth 5 seldepth 11 nodes 90",
        "info string nodes 7",
        "bestmove x",
    ]
    assert [Answer("x", lines).last(word) for word in ("depth", "nodes", "time")] == [5, 90, None]


def test_the_trace_has_a_score_of_each_depth():
    """Engines may omit depths, report some twice when the best move changes, and repeat the last one."""
    lines = [
        "info depth 2 seldepth 3 score cp 10 nodes 40",
        "info depth 4 seldepth 6 score cp 50 lowerbound nodes 60",
        "info depth 4 seldepth 6 score cp 20 nodes 70",
        "info depth 4 seldepth 6 multipv 2 score cp -5 nodes 75",
        "info depth 4 seldepth 7 score cp 30 nodes 80",
        "info depth 5 currmove 7g7f nodes 90",
        "info depth 4 seldepth 7 score cp 30 nodes 99",
        "bestmove x",
    ]
    assert Answer("x", lines).trace() == [(2, 40, 10), (4, 80, 30)]


def test_the_cpu_time_of_an_engine_is_the_same_by_both_clocks(scripted, monkeypatch):
    pytest.importorskip("psutil")
    searcher = Searcher(ask_engine(scripted.command()))
    searcher.wait()
    here = searcher.cpu_seconds()
    monkeypatch.setattr(sys, "platform", "another system's")
    assert searcher.cpu_seconds() == pytest.approx(here, abs=0.05)
    assert here > 0
