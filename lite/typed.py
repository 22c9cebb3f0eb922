"""Values of JSON or TOML, from files that anyone may have written, as typed dataclasses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from search.system.metadata import quoted

Given = TypeVar("Given")


def typed(kind: type[Given], entry: Any, place: str) -> Given:
    """Return a JSON object or TOML table as the dataclass `kind`; lists become tuples.

    The fields of `kind` are str, Path (of a str), bool, int, float (finite; a whole number counts), None, Any, Literal,
    other such dataclasses, tuples, dicts or Mappings by str of these, or unions. Raises ValueError that begins with
    `place` and names the field that is unknown, missing or of another type.
    """
    if not isinstance(entry, dict):
        raise ValueError(f"{place}: {quoted(entry, 40)!r} is not a table of {', '.join(_hints(cast(type, kind)))}")
    hints = _hints(cast(type, kind))
    if unknown := entry.keys() - hints.keys():
        raise ValueError(f"{place}: unknown {quoted(', '.join(sorted(unknown)), 200)}; known are {', '.join(hints)}")
    if missing := [name for name in _required(cast(type, kind)) if name not in entry]:
        raise ValueError(f"{place}: {', '.join(missing)} must be given")
    values = {name: _converted(hints[name], value, f"{place}: {name}") for name, value in entry.items()}
    try:
        return kind(**values)
    except ValueError as error:  # what the class itself refuses
        raise ValueError(f"{place}: {error}") from None


@cache
def _hints(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}  # type: ignore[arg-type]


@cache
def _required(kind: type) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING)  # type: ignore[arg-type]


def _converted(kind: Any, value: Any, place: str) -> Any:
    """Return `value` as the type `kind` has it. Raises ValueError where it has not."""
    if type(value) is kind and kind is not float:
        return value
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if is_dataclass(kind) and isinstance(kind, type):
        return typed(kind, value, place)
    if origin is tuple and isinstance(value, list):
        if parts[-1] is not Ellipsis and len(value) != len(parts):
            raise ValueError(f"{place} = {str(value)[:40]!r} is not {_named(kind)}")
        kinds = [parts[0]] * len(value) if parts[-1] is Ellipsis else parts
        return tuple(_converted(one, part, place) for one, part in zip(kinds, value, strict=True))
    if origin in (dict, Mapping) and isinstance(value, dict):
        return {name: _converted(parts[1], part, place) for name, part in value.items()}
    if origin is Literal and value in parts:
        return value
    if kind is Path and isinstance(value, str):
        return Path(value)
    if kind is float and type(value) in (int, float) and _is_finite(value):
        return value
    if kind is None and value is None:
        return value
    if parts and origin not in (tuple, dict, Mapping, Literal):
        return _one_of(parts, value, place, kind)
    raise ValueError(f"{place} = {str(value)[:40]!r} is not {_named(kind)}")


def _one_of(parts: tuple[Any, ...], value: Any, place: str, kind: Any) -> Any:
    """Return `value` as the first type of a union that has it."""
    for part in parts:
        if (part is NoneType) != (value is None):
            continue
        if value is None:
            return value
        try:
            return _converted(part, value, place)
        except ValueError:
            if is_dataclass(part) and isinstance(value, dict):
                raise  # which field is wrong says more
    raise ValueError(f"{place} = {str(value)[:40]!r} is not {_named(kind)}")


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _named(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) and not get_args(kind) else str(kind).replace("typing.", "")
