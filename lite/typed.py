"""Values of JSON or TOML, from files that anyone may have written, as typed dataclasses."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from search.system.metadata import one_line

Given = TypeVar("Given")


def typed(kind: type[Given], entry: Any, place: str) -> Given:
    """Return a JSON object or TOML table as the dataclass `kind`; lists become tuples.

    The fields of `kind` are str, Path (of a str), bool, int, float (finite; a whole number counts), None, Any, Literal,
    other such dataclasses, tuples, dicts or Mappings by str of these, or unions. Raises ValueError that begins with
    `place` and names the field that is unknown, missing or of another type.
    """
    if not isinstance(entry, dict):
        raise ValueError(f"{place}: {one_line(entry, 40)!r} is not a table of {', '.join(_hints(cast(type, kind)))}")
    hints = _hints(cast(type, kind))
    if unknown := entry.keys() - hints.keys():
        meant = dict.fromkeys(filter(None, (nearest(name, hints) for name in sorted(unknown))))
        question = f"; is {', '.join(meant)} meant?" if meant else ";"
        named = one_line(", ".join(sorted(unknown)), 200)
        raise ValueError(f"{place}: unknown {named}{question} known are {', '.join(hints)}")
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
            raise ValueError(_fault(kind, value, place))
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
    raise ValueError(_fault(kind, value, place))


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
            is_table = is_dataclass(part) or get_origin(part) in (dict, Mapping)
            if (isinstance(value, dict) and is_table) or (isinstance(value, list) and get_origin(part) is tuple):
                raise  # which of its values is wrong says more
    raise ValueError(_fault(kind, value, place))


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that a misspelt one is closest to; empty if none is close."""
    near = get_close_matches(name[:40], list(known), 1)  # the time grows with the square of a length
    return near[0] if near else ""


def _fault(kind: Any, value: Any, place: str) -> str:
    """Return the error message for a value that is not of the type `kind`."""
    shown = repr(value[:40]) if isinstance(value, str) else str(value)[:40]
    return f"{place} = {shown} is not {_type_text(kind)}{_as_list(kind, value)}"


def _as_list(kind: Any, value: Any) -> str:
    """Return advice to write a single value as a list if `kind` requires one; else an empty string."""
    if get_origin(kind) is not tuple or get_args(kind)[-1] is not Ellipsis or not isinstance(value, str | int | float):
        return ""
    try:
        _converted(get_args(kind)[0], value, "")
    except ValueError:
        return ""
    return f"; write [{json.dumps(value, ensure_ascii=False)[:40]}]"


_WORDS: Mapping[Any, str] = {
    int: "a whole number",
    float: "a finite number",
    str: "a text",
    Path: "a path",
    bool: "true or false",
    NoneType: "null",
    None: "null",
}


def _type_text(kind: Any) -> str:
    """Return a type as error messages name it."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind in _WORDS:
        return _WORDS[kind]
    if origin is Literal:
        return f"one of {', '.join(map(str, parts))}"
    if origin is tuple and parts[-1] is not Ellipsis:
        return f"a list of {len(parts)} values"
    if origin is tuple:
        return "a list" if parts[0] is Any else f"a list, each value {_type_text(parts[0])}"
    if origin in (dict, Mapping) or is_dataclass(kind):
        return "a table"
    if float in parts:  # which a whole number is, too
        parts = tuple(part for part in parts if part is not int)
    return " or ".join(map(_type_text, parts)) if parts else str(kind)
