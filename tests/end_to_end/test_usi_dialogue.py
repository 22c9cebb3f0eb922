"""Scripted dialogues with the real process through pipes, as of a GUI; and the end of the process with the GUI."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from search.evaluation.network_file import save_network
from search.rules.movegen import is_legal
from search.rules.position import do_move
from search.rules.sfen import move_from_usi, position_from_sfen
from tests.usi_session import PATIENCE, Process

COMMAND = [sys.executable, "-m", "liteshogi"]
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and terminals of POSIX")


def go(engine: Process, limits: str) -> tuple[str, str | None]:
    """Return the move and the ponder move of the answer to `go`."""
    words = engine.send(f"go {limits}").until("bestmove")[-1].split()
    assert words[0] == "bestmove"
    assert len(words) == 2 or (len(words) == 4 and words[2] == "ponder")
    return words[1], words[3] if len(words) == 4 else None


@pytest.fixture
def engine(start) -> Process:
    """Return an engine process that has answered `isready`."""
    process: Process = start()
    process.send("usi").until("usiok")
    process.send("setoption name USI_Hash value 4", "isready").until("readyok")
    return process


def test_a_game_with_the_commands_of_shogihome(start):
    engine = start()
    opening = engine.send("usi").until("usiok")
    assert opening[0].startswith("id name ")
    assert opening[1].startswith("id author ")
    assert all(line.startswith("option name ") for line in opening[2:-1])
    engine.send("setoption name USI_Ponder value true", "setoption name USI_Hash value 16")
    engine.send("setoption name EvalFile value default", "isready").until("readyok")
    engine.send("usinewgame")
    pos, moves, clocks = position_from_sfen("startpos"), [], "btime 2000 wtime 2000 byoyomi 100"
    expected = None
    for ply in range(12):
        line = f"position startpos moves {' '.join(moves)}" if moves else "position startpos"
        move, ponder = go(engine.send(line), clocks)
        assert is_legal(pos, np.int64(move_from_usi(move))), (move, moves)
        do_move(pos, np.int64(move_from_usi(move)))
        moves.append(move)
        if ponder is None:
            continue
        # The GUI lets it ponder; every other guess is right.
        expected = ponder
        engine.send(f"position startpos moves {' '.join([*moves, expected])}", f"go ponder {clocks}")
        engine.until("info depth")
        engine.send("stop" if ply % 2 else f"ponderhit {clocks}").until("bestmove")
    assert expected is not None
    engine.send("gameover draw", "quit")
    assert engine.ended() == 0


def test_gameover_while_thinking_is_accepted(engine):
    engine.send("position startpos", "go infinite").until("info depth 2")
    engine.send("gameover win").until("bestmove")
    engine.send("isready").until("readyok")
    go(engine.send("usinewgame", "position startpos moves 2g2f"), "btime 100 wtime 100")


def test_a_second_stop_is_ignored(engine):
    for _ in range(20):
        engine.send("position startpos", "go infinite", "stop").until("bestmove")
    engine.send("stop", "quit")
    assert engine.ended() == 0
    assert engine.waiting() == []


def test_an_increment_and_byoyomi_together(engine):
    assert go(engine.send("position startpos"), "btime 900 wtime 900 binc 50 winc 50 byoyomi 50")[0] != "resign"


def test_analysis_with_several_lines(engine):
    engine.send("setoption name MultiPV value 3", "position startpos moves 7g7f", "go infinite")
    text = " ".join(engine.until("info depth 5"))
    assert all(f" multipv {rank} " in text for rank in (1, 2, 3))
    engine.send("stop").until("bestmove")


def test_invalid_bytes_and_endless_lines(engine):
    generator = random.Random(5)
    for _ in range(300):
        engine.send_bytes(generator.randbytes(generator.randint(0, 200)).replace(b"quit", b"stop") + b"\n")
    engine.send_bytes(b"position sfen " + b"\xff" * 100_000 + b"\n")
    engine.send_bytes(b"setoption name EvalFile value \xe3\x81\ngo \x00 depth 1\n")
    engine.send("position startpos " + "moves 7g7f " * 300_000)
    engine.send("stop", "setoption name EvalFile value default", "isready").until("readyok")
    assert go(engine.send("position startpos"), "depth 3")[0] != "resign"


def test_japanese_paths_in_every_locale(start, tmp_path):
    from search.evaluation.material import material_network

    path = tmp_path / "評価 関数" / "駒得.safetensors"
    path.parent.mkdir()
    save_network(material_network(), path)
    engine = start(PYTHONIOENCODING="cp932", PYTHONUTF8="1")
    engine.send("usi", f"setoption name EvalFile value {path}", "isready")
    quoted = str(path).encode("ascii", "backslashreplace").decode()  # cshogi reads Shift_JIS, others UTF-8
    assert any(quoted in line and "piece_square" in line for line in engine.until("readyok"))
    engine.send(f"setoption name EvalFile value {path}.無い", "isready")
    assert rf"{quoted}.\u7121\u3044: " in engine.until("info string Error!")[-1]
    assert engine.ended() == 1


def test_commands_sent_at_once_are_all_answered():
    script = "usi\nisready\nposition startpos\ngo depth 2\nquit\n"
    lines = subprocess.run(COMMAND, input=script, capture_output=True, text=True, timeout=PATIENCE).stdout.splitlines()
    assert "readyok" in lines
    assert lines[-1].startswith("bestmove ")


@pytest.mark.parametrize("before", [(), ("position startpos", "go infinite"), ("go ponder",)])
def test_the_end_of_input_ends_the_process(engine, before):
    engine.send(*before)
    engine.close_input()
    assert engine.ended() == 0
    assert [line.split()[0] for line in engine.waiting() if line.startswith("bestmove")] == ["bestmove"] * bool(before)


@pytest.mark.parametrize("last", ["quit", None])
def test_quit_while_compiling_ends_the_process(start, tmp_path, last):
    engine = start(LITESHOGI_CACHE=str(tmp_path))
    engine.send("usi").until("usiok")
    engine.send("isready")
    if last:
        engine.send(last)
    else:
        engine.close_input()
    assert engine.ended() == 0
    assert "readyok" not in engine.waiting()


def test_a_gui_that_stops_reading_ends_the_process():
    process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"isready\nposition startpos\ngo infinite\n")
    process.stdin.flush()
    while not process.stdout.readline().startswith(b"info depth"):
        assert process.poll() is None
    process.stdout.close()
    assert process.wait(PATIENCE) == 0
    process.stdin.close()


@posix
@pytest.mark.parametrize(
    ("name", "thinking"), [("SIGTERM", False), ("SIGINT", False), ("SIGHUP", False), ("SIGHUP", True)]
)
def test_signals_end_the_process_at_once(engine, name, thinking):
    """`test_usi_orphans.py` sends the other signals while it thinks."""
    if thinking:
        engine.send("position startpos", "go infinite").until("info depth 2")
    engine.process.send_signal(getattr(signal, name))
    assert engine.ended() == -getattr(signal, name)


@posix
def test_a_terminal_gets_an_introduction():
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(COMMAND, stdin=theirs, stdout=subprocess.PIPE, text=True)
    os.write(ours, b"usi\nquit\n")
    lines = process.communicate(timeout=PATIENCE)[0].splitlines()
    os.close(ours)
    os.close(theirs)
    assert "USI" in lines[0]
    assert "liteshogi --help" in lines[0]
    assert lines[-1] == "usiok"


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_four_concurrent_first_starts_compile_once(start, tmp_path: Path):
    engines = [start(LITESHOGI_CACHE=str(tmp_path)) for _ in range(4)]
    for engine in engines:
        engine.send("usi", "isready")
    waited = [engine.until("readyok") for engine in engines]
    assert any("" in lines for lines in waited), "no empty line came while the engine compiled"
    for engine in engines:
        assert go(engine.send("position startpos"), "depth 4")[0] != "resign"
        engine.send("quit")
        assert engine.ended() == 0
