"""Tells LLVM which branches of compiled functions are likely, so that what is rarely run is out of the way.

Compilers call this profile-guided optimisation: weights at a conditional branch say how often each side is run, and
LLVM's passes place blocks, spill registers and inline calls by them. Numba's lowering sets none. Here it sets those of
a table that `release/branch_shares.py` makes from searches by networks of several kinds. They make the search a few
percent faster (docs/results/search.md).

The weights depend on a function's name and on its number of branches: a function that was changed so that this number
differs has none until the table is made again. They change the speed of code, never its results.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from llvmlite.ir.instructions import ConditionalBranch
from numba.core import ir
from numba.core.lowering import Lower

TABLE = Path(__file__).with_name("branch_shares.json")
"""The shares by function, in the order of its branches in Numba's intermediate representation."""
MILLION = 1_000_000


@functools.cache
def _shares() -> dict[str, list[int | None]]:
    """Return how often per million executions each branch's condition holds; None for a branch that was never run."""
    table: dict[str, list[int | None]] = json.loads(TABLE.read_bytes())
    return table


class LowerBranches(Lower):  # type: ignore[misc]  # Numba is untyped
    """Numba's lowering of a function, which then treats the branches that the function's source has."""

    def pre_lower(self) -> None:
        """Begin a function."""
        super().pre_lower()
        self._branches: list[ConditionalBranch] = []

    def lower_inst(self, inst: Any) -> None:
        """Lower one statement, and remember the branch that it ends with."""
        super().lower_inst(inst)
        if isinstance(inst, ir.Branch) and isinstance(self.builder.block.terminator, ConditionalBranch):
            self._branches.append(self.builder.block.terminator)

    def post_lower(self) -> None:
        """End a function."""
        super().post_lower()
        self.treat(f"{self.fndesc.modname}.{self.fndesc.qualname}", self._branches)

    def treat(self, function: str, branches: list[ConditionalBranch]) -> None:
        """Set the weights of a function's branches."""
        shares = _shares().get(function, [])
        if len(shares) != len(branches):
            return
        for branch, share in zip(branches, shares, strict=True):
            if share is not None:
                branch.set_weights([share + 1, MILLION - share + 1])
