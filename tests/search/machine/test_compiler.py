"""A program owns what it calls, and takes nothing from whoever else calls that."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[3]
LINES = "\n".join(f"    total = total * 31 + (number >> {shift % 60}) % {shift + 3}" for shift in range(200))
# `mix` is too long for its callers to take it in whole.
SHARED = f"""
from search.machine.jit import jit, program

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
    """What a call gives without a compiler, in 64 bits."""
    names: dict[str, object] = {}
    exec("def jit(function): return function\nprogram = jit\n" + SHARED.replace("from", "#", 1), names)
    value = int(eval(call, names))
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def test_every_function_stays_itself_whatever_is_loaded_before_it(tmp_path):
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
        assert (done.returncode, done.stderr) == (0, "")
        assert [int(line) for line in done.stdout.split()] == [in_python(call) for call in calls]
