"""A program called by its address: its results and errors reach the caller, which contains no copy of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from experiments.games.compiled_game import play_game
from experiments.games.player import Duel, Player
from search.alphabeta.deepening import deepen
from search.alphabeta.single_search import search_once
from search.alphabeta.thread import SearchThread
from search.alphabeta.transposition import TranspositionTable
from search.evaluation.material import material_network
from search.rules.sfen import set_sfen

CHECKOUT = Path(__file__).parents[3]
START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
CALLED = """
import numpy as np
from search.compiling.address import address_of, call_address
from search.compiling.jit import jit, program

@program
def add(sums, first, second, third, fourth):
    if first < 0:
        raise ValueError("below zero")
    sums[0] += first + second
    sums[1] += third + fourth

@jit
def caller(address, sums, count):
    for number in range(count):
        call_address(address, sums, number, number, np.int64(1), np.int64(2))
    call_address(address, sums, np.int64(-count), count, count, count)

one, sums = np.int64(1), np.zeros(2, np.int64)
address = address_of(add, sums, one, one, one, one)
caller(np.int64(address), sums, np.int64(0))
try:
    caller(np.int64(address), sums, np.int64(5))
except ValueError as error:
    print(error, *sums)
"""


def test_results_and_errors_return_when_both_are_loaded(tmp_path):
    (tmp_path / "called.py").write_text(CALLED)
    paths = os.pathsep.join((str(tmp_path), str(CHECKOUT)))
    environment = {**os.environ, "PYTHONPATH": paths, "LITESHOGI_CACHE": str(tmp_path / "cache")}
    printed = []
    for _ in range(2):
        command = [sys.executable, "-c", "import called"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, "")
        printed.append(done.stdout.splitlines())
    assert [lines[0] for lines in printed] == ["below zero 20 15"] * 2


def test_games_contain_no_copy_of_the_search():
    player = Player(material_network(), nodes=30)
    assert len(Duel(player, plies=2).play("startpos").moves) == 2
    names = [overload.fndesc.llvm_func_name for overload in deepen.overloads.values()]
    modules = [str(overload.library._get_module_for_linking()) for overload in play_game.overloads.values()]
    assert names
    assert modules
    assert not any(name in module for name in names for module in modules)


def test_a_thread_whose_search_is_not_shared_is_refused():
    thread = SearchThread(material_network(), TranspositionTable(1))
    sums = thread.accumulators
    set_sfen(thread.position, START)
    with pytest.raises(RuntimeError, match="not shared"):
        search_once(thread.position, thread.record, sums.record, sums.network, np.int64(30), np.int64(0))
