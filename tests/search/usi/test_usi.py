"""The protocol in this process: options, limits, error messages, and an answer to every search."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import time

import cshogi
import numpy as np
import pytest

from search.evaluation.material import material_network
from search.evaluation.network_file import save_network
from search.rules.movegen import is_legal
from search.rules.sfen import move_from_usi, position_from_sfen
from search.score import score_of_rate
from search.usi.streams import MAX_LINE
from tests.usi_session import PATIENCE, InProcess

MATED = "position sfen 8k/8G/8G/9/9/9/9/9/K8 w - 1"
DECLARABLE = "position sfen +P+P+P+P+P+PK1+R/+P+P+PG5/9/9/9/9/9/9/4k4 b R2BG 200"
HARD_MATE = "g1+P1k1+P+P+L/1p3P3/+R+p2pp1pl/1NNsg+p2+R/+b+nL+P1+p3/1P3ssP1/2P1+Ps2N/4+P1P1L/+B5G1g b - 1"
"""Microcosmos, a mate in 1,525."""


def test_usi_is_answered_before_compiling_and_importing():
    script = (
        "import sys\n"
        "for name in ('numba', 'numpy', 'tyro', 'safetensors', 'llvmlite'): sys.modules[name] = None\n"
        "sys.argv = ['liteshogi']\n"
        "from liteshogi.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input="usi\nquit\n", capture_output=True, text=True, timeout=60
    )
    lines = done.stdout.splitlines()
    assert lines[0] == "id name LiteShogi"
    assert lines[-1] == "usiok"
    assert [line for line in lines if line.startswith("option name EvalFile type filename default default")]
    assert done.returncode == 0


def test_a_game_is_played_to_its_end(session):
    session.send("usinewgame", "position startpos", "go depth 3")
    lines = session.until("bestmove")
    infos = [line for line in lines if line.startswith("info depth")]
    assert [line.split()[2] for line in infos] == ["1", "2", "3"]
    for line in infos:
        words = line.split()
        for name in ("seldepth", "score", "nodes", "nps", "hashfull", "time", "pv"):
            assert name in words
        assert words[words.index("pv") + 1 :]
        assert "multipv" not in words
    move = lines[-1].split()[1]
    assert is_legal(position_from_sfen("startpos"), np.int64(move_from_usi(move)))
    session.send(f"position startpos moves {move} 3c3d", "go nodes 500")
    assert session.bestmove() != "resign"


def test_limits_of_every_search(session):
    session.send("setoption name DepthLimit value 3", "position startpos", "go byoyomi 60000")
    assert session.until("bestmove")[-2].split()[2] == "3"
    session.send("go depth 2")  # `go` may lower the limit but not raise it
    assert session.until("bestmove")[-2].split()[2] == "2"
    session.send("setoption name DepthLimit value 0", "setoption name NodesLimit value 2000", "go byoyomi 60000")
    words = session.until("bestmove")[-2].split()
    assert int(words[words.index("nodes") + 1]) <= 2000
    assert int(words[2]) > 3


def test_the_ponder_move_is_given_if_the_gui_ponders(session):
    session.send("position startpos", "go depth 5")
    assert " ponder " not in session.until("bestmove")[-1]
    session.send("setoption name USI_Ponder value true", "go depth 5")
    assert " ponder " in session.until("bestmove")[-1]


def test_commands_of_the_tournament_server_ayane(session):
    assert session.send("position startpos moves 7g7f", "side").until("white") == ["white"]
    assert session.send("position startpos", "side").until("black") == ["black"]
    (moves,) = session.send("moves").waiting()
    assert sorted(moves.split()) == sorted(cshogi.move_to_usi(move) for move in cshogi.Board().legal_moves)


def test_a_mating_reply_is_not_a_ponder_move(session):
    """usiToCsa would treat a `resign` after the move as the end of the game."""
    session.send("setoption name USI_Ponder value true", "position sfen 8k/9/7GP/9/9/9/9/9/K8 w G 1", "go nodes 3000")
    assert session.until("bestmove")[-1] in ("bestmove 1a1b", "bestmove 1a2a")


def test_error_messages_are_ascii(session, tmp_path):
    """cshogi decodes the output as Shift_JIS, ShogiHome as UTF-8."""
    path = tmp_path / "将棋" / "net.safetensors"
    (said,) = session.send(f"setoption name EvalFile value {path}").waiting()
    assert f"{tmp_path}/\\u5c06\\u68cb/net.safetensors: there is no such file" in said
    path.parent.mkdir()
    save_network(material_network(), path)
    (said,) = session.send(f"setoption name EvalFile value {path}").waiting()
    assert said.startswith(f"info string EvalFile {tmp_path}/\\u5c06\\u68cb/net.safetensors: ")


def test_commands_of_yaneuraou_users(session):
    from search.alphabeta.bench import SIGNATURE
    from search.evaluation.network_file import load_network
    from search.evaluation.static_evaluation import evaluate_sfens

    session.waiting()
    session.send("position startpos moves 7g7f", "d")
    lines = session.until("sfen")
    assert lines[-1] == "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2"
    assert lines[-7] == " 口 口 歩 口 口 口 口 口 口"
    expected = evaluate_sfens(load_network("default"), [lines[-1].removeprefix("sfen ")])[0]
    assert session.send("eval").until("eval")[-1] == f"eval = {expected.score_cp}"
    said = session.until("white in hand")
    assert f"{100 * expected.win_rate:.1f} %" in said[0]
    assert "P" in said[-8]  # the pawns of rank g, with their contributions below
    assert len(re.findall(r"[+-]\d+", said[-7])) == 8
    assert session.send("bench").until("signature")[-1].startswith(f"signature {SIGNATURE} ")
    session.send("go depth 2")  # the position is unchanged
    assert is_legal(position_from_sfen(lines[-1][5:]), np.int64(move_from_usi(session.bestmove())))


def test_invalid_limits_are_reported_and_go_is_answered(session):
    session.send("go sideways depth 2 byoyomi x")
    lines = session.until("bestmove")
    assert "'sideways'" in lines[0]
    assert "byoyomi" in lines[1]
    session.send("go depth 2 searchmoves 1a1b")
    lines = session.until("bestmove")
    assert "go searchmoves: not legal in this position: 1a1b; ignored, and all moves are searched" in lines[0]
    assert lines[-1] != "bestmove resign"
    session.send("go depth 2 searchmoves 1a1b 1g1f")
    lines = session.until("bestmove")
    assert lines[0].endswith("1a1b; ignored")
    assert lines[-1] == "bestmove 1g1f"


def test_mates_are_solved(session):
    def ask(position: str, go: str = "go mate 60000") -> str:
        session.waiting()
        return session.send(f"position sfen {position}", go).until("checkmate")[-1]

    assert ask("4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1") == "checkmate G*5b"
    assert ask("4k4/9/9/9/9/9/9/9/4K4 b - 1", "go mate infinite") == "checkmate nomate"
    assert ask("8k/8G/8G/9/9/9/9/9/K8 w - 1") == "checkmate nomate"
    assert ask("9/9/4P4/9/9/9/9/9/4K4 b G 1") == "checkmate nomate"
    assert ask("3k5/9/4P4/9/9/9/9/9/9 w G2r2b3g4s4n4l17p 999999 moves 6a5a") == "checkmate G*5b"
    assert ask(HARD_MATE, "go mate nodes 1000") == "checkmate timeout"
    assert ask(HARD_MATE, "go mate 60000 nodes 1000") == "checkmate timeout"
    session.send("go mate infinite", "stop").until("checkmate")
    session.send("position startpos", "go depth 2")
    assert session.bestmove() != "resign"


def test_a_mate_proved_at_the_root_is_played(session):
    session.send("setoption name Mate_Root_Search value 1000000", "isready").until("readyok")
    session.send(
        "position sfen 1B2G4/1+N2s3+P/l4+Ps1p/5L3/pp2p4/PP3Rr1P/S1P2Sg1G/3PBkp1L/LNK1P1PNG b 4Pn 167",
        "go byoyomi 60000",
    )
    lines = session.until("bestmove")
    assert 0 < int(lines[-2].split("score mate ")[1].split()[0]) <= 11
    assert lines[-1].split()[1] == lines[-2].split(" pv ")[1].split()[0]
    session.send("position startpos", "go ponder byoyomi 100", "ponderhit")
    assert session.bestmove() != "resign"
    session.send("setoption name Mate_Root_Search value 0", "position startpos", "go depth 2")
    assert session.bestmove() != "resign"


def test_a_position_without_legal_moves_is_resigned(session):
    session.send(MATED, "go btime 1000 wtime 1000")
    assert session.bestmove() == "resign"


def test_a_win_is_not_lost_by_perpetual_check(session):
    cycle = "3g3h 2f2i 3h3g 2i2f "
    start = "2RSgg1nl/1+S4k2/1+BB1ppsp1/l2p1nn1p/4P2P1/PPg3P+rP/3+n1PK2/9/L1+p2G2L b Ps4p 1"
    position = f"position sfen {start} moves {cycle * 2}3g3h 2f2i 3h3g"
    session.send("setoption name Mate_Root_Search value 100000", "isready").until("readyok")
    lines = session.send(position, "go byoyomi 2000").until("bestmove")
    assert " score mate 7 " in lines[-2]
    assert lines[-1].split()[1] != "2i2f"
    assert session.send(position, "go mate 60000").until("checkmate")[-1].split()[1] != "2i2f"


@pytest.mark.parametrize(("position", "reported"), [(MATED, "mate -1"), (DECLARABLE, "mate 1")])
def test_results_by_the_rules_are_reported_during_go_infinite(session, position, reported):
    session.send("setoption name MultiPV value 2", position, "go infinite")
    words = session.until("info depth 0")[-1].split(f" score {reported} ")[1].split()
    assert words[-2:] == (["pv", "win"] if position == DECLARABLE else ["time", "0"])
    assert len(session.send("stop").until("bestmove")) == 1


def test_a_lost_position_is_resigned_by_the_option(session):
    lost = "position sfen 4k4/9/9/9/9/9/9/9/4K4 b 2r2b4g4s 1"
    session.send(lost, "go depth 2")
    assert session.bestmove() != "resign"
    session.send("setoption name ResignValue value 500", lost, "go depth 2")
    assert session.bestmove() == "resign"


def test_a_certain_draw_is_not_resigned(session):
    """Black has all major pieces and the game is drawn in three plies; a draw is worth nothing to black."""
    for name, value in (("MaxMovesToDraw", 256), ("Draw_Value_Black", 0), ("ResignValue", 3000)):
        session.send(f"setoption name {name} value {value}")
    session.send("position sfen lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b RB 254", "go nodes 20000")
    lines = session.until("bestmove")
    assert " score cp -20000 " in lines[-2]
    assert lines[-1] != "bestmove resign"
    session.send("position sfen lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w RB 100", "go nodes 2000")
    assert session.bestmove() == "resign"


def test_by_the_try_rule_the_mate_solver_is_not_used(session):
    """White's king answers the rook's check on 6h by a try on 5i."""
    for name, value in (("EnteringKingRule", "TryRule"), ("Mate_Root_Search", 20000)):
        session.send(f"setoption name {name} value {value}")
    session.send("isready").until("readyok")
    session.send("position sfen 9/K8/9/9/7G1/2+P6/2+R6/9/3k5 b R 1", "go depth 4")
    assert session.bestmove() != "R*6h"


def test_rtime_is_a_movetime(session):
    begun = time.monotonic()
    session.send("position startpos", "go rtime 50")
    assert session.bestmove() != "resign"
    assert time.monotonic() - begun < 30


def test_declaration_is_played_by_the_rule_in_force(session):
    session.send(DECLARABLE, "go depth 2")
    assert session.bestmove() == "win"
    session.send("setoption name EnteringKingRule value NoEnteringKing", DECLARABLE, "go depth 2")
    assert session.bestmove() not in ("win", "resign")


def test_draw_values_follow_the_side_of_the_engine(session):
    session.send("setoption name Draw_Value_Black value 300", "setoption name Draw_Value_White value 900")
    engine = session.usi._engine
    assert engine is not None
    black, white = (score_of_rate(rate, engine.network.cp_per_logit) for rate in (0.3, 0.9))
    session.send("position startpos", "go depth 1").bestmove()
    assert engine.rules.draw_value == (black, -black)
    session.send("position startpos moves 7g7f", "go depth 1").bestmove()
    assert engine.rules.draw_value == (-white, white)
    session.send("setoption name Draw_Value_White value 1000", "go depth 1").bestmove()
    assert engine.rules.draw_value == (-20000, 20000)


def test_a_missing_or_damaged_network_is_reported_and_the_engine_continues(session, tmp_path):
    damaged = tmp_path / "some net.safetensors"
    damaged.write_bytes(b"not a network at all" * 10)
    for path in (str(damaged), str(tmp_path / "missing.safetensors")):
        session.waiting()
        said = session.send(f"setoption name EvalFile value {path}").words()
        assert path in said
        assert "or to default" in said
        # The message is not repeated with every move, but `isready` tries the file again and refuses to play.
        assert session.send("position startpos", "go depth 2").until("bestmove")[0].startswith("info depth")
        lines = session.send("isready").settle()
        assert "readyok" not in lines
        assert sum(path in line for line in lines) == 2  # `settle` sends `isready` again
    from search.evaluation.material import material_network

    save_network(material_network(), damaged)
    session.send(f"setoption name EvalFile value {damaged}")
    assert str(damaged) in session.words()
    session.send("go depth 2").bestmove()


def test_a_table_that_does_not_fit_is_refused_with_a_message(session):
    engine = session.usi._engine
    assert engine is not None
    before = engine.table
    session.send(f"setoption name USI_Hash value {1 << 20}")
    assert "USI_Hash: a table of 1048576 MB does not fit" in session.words()
    assert engine.table is before
    session.send("go depth 2").bestmove()


def test_threads_that_do_not_fit_are_refused_with_a_message(session, monkeypatch):
    def fail(count: int) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(session.usi._engine, "set_threads", fail)
    session.send("setoption name Threads value 2")
    assert "Threads: no room; keeping" in session.words()
    session.send("go depth 2").bestmove()


def test_a_table_that_does_not_fit_at_the_start_is_reported():
    session = InProcess().send(f"setoption name USI_Hash value {1 << 20}", "setoption name Threads value 2", "isready")
    assert "does not fit" in "\n".join(session.until("readyok"))
    session.send("position startpos", "go depth 3").bestmove()


def test_options_during_a_search_are_set_at_its_end(session):
    session.send("position startpos", "go infinite")
    session.until("info depth 2")
    session.send("setoption name USI_Hash value 4", "setoption name Threads value 2", "isready").until("readyok")
    session.send("stop").bestmove()
    session.send("go depth 4").bestmove()
    engine = session.usi._engine
    assert engine is not None
    assert engine.table.megabytes == 4


def test_commands_before_isready_are_answered():
    session = InProcess().send("setoption name USI_Hash value 1", "go depth 2")
    assert session.bestmove() != "resign"
    session.send("ponderhit", "stop", "usinewgame", "position startpos", "go nodes 100")
    assert session.bestmove() != "resign"


def test_options_are_applied_when_one_is_set_and_again_after_an_error(monkeypatch):
    session, applied = InProcess(), []

    def apply(engine, values, say):
        applied.append(values.number("Threads"))
        if len(applied) == 1:
            raise ValueError("not this time")

    monkeypatch.setattr(session.usi._adapter, "apply", apply)
    move = ("position startpos", "go depth 1")
    session.send("isready", *move).until("bestmove")
    assert applied == [1, 1]
    session.send(*move).until("bestmove")
    assert applied == [1, 1]
    session.send("setoption name Threads value 2", *move).until("bestmove")
    assert applied == [1, 1, 2]
    session.send("position startpos moves 7g7f", "go depth 1").until("bestmove")  # rules may depend on the mover
    assert applied == [1, 1, 2, 2]


def test_empty_lines_are_sent_while_compiling(monkeypatch):
    monkeypatch.setattr("search.usi.session.KEEP_ALIVE_SECONDS", 0.01)
    session = InProcess()
    ready = session.usi._ready_engine

    def slowly(reporting=True):
        end = time.monotonic() + 60
        while session.transcript.count("< ") < 2 and time.monotonic() < end:
            time.sleep(0.01)
        return ready(reporting)

    monkeypatch.setattr(session.usi, "_ready_engine", slowly)
    lines = session.send("setoption name USI_Hash value 1", "isready").until("readyok")
    assert lines.count("") >= 2
    assert lines[-1] == "readyok"


def test_an_engine_that_cannot_be_created_reports_it_once_and_is_not_ready(monkeypatch):
    session, ended = InProcess(), []

    def broken(*_):
        raise ImportError("no module named numba")

    monkeypatch.setattr(session.usi._adapter, "make", broken)
    monkeypatch.setattr(session.usi, "_give_up", lambda: ended.append(session.transcript[-1]))
    session.send("isready").until("info string Error! no module named numba")
    assert session.send("hello").waiting()[0].startswith("info string unknown command")
    assert "no module named numba" in ended[0]  # GUIs show the last line of a process that ends
    assert session.send("position startpos").words().count("no module named numba") == 1
    assert session.send("go depth 1").until("bestmove") == ["bestmove resign"]


def test_an_unreadable_network_is_refused_at_isready(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "liteshogi"],
        input="setoption name EvalFile value typo.bin\nisready\nposition startpos\ngo depth 3\n",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=tmp_path,
    )
    assert done.returncode == 1
    last = done.stdout.splitlines()[-1]
    assert last.startswith("info string Error! EvalFile: typo.bin: ")
    assert str(tmp_path) in last
    assert "bestmove" not in done.stdout
    assert done.stdout.count("typo.bin") == 1
    assert done.stderr == ""


@pytest.mark.parametrize("command", ["eval", "d", "side", "moves"])
def test_after_a_refused_position_the_previous_one_is_not_searched(session, command):
    session.send("position startpos moves 7g7f", "position startpos moves 7g7f 7g7f").waiting()
    (line,) = session.send(command).waiting()
    assert line.startswith("info string no position")
    assert "7g7f" in line
    session.send("position startpos", command)
    assert not session.words()


def test_unknown_and_very_long_lines(session):
    assert "unknown command 'hello'" in session.send("hello world").words()
    assert str(MAX_LINE) in session.send("position startpos moves " + "7g7f " * MAX_LINE).words()
    assert session.send("", "   ", "\t").waiting() == []
    assert session.usi.handle("hello")
    assert not session.usi.handle("quit")
    assert session.send("\ufeffusi").until("usiok")


COMMANDS = ("usi", "isready", "setoption name", "usinewgame", "position", "go", "stop", "ponderhit", "gameover")
SENTENCE = """name value moves startpos sfen USI_Hash 1 Threads 2 EvalFile MultiPV default infinite ponder btime wtime
    byoyomi binc depth 3 nodes 50 7g7f 3c3d 8h2b+ P*5e mate searchmoves 3g3f b - w -1 999999999999999999999 \x00 日本
    lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL \ufffd = % NaN 1e9 true win lose movetime rtime"""


def test_the_session_answers_after_any_nonsense(session):
    generator, words = random.Random(11), SENTENCE.split()
    for number in range(1500):
        line = " ".join(generator.choices(words, k=generator.randint(0, 9)))
        if number % 4:
            line = f"{generator.choice(COMMANDS)} {line}"
        if number % 10 == 0:
            line = bytes(generator.randbytes(60)).decode("utf-8", "replace")
        if line.split()[:1] == ["quit"]:
            continue
        session.send(line)
    session.send("setoption name Threads value 1", "isready").until("readyok")
    session.waiting()
    session.send("setoption name EvalFile value default", "position startpos", "go depth 3")
    assert session.bestmove() != "resign"


def test_sfens_of_every_kind_are_answered_and_followed_by_a_legal_move(session):
    generator = random.Random(12)
    base = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b 2P3g 1"
    letters = "lnsgkrbpLNSGKRBP+123456789/ bw-0"
    for _ in range(600):
        text = list(base)
        for _ in range(generator.randint(0, 6)):
            place = generator.randrange(len(text))
            text[place : place + generator.randint(0, 2)] = generator.choice(letters)
        session.send("position sfen " + "".join(text)[: generator.choice((200, 200, 40))])
        if generator.random() < 0.1:
            session.waiting()
            session.send("go nodes 200")
            move = session.bestmove()
            engine = session.usi._engine
            assert engine is not None
            assert move in ("resign", "win") or is_legal(engine.position, np.int64(move_from_usi(move)))
