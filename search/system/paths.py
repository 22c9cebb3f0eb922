"""Files as callers from Python name them: by a str, a Path or any other object that stands for one."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

PathLike = str | os.PathLike[str]


def as_paths(named: PathLike | Iterable[PathLike]) -> tuple[Path, ...]:
    """The files that are named; one alone, which as a str would be a sequence of letters, is one file."""
    return (Path(named),) if isinstance(named, str | os.PathLike) else tuple(map(Path, named))


def take_paths(options: Any) -> None:
    """Make Paths of what a dataclass has been given for its fields of type `Path`, `Path | None` or `tuple[Path, ...]`.

    To be called in `__post_init__`. TypeError for what names no file.
    """
    for name, kind in get_type_hints(type(options)).items():
        named = getattr(options, name)
        if named is None or Path not in (kind, *get_args(kind)):
            continue
        object.__setattr__(options, name, as_paths(named) if get_origin(kind) is tuple else Path(named))  # frozen, too
