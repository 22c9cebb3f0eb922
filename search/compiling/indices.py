"""Array accesses without Python's wraparound, for all code that `search/compiling/jit.py` compiles.

In Python `a[-1]` is the last element. So Numba tests whether a signed index is below zero, and adds the length if it
is, which takes a twentieth of the search's time. No jitted code here counts from the end by a computed index, so a
computed signed index is used as it is. A constant index as in `a[-1]` means what it does in Python. With
NUMBA_BOUNDSCHECK=1 a negative index is an error, as one that is too large is.

The pass is of the kind that Numba's developers' manual describes ("Customizing the Compiler").
"""

from __future__ import annotations

from typing import Any

from numba.core import ir, types
from numba.core.compiler_machinery import FunctionPass, register_pass


def _unsigned(used: Any, written: Any) -> Any:
    """Return the Numba type that an index is to be used as.

    `used` is Numba's choice. `written` is the type of the index's variable, which holds the value of a constant.
    """
    if isinstance(used, types.BaseTuple):
        return types.BaseTuple.from_types([_unsigned(*pair) for pair in zip(used, written, strict=True)])  # type: ignore[call-overload]
    return types.uintp if used in types.signed_domain and not isinstance(written, types.Literal) else used


@register_pass(mutates_CFG=False, analysis_only=False)  # type: ignore[untyped-decorator]  # Numba is untyped
class UnsignedIndices(FunctionPass):  # type: ignore[misc]
    """Give every array access by computed integers a signature with unsigned ones; lowering casts to them."""

    _name = "unsigned_indices"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Change `state.calltypes`; return whether anything changed."""
        changed = False
        for block in state.func_ir.blocks.values():
            for access in (*block.find_exprs("getitem"), *block.find_insts(ir.SetItem)):
                signature = state.calltypes[access]
                array, used, *value = signature.args
                index = _unsigned(used, state.typemap[access.index.name])
                if isinstance(array, types.Array) and index != used:
                    del state.calltypes[access]  # Numba's dictionary refuses a key that it has
                    state.calltypes[access] = signature.replace(args=(array, index, *value))
                    changed = True
        return changed
