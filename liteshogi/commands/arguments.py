"""What the options of several verbs have in common."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, TypeVar

import tyro

Net = Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="NET")]
"""A network: a path, or the name of one that is shipped (`default`). A verb that must be told one takes it first."""
Output = Annotated[Path, tyro.conf.arg(aliases=["-o"])]
"""The file or directory to write."""
Overwrite = Annotated[bool, tyro.conf.arg(help="Replace what is there.")]
Json = Annotated[bool, tyro.conf.arg(help="Print one JSON object with the figures and nothing else.")]
OrSample = tyro.conf.arg(help_behavior_hint="(default: a packaged sample)")
"""Of files that stand in for the user's own; where they lie is this machine's affair."""

Options = TypeVar("Options")


def part(kind: type[Options], command: Any, **others: Any) -> Options:
    """The options that a room's function takes, out of those of a command that has them too, but for `others`."""
    names = [field.name for field in fields(kind) if field.name not in others]  # type: ignore[arg-type]
    return kind(**{name: getattr(command, name) for name in names}, **others)
