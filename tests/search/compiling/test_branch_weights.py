"""Branches of compiled functions have the weights of the table, which fits the sources."""

from __future__ import annotations

import importlib
import pickle
import re
from collections.abc import Iterator

import numba
import pytest
from llvmlite.binding import parse_bitcode

from release.branch_shares import CountBranches, shares
from search.alphabeta.bench import POSITIONS
from search.alphabeta.engine import AlphaBetaEngine
from search.compiling import branch_weights
from search.compiling.branch_weights import MILLION, TABLE
from search.compiling.compiler import LINKABLE, LowerForCallers, LowerProgram, ProgramCompiler

WEIGHTS = re.compile(r'!"branch_weights", i32 (\d+), i32 (\d+)}')


def steps(number: int) -> int:
    """Count the steps of a Collatz sequence; Python tests the condition of a loop before it and at its end."""
    count = 0
    while number != 1:
        if number % 2:
            number = 3 * number + 1
        else:
            number //= 2
        count += 1
    return count


NAME = f"{steps.__module__}.{steps.__qualname__}"


def compiled() -> numba.core.registry.CPUDispatcher:
    return numba.njit("int64(int64)", pipeline_class=ProgramCompiler, no_cfunc_wrapper=True)(steps)


def weights_in(code: str) -> list[set[int]]:
    """Return the weights of the table, without those that Numba sets; LLVM may have exchanged the sides."""
    pairs = [{int(yes), int(no)} for yes, no in WEIGHTS.findall(code)]
    return [pair for pair in pairs if sum(pair) == MILLION + 2]


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ([900_000, 250_000, 10], [{100_001, 900_001}, {11, 999_991}]),  # LLVM computes both sides of the second
        ([900_000, None, None], [{100_001, 900_001}]),
        ([900_000, 250_000], []),  # the function had another number of branches when the table was made
    ],
)
def test_branches_get_the_weights_of_the_table(monkeypatch, listed, expected):
    monkeypatch.setattr(branch_weights, "_shares", lambda: {NAME: listed})
    function = compiled()
    assert function(27) == 111
    (overload,) = function.overloads.values()
    found = weights_in(str(overload.library._get_module_for_linking()))
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected))


def test_counted_shares_are_those_of_the_branches(monkeypatch):
    monkeypatch.setattr(CountBranches, "counted", {})
    for kind in (LowerForCallers, LowerProgram):
        monkeypatch.setattr(kind, "lowering_class", CountBranches)
    function = compiled()
    assert function(27) == 111  # 41 of the steps are from odd numbers
    assert sorted(shares()[NAME]) == [41 * MILLION // 111, 110 * MILLION // 111, MILLION]


def bitcode_of(place: str) -> Iterator[bytes]:
    """Yield the code that is stored of a function, for each combination of types."""
    module, _, name = place.rpartition(".")
    cache = getattr(importlib.import_module(module), name)._cache
    for file in cache._files.directory.glob(f"{cache._stem}.*.nbc"):
        (_, kind, content), *_ = pickle.loads(cache._files.read(file.name))
        yield content if kind == LINKABLE else content[1]


def test_the_table_fits_the_sources():
    """Otherwise the search is slower: make the table again (`release/branch_shares.py`)."""
    AlphaBetaEngine().analyse(POSITIONS[1], depth=2)  # compiles what is not compiled
    listed = branch_weights._shares()
    assert all(share is None or 0 <= share <= MILLION for table in listed.values() for share in table)
    large = [function for function, table in listed.items() if len(table) > 7]  # LLVM keeps some of their branches
    without = [name for name in large for code in bitcode_of(name) if not weights_in(str(parse_bitcode(code)))]
    assert len(large) > 25
    assert without == [], f"{TABLE} is out of date"
