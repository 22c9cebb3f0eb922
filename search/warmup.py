"""Compile everything that the engine calls, ahead of its first use.

Numba compiles a function at its first call, and `search.compiling.compile_cache` stores the result. Installers call
this through the verb `warmup`, the engine at `isready`. Processes that start together compile once.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numba import typeof

from search.compiling.cache_directory import make_directory, note_use
from search.compiling.cache_files import LOCK_NAME
from search.compiling.jit import CACHE_DIRECTORY, RELEASED_DIRECTORY
from search.compiling.progress import PROGRESS
from search.compiling.source_digest import code_name
from search.compiling.target import KERNELS
from search.evaluation.material import material_network
from search.system.standard_streams import take_input

_UNUSED_DAYS = 30
_COMPLETE = "complete"
"""File in this module's directory of compiled code once a first start has ended."""
_MATE_PROBLEM = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1"
_BUSY_POSITION = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1"


def compile_ahead() -> None:
    """Compile functions that the search calls, in a second process before the first one comes to them.

    First those that need no rules, which the first process begins with. The loops of the search, which take longest,
    are left to the first process.
    """
    from search.alphabeta.correction import correct, note_likenesses
    from search.alphabeta.forward_pruning import enough_moves, prune_quiet, prune_tactical
    from search.alphabeta.game_end import find_mate_here
    from search.alphabeta.history import learn_best, learn_table_cut, learn_unanswered
    from search.alphabeta.mate_in_three import find_mate_in_three
    from search.alphabeta.node import find_mate, keep_result, stands_above, static_evaluation
    from search.alphabeta.picker import next_move
    from search.alphabeta.see import exchange_wins
    from search.alphabeta.thread import SearchThread
    from search.alphabeta.transposition import TranspositionTable
    from search.evaluation.accumulator import evaluate

    thread, number, no = SearchThread(material_network(), TranspositionTable(1)), np.int64(0), False
    pos, record, sums = thread.position, thread.record, thread.accumulators
    for function, arguments in (
        (evaluate, (pos, sums.record, sums.network)),
        (note_likenesses, (pos, record, number)),
        (correct, (pos, record, *[number] * 2)),
        (learn_best, (pos, record, *[number] * 6)),
        (learn_unanswered, (pos, record, *[number] * 3)),
        (learn_table_cut, (pos, record, *[number] * 3)),
        (exchange_wins, (pos, *[number] * 2)),
        (find_mate_here, (pos, record, number)),
        (next_move, (pos, record, *[number] * 2)),
        (find_mate_in_three, (pos, record, number)),
        (static_evaluation, (pos, record, sums.record, sums.network, *[number] * 2, no)),
        (stands_above, (record, *[number] * 4, *[no] * 3)),
        (find_mate, (pos, record, *[number] * 2, no, number)),
        (enough_moves, (record, *[number] * 2, no)),
        (prune_tactical, (pos, record, number, *[no] * 3, *[number] * 4)),
        (prune_quiet, (pos, record, *[number] * 2, no, *[number] * 4, no)),
        (keep_result, (pos, record, *[number] * 6)),
    ):
        function.compile(tuple(map(typeof, arguments)))  # for its callers: Python never calls it


def compile_beside() -> None:
    """Compile or load functions that Python calls besides the search."""
    from search.evaluation.static_evaluation import evaluate_sfens
    from search.mate.solver import MateSolver

    MateSolver(1).solve(_MATE_PROBLEM)
    _grow_a_table()
    evaluate_sfens(material_network(), ["startpos"])
    _check_a_line()  # last: its module is locked until the search is compiled


def compile_as_second(*parts: str) -> None:
    """Run as the second process, which compiles functions of the search and these parts.

    It exits when the process that started it ends.
    """
    threading.Thread(target=_end_with_input, daemon=True).start()
    PROGRESS.watched = True
    for part in ("ahead", *parts):
        _COMPILE[part]()
    os._exit(0)  # at once: freeing what was compiled takes a second, for which the first process would wait


def _end_with_input() -> None:
    stream = take_input()
    if stream is not None:
        stream.read()
    os._exit(1)


