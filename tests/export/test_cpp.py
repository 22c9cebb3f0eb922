"""The C++ header gives the integers of the engine with every kernel."""

from __future__ import annotations

import ctypes
import dataclasses
import os
import random
import re
import shutil
import statistics
import subprocess
import time
from collections.abc import Sequence
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

from export.cpp import write_header
from export.folded import fold
from export.positions import Sample
from export.quantise import quantise
from export.vectors import POSITIONS
from lite.networks.kings import KING_NAMES, kings
from lite.networks.value_network import ValueNetwork
from search.compiling.jit import KERNEL
from search.compiling.target import KERNELS
from search.evaluation.accumulator import Accumulators, evaluate_output
from search.evaluation.evaluation_speed import FORWARD, PLAY, Games, _walk, find_games, random_network
from search.evaluation.network import ACTIVATIONS, DUAL, PAIRWISE, EvalNetwork, Shards, centipawns_reference
from search.evaluation.network_file import load_network
from search.evaluation.network_record import network_record
from search.rules.movegen import list_moves
from search.rules.position import do_move, do_null_move, undo_move, undo_null_move
from search.rules.sfen import position_from_sfen

_FOUND = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
COMPILER = [_FOUND] if _FOUND else []
ARM_COMPILERS = {
    "g++": ["aarch64-linux-gnu-g++", "-static"],
    "clang++": ["clang++", "--target=aarch64-linux-gnu", "-static"],  # uses the libraries of g++
}
"""Compilers for 64-bit ARM, in Debian's packages g++-aarch64-linux-gnu and clang."""
ARM_CPUS = ("cortex-a72", "cortex-a76")
"""CPUs without and with the dot product instruction."""
ARM_EMULATOR = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
"""Emulator of 64-bit ARM, in Debian's package qemu-user."""
REPLAY = Path(__file__).with_name("replay.cpp")
HEADER = Path(__file__).parents[2] / "export" / "evaluation.h"
ROOTS = (
    "startpos",
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
    "1+P1K5/+P2G+P+S3/1+R+P1+L1+N2/9/9/9/3+l2+n1+p/1g1+s+p2k1/2+p1+r4 b BGS2N2L5Pbgs3p 200",
    "4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L18P 1",
    "3gkg3/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
)
FLAGS = {
    "AVX-512 VNNI": "-mavx512f -mavx512bw -mavx512vl -mavx512vnni",
    "AVX-VNNI": "-mavx2 -mavxvnni",
    "AVX2": "-mavx2",
    "SSE4.1": "-msse4.1",
    "plain": "",
}
"""Flags of x86 compilers by the kernel that they select."""
NEEDED = {"AVX-512 VNNI": "vnni", "AVX2": "avx2"}
"""The engine's kernel that a CPU needs to run a kernel of the header; AVX-VNNI is only compiled."""


K3K3 = ("k3k3",)
SFNN = {"hidden_squares": True, "shortcut": True}


def _loaded(net: EvalNetwork, largest: int) -> EvalNetwork:
    """Return the network with inputs up to 127 and weights up to `largest` in the first layer.

    int16 holds the products of 128 / `largest` groups of inputs, and not of one more.
    """
    first = net.layers[0]
    choices = np.array([-largest, 1 - largest, largest - 1, largest - 1], np.int8)
    weight = np.random.default_rng(largest).choice(choices, first.weight.shape)
    weight[..., 0, :] = -largest
    layers = (dataclasses.replace(first, weight=weight, shift=8), *net.layers[1:])
    return dataclasses.replace(net, rows=net.rows * np.int16(5), layers=layers)


