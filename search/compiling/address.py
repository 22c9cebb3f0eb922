"""Calls of a program from compiled code by its address: its machine code is made once, and serves all callers.

Numba links a function with all that it calls and optimises the whole again: a caller of the search would be compiled
for as long as the search itself. What is called by its address is not linked, and not a line of it is compiled twice.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.core import cgutils, types
from numba.extending import intrinsic


def address_of(dispatcher: Any, *arguments: Any) -> int:
    """Where the machine code of a jitted function lies that takes arguments of these arguments' types and returns
    nothing. It is compiled or loaded, and lies there until the process ends; no other process can call it."""
    signature = tuple(numba.typeof(argument) for argument in arguments)
    dispatcher.compile(signature)
    compiled = dispatcher.overloads[signature]
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


@intrinsic(prefer_literal=False)  # type: ignore[untyped-decorator]  # Numba is untyped
def call_address(typing_context, address, first, second, third, fourth, fifth):  # type: ignore[no-untyped-def]
    """Call what lies at an address (int64) of `address_of`, in compiled code alone. The five arguments must have the
    very types that it was given: nothing asks again."""
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
