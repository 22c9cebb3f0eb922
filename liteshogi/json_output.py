"""The writer of the objects that commands print with `--json`."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any


def json_text(*results: Any, without: Container[str] = (), readable: bool = False) -> str:
    """Return one JSON object with the fields of dataclasses or the entries of mappings, one after another.

    Dataclasses in them become objects, paths text, enumerations their values, and None null. The object has no entry
    named in `without`. readable: characters outside ASCII are written as themselves.
    """
    found = {name: value for result in results for name, value in _plain(result).items() if name not in without}
    return json.dumps(found, ensure_ascii=not readable)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, Path) else value
