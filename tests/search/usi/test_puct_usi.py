"""The USI session of the PUCT player with a network in an ONNX file."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from search.puct.onnx_network import OnnxNetwork
from search.rules.movegen import is_legal
from search.rules.position import do_move
from search.rules.sfen import move_from_usi, position_from_sfen
from search.usi.book_options import OPTIONS as BOOK_OPTIONS
from search.usi.puct import OPTIONS, PuctAdapter, load_beside
from search.usi.usi_options import SESSION_OPTIONS
from tests.usi_session import PATIENCE, InProcess

DECLARED = OPTIONS + SESSION_OPTIONS + BOOK_OPTIONS[1]


def session_with(model: Path) -> InProcess:
    return InProcess(PuctAdapter(lambda: OnnxNetwork(model)))


@pytest.fixture
def session(tiny_onnx: Path) -> Iterator[InProcess]:
    session = session_with(tiny_onnx)
    session.send("setoption name USI_Hash value 8", "isready").until("readyok")
    yield session
    session.usi.close()


def legal_after(moves: str, move: str) -> bool:
    pos = position_from_sfen("startpos")
    for usi in moves.split():
        do_move(pos, np.int64(move_from_usi(usi)))
    return bool(is_legal(pos, np.int64(move_from_usi(move))))


def test_options_are_declared_as_guis_read_them(tiny_onnx: Path) -> None:
    session = session_with(tiny_onnx)
    lines = session.send("usi").until("usiok")
    assert lines[0] == "id name LiteShogi PUCT"
    names = [line.split()[2] for line in lines if line.startswith("option name")]
    assert len({name.lower() for name in names}) == len(names) == len({one.name for one in DECLARED})
    assert {"DNN_Model", "DNN_Batch_Size", "C_init", "Softmax_Temperature", "Draw_Value_Black", "MultiPV"} <= set(names)
    assert not {"EvalFile", "FV_SCALE"} & set(names)
    for line in lines[2:-1]:
        assert "" not in line.split(" ")


def test_a_game_by_usi(session: InProcess) -> None:
    moves = ""
    session.send("usinewgame")
    for _ in range(6):
        session.send(f"position startpos moves {moves}".removesuffix(" moves "), "go btime 0 wtime 0 byoyomi 100")
        lines = session.until("bestmove")
        info = [line for line in lines if line.startswith("info depth")][-1]
        pattern = r"info depth \d+ seldepth \d+ score cp -?\d+ nodes \d+ nps \d+ hashfull \d+ time \d+ pv( \S+)+"
        assert re.fullmatch(pattern, info)
        move = lines[-1].split()[1]
        assert info.split(" pv ")[1].split()[0] == move
        assert legal_after(moves, move)
        moves = f"{moves} {move}".strip()
    session.send("gameover draw")
    assert not [line for line in session.waiting() if line.startswith("info string")]


def test_puct_searches_obey_limits(session: InProcess) -> None:
    session.send("position startpos")
    for command, fewest, most in (
        ("go nodes 123", 123, 123),
        ("go movetime 100", 1, 1 << 30),
        ("go depth 3", 3, 1 << 30),
        ("go nodes 1000000 byoyomi 50", 1, 999_999),
        ("go nodes 50 searchmoves 1g1f 9g9f", 50, 50),
    ):
        lines = session.send("usinewgame", command).until("bestmove")
        nodes = int(re.findall(r" nodes (\d+)", "\n".join(lines))[-1])
        assert fewest <= nodes <= most, command
    assert lines[-1] in ("bestmove 1g1f", "bestmove 9g9f")


def test_moves_searched_alone_are_not_preferred_afterwards(session: InProcess) -> None:
    expected = session.send("position startpos", "go nodes 200").bestmove()
    assert expected != "9i9h"
    session.send("usinewgame", "go nodes 200 searchmoves 9i9h").bestmove()
    assert session.send("go nodes 200").bestmove() == expected


def test_a_line_of_a_reused_tree_is_within_the_selective_depth(session: InProcess) -> None:
    best = session.send("position startpos", "go nodes 300").until("bestmove")[-1].split()[1]
    session.send(f"position startpos moves {best}", "go nodes 1")
    words = session.until("bestmove")[0].split()
    assert words[:2] == ["info", "depth"]
    assert int(words[words.index("seldepth") + 1]) >= int(words[words.index("depth") + 1]) > 1


def test_stop_ponder_and_ponderhit(session: InProcess) -> None:
    session.send("setoption name USI_Ponder value true", "position startpos moves 7g7f", "go infinite")
    time.sleep(0.3)
    assert not [line for line in session.waiting() if line.startswith("bestmove")]
    best = session.send("stop").until("bestmove")[-1].split()
    assert best[2] == "ponder"
    assert legal_after(f"7g7f {best[1]}", best[3])
    session.send(f"position startpos moves 7g7f {best[1]} {best[3]}", "go ponder btime 0 wtime 0 byoyomi 100")
    time.sleep(0.3)
    assert not [line for line in session.waiting() if line.startswith("bestmove")]
    assert legal_after(f"7g7f {best[1]} {best[3]}", session.send("ponderhit").until("bestmove")[-1].split()[1])
    # A mate found while pondering is held until it is requested.
    session.send("position sfen 8k/9/8G/9/9/9/9/9/K8 b G 1", "go ponder byoyomi 100")
    time.sleep(0.3)
    assert not [line for line in session.waiting() if line.startswith("bestmove")]
    assert session.send("stop").until("bestmove")[-1].startswith("bestmove G*")
    # The opponent plays another move: stop, another position, go.
    session.send("position startpos", "go ponder byoyomi 100", "stop", "position startpos moves 2g2f", "go nodes 10")
    session.until("bestmove")
    assert legal_after("2g2f", session.until("bestmove")[-1].split()[1])


def test_every_root_move_is_listed_on_request(session: InProcess) -> None:
    session.send("setoption name DebugMessage value true", "position startpos", "go nodes 200")
    lines = session.until("bestmove")
    pattern = r"info string (\S+) visits (\d+) prior (\S+) win (\S+) draw (\S+) value (\S+)"
    listed = [re.fullmatch(pattern, line) for line in lines if " visits " in line]
    found = [one.groups() for one in listed if one]
    assert len(found) == len(listed) == 30
    assert sum(int(visits) for _, visits, *_ in found) == 199
    assert sum(float(prior) for _, _, prior, *_ in found) == pytest.approx(1, abs=0.01)
    assert all(0 <= float(number) <= 1 for one in found for number in one[2:])
    assert found[0][0] == lines[-1].split()[1]


def test_bench_does_not_change_the_position(session: InProcess) -> None:
    session.send("position startpos moves 7g7f 3c3d", "d")
    before = session.until("sfen")[-1]
    lines = session.send("bench", "d").until("sfen")
    assert [line for line in lines if line.endswith("playouts/s")]
    assert lines[-1] == before


def test_eval_depends_only_on_the_position_and_the_network(session: InProcess) -> None:
    def policies() -> list[str]:
        lines = session.send("eval", "isready").until("readyok")
        assert [line for line in lines if line.startswith("eval = ")]
        return [line for line in lines if line.startswith("policy ")]

    session.send("position startpos")
    assert policies()
    said = session.send("eval").settle()[:-1]
    session.send("go nodes 300").bestmove()
    assert session.send("eval").settle()[:-1] == said  # the evaluation does not use the search's result
    session.send("position sfen 8k/8G/8G/9/9/9/9/9/K8 w - 1")
    assert not policies()


def test_draw_values_multipv_and_win_rates_are_reported(session: InProcess) -> None:
    session.send("setoption name MultiPV value 3", "setoption name UCI_ShowWDL value true")
    values = {}
    for name, value in (("Draw_Value_Black", 0), ("Draw_Value_Black", 1000), ("Draw_Value_White", 1000)):
        session.send(f"setoption name {name} value {value}", "usinewgame", "position startpos", "go nodes 300")
        lines = [line for line in session.until("bestmove") if line.startswith("info depth")][-3:]
        assert [re.findall(r"multipv (\d)", line) for line in lines] == [["1"], ["2"], ["3"]]
        wins, draws, losses = map(int, re.findall(r"wdl (\d+) (\d+) (\d+)", lines[0])[0])
        assert wins + draws + losses == 1000
        assert draws > 0
        values[name, value] = int(re.findall(r"score cp (-?\d+)", lines[0])[0])
    assert values["Draw_Value_Black", 0] < values["Draw_Value_Black", 1000]
    assert values["Draw_Value_Black", 1000] == values["Draw_Value_White", 1000]  # black is to move


def test_mates_and_ends_of_games_are_answered(session: InProcess) -> None:
    session.send("position sfen 8k/9/8G/9/9/9/9/9/K8 b G 1", "go byoyomi 1000")
    lines = session.until("bestmove")
    assert [line for line in lines if "score mate 1 " in line]
    assert session.send("position sfen 8k/8G/8G/9/9/9/9/9/K8 w - 1", "go byoyomi 100").until("bestmove")[-1] == (
        "bestmove resign"
    )
    declarable = "position sfen 2SGK1S2/PPPP1PPP1/9/9/9/9/9/9/4k4 b 2RBG2P 1"
    assert session.send(declarable, "go byoyomi 100").until("bestmove")[-1] == "bestmove win"
    assert session.send("go mate 1000").until("checkmate")


def test_a_proved_mate_is_reported_with_certain_chances(session: InProcess) -> None:
    mate = "1B2G4/1+N2s3+P/l4+Ps1p/5L3/pp2p4/PP3Rr1P/S1P2Sg1G/3PBkp1L/LNK1P1PNG b 4Pn 167"
    mated = "8k/9/7GP/9/9/9/9/9/K8 w G 1"
    session.send("setoption name UCI_ShowWDL value true")
    for sfen, expected in ((mate, "1000 0 0"), (mated, "0 0 1000")):
        last = session.send(f"position sfen {sfen}", "go nodes 3000").until("bestmove")[-2]
        assert " score mate " in last
        assert f" wdl {expected} " in last


def test_errors_are_reported_and_the_engine_continues(session: InProcess, tmp_path: Path) -> None:
    session.send(f"setoption name DNN_Model value {tmp_path / 'none.onnx'}")
    assert "there is no such file; keeping the model of the command line" in session.until("info string")[-1]
    (tmp_path / "text.onnx").write_text("this is no network")
    session.send(f"setoption name DNN_Model value {tmp_path / 'text.onnx'}")
    assert "not an ONNX file" in session.until("info string")[-1]
    session.send("setoption name DNN_Batch_Size value 0")
    assert "outside 1 to 256" in session.until("info string")[-1]
    session.send("setoption name USI_Hash value 1048576")
    assert "does not fit" in session.until("info string USI_Hash: ")[-1]
    session.send("setoption name USI_Hash value 8", "setoption name Threads value 2", "position startpos")
    assert session.send("go nodes 100").until("bestmove")


def test_a_refused_model_is_read_again_at_isready(session: InProcess, tiny_onnx: Path, tmp_path: Path) -> None:
    path = tmp_path / "late.onnx"
    refused = "late.onnx: there is no such file; keeping the model of the command line"
    assert refused in session.send(f"setoption name DNN_Model value {path}").words()
    assert "late.onnx: there is no such file" in session.send("isready").until("info string Error!")[-1]
    path.write_bytes(tiny_onnx.read_bytes())
    assert refused not in "\n".join(session.send("isready").until("readyok"))
    path.unlink()
    assert f"keeping {path}" in session.send(f"setoption name DNN_Model value {path}").words()
    session.send("setoption name DNN_Model value given")
    assert "DNN_Model" not in "\n".join(session.send("isready").until("readyok"))


def _foreign(path: Path, value: str = "output_value", in_pairs: bool = False) -> None:
    """Make a network of dlshogi's format without torch: pooled planes and one layer.

    `in_pairs`: it takes even numbers of positions only.
    """
    generator = np.random.default_rng(5)
    weights = {
        "policy": generator.normal(0, 1, (119, 2187)).astype(np.float32),
        "win": generator.normal(0, 1, (119, 1)).astype(np.float32),
        "shape": np.array([-1, 2, 119] if in_pairs else [-1, 119], np.int64),
        "flat_shape": np.array([-1, 119], np.int64),
    }
    nodes = [
        helper.make_node("GlobalAveragePool", ["input1"], ["mean1"]),
        helper.make_node("GlobalAveragePool", ["input2"], ["mean2"]),
        helper.make_node("Concat", ["mean1", "mean2"], ["means"], axis=1),
        helper.make_node("Reshape", ["means", "shape"], ["shaped"]),
        helper.make_node("Reshape", ["shaped", "flat_shape"], ["flat"]),
        helper.make_node("MatMul", ["flat", "policy"], ["output_policy"]),
        helper.make_node("MatMul", ["flat", "win"], ["logit"]),
        helper.make_node("Sigmoid", ["logit"], [value]),
    ]

    def tensor(name: str, *shape: int) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch_size", *shape])

    graph = helper.make_graph(
        nodes,
        "foreign",
        [tensor("input1", 62, 9, 9), tensor("input2", 57, 9, 9)],
        [tensor("output_policy", 2187), tensor(value, 1)],
        [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, str(path))


def test_a_network_of_another_program_plays(session: InProcess, tmp_path: Path) -> None:
    _foreign(tmp_path / "foreign.onnx")
    session.send(f"setoption name DNN_Model value {tmp_path / 'foreign.onnx'}", "position startpos")
    lines = session.send("setoption name UCI_ShowWDL value true", "go nodes 300").until("bestmove")
    assert re.findall(r"wdl (\d+) (\d+) (\d+)", lines[-2])[0][1] == "0"
    assert legal_after("", lines[-1].split()[1])
    session.send("setoption name DNN_Model value given", "go nodes 300")
    assert legal_after("", session.until("bestmove")[-1].split()[1])


def test_a_network_that_fails_in_a_search_is_refused(session: InProcess, tmp_path: Path) -> None:
    path = tmp_path / "pairs.onnx"
    _foreign(path, in_pairs=True)
    session.send("position startpos moves 7g7f", f"setoption name DNN_Model value {path}")
    said = session.words()
    assert f"{path}: fails in a search: " in said
    assert "keeping the model of the command line" in said
    lines = session.send("go nodes 50").until("bestmove")
    assert not [line for line in lines if "failed" in line]
    assert legal_after("7g7f", lines[-1].split()[1])


def test_an_unexpected_failure_to_load_the_model_is_reported(tiny_onnx: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path) -> OnnxNetwork:
        raise AttributeError("_ARRAY_API not found")

    monkeypatch.setattr("search.puct.onnx_network.OnnxNetwork", fail)
    session = InProcess(PuctAdapter(load_beside(tiny_onnx)))
    assert "_ARRAY_API not found" in session.send("isready").until("info string Error!")[-1]
    session.usi.close()


def _front_door(model: Path, text: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "liteshogi", "puct", str(model)]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=PATIENCE, env=dict(os.environ))


def test_the_verb_plays(tiny_onnx: Path) -> None:
    done = _front_door(tiny_onnx, "usi\nisready\nposition startpos\ngo nodes 50\n")
    lines = [line for line in done.stdout.splitlines() if line]
    assert lines[0] == "id name LiteShogi PUCT"
    assert "readyok" in lines
    assert legal_after("", lines[-1].split()[1])
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("fault", ["missing", "directory", "text", "names"])
def test_without_a_usable_model_the_verb_ends_in_one_line(fault: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    if fault == "text":
        path.write_text("this is no network")
    elif fault == "directory":
        path.mkdir()
    elif fault == "names":
        _foreign(path, "value")
    done = _front_door(path, "usi\nisready\ngo nodes 10\n")
    assert done.returncode == 1
    expected = {
        "missing": "there is no such file",
        "directory": "a directory",
        "text": "not an ONNX file",
        "names": "no output output_value",
    }
    reason = done.stdout.splitlines()[-1]
    assert reason.startswith(f"info string Error! {path}: ")
    assert expected[fault] in reason
    # Without a file nothing speaks USI, and the command ends as any other.
    is_there = fault in ("text", "names")
    assert ("usiok" in done.stdout) == is_there
    assert done.stderr == ("" if is_there else reason.replace("info string Error!", "error:") + "\n")


def test_playing_needs_no_torch(tiny_onnx: Path) -> None:
    script = (
        "import sys\n"
        "for name in ('torch', 'cshogi', 'onnx'): sys.modules[name] = None\n"
        "from search.puct.engine import PuctEngine\n"
        f"print(PuctEngine({str(tiny_onnx)!r}, 4).analyse('startpos', nodes=30).best_move)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert legal_after("", done.stdout.strip()), done.stderr


@pytest.mark.slow
def test_after_a_warm_up_nothing_compiles_in_a_game(tiny_onnx: Path, tmp_path: Path) -> None:
    def liteshogi(*arguments: str, lines: str = "") -> str:
        done = subprocess.run(
            [sys.executable, "-m", "liteshogi", *arguments],
            input=lines,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=os.environ | {"LITESHOGI_CACHE": str(tmp_path)},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def compiled() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")}

    liteshogi("warmup")
    before = compiled()
    assert before
    options = "setoption name Threads value 2\nsetoption name MultiPV value 2\nisready\nusinewgame\n"
    moves = "position startpos\ngo nodes 300\nposition startpos moves 7g7f 3c3d\ngo searchmoves 2g2f nodes 300\n"
    mates = "position sfen 8k/9/8G/9/9/9/9/9/K8 b G 1\ngo nodes 300\ngo mate 1000\nquit\n"
    output = liteshogi("puct", str(tiny_onnx), lines=options + moves + mates)
    assert output.count("bestmove ") == 3
    assert "checkmate G*1b" in output
    assert compiled() == before


@pytest.mark.slow
@pytest.mark.parametrize("milliseconds", [30, 100])
def test_no_move_exceeds_its_time(tiny_onnx: Path, milliseconds: int) -> None:
    session = session_with(tiny_onnx)
    session.send("setoption name NetworkDelay value 0", "setoption name NetworkDelay2 value 0", "isready").until(
        "ready"
    )
    moves: list[str] = []
    late = 0.0
    while len(moves) < 60:
        session.send("position startpos moves " + " ".join(moves))
        begun = time.perf_counter()
        move = session.send(f"go btime 0 wtime 0 byoyomi {milliseconds}").until("bestmove")[-1].split()[1]
        late = max(late, time.perf_counter() - begun - milliseconds / 1000)
        if move in ("resign", "win"):
            break
        moves.append(move)
    session.usi.close()
    assert late < 0.02  # tolerance for a busy machine
