"""Plans as files: those of the package by their names, and changes of single entries."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from search.system.files import read_text
from search.system.options import OptionError

PLANS = Path(__file__).with_name("plans")
"""Plans that come with the package, called by their names."""
_MOST_PARTS = 200
"""Parts of a dotted key: tomllib's time grows with their square, to a minute for a key of 100 KB."""


def read_entries(path: Path) -> dict[str, Any]:
    """Return the entries of a plan's file. Raises OSError or ValueError; OptionError for a file that is no text."""
    try:
        text = read_text(PLANS / f"{path}.toml" if is_shipped_plan(path) else path)
    except ValueError as error:
        if path.suffix == ".toml":
            raise
        raise OptionError(
            f"`plan` {path}: is no text, and a plan is a TOML file; give records as `data`", "plan", "data"
        ) from error
    return _parse(text, str(path))


def is_shipped_plan(path: Path) -> bool:
    """Return whether a name is that of a plan that comes with the package."""
    return len(path.parts) == 1 and not path.is_file() and (PLANS / f"{path}.toml").is_file()


def read_change(text: str) -> dict[str, Any]:
    """Return the entries of `KEY=VALUE`, the key dotted, the value as TOML has it or a plain text."""
    key, found, value = text.partition("=")
    if not found:
        raise ValueError(f"{text[:40]!r}: a change is KEY=VALUE, as train.epochs=2")
    try:
        return _parse(f"{key} = {value}", text)
    except ValueError:
        return _parse(f"{key} = {json.dumps(value)}", text)


def merged(entries: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries with the changes in their places; tables are merged, all else is replaced."""
    found = dict(entries)
    for name, value in changes.items():
        before = found.get(name)
        found[name] = merged(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return found


def _parse(text: str, place: str) -> dict[str, Any]:
    if any(part.count(".") > _MOST_PARTS for part in re.split("[=,\n]", text)):
        raise ValueError(f"{place}: a key of more than {_MOST_PARTS} parts, or so many points without a comma")
    try:
        return tomllib.loads(text)
    except ValueError as error:  # Python's own for a number of thousands of digits
        raise ValueError(f"{place}: not TOML: {error}") from None
    except RecursionError:
        raise ValueError(f"{place}: nested too deeply") from None
