"""The cache of compiled code: it is filled in advance, complete, and cleared of unused code."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from search import warmup
from search.compiling.cache_directory import note_use


def test_code_unused_for_a_month_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(warmup, "CACHE_DIRECTORY", tmp_path / "plain-0123")
    month_ago = time.time() - 31 * 86400
    for name in ("plain-0123/search.bits-old", "plain-0123/search.bits-fresh", "vnni-old/lite.decode-old"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "lock").touch()
    for name in ("my-games/of-old", "vnni-games/of-old"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "my-games" / "of-old" / "lock").touch()
    for path in tmp_path.glob("*/*-old"):
        os.utime(path, (month_ago, month_ago))
    assert warmup.remove_unused() == 2
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.glob("*/*")}
    assert left == {"plain-0123/search.bits-fresh", "my-games/of-old", "vnni-games/of-old"}
    assert not (tmp_path / "vnni-old").exists()


def test_a_use_is_recorded_once_per_day(tmp_path):
    now = time.time()
    for age, changed in ((30 * 86400, True), (3600, False)):
        os.utime(tmp_path, (now - age, now - age))
        note_use(tmp_path, tmp_path.stat())
        # The kernel's time stamp may be a tick older than time.time().
        assert (tmp_path.stat().st_mtime > now - 60) == changed


_NOTHING_COMPILES = """
import search.compiling.jit
from numba.core import event
compiled = []
class Listener(event.Listener):
    def on_start(self, what): compiled.append(what.data["dispatcher"])
    def on_end(self, what): pass
from search.evaluation.material import material_network
from search.warmup import warm_up
warm_up()
event.register("numba:compile", Listener())
from search.alphabeta import paging
from search.alphabeta.engine import AlphaBetaEngine
from search.engine import Limits, Rules
from search.evaluation.static_evaluation import evaluate_sfens
for network in (material_network(), "default"):
    engine = AlphaBetaEngine(network, 1, 2)
    for rule in range(4):
        engine.rules, engine.multipv = Rules(rule, 300, (10, -10)), 1 + rule % 2
        engine.analyse("startpos", ["7g7f", "3c3d", "8h2b+"], depth=4)
        engine.analyse("8k/9/8G/9/9/9/9/9/K8 b G 1", depth=3)
        engine.ready()
        engine.search(Limits(depth=2, moves=("G*1b",)))
        engine.analyse("+P+P+P+P+P+PK1+R/+P+P+PG5/9/9/9/9/9/9/4k4 b R2BG 1", nodes=9)
    evaluate_sfens(engine.network, ["startpos"])
paging.FULL = 0
engine.set_hash(32)  # it doubles before the search, and within it
engine.analyse("startpos", depth=4)
assert engine.table.record["clusters"] == engine.table.clusters, "the table has not grown"
print(compiled)
"""


def test_nothing_compiles_after_the_warm_up():
    done = subprocess.run([sys.executable, "-c", _NOTHING_COMPILES], capture_output=True, text=True, timeout=280)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


@pytest.mark.slow  # compiles everything again
def test_functions_compiled_ahead_are_those_that_the_search_calls(tmp_path):
    """Functions compiled for other types would be stored beside those that the search needs."""
    stored = {}
    for part in ("ahead", "search"):
        cache = tmp_path / part
        code = f"from search.warmup import compile_{part}; compile_{part}()"
        environment = {**os.environ, "LITESHOGI_CACHE": str(cache)}
        subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=600)
        stored[part] = {file.relative_to(cache) for file in cache.rglob("*.nbc")}
    assert len(stored["ahead"]) > 50
    assert stored["ahead"] <= stored["search"]
