"""What options say of themselves: tyro reads their docstrings, and breaks a sentence where the source does."""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import fields, is_dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import get_type_hints


def join_lines(command: type) -> None:
    """Give each option of a dataclass, and of those in it, its docstring in one line as the `help` that tyro takes
    first."""
    said: dict[str, str] = {}
    for kind in filter(is_dataclass, reversed(command.__mro__)):
        (source,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
        assert isinstance(source, ast.ClassDef)
        for field, text in pairwise(source.body):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(docstring))):
                    said[name] = " ".join(docstring.split())
    hints = get_type_hints(command)
    for one in fields(command):
        if one.name in said:
            one.metadata = MappingProxyType({**one.metadata, "help": said[one.name]})
        if is_dataclass(hints[one.name]):
            join_lines(hints[one.name])
