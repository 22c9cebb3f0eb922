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
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from search.alphabeta.see import PIECE_VALUE
from search.evaluation.feature_sets import feature_set
from search.evaluation.network import LANES, EvalNetwork, Layer
from search.machine.jit import CACHE_DIRECTORY
from search.rules.shogi import KINDS, SQUARES

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


def compile_beside() -> Iterator[None]:
    """Compile (or load) in steps what a second process can: what the search comes to last, then what it never calls."""
    from search.evaluation.static_evaluation import evaluate_sfens

    evaluate_sfens(small_network(), ["startpos"])
    yield
    _find_mates()
    yield
    from search.mate.solver import MateSolver

    MateSolver(1).solve(_MATE_PROBLEM)
    yield


def _find_mates() -> None:
    """Ask for mates in one and in three as the search does."""
    from search.alphabeta.game_end import find_mate_here
    from search.alphabeta.mate_in_three import find_mate_in_three
    from search.alphabeta.thread import SearchThread
    from search.alphabeta.transposition import TranspositionTable
    from search.rules.sfen import set_sfen

    thread, root = SearchThread(small_network(), TranspositionTable(1)), np.int64(0)
    set_sfen(thread.position, _BUSY_POSITION)
    find_mate_here(thread.position, thread.record, root)
    find_mate_in_three(thread.position, thread.record, root)


@contextlib.contextmanager
def _second_process() -> Iterator[None]:
    """At the first time a process beside this one compiles what it can, and the caller loads what is ready.

    The process has a cache directory of its own, as two that write one function's index would spoil it; at the end of
    each of its steps what the caller has not compiled itself by then is linked into the caller's.
    """
    complete = CACHE_DIRECTORY / "complete"
    if complete.exists() or not os.access(CACHE_DIRECTORY, os.W_OK):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="beside-", dir=CACHE_DIRECTORY, ignore_cleanup_errors=True) as place:
        paths = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "LITESHOGI_CACHE": place, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        code = "from search.warmup import compile_beside\nfor _ in compile_beside(): print(flush=True)"
        process = subprocess.Popen(
            [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        taker = threading.Thread(target=_take_over, args=(process, Path(place)), daemon=True)
        taker.start()
        try:
            yield
            taker.join()
        finally:
            process.kill()
            process.wait()
            taker.join()
    for _ in compile_beside():  # loads it, or compiles what is missing
        pass
    with contextlib.suppress(OSError):
        complete.touch()


def _take_over(process: subprocess.Popen[bytes], place: Path) -> None:
    """Link what the process has compiled into this process's cache, each time it says so."""
    assert process.stdout is not None
    for _ in process.stdout:
        for index in place.rglob("*.nbi"):
            target = CACHE_DIRECTORY / index.relative_to(next(place.iterdir()))
            if target.exists():
                continue
            # Linking fails where the caller has written a file meanwhile: its own stay. The index comes last, as it
            # names the others. A file system without links costs time alone.
            with contextlib.suppress(OSError):
                target.parent.mkdir(parents=True, exist_ok=True)
                for file in (*index.parent.glob(f"{index.stem}.*.nbc"), index):
                    os.link(file, target.parent / file.name)


def warm_up() -> float:
    """Compile (or load) the engine; returns the seconds it took."""
    begun = time.perf_counter()
    with compiling_alone(), _second_process():
        from search.alphabeta.engine import AlphaBetaEngine

        engine = AlphaBetaEngine(small_network(), hash_mb=1, threads=1)
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


def warm_up_puct() -> float:
    """Compile (or load) the PUCT engine; returns the seconds it took. Which network it plays with does not matter."""
    from search.puct.engine import PuctEngine, even_network

    begun = time.perf_counter()
    with compiling_alone():
        PuctEngine(even_network, 1).warm_up()
    return time.perf_counter() - begun


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
