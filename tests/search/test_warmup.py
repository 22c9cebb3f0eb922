"""The cache of compiled code: used, locked, and cleared of what nobody uses."""

from __future__ import annotations

import os
import time

from search import warmup
from search.evaluation.network import EvalNetwork
from search.evaluation.static_evaluation import evaluate_sfens


def test_directories_that_nobody_used_for_a_month_are_removed(tmp_path, monkeypatch):
    ours = tmp_path / "plain-0123"
    monkeypatch.setattr(warmup, "CACHE_DIRECTORY", ours)
    month_ago = time.time() - 31 * 86400
    for name, used in (("vnni-old", month_ago), ("vnni-fresh", time.time()), ("plain-0123", month_ago)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "lock").touch()
        os.utime(tmp_path / name / "lock", (used, used))
    (tmp_path / "vnni-without-a-lock").mkdir()
    assert warmup.remove_unused() == 1
    assert {path.name for path in tmp_path.iterdir()} == {"vnni-fresh", "plain-0123", "vnni-without-a-lock"}
    with warmup.compiling_alone():
        assert (ours / "lock").stat().st_mtime > month_ago + 86400


def test_a_cache_that_cannot_be_written_locks_nothing(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(warmup, "CACHE_DIRECTORY", tmp_path / "file" / "directory")
    with warmup.compiling_alone():
        pass


def test_the_small_network_counts_material():
    network = warmup.small_network()
    assert isinstance(network, EvalNetwork)
    ahead_by_a_rook = "lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
    even, ahead = evaluate_sfens(network, ["startpos", ahead_by_a_rook])
    assert abs(even.score_cp) < 20
    assert ahead.score_cp > 500
