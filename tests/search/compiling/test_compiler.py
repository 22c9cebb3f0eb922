"""A program owns the functions that it calls, and changes nothing for other callers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from search.alphabeta.deepening import deepen
from search.alphabeta.engine import AlphaBetaEngine
from search.evaluation.material import material_network
from search.mate.dfpn import solve_root
from search.mate.solver import MateSolver
from tests.error_lines import error_lines

CHECKOUT = Path(__file__).parents[3]
LINES = "\n".join(f"    total = total * 31 + (number >> {shift % 60}) % {shift + 3}" for shift in range(200))
# `mix` is too long to be inlined in its callers.
SHARED = f"""
from search.compiling.jit import jit, program

@jit
def mix(number):
    total = 0
{LINES}
    return total

@program
def first(number):
    return mix(number) - mix(number + 1)

@program
def second(number):
    return first(number) + mix(number + 2)

@jit
def beside(number):
    return mix(number) + mix(number + 3)
"""
CALLS = ("second(4)", "first(3)", "beside(5)", "mix(2)")


def in_python(call: str) -> int:
    """Return the result of a call in 64 bits without a compiler."""
    names: dict[str, object] = {}
    exec("def jit(function): return function\nprogram = jit\n" + SHARED.replace("from", "#", 1), names)
    value = int(eval(call, names))
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def test_functions_do_not_depend_on_what_is_loaded_before(tmp_path):
    (tmp_path / "shared.py").write_text(SHARED)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(tmp_path), str(CHECKOUT))),
        "LITESHOGI_CACHE": str(tmp_path / "cache"),
    }
    # Compiled by the first process, loaded by the others in other orders.
    for turn in range(len(CALLS)):
        calls = CALLS[turn:] + CALLS[:turn]
        script = "import shared\n" + "\n".join(f"print(shared.{call})" for call in calls)
        command = [sys.executable, "-c", script]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        assert (done.returncode, error_lines(done.stderr)) == (0, [])
        assert [int(line) for line in done.stdout.split()] == [in_python(call) for call in calls]


ARRAY = re.compile(r" *(%\S+) = alloca .*, align (\d+)")
ACCESS = re.compile(r"(?:load|store) .*<.*ptr (%[^,\s]+), align (\d+)")


def misaligned(module: str) -> list[str]:
    """Return a module's loads and stores of vectors on stack arrays with less alignment."""
    arrays: dict[str, int] = {}
    found = []
    for line in module.splitlines():
        if line.startswith("define"):
            arrays = {}
        elif array := ARRAY.match(line):
            arrays[array[1]] = int(array[2])
        elif (access := ACCESS.search(line)) and arrays.get(access[1], 1 << 30) < int(access[2]):
            found.append(line)
    return found


def test_callers_link_valid_code():
    """Machine code generation leaves code that is not valid any more."""
    AlphaBetaEngine(material_network(), 1).analyse("startpos", nodes=10)
    MateSolver(1).solve("startpos", nodes=10)
    modules = [
        str(overload.library._get_module_for_linking())
        for dispatcher in (deepen, solve_root)
        for overload in dispatcher.overloads.values()
    ]
    assert sum(module.count("alloca [2 x i64]") for module in modules) > 20
    assert not [line for module in modules for line in misaligned(module)]
    assert not any("%sunkaddr" in module for module in modules)  # addresses as in machine code
