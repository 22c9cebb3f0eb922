"""Shortcuts in Numba: each applies to the installed version and gives the result of Numba's function."""

from __future__ import annotations

import gc
import operator
from typing import Any

import numba
import numpy as np
import pytest
from llvmlite.binding import ffi
from numba.core import ir, types
from numba.core.bytecode import ByteCode, FunctionIdentity
from numba.core.compiler import Flags
from numba.core.interpreter import Interpreter

from search.compiling import jit  # noqa: F401  (applies the shortcuts)
from search.compiling.numba_shortcuts import SHORTCUTS, rare_collections


def sample(a: Any, b: Any, *rest: Any) -> Any:
    total = 0
    for index in range(3, a.shape[0], 2):
        if index in (1, 4) and not b:
            total += a[index : index + 2].sum() + rest[0]
        else:
            total -= {"one": index}["one"]
    return total, [b, (a, b)]


def statements() -> list[Any]:
    identity = FunctionIdentity.from_function(sample)
    blocks = Interpreter(identity).interpret(ByteCode(identity)).blocks
    found = [one for block in blocks.values() for one in block.body]
    return found + [one.value for one in found if isinstance(one, ir.Assign) and isinstance(one.value, ir.Inst)]


def listed(value: Any) -> list[str]:
    """Return the names of the variables by Numba's `_rec_list_vars`."""
    if isinstance(value, ir.Var):
        return [value.name]
    if isinstance(value, ir.Expr):
        return listed(value._kws)
    if isinstance(value, ir.Inst):
        return listed(value.__dict__)
    if isinstance(value, list | tuple):
        return [name for one in value for name in listed(one)]
    if isinstance(value, dict):
        return [name for one in value.values() for name in listed(one)]
    return []


@pytest.mark.parametrize("take", SHORTCUTS)
def test_each_applies_to_the_installed_numba(take: Any) -> None:
    take()


def test_the_variables_of_a_statement_are_all_listed_in_order() -> None:
    found = statements()
    assert len(found) > 60
    for one in found:
        assert [variable.name for variable in one.list_vars()] == listed(one)


def test_the_text_of_a_record_type_has_all_its_parts() -> None:
    first = numba.from_dtype(np.dtype([("a", np.int64), ("b", np.float32, (2, 3))], align=True))
    second = numba.from_dtype(np.dtype([("a", np.int64), ("c", np.int8)], align=True))
    for record in (first, second):
        assert isinstance(record, types.Record)
        text = repr(record)
        assert text == repr(record)
        for name, field in record.fields.items():
            assert f"('{name}', {{'type': {field.type!r}, 'offset': {field.offset}" in text
        assert text.endswith(f"], {record.size}, {record.aligned})")
    assert repr(first) != repr(second)


def test_flags_have_the_values_that_their_attributes_have() -> None:
    flags = Flags()
    plain = flags.copy()
    assert flags == plain
    flags.nrt = True
    flags.error_model = "numpy"
    assert flags != plain
    assert hash(flags.copy()) == hash(flags)
    for one in (flags, plain):
        assert one.values() == {name: getattr(one, name) for name in one.options}


@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.and_, operator.lt, operator.floordiv])
def test_operators_have_the_types_of_numba(operation: Any) -> None:
    def apply(left: Any, right: Any) -> Any:
        return operation(left, right)

    function = numba.njit(apply)
    assert function(np.int64(7), np.int64(2)) == operation(7, 2)
    array = np.arange(5)
    assert np.array_equal(function(array, np.int64(2)), operation(array, 2))
    assert np.array_equal(function(np.int64(2), array + 1), operation(2, array + 1))


def test_llvm_has_no_callbacks() -> None:
    assert ffi.lib._lock._cblist == []


def test_garbage_collection_is_rare_only_inside() -> None:
    before = gc.get_threshold()
    with rare_collections():
        assert gc.get_threshold()[0] > before[0]
        with rare_collections():
            pass
        assert gc.get_threshold()[0] > before[0]
    assert gc.get_threshold() == before
