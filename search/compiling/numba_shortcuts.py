"""Shortcuts in Numba's Python code, where it spends a sixth of a first start on what nothing needs.

Each gives what Numba's own function gives, sooner. Numba's functions are those of versions 0.61 to 0.68; one that a
version does not have is left alone.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator
from typing import Any

from llvmlite.binding import ffi
from numba.core import ir, targetconfig, types
from numba.core.typing import npydecl

_COLLECT_AFTER = 50_000
"""New objects between two collections of garbage while something is compiled; Python's own number is 700."""


@contextlib.contextmanager
def rare_collections() -> Iterator[None]:
    """Collect garbage seldom. Compiling makes millions of objects that live until a function is done."""
    before = gc.get_threshold()
    if 0 < before[0] < _COLLECT_AFTER:
        gc.set_threshold(_COLLECT_AFTER, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def take_shortcuts() -> None:
    """Replace the functions, for this process."""
    for take in SHORTCUTS:
        try:
            take()
        except AttributeError:  # of another version of Numba
            continue


def _replace(owner: Any, name: str, function: Callable[..., Any]) -> None:
    """Replace a method. Raises AttributeError if the class has none of that name."""
    getattr(owner, name)
    setattr(owner, name, function)


def _keep_texts_of_records() -> None:
    """Make the text of a record type once. A thread's record has 80 fields, and every pass needs the text again."""
    make = types.Record.__repr__
    texts: dict[int, tuple[Any, str]] = {}

    def text(record: Any) -> str:
        if id(record) not in texts:
            texts[id(record)] = record, make(record)  # keeps the record: its id is not given to another
        return texts[id(record)][1]

    _replace(types.Record, "__repr__", text)


def _look_up_flags() -> None:
    """Compare the options of two compilations by one look at each: every resolved call does it."""
    defaults: dict[type, dict[str, Any]] = {}

    def values(flags: Any) -> dict[str, Any]:
        kind = type(flags)
        if kind not in defaults:
            defaults[kind] = {name: option.default for name, option in kind.options.items()}
        return defaults[kind] | flags._values

    _replace(targetconfig.TargetConfig, "values", values)


def _list_variables() -> None:
    """List the variables of a statement without a call for each of its strings and numbers."""
    others: Callable[[Any, Any], list[Any]] = ir.Inst._rec_list_vars
    without = frozenset((str, int, bool, float, type(None), ir.Loc))

    def variables(statement: Any, value: Any) -> list[Any]:
        kind = type(value)
        if kind is dict:
            parts = value.values()
        elif kind is list or kind is tuple:
            parts = value
        else:
            return others(statement, value)
        found = []
        for part in parts:
            kind = type(part)
            if kind is ir.Var:
                found.append(part)
            elif kind not in without:
                found += variables(statement, part)
        return found

    _replace(ir.Inst, "_rec_list_vars", variables)


def _skip_scalars() -> None:
    """Do not look for a function of NumPy's for operators on numbers, which Numba would then not use."""
    find = npydecl.NumpyRulesArrayOperator.generic

    def generic(rules: Any, args: Any, kws: Any) -> Any:
        if not any(isinstance(one, types.ArrayCompatible) for one in args):
            return None
        return find(rules, args, kws)

    _replace(npydecl.NumpyRulesArrayOperator, "generic", generic)


def _end_lock_events() -> None:
    """Do not report each call of LLVM to Numba's timers, which nothing reads."""
    for callbacks in list(ffi.lib._lock._cblist):
        ffi.unregister_lock_callback(*callbacks)


SHORTCUTS = (_keep_texts_of_records, _look_up_flags, _list_variables, _skip_scalars, _end_lock_events)
