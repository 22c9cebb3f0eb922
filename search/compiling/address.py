"""Calls to a compiled function by its address, so that its machine code is made once for all callers.

Numba links a function with everything that it calls and optimises the whole again: a caller of the search would take as
long to compile as the search. A function that is called by its address is not linked and not compiled again.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.core import cgutils, types
from numba.extending import intrinsic


def address_of(dispatcher: Any, *arguments: Any) -> int:
    """Return the address of a program's machine code for arguments of these types (`search.compiling.jit.program`).

    The program must return nothing. It is compiled or loaded, and the address is valid in this process until it ends.
    """
    signature = tuple(numba.typeof(argument) for argument in arguments)
    dispatcher.compile(signature)
    compiled = dispatcher.overloads[signature]
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


@intrinsic(prefer_literal=False)  # type: ignore[untyped-decorator]  # Numba is untyped
def call_address(typing_context, address, first, second, third, fourth, fifth):  # type: ignore[no-untyped-def]
    """Call the function at an address (int64) that `address_of` returned; for compiled code only.

    The five arguments must have exactly the types that `address_of` was given: nothing checks them.
    """
    callee = (first, second, third, fourth, fifth)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        convention = context.call_conv
        function_type = convention.get_function_type(types.none, callee)
        function = builder.inttoptr(values[0], function_type.as_pointer())
        status, _ = convention.call_function(builder, function, types.none, callee, values[1:])
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.none(address, *callee), generate
