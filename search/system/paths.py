"""File names from Python callers: a str, a Path or another path-like object."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

PathLike = str | os.PathLike[str]


def as_paths(named: PathLike | Iterable[PathLike]) -> tuple[Path, ...]:
    """Return the named files as a tuple of Paths; one name is one file, although a str is a sequence of letters."""
    return (Path(named),) if isinstance(named, str | os.PathLike) else tuple(map(Path, named))


def take_paths(options: Any) -> None:
    """Convert a dataclass's fields of type `Path`, `Path | None` or `tuple[Path, ...]` to Paths.

    Call it in `__post_init__`. Raises TypeError for a value that is not path-like.
    """
    for name, kind in get_type_hints(type(options)).items():
        named = getattr(options, name)
        if named is None or Path not in (kind, *get_args(kind)):
            continue
        object.__setattr__(
            options, name, as_paths(named) if get_origin(kind) is tuple else Path(named)
        )  # frozen dataclasses, too