def _check_a_line() -> None:
    """Compile the check of the line of a search that a limit has ended, called as the engine calls it."""
    from search.alphabeta.deepening import legal_length
    from search.alphabeta.thread import SearchThread
    from search.alphabeta.transposition import TranspositionTable

    thread = SearchThread(material_network(), TranspositionTable(1))
    line = thread.record["pv"][0][:1]
    legal_length(thread.position, line, np.int64(len(line)))


def _grow_a_table() -> None:
    """Compile the growing of a table, which takes a third of a second: no move's clock should pay for it."""
    from search.alphabeta.transposition import TranspositionTable

    table = TranspositionTable(1)
    table.record["clusters"] = table.clusters // 2
    table.grow()


def _start_second(parts: tuple[str, ...]) -> subprocess.Popen[bytes] | None:
    """Start the second process if its compiled code can be stored."""
    if not os.access(CACHE_DIRECTORY.parent, os.W_OK):
        return None
    paths = [str(Path(__file__).parents[__name__.count(".")]), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "LITESHOGI_CACHE": str(CACHE_DIRECTORY.parent),
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    code = f"from {__name__} import compile_as_second; compile_as_second{parts!r}"
    with contextlib.suppress(OSError):  # the second process only saves time
        return subprocess.Popen(
            [sys.executable, "-c", code],
            env=environment,
            stdin=subprocess.PIPE,  # its end tells the second process that this one has ended, for whatever reason
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    return None


@contextlib.contextmanager
def _second_process(parts: tuple[str, ...]) -> Iterator[None]:
    """Run a second process that compiles functions of the search and these parts while the caller compiles the search.

    Where both need a function, one compiles it and the other loads it (`search.compiling.compile_cache`).
    """
    second = _start_second(parts)
    if second is None:
        PROGRESS.expect("search", "ahead", *parts)
        yield
        return
    PROGRESS.expect("search", beside=("ahead", *parts))
    try:
        yield
        with PROGRESS.compiling():
            second.wait()
    finally:
        second.kill()
        second.communicate()


def warm_up(puct: bool = False) -> float:
    """Compile or load the alpha-beta engine, and the PUCT engine if `puct`; return the seconds it took."""
    begun = time.perf_counter()
    name = code_name(__file__, __spec__)
    place = CACHE_DIRECTORY / name
    complete = place / _COMPLETE
    further = ("puct",) if puct else ()
    if os.path.exists(complete) or os.path.exists(RELEASED_DIRECTORY / name / _COMPLETE):
        if os.path.exists(complete):
            note_use(place, place.stat())
        PROGRESS.expect(*further)
        parts: tuple[str, ...] = further
        compile_search()
    else:
        parts = ("beside", *further)
        with _second_process(parts):
            compile_search()
    for part in parts:
        _COMPILE[part]()  # load what the second process has stored, or compile it
    if "beside" in parts:
        with contextlib.suppress(OSError):
            make_directory(place)
            complete.touch()
    return time.perf_counter() - begun


def compile_search() -> None:
    """Compile or load everything that the search calls first."""
    from search.alphabeta.engine import AlphaBetaEngine

    engine = AlphaBetaEngine(material_network(), hash_mb=1, threads=1)
    for sfen in ("startpos", _BUSY_POSITION):
        engine.analyse(sfen, depth=5)


def remove_unused() -> int:
    """Delete compiled code of other sources or machines that was not used for a month; return the number of modules."""
    oldest = time.time() - _UNUSED_DAYS * 86400
    removed = 0
    for kernel in KERNELS:
        for module in CACHE_DIRECTORY.parent.glob(f"{kernel}-*/*-*/"):
            if not any((module / name).exists() for name in (LOCK_NAME, _COMPLETE)):
                continue  # it may be anybody's
            with contextlib.suppress(OSError):  # another process may remove the same directory
                if module.stat().st_mtime < oldest:
                    shutil.rmtree(module, ignore_errors=True)
                    removed += 1
                if not any(path.is_dir() for path in module.parent.iterdir()):
                    shutil.rmtree(module.parent, ignore_errors=True)
    return removed


def compile_puct() -> None:
    """Compile or load the PUCT engine, which is the same for every network."""
    from search.puct.engine import PuctEngine, even_network

    PuctEngine(even_network, 1).warm_up()


_COMPILE = {"search": compile_search, "ahead": compile_ahead, "beside": compile_beside, "puct": compile_puct}
"""Functions that compile the parts of `search.compiling.progress`."""
