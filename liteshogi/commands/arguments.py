"""Options that several verbs share."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, TypeVar

import tyro

Net = Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="NET")]
"""A network: a path, or the name of a shipped one (`default`). A verb that requires a network takes it first."""
Output = Annotated[Path, tyro.conf.arg(aliases=["-o"])]
"""The file or folder to write."""
Overwrite = Annotated[bool, tyro.conf.arg(help="Replace existing output.")]
Json = Annotated[bool, tyro.conf.arg(help="Print one JSON object and nothing else to standard output.")]
OrSample = tyro.conf.arg(help_behavior_hint="(default: a packaged sample)")
"""Hint for options whose default is a packaged file: its path on this machine is of no use to the reader."""

Options = TypeVar("Options")


def part(kind: type[Options], command: Any, **others: Any) -> Options:
    """Return the options of a function, taken from a command with fields of the same names, except `others`."""
    names = [field.name for field in fields(kind) if field.name not in others]  # type: ignore[arg-type]
    return kind(**{name: getattr(command, name) for name in names}, **others)


def folder_name(text: str) -> str:
    """Return a text as part of a folder's name: what a shell or a file system may treat specially becomes `_`."""
    return re.sub(r"[^\w.+=-]+", "_", text)
