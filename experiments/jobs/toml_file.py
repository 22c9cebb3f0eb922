"""Descriptions that people write in TOML, typed: what is misspelt or of another type is told before any work."""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from search.system.files import read_text
from search.system.metadata import quoted

Given = TypeVar("Given")
_MOST_PARTS = 200
"""Of a dotted key: tomllib takes the square of their number, a minute for a key of 100 KB."""


def read_toml(path: Path) -> dict[str, Any]:
    """What a TOML file holds. Raises OSError, or ValueError in words."""
    text = read_text(path)
    if any(part.count(".") > _MOST_PARTS for part in re.split("[=,\n]", text)):
        raise ValueError(f"{path}: a key of more than {_MOST_PARTS} parts, or so many points without a comma")
    try:
        return tomllib.loads(text)
    except ValueError as error:  # Python's own for a number of thousands of digits
        raise ValueError(f"{path}: not TOML: {error}") from None
    except RecursionError:
        raise ValueError(f"{path}: nested too deeply") from None


def typed(kind: type[Given], entry: dict[str, Any], place: str) -> Given:
    """A table as the dataclass `kind`; ValueError that names the place for unknown, missing and ill-typed entries.

    Its fields are of str, int, float (finite, a whole number too), bool, Any, dicts by str and tuples of such, which
    TOML has as lists, or one of several."""
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    if unknown := set(entry) - known:
        words = quoted(", ".join(sorted(unknown)), 200)
        raise ValueError(f"{place}: unknown {words}; known are {', '.join(sorted(known))}")
    hints = get_type_hints(kind)
    for name, value in entry.items():
        if not _fits(value, hints[name]):
            raise ValueError(f"{place}: {name} = {str(value)[:40]!r} is not {_in_words(hints[name])}")
    needed = [one.name for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING]  # type: ignore[arg-type]
    if missing := [name for name in needed if name not in entry]:
        raise ValueError(f"{place}: {', '.join(missing)} must be given")
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()})


def _fits(value: Any, kind: Any) -> bool:
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (tuple, list):
        return isinstance(value, list) and all(_fits(one, parts[0]) for one in value)
    if origin is dict:
        return isinstance(value, dict) and all(_fits(one, parts[1]) for one in value.values())
    if parts:
        return any(_fits(value, one) for one in parts)
    if kind is float:
        return type(value) in (int, float) and math.isfinite(value)
    return kind is Any or type(value) is kind


def _in_words(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) and not get_args(kind) else str(kind).replace("typing.", "")
