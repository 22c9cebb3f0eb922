"""Failures outside the search: they are reported once and lose no game."""

from __future__ import annotations

import time

import numpy as np
import pytest

from search.alphabeta.engine import AlphaBetaEngine
from search.evaluation.material import material_network
from search.evaluation.network_file import save_network
from search.rules.movegen import is_legal
from search.rules.sfen import move_from_usi, position_from_sfen
from search.rules.shogi import START_SFEN
from search.usi.alphabeta import AlphaBetaAdapter
from tests.usi_session import InProcess, Session

REFUSED = (
    ("position startpos moves 7g7f 7g7f", "move 2, 7g7f, is not legal"),
    ("position startpos moves hello", "is not a USI move"),
    ("position sfen 9/9 b - 1", "2 ranks instead of 9"),
    ("position", "SFEN"),
    ("position sfen " + "9/" * 500, "characters"),
    ("position sfen 4k4/4R4/9/9/9/9/9/9/4K4 b - 1", "in check"),
)


@pytest.mark.parametrize(("bad", "words"), REFUSED)
def test_no_move_is_played_in_a_refused_position(session, bad, words):
    session.send("position startpos moves 7g7f")
    assert words in session.send(bad).words()
    lines = session.send("go depth 2").until("bestmove")
    assert "the last one was refused" in lines[0]
    assert words in lines[0]
    assert lines[-1] == "bestmove resign"
    assert session.send("go mate 1000").until("checkmate")[-1] == "checkmate timeout"
    session.send("go infinite")
    time.sleep(0.1)
    assert not [line for line in session.waiting() if line.startswith("bestmove")]
    assert session.send("stop").bestmove() == "resign"
    session.send("position startpos moves 7g7f 3c3d", "go depth 2")
    assert session.bestmove() != "resign"


@pytest.mark.parametrize("broken", ["book", "mate solver", "search"])
def test_a_failure_outside_the_search_is_reported_once_and_the_engine_plays(session, monkeypatch, tmp_path, broken):
    def fail(*arguments, **names):
        raise IndexError("out of the blue")

    if broken == "book":
        (tmp_path / "a.db").write_text(f"#YANEURAOU-DB2016 1.00\nsfen {START_SFEN}\n7g7f\n")
        session.send(f"setoption name BookDir value {tmp_path}", "setoption name BookFile value a.db")
        monkeypatch.setattr("search.book.choice.choose", fail)
    elif broken == "mate solver":
        session.send("setoption name Mate_Root_Search value 1000", "isready").until("readyok")
        monkeypatch.setattr("search.mate.root_mate.RootMate.begin", fail)
    else:
        monkeypatch.setattr("search.alphabeta.engine.AlphaBetaEngine._find_one_line", fail)
    said = []
    for _ in range(3):
        lines = session.send("position startpos", "go depth 2").until("bestmove")
        said += [line for line in lines if "out of the blue" in line]
        assert is_legal(position_from_sfen("startpos"), np.int64(move_from_usi(lines[-1].split()[1])))
    assert len(said) == (3 if broken == "search" else 1)


def no_thread(*_):
    raise RuntimeError("can't start new thread")


@pytest.mark.parametrize("ready", [False, True])
def test_the_engine_plays_if_the_system_has_no_threads(monkeypatch, tmp_path, ready):
    """Other programs may use all threads, from the start or later."""
    # As at a first start, which also compiles functions that the search does not call.
    monkeypatch.setattr("search.warmup.CACHE_DIRECTORY", tmp_path)
    monkeypatch.setattr("search.warmup._start_second", lambda _: None)
    session = InProcess()
    if ready:
        session.send("isready").until("readyok")
        session.send("position startpos", "go depth 1").bestmove()
    monkeypatch.setattr("threading.Thread.start", no_thread)
    session.send("usi").until("usiok")
    for option in ("USI_Hash value 2", "Threads value 2", "Mate_Root_Search value 1000"):
        session.send(f"setoption name {option}")
    session.send("isready").until("readyok")
    for go in ("go btime 0 wtime 0 byoyomi 5000", "go infinite", "go depth 3"):
        move = session.send("position startpos", go, "stop").bestmove()
        assert is_legal(position_from_sfen("startpos"), np.int64(move_from_usi(move)))
    assert session.send("go mate 1000").until("checkmate")[-1] == "checkmate nomate"  # no move gives check
    session.usi.close()


