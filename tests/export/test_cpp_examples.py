"""The commands of docs/guide/adopt_in_cpp.md build the examples, which print the evaluations of the engine."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from export.cpp import write_header
from search.evaluation.evaluation_speed import random_network
from search.evaluation.network import PAIRWISE, EvalNetwork
from search.evaluation.network_file import load_network
from search.evaluation.static_evaluation import evaluate_sfens
from search.rules.movegen import list_moves
from search.rules.position import do_move
from search.rules.sfen import get_sfen, position_from_sfen
from tests.end_to_end.documents import ROOT, blocks_of

PAGE = ROOT / "docs/guide/adopt_in_cpp.md"
EXAMPLES = ROOT / "docs/examples"
LANGUAGES = {
    "evaluate_sfen": ("g++",),
    "evaluate_sfen_c": ("g++", "ar", "cc"),
    "evaluate_sfen_rs": ("g++", "ar", "rustc"),
}
"""Compilers of each program."""
NETWORKS = {
    "lite": lambda: load_network("lite-16-4-32"),
    "draw": lambda: random_network("king_piece_square", 128, (48,), 2, ("value", "draw"), buckets=8),
    "sfnn": lambda: random_network(
        "half_ka2", 32, (16, 32), 2, activation=PAIRWISE, stacks=("k3k3",), hidden_squares=True, shortcut=True
    ),
}
WARNINGS = {
    "g++": "-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -Wno-uninitialized -Wno-maybe-uninitialized",
    "cc": "-Wall -Wextra -Wpedantic -Werror",
    "rustc": "-D warnings",
}
COMPOSED = (
    "startpos",
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
    "4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L18P 1",
    "4k4/9/9/9/9/9/9/9/4K4 w 2r2b4g4s4n4l18p 1",
    "3gkg3/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w -",
    "4k4/9/9/9/9/9/9/9/4K4 b 0P2p 1",
)
PIECES = ("P", "L", "N", "S", "B", "R", "G", "+P", "+L", "+N", "+S", "+B", "+R")
INVALID = (
    "",
    "4k4/9/9/9/9/9/9/4K4 b -",
    "4k4/9/9/9/9/9/9/9/4K3 b -",
    "4k4/9/9/9/9/9/9/9/4K4P b -",
    "4k4/9/9/9/9/9/9/9/9 b -",
    "4k4/9/9/9/4K4/9/9/9/4K4 b -",
    "4k4/9/9/9/9/9/9/9/4+K4 b -",
    "4k4/9/9/9/9/9/9/9/4Kx3 b -",
    "4k4/9/9/9/9/9/9/9/4K4 x -",
    "4k4/9/9/9/9/9/9/9/4K4 b 19P",
    "4k4/9/9/9/9/9/9/9/4K4 b 2",
    "4k4/9/9/9/9/9/9/9/4K4 b K",
    "4k4/9/9/9/9/9/9/9/4K4 b 0",
    "4k4/9/9/9/9/9/9/9/4K4 b - one",
    "4k4/9/9/9/9/9/9/9/4K4 b - 1 moves 5i5h",
    "4k4/9/9/9/9/9/9/9/4K4 b 10P9p 1",
    "4k4/9/9/9/4+R+R3/9/9/9/4K4 w R 1",
    "4k4/4R4/9/9/9/9/9/9/4K4 b - 1",
)


def _attacked_kings() -> list[str]:
    """Return SFENs with one piece of every kind on every square around the other colour's king."""
    sfens = []
    for piece in PIECES:
        for rank in range(2, 7):
            for file in range(9):
                board = [["1"] * 9 for _ in range(9)]
                board[4][4], board[8][8] = "k", "K"
                if (rank, file) == (4, 4):
                    continue
                board[rank][file] = piece
                black = "/".join("".join(row) for row in board)
                white = "/".join("".join(row[::-1]) for row in board[::-1]).swapcase()
                sfens += [f"{black} w - 1", f"{white} b - 1"]
    return sfens


def _played(games: int, plies: int) -> list[str]:
    """Return the SFENs of the positions of random games."""
    generator, sfens = random.Random(1), []
    for _ in range(games):
        pos = position_from_sfen("startpos")
        for _ in range(plies):
            moves = list_moves(pos)
            if not moves:
                break
            do_move(pos, generator.choice(moves))
            sfens.append(get_sfen(pos))
    return sfens


@cache
def _sfens() -> list[str]:
    start = get_sfen(position_from_sfen("startpos"))
    sfens = [start if sfen == "startpos" else sfen for sfen in COMPOSED] + _attacked_kings() + _played(8, 150)
    checks = [sfen for sfen in sfens if position_from_sfen(sfen)["checkers"].any()]
    assert {sfen.split()[1] for sfen in checks} == {"b", "w"}
    return sfens


def _build(net: EvalNetwork, folder: Path, program: str) -> None:
    """Run the commands of the page that lead to a program, with all warnings as errors."""
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
    write_header(net, "net.safetensors", folder / "lite_eval.h")
    commands = [
        words for block in blocks_of(PAGE) for words in block.commands() if words[0] in ("g++", "cc", "ar", "rustc")
    ]
    built = [words for words in commands if words[-2:] == ["-o", program]]
    assert len(built) == 1
    library = [words for words in commands if "-o" not in words]
    for words in [*(library if program != "evaluate_sfen" else []), *built]:
        done = subprocess.run(
            [words[0], *WARNINGS.get(words[0], "").split(), *words[1:]], cwd=folder, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr


def _run(folder: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([folder / program, *arguments], cwd=folder, capture_output=True, text=True)


def test_the_sample_of_the_page_is_of_a_shipped_network() -> None:
    sample = r'lite_eval\.bin "(.+)"\n(-?\d+) cp, win probability ([\d.]+)\n'
    shown = re.search(sample, PAGE.read_text(encoding="utf-8"))
    assert shown is not None
    (expected,) = evaluate_sfens(NETWORKS["lite"](), [shown[1]])
    assert (shown[2], shown[3]) == (str(expected.score_cp), f"{expected.win_rate:.6f}")


@pytest.mark.slow
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("program", LANGUAGES)
def test_examples_print_the_evaluations_of_the_engine(program: str, network: str, tmp_path: Path) -> None:
    for compiler in LANGUAGES[program]:
        if shutil.which(compiler) is None:
            pytest.skip(f"{compiler} is not installed")
    net, sfens = NETWORKS[network](), _sfens()
    _build(net, tmp_path, program)
    done = _run(tmp_path, program, "lite_eval.bin", *sfens)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(sfens)
    for line, expected in zip(lines, evaluate_sfens(net, sfens), strict=True):
        score, *chances = map(float, re.findall(r"-?\d+(?:\.\d+)?", line))
        assert score == expected.score_cp, expected.sfen
        rates = [rate for rate in (expected.win_rate, expected.draw) if rate is not None]
        assert chances == pytest.approx(rates, abs=1e-6), expected.sfen

    for sfen in INVALID:
        done = _run(tmp_path, program, "lite_eval.bin", sfen)
        assert done.returncode == 1, sfen
        assert done.stderr.startswith(f"{sfen}: ")
    assert "missing.bin" in _run(tmp_path, program, "missing.bin", sfens[0]).stderr
    assert _run(tmp_path, program).returncode == 2
