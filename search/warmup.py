"""Compile ahead: everything the engine calls, once for all processes that start together.

Numba compiles at the first call and keeps the result in the cache directory. A lock file there lets one process compile
while others wait and then load. The verb `warmup` is for installers; `isready` does the same.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from search.feature_sets import feature_set
from search.jit import CACHE_DIRECTORY
from search.network import LANES, EvalNetwork, Layer
from search.see import PIECE_VALUE
from search.shogi import KINDS, SQUARES

_UNUSED_DAYS = 30
_MATE_PROBLEM = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1"
_BUSY_POSITION = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1"


def small_network() -> EvalNetwork:
    """A network that counts material on the board in steps of ten centipawns, for an engine without a file."""
    features = feature_set("piece_square")
    rows = np.zeros((features.rows, LANES), np.int16)
    for piece in range(2 * KINDS):
        kind = piece % KINDS
        if kind != 7:
            worth = int(PIECE_VALUE[kind]) // 10 * (1 if piece < KINDS else -1)
            rows[piece * SQUARES : (piece + 1) * SQUARES, :2] = (worth, -worth)
    hidden = np.zeros((2, LANES), np.int8)
    hidden[0, 0] = hidden[1, 1] = 64
    output = np.array([[100, -100]], np.int8)
    layers = (Layer(hidden, np.zeros(2, np.int32), 6), Layer(output, np.zeros(1, np.int32)))
    return EvalNetwork(features, rows, np.zeros(LANES, np.int16), layers, logit_per_output=1 / 6000)


@contextlib.contextmanager
def compiling_alone() -> Iterator[None]:
    """Hold the cache directory's lock; where the directory cannot be written nothing is kept, so nothing is locked."""
    try:
        CACHE_DIRECTORY.mkdir(parents=True, exist_ok=True)
        file = open(CACHE_DIRECTORY / "lock", "a+b")  # noqa: SIM115 (closed below)
        os.utime(CACHE_DIRECTORY / "lock")  # says when the directory was last used, see `remove_unused`
    except OSError:
        yield
        return
    with file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        except ImportError:
            import msvcrt

            file.seek(0)
            while True:
                try:
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
                    break
                except OSError:  # it gives up after ten seconds; compiling takes longer
                    continue
        yield


def compile_beside() -> None:
    """Compile (or load) what the engine's search does not need: the mate solver and the evaluation in batches."""
    from search.mate import MateSolver

    MateSolver(1).solve(_MATE_PROBLEM)
    small_network().evaluate(["startpos"])


@contextlib.contextmanager
def _rest_compiled() -> Iterator[None]:
    """If no process has, compile the rest in a process of its own while the caller compiles the search.

    The process has a cache directory of its own, as two that write one function's index would spoil it; afterwards
    what the caller has not compiled itself is moved over, each function's index with its code.
    """
    compiled = CACHE_DIRECTORY / "rest"
    if compiled.exists() or not os.access(CACHE_DIRECTORY, os.W_OK):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="rest-", dir=CACHE_DIRECTORY, ignore_cleanup_errors=True) as place:
        paths = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "LITESHOGI_CACHE": place, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        code = "from search.warmup import compile_beside; compile_beside()"
        process = subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.DEVNULL)
        try:
            yield
            process.wait()
        finally:
            process.kill()
            process.wait()
        for index in Path(place).rglob("*.nbi"):
            target = CACHE_DIRECTORY / index.relative_to(next(Path(place).iterdir()))
            if target.exists():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            for file in (*index.parent.glob(f"{index.stem}.*.nbc"), index):  # the index last: it names the others
                shutil.move(file, target.parent / file.name)
    compile_beside()  # loads it, or compiles what is missing
    with contextlib.suppress(OSError):
        compiled.touch()


def warm_up() -> float:
    """Compile (or load) the engine; returns the seconds it took."""
    begun = time.perf_counter()
    with compiling_alone(), _rest_compiled():
        from search.engine import Engine

        engine = Engine(small_network(), hash_mb=1, threads=1)
        for sfen in ("startpos", _BUSY_POSITION):
            engine.analyse(sfen, depth=5)
    return time.perf_counter() - begun


def remove_unused() -> int:
    """Delete cache directories of other sources or kernels that nobody has used for a month; returns how many."""
    oldest = time.time() - _UNUSED_DAYS * 86400
    removed = 0
    for directory in CACHE_DIRECTORY.parent.glob("*-*"):
        lock = directory / "lock"
        if directory != CACHE_DIRECTORY and lock.is_file() and lock.stat().st_mtime < oldest:
            shutil.rmtree(directory, ignore_errors=True)
            removed += 1
    return removed


@dataclass(frozen=True)
class Warmup:
    """Compile the engine ahead, so that its first start in a GUI is as quick as every other."""

    json: bool = False
    """Print one JSON object."""

    def run(self) -> None:
        seconds = warm_up()
        removed = remove_unused()
        if self.json:
            print(json.dumps({"seconds": round(seconds, 3), "directory": str(CACHE_DIRECTORY), "removed": removed}))
        else:
            print(f"compiled code ready in {seconds:.1f} s: {CACHE_DIRECTORY}")