def _networks() -> dict[str, EvalNetwork]:
    odd = random_network("piece_square", 32, (5, 3), 2)
    return {
        "lite": load_network("lite-16-4-32"),
        "odd": dataclasses.replace(odd, rows=odd.rows * np.int16(600), input_shift=5),  # sums wrap in int16
        "draw": random_network("piece_square", 416, (40, 16), 1, ("value", "draw")),
        "no hidden layer": random_network("k_p", 160, (), 1, activation="squared_clipped_relu", buckets=3),
        "k_p": dataclasses.replace(random_network("k_p", 64, (17, 33), 2), output_divisor=24),
        "half_kp": _loaded(random_network("half_kp", 64, (32, 32), 2), 64),
        "king buckets": _loaded(random_network("king_piece_square", 128, (48,), 2, ("value", "draw"), DUAL, 8), 128),
        "sfnn": _loaded(random_network("half_ka_hm2", 64, (16, 32), 2, activation=PAIRWISE, stacks=K3K3, **SFNN), 32),
        "progress": random_network(
            "k_a2", 64, (6, 5), 2, activation=PAIRWISE, shards=Shards(32, 16, 2), stacks=("hand64z", "progress8")
        ),
        "shortcut": random_network("piece_square", 96, (17,), 1, ("value", "draw"), shortcut=True, stacks=("k9k9z",)),
    }


NETWORKS = _networks()
TRIED = (
    ("AVX-512 VNNI", "shortcut"),
    ("AVX-512 VNNI", "draw"),
    ("AVX2", "half_kp"),
    ("SSE4.1", "king buckets"),
    ("plain", "odd"),
    ("plain", "no hidden layer"),
    ("AVX2", "sfnn"),
    ("plain", "progress"),
)
SANITIZED = "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"


def compiled(net: EvalNetwork, folder: Path, flags: str, compiler: Sequence[str] = COMPILER) -> Path:
    """Compile the program replay.cpp with a network's header; the weights are beside it as `lite_eval.bin`."""
    if not compiler:
        pytest.skip("no C++ compiler is at hand: install g++ or clang++, or name one in CXX")
    write_header(net, "net.safetensors", folder / "lite_eval.h")
    warnings = "-Wall -Wextra -Wpedantic -Wshadow -Wcast-qual -Werror"
    # GCC 12 reports its own AVX-512 intrinsics as uninitialised; clang does not know all of GCC's warnings.
    warnings += " -Wno-unknown-warning-option -Wno-uninitialized -Wno-maybe-uninitialized"
    defines = [f'-DHEADER="{folder / "lite_eval.h"}"', "-DNET=lite_eval"]
    arguments = [*compiler, "-std=c++17", *warnings.split(), *defines, *flags.split(), REPLAY, "-o", folder / "replay"]
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode != 0 and "-fsanitize" in flags and "cannot find" in done.stderr:
        pytest.skip("the compiler has no sanitizers: install libasan and libubsan")
    assert done.returncode == 0, done.stderr
    return folder / "replay"


