"""Help texts of options: tyro takes field docstrings, but breaks their lines where the source does."""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import fields, is_dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import get_type_hints


def field_docstrings(kind: type) -> dict[str, str]:
    """Return the docstring of each field of a dataclass and of its bases, in one line."""
    found: dict[str, str] = {}
    for one in filter(is_dataclass, reversed(kind.__mro__)):
        (source,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        assert isinstance(source, ast.ClassDef)
        for field, text in pairwise(source.body):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(docstring))):
                    found[name] = " ".join(docstring.split())
    return found


def join_lines(command: type) -> None:
    """Give each option of a dataclass, and of dataclasses in it, its docstring in one line as tyro's `help`."""
    texts, hints = field_docstrings(command), get_type_hints(command)
    for one in fields(command):
        if one.name in texts:
            one.metadata = MappingProxyType({**one.metadata, "help": texts[one.name]})
        if is_dataclass(hints[one.name]):
            join_lines(hints[one.name])
