"""Count how often each branch of the compiled search is taken, for `search.compiling.branch_weights`.

Run it as `python -m release.branch_shares NETWORK...` after large changes of compiled code; it takes some minutes. It
rewrites `search/compiling/branch_shares.json`. A branch that only some kinds of network take counts as rare if no such
network is named, so name one of each kind. The shipped table was made with `default squared-192-32 lite-16-4-32` and
with files of three kinds of NNUE: K+P, HalfKP and SFNN.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np
from llvmlite import ir
from llvmlite.ir.instructions import ConditionalBranch

from search.alphabeta.bench import signature
from search.compiling.branch_weights import MILLION, TABLE, LowerBranches
from search.compiling.compiler import LowerForCallers, LowerProgram
from search.system.files import write_atomically

COUNTS = np.zeros((1 << 16, 2), np.int64)
"""For each branch of a compiled function: how often its condition held, and how often not. Code has the addresses."""


class CountBranches(LowerBranches):
    """Lowering that counts at each branch. The code is only good for the process that compiles it."""

    counted: ClassVar[dict[str, list[slice]]] = {}
    """The counters of each function, of every combination of types that it was compiled for."""
    used = 0

    def treat(self, function: str, branches: list[ConditionalBranch]) -> None:
        """Add a counter to both sides of each branch."""
        counters = slice(CountBranches.used, CountBranches.used + len(branches))
        CountBranches.used = counters.stop
        self.counted.setdefault(function, []).append(counters)
        for counter, branch in zip(COUNTS[counters], branches, strict=True):
            with self.builder.goto_block(branch.parent):
                self._count(counter.ctypes.data, branch.operands[0])

    def _count(self, address: int, condition: Any) -> None:
        integer, add = ir.IntType(64), self.builder.add
        side = self.builder.select(condition, integer(address), integer(address + COUNTS.itemsize))
        pointer = self.builder.inttoptr(side, integer.as_pointer())
        self.builder.store(add(self.builder.load(pointer), integer(1)), pointer)


def shares() -> dict[str, list[int | None]]:
    """Return how often per million each branch's condition held, by function, for the types that were used most."""
    found: dict[str, list[int | None]] = {}
    for function, versions in sorted(CountBranches.counted.items()):
        counts = max((COUNTS[one] for one in versions), key=np.sum)
        if counts.any():
            found[function] = [int(yes * MILLION // (yes + no)) if yes + no else None for yes, no in counts.tolist()]
    return found


def write_table(networks: Sequence[str]) -> None:
    """Run the bench searches with each network and write the table; the cache of compiled code must be empty."""
    LowerForCallers.lowering_class = LowerProgram.lowering_class = CountBranches
    for network in networks:
        print(f"{network}: {signature(network).nodes} nodes", file=sys.stderr)
    lines = ",\n".join(f" {json.dumps(function)}: {json.dumps(one)}" for function, one in shares().items())
    write_atomically(TABLE, f"{{\n{lines}\n}}\n".encode())


def main(networks: Sequence[str]) -> None:
    """Write the table in a process of its own with an empty cache."""
    program = "import sys; from release.branch_shares import write_table; write_table(sys.argv[1:])"
    with TemporaryDirectory() as cache:
        environment = {**os.environ, "LITESHOGI_CACHE": cache}
        subprocess.run([sys.executable, "-c", program, *networks], env=environment, check=True)


if __name__ == "__main__":
    main(sys.argv[1:] or sys.exit("name the networks: python -m release.branch_shares default NETWORK..."))
