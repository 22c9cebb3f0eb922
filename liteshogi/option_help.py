"""Help texts of options, for tyro.

Tyro reads field docstrings, but breaks their lines where the source does. It names positional words after their type
(`[PATH [PATH ...]]`), and shows an empty tuple as `(default: )`. A docstring names other fields, and its help their
flags.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Annotated, Any, get_args, get_type_hints

import tyro

from liteshogi.word_order import fields_of


@functools.cache
def _class_sources(module: str) -> dict[str, ast.ClassDef]:
    """Return the class definitions of an imported module by their qualified names.

    A module is parsed once. `inspect.getsource` parses it again for each of its classes.
    """
    found: dict[str, ast.ClassDef] = {}

    def find(body: Iterable[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                found[prefix + node.name] = node
                find(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                find(node.body, f"{prefix}{node.name}.<locals>.")

    find(ast.parse(inspect.getsource(sys.modules[module])).body, "")
    return found


def field_docstrings(kind: type) -> dict[str, str]:
    """Return the docstring of each field of a dataclass and of its bases, in one line."""
    found: dict[str, str] = {}
    for one in filter(is_dataclass, reversed(kind.__mro__)):
        for field, text in pairwise(_class_sources(one.__module__)[one.__qualname__].body):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(docstring))):
                    found[name] = " ".join(docstring.split())
    return found


def prepare_help(command: type) -> None:
    """Set the help of each option of a command, and of dataclasses in it: docstring, positional name and default."""
    flags = {one.name: one.name.rstrip("_").upper() if one.positional else one.flags[0] for one in fields_of(command)}
    _prepare(command, flags)


def _prepare(command: type, flags: Mapping[str, str]) -> None:
    """Set the help of a dataclass in a command; `flags` are those of all fields of the command."""
    texts, kinds = field_docstrings(command), get_type_hints(command)
    hints = get_type_hints(command, include_extras=True)
    for one in fields(command):
        if one.name in texts:
            one.metadata = MappingProxyType({**one.metadata, "help": _with_flags(texts[one.name], flags)})
        if is_dataclass(kinds[one.name]):
            _prepare(kinds[one.name], flags)
            continue
        positional = tyro.conf.Positional in getattr(hints[one.name], "__metadata__", ())
        required = one.default is MISSING and one.default_factory is MISSING
        shown: dict[str, Any] = {}
        if positional:
            name = one.name.rstrip("_").upper() + ("..." if get_args(kinds[one.name])[-1:] == (Ellipsis,) else "")
            shown["metavar"] = name if required else f"[{name}]"
        if one.default == ():
            shown["help_behavior_hint"] = "(default: none)"
        elif positional and required:
            shown["help_behavior_hint"] = "(required)"
        if shown:
            command.__annotations__[one.name] = Annotated[hints[one.name], tyro.conf.arg(**shown)]


def _with_flags(text: str, flags: Mapping[str, str]) -> str:
    """Return a help text with the flag of each field that it names in backticks."""
    return re.sub("`([a-z_]+)`", lambda found: f"`{flags.get(found[1], found[1])}`", text)