def test_go_mate_is_answered_without_memory_for_its_table(session, monkeypatch):
    def fail(*arguments):
        raise MemoryError("a mate table of 64 MB does not fit into memory")

    monkeypatch.setattr("search.mate.solver.MateTable", fail)
    monkeypatch.setattr(session, "patience", 20)
    lines = session.send("position startpos", "go mate 1000").until("checkmate")
    assert "a mate table of 64 MB does not fit into memory" in lines[0]
    assert lines[-1] == "checkmate timeout"


def test_no_move_is_played_in_a_position_set_without_an_engine(monkeypatch):
    session, make = InProcess(), AlphaBetaAdapter.make
    monkeypatch.setattr(AlphaBetaAdapter, "make", no_thread)
    session.send("position startpos moves 7g7f")
    monkeypatch.setattr(AlphaBetaAdapter, "make", make)
    assert session.send("go depth 1").bestmove() == "resign"
    assert session.send("position startpos moves 7g7f", "go depth 1").bestmove() != "resign"
    session.usi.close()


def test_a_ponderhit_is_answered_without_an_engine(monkeypatch):
    monkeypatch.setattr(AlphaBetaAdapter, "make", no_thread)
    session = InProcess()
    session.send("position startpos moves 7g7f", "go ponder btime 1000 wtime 1000")
    time.sleep(0.1)
    assert not [line for line in session.waiting() if line.startswith("bestmove")]
    monkeypatch.setattr(session, "patience", 5)
    assert session.send("ponderhit").bestmove() == "resign"
    session.usi.close()


def test_a_search_without_helper_threads_plays_with_one(monkeypatch):
    engine = AlphaBetaEngine("default", hash_mb=2)
    expected = engine.analyse("startpos", depth=5)
    engine.new_game()
    engine.set_threads(3)
    monkeypatch.setattr("threading.Thread.start", no_thread)
    found = engine.analyse("startpos", depth=5)
    assert (found.best_move, found.score, found.nodes) == (expected.best_move, expected.score, expected.nodes)


def test_an_unprintable_line_of_a_book_does_not_stop_the_engine(session, tmp_path):
    book = tmp_path / "a.db"
    book.write_bytes(
        b"#YANEURAOU-DB2016 1.00\nsfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\n\x1c\n7g7f\n"
    )
    session.send(f"setoption name BookDir value {tmp_path}", "setoption name BookFile value a.db")
    session.send("position startpos", "go depth 2")
    assert session.bestmove() != "resign"


def test_the_network_is_read_again_after_its_file_was_refused(session, tmp_path):
    path = tmp_path / "net.safetensors"
    save_network(material_network(), path)
    content, error_prefix = path.read_bytes(), f"info string EvalFile {path}: "
    assert error_prefix in session.send(f"setoption name EvalFile value {path}").words()
    path.write_bytes(content[:1000])
    assert f"keeping {path}" in session.send(f"setoption name EvalFile value {path}").words()
    path.write_bytes(content)
    assert error_prefix in "\n".join(session.send("isready").until("readyok"))
    assert error_prefix not in "\n".join(session.send("isready").until("readyok"))


def test_isready_during_a_search_refuses_no_option_that_was_corrected_meanwhile(session, monkeypatch):
    ends = []
    monkeypatch.setattr(session.usi, "_give_up", lambda: ends.append("given up"))
    assert "; keeping " in session.send("setoption name EvalFile value missing.safetensors").words()
    session.send("position startpos", "go infinite", "setoption name EvalFile value default", "isready", "stop")
    assert not [line for line in session.until("bestmove") if "Error!" in line]
    assert not ends
    assert "readyok" in session.send("isready").until("readyok")
    assert not ends


@pytest.mark.parametrize(("search", "answer"), [("go depth 1", "bestmove"), ("go mate 1000", "checkmate")])
def test_an_option_set_as_soon_as_the_answer_is_read_is_applied(monkeypatch, search, answer):
    """A GUI may read the answer before the thread that wrote it has ended its search."""

    def receive(session, text):
        Session.receive(session, text)
        if text is not None and answer in text:
            time.sleep(0.3)

    monkeypatch.setattr(InProcess, "receive", receive)
    session = InProcess()
    session.send("usi", "isready").until("readyok")
    session.send("position startpos", search).until(answer)
    session.waiting()
    assert "; keeping default" in session.send("setoption name EvalFile value missing.safetensors").words()
    session.usi.close()