class Script:
    """Commands for the program and the answers that it should give."""

    def __init__(self, net: EvalNetwork) -> None:
        self.net, self.accumulators = net, Accumulators(net)
        self.lines: list[str] = []
        self.answers: list[str] = []

    def set_up(self, pos: np.void) -> None:
        numbers = [int(pos["turn"]), *pos["board"].tolist(), *pos["hands"].reshape(-1).tolist()]
        self.lines.append("set_up " + " ".join(map(str, numbers)))

    def evaluate(self, pos: np.void) -> None:
        record = self.accumulators.record
        output = int(evaluate_output(pos, record, network_record(self.net)))
        outputs = [output, int(record["draw_output"])][: len(self.net.outputs)]
        (score,) = centipawns_reference(self.net, [output])
        self.lines.append(f"evaluate {int(pos['checkers'].any())}")
        self.answers.append(" ".join(map(str, [*outputs, score, f"{self.net.logit(outputs[-1]):.17g}"])))

    def walk(self, pos: np.void, generator: random.Random, plies: int) -> None:
        """Add a game like a line of a search: most positions are evaluated, and some moves are made and undone."""
        played = []
        for _ in range(plies):
            if generator.random() < 0.6:
                self.evaluate(pos)
            if not pos["checkers"].any() and generator.random() < 0.1:
                do_null_move(pos)
                self.lines.append("null")
                self.evaluate(pos)
                undo_null_move(pos)
                self.lines.append("undo")
            moves = list_moves(pos)
            if not moves:
                break
            played.append(np.int64(generator.choice(moves)))
            do_move(pos, played[-1])
            self.lines.append(f"do {played[-1]}")
            if generator.random() < 0.3:
                self.evaluate(pos)
                undo_move(pos, played.pop())
                self.lines.append("undo")
        for move in reversed(played):
            undo_move(pos, move)
            self.lines.append("undo")
        self.evaluate(pos)

    def follow(self, pos: np.void, moves: Sequence[int]) -> None:
        """Add a recorded game; evaluate every position."""
        for move in moves:
            do_move(pos, np.int64(move))
            self.lines.append(f"do {move}")
            self.evaluate(pos)

    def judge(self, program: Path, kernel: str | None, emulator: Sequence[str] = ()) -> None:
        commands = "\n".join(self.lines)
        arguments = [*emulator, program, program.with_name("lite_eval.bin")]
        done = subprocess.run(arguments, input=commands, capture_output=True, text=True, timeout=500)
        assert done.returncode == 0, done.stderr
        found, *answers = done.stdout.splitlines()
        assert kernel in (None, found)
        assert answers == self.answers
        assert len(set(answers)) > len(answers) // 10


def play_games(net: EvalNetwork, games: int, plies: int) -> Script:
    """Return a script of the positions of the test vectors, then of random games."""
    script = Script(net)
    for sfen in POSITIONS:
        script.set_up(pos := position_from_sfen(sfen))
        script.evaluate(pos)
    script.lines.append("inside")
    for seed in range(games):
        pos = position_from_sfen(ROOTS[seed % len(ROOTS)])
        script.set_up(pos)
        script.walk(pos, random.Random(seed), plies)
    return script


def need(kernel: str) -> None:
    if KERNEL in ("neon", "plain") and kernel != "plain":
        pytest.skip("this machine is not known to run the kernels of x86")
    if kernel in NEEDED and KERNELS.index(KERNEL) > KERNELS.index(NEEDED[kernel]):
        pytest.skip(f"this machine does not run {kernel}")


@pytest.mark.parametrize(("name", "together"), [("king buckets", 1), ("half_kp", 2), ("sfnn", 4)])
def test_the_header_says_how_many_groups_int16_holds(name: str, together: int, tmp_path: Path) -> None:
    write_header(NETWORKS[name], "net.safetensors", header := tmp_path / "lite_eval.h")
    assert f"TOGETHER[LAYERS] = {{{together}, " in header.read_text()


@pytest.mark.parametrize(("kernel", "name"), TRIED)
def test_games_give_the_integers_of_the_engine(kernel: str, name: str, tmp_path: Path) -> None:
    need(kernel)
    program = compiled(NETWORKS[name], tmp_path, f"{SANITIZED} {FLAGS[kernel]}")
    play_games(NETWORKS[name], 2 * len(ROOTS), 80).judge(program, kernel)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Flags that include precompiled headers of the standard library, which halves the time of a build."""
    path = tmp_path_factory.mktemp("headers") / "standard.h"
    names = re.findall(r"^#include <\w+>$", HEADER.read_text() + REPLAY.read_text(), re.MULTILINE)
    path.write_text("\n".join(names))
    if COMPILER:
        subprocess.run([*COMPILER, "-std=c++17", "-x", "c++-header", path, "-o", f"{path}.gch"], check=True)
    return f"-include {path}"


def test_trained_networks_give_the_integers_of_the_engine(
    any_net: ValueNetwork, positions: Sample, library: str, tmp_path: Path
) -> None:
    net = quantise(fold(any_net), positions.part(0, 500))
    play_games(net, len(ROOTS), 40).judge(compiled(net, tmp_path, library), None)


def test_avx_vnni_compiles(tmp_path: Path) -> None:
    if KERNEL in ("neon", "plain"):
        pytest.skip("this machine is not known to run the kernels of x86")
    compiled(NETWORKS["lite"], tmp_path, f"-c {FLAGS['AVX-VNNI']}")


_CALLER = """
#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <string>
#include <vector>
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define near
#define far
#define small char
#include "lite_eval.h"
const int* limits();
int main() {
    const lite_eval::Network network;
    const lite_eval::Accumulator accumulator(network);
    return lite_eval::MOST_IN_HAND == limits() ? 0 : 2;
}
"""
_CALLED = """
#include "lite_eval.h"
const int* limits();
const int* limits() { return lite_eval::MOST_IN_HAND; }
"""


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_strict_engines_on_windows_can_include_the_header_in_several_files(compiler: str, tmp_path: Path) -> None:
    """The macros are those of windows.h; there are two translation units and the warnings that some engines enable."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    write_header(NETWORKS["king buckets"], "net.safetensors", tmp_path / "lite_eval.h")
    for name, text in (("caller.cpp", _CALLER), ("called.cpp", _CALLED)):
        (tmp_path / name).write_text(text)
    strict = "-std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Werror"
    command = [compiler, *strict.split(), "-fno-exceptions", "-fno-rtti", "caller.cpp", "called.cpp", "-o", "program"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([tmp_path / "program"]).returncode == 0


_EARLY = """
#include "lite_eval.h"
int main(int count, char**) {
    const lite_eval::Network network;
    lite_eval::Accumulator accumulator(network);
    if (count == 2) accumulator.do_move(lite_eval::Change{});
    if (count == 3) accumulator.set_up(lite_eval::Placement{});
    accumulator.evaluate(0, false);
}
"""


@pytest.fixture(scope="module")
def early(library: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the compiled program of `_EARLY`."""
    folder = tmp_path_factory.mktemp("early")
    write_header(NETWORKS["lite"], "net.safetensors", folder / "lite_eval.h")
    (folder / "early.cpp").write_text(_EARLY)
    subprocess.run([*COMPILER, "-std=c++17", *library.split(), "early.cpp", "-o", "early"], cwd=folder, check=True)
    return folder / "early"


@pytest.mark.skipif(not COMPILER, reason="no C++ compiler")
@pytest.mark.parametrize(
    ("words", "asked"),
    [([], "top_ != nullptr"), (["move"], "top_ != nullptr"), (["set", "up"], "network_.is_loaded()")],
)
def test_a_debug_build_asserts_load_and_set_up_first(words: list[str], asked: str, early: Path) -> None:
    done = subprocess.run([early, *words], capture_output=True, text=True)
    assert f"Assertion `{asked}' failed" in done.stderr


_INTRIN = """
#include <cstdint>
#include <cstdio>
#include <cstdlib>
inline unsigned char _BitScanForward(unsigned long* place, unsigned long mask) {
    const auto scanned = static_cast<std::uint32_t>(mask);  // MSVC's long has 32 bits
    if (scanned != 0) *place = static_cast<unsigned long>(__builtin_ctz(scanned));
    return scanned != 0;
}
#pragma GCC poison __attribute__ __builtin_ctzll
"""


@pytest.mark.parametrize("kernel", ["AVX2", "plain"])
def test_msvc_intrinsics_give_the_integers_of_the_engine(kernel: str, tmp_path: Path) -> None:
    """Another compiler stands in for MSVC, with a substitute for intrin.h that disables words unknown to MSVC."""
    need(kernel)
    (tmp_path / "intrin.h").write_text(_INTRIN)
    compiler = [*COMPILER, "-D_MSC_VER=1940", "-Wno-unknown-pragmas", "-I", str(tmp_path)] if COMPILER else []
    program = compiled(NETWORKS["king buckets"], tmp_path, f"-O1 {FLAGS[kernel]}", compiler)
    play_games(NETWORKS["king buckets"], len(ROOTS), 80).judge(program, kernel)


def test_a_network_s_name_leaves_the_header_in_ascii(tmp_path: Path) -> None:
    """A Japanese Windows reads sources as Shift_JIS, in which the second byte of a character may be a backslash."""
    write_header(NETWORKS["lite"], "\u5c06\u68cb\n.safetensors", tmp_path / "lite_eval.h")
    text = (tmp_path / "lite_eval.h").read_bytes().decode("ascii")
    assert r"the network \u5c06\u68cb\n.safetensors, as" in text


def judge_neon(net: EvalNetwork, script: Script, folder: Path, compiler: str, cpu: str) -> None:
    words = ARM_COMPILERS[compiler]
    if not (ARM_EMULATOR and shutil.which("aarch64-linux-gnu-g++") and shutil.which(words[0])):
        pytest.skip(f"64-bit ARM cannot be tried: install qemu-user, g++-aarch64-linux-gnu and {compiler}")
    script.judge(compiled(net, folder, f"-O2 -mcpu={cpu}", words), "NEON", (ARM_EMULATOR, "-cpu", cpu))


@pytest.mark.parametrize(("cpu", "name"), [(ARM_CPUS[0], "draw"), (ARM_CPUS[1], "king buckets")])
def test_neon_gives_the_integers_of_the_engine(cpu: str, name: str, tmp_path: Path) -> None:
    judge_neon(NETWORKS[name], play_games(NETWORKS[name], 2 * len(ROOTS), 80), tmp_path, "g++", cpu)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("cpu", ARM_CPUS)
@pytest.mark.parametrize("compiler", ARM_COMPILERS)
def test_neon_gives_the_integers_of_every_kind_of_network(compiler: str, cpu: str, tmp_path: Path) -> None:
    """Test all combinations of king sets, activations and buckets. Run by hand."""
    nets = list(NETWORKS.values())
    for number, (king, activation, buckets) in enumerate(product(KING_NAMES, ACTIVATIONS, (1, 5))):
        outputs = ("value", "draw")[: 1 + number % 2]
        chosen = kings(king).feature_set, 32 * (1 + number % 5), (8, 6)[: number % 3], 1 + number // 2 % 2
        nets.append(random_network(*chosen, outputs, activation, buckets))
    for net in nets:
        judge_neon(net, play_games(net, 2 * len(ROOTS), 80), tmp_path, compiler, cpu)


def test_weights_of_another_header_are_refused(tmp_path: Path) -> None:
    program = compiled(NETWORKS["odd"], tmp_path, "")
    weights = tmp_path / "lite_eval.bin"
    content = weights.read_bytes()
    for wrong in (content[:-1], content + b"\0", content[:5000] + bytes([content[5000] ^ 1]) + content[5001:], b""):
        weights.write_bytes(wrong)
        done = subprocess.run([program, weights], input="", capture_output=True, text=True, timeout=100)
        assert done.returncode == 1
        assert (
            done.stderr
            == f"{weights}: damaged, or not the file that was exported with this header; export both again\n"
        )
    weights.unlink()
    done = subprocess.run([program, weights], input="", capture_output=True, text=True, timeout=100)
    assert done.stderr == f"{weights}: cannot be opened\n"


def recorded_games(data_folder: Path, count: int) -> Games:
    """Return recorded games; random ones if the folder has none."""
    path = data_folder / "games" / "games.jsonl.xz"
    return find_games(path if path.is_file() else None, count)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_thousand_games_give_the_integers_of_the_engine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data_folder: Path
) -> None:
    """Compile with an engine's flags for every kernel that this machine runs or emulates. Run by hand.

    A thousand recorded games follow the random ones if the folder of `--data` has them.
    """
    script, start = play_games(NETWORKS["lite"], 1000, 120), Script(NETWORKS["lite"])
    start.set_up(position_from_sfen("startpos"))
    games = recorded_games(data_folder, 1000)
    for first, last in pairwise(games.starts):
        script.set_up(pos := position_from_sfen("startpos"))
        script.follow(pos, games.moves[first : min(last, first + 256)].tolist())
    probe = f"{start.lines[0]}\nevaluate 0"
    builds: list[tuple[str, Sequence[str], str, Sequence[str]]] = []
    builds += [(kernel, COMPILER, flags, ()) for kernel, flags in FLAGS.items()]
    if ARM_EMULATOR:
        found = [words for words in ARM_COMPILERS.values() if shutil.which(words[0])]
        builds += [("NEON", words, f"-mcpu={cpu}", (ARM_EMULATOR, "-cpu", cpu)) for words in found for cpu in ARM_CPUS]
    for kernel, compiler, flags, emulator in builds:
        program = compiled(NETWORKS["lite"], tmp_path, f"-O3 {flags}", compiler)
        # A processor that lacks an instruction stops the program with a signal.
        arguments = [*emulator, program, tmp_path / "lite_eval.bin"]
        runs = subprocess.run(arguments, input=probe, capture_output=True, text=True).returncode == 0
        if runs:
            script.judge(program, kernel, emulator)
        outcome = f"{len(script.answers):,} positions agree" if runs else "does not run here"
        with capsys.disabled():
            print(" ".join((kernel, *compiler[:1], *emulator[2:], "with", games.source)), outcome, sep=": ")


@pytest.mark.slow
def test_speed_of_the_header_and_the_engine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data_folder: Path
) -> None:
    """Time updates and layers along games, in the header and in Numba alternately. Run by hand.

    LITESHOGI_KERNEL chooses the kernel of both."""
    kernel = {"vnni": "AVX-512 VNNI", "avx2": "AVX2", "plain": "plain"}[KERNEL]
    net, games = NETWORKS["lite"], recorded_games(data_folder, 200)
    library = ctypes.CDLL(str(compiled(net, tmp_path, f"-O3 -shared -fPIC {FLAGS[kernel]}")))
    library.walk.restype = ctypes.c_int64
    changes, checks = np.zeros((games.plies, 4), np.uint16), np.zeros(games.plies, np.uint8)
    for first, last in pairwise(games.starts):
        pos = position_from_sfen("startpos")
        for index in range(first, last):
            do_move(pos, np.int64(games.moves[index]))
            changes[index] = [*pos["removed"][pos["ply"]], *pos["added"][pos["ply"]]]
            checks[index] = pos["checkers"].any()
    pos, accumulators = position_from_sfen("startpos"), Accumulators(net)
    start = np.concatenate((pos["board"], pos["hands"].reshape(-1)))
    arrays = [array.ctypes.data_as(ctypes.c_void_p) for array in (start, changes, checks, games.starts)]
    weights = str(tmp_path / "lite_eval.bin").encode()

    def ours(part: int) -> int:
        record = accumulators.record
        return int(_walk(pos, record, accumulators.network, games.moves, games.starts, np.int64(part)))

    def theirs(part: int) -> int:
        return int(library.walk(weights, *arrays, len(games.starts) - 1, int(part == FORWARD)))

    assert ours(FORWARD) == theirs(FORWARD)
    times: dict[tuple[str, int], list[float]] = {}
    for _ in range(15):
        for walk in (ours, theirs):
            for part in (PLAY, FORWARD):
                before = time.thread_time_ns()
                walk(part)
                times.setdefault((walk.__name__, part), []).append((time.thread_time_ns() - before) / games.plies)
    spent = {key: statistics.median(measured) for key, measured in times.items()}
    numba, cpp = (spent[walk, FORWARD] - spent[walk, PLAY] for walk in ("ours", "theirs"))
    with capsys.disabled():
        print(
            f"\n{kernel}, {games.plies} positions of {games.source}: Numba {numba:.1f} ns, C++ {cpp:.1f} ns, "
            f"ratio {cpp / numba:.2f}; its do_move and undo_move {spent['theirs', PLAY]:.1f} ns"
        )
