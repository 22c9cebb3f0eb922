"""Order of the words of a command line, and the spelling of a command's fields.

An option of several values (`--hidden 64 32`, `--valid A B`) takes every word up to the next option. Positional words
after it would be taken as its values. tyro takes positional words from one place only, and of an option that is given
twice the second values only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import tyro


@dataclass(frozen=True)
class Field:
    """A field of a command, as the command line has it."""

    name: str
    """Name of the field."""
    kind: Any
    """Its type, without annotations and without None."""
    positional: bool
    """Whether the option is given without a flag."""
    required: bool
    """Whether the option has no default."""
    flags: tuple[str, ...]
    """Its flag, its aliases, and the flag that turns it off."""

    @property
    def repeated(self) -> Any:
        """Type of the values of a field that takes any number of them; None for other fields."""
        values = get_args(self.kind)
        return values[0] if get_origin(self.kind) is tuple and values[-1:] == (Ellipsis,) else None

    @property
    def count(self) -> int:
        """Number of values, for a field that takes a fixed number."""
        if self.kind is bool:
            return 0
        return len(get_args(self.kind)) if get_origin(self.kind) is tuple else 1


def fields_of(command: type) -> Iterator[Field]:
    """Yield the fields of a command and of the dataclasses in it."""
    hints, plain = get_type_hints(command, include_extras=True), get_type_hints(command)
    for one in fields(command):
        marks = getattr(hints[one.name], "__metadata__", ())
        kind = _without_none(plain[one.name])
        if is_dataclass(kind):
            yield from fields_of(kind)  # type: ignore[arg-type]
            continue
        aliases = [alias for mark in marks for alias in getattr(mark, "aliases", None) or ()]
        name = next((mark.name for mark in marks if getattr(mark, "name", None)), one.name)
        yield Field(
            one.name,
            kind,
            tyro.conf.Positional in marks,
            one.default is MISSING and one.default_factory is MISSING,
            (_flag(name), *aliases, *((_flag(f"no_{name}"),) if kind is bool else ())),
        )


def spelling(field: str, command: Any) -> str:
    """Return a field as the command line spells it: its flag, or the name of a positional one in capitals.

    `command` is the command that has the field; None if it is not known. A flag that is set to false by default is
    spelled as the user turns it off.
    """
    if command is not None:
        for one in fields_of(type(command)):
            if one.name == field and one.positional:
                return field.rstrip("_").upper()
        if getattr(command, field, None) is False and getattr(type(command), field, None) is True:
            return _flag(f"no_{field}")
    return _flag(field)


def arranged(command: type, words: list[str], called: str, given: Any = None) -> list[str]:
    """Return the words in the order that tyro reads: positional ones in front, options of several values once.

    A word after an option is positional if the option cannot have it as a value. The values of an option that is given
    several times are joined. Raises ValueError if required words or some of an option's values are missing, of which
    tyro's own errors take many lines. `called` is the command as the user calls it, without the program's name;
    `given` is the command of a file of options, whose required words may be omitted.
    """
    if "-h" in words or "--help" in words:
        return words
    known = list(fields_of(command))
    by_flag = {flag: one for one in known for flag in one.flags}
    leading, groups = _grouped(words)
    kept: list[tuple[str, list[str]]] = []
    lists: dict[str, tuple[str, list[str]]] = {}
    others, seen = 0, set()
    for word, values in groups:
        flag, equals, value = word.partition("=")
        one = by_flag.get(flag.replace("_", "-"))
        seen.add(one)
        if one is None:  # tyro complains about it, or it is `--`
            others += len(values)
            kept.append((word, values))
        elif one.repeated is None:
            count = 0 if equals else one.count
            if count > len(values) > 0 and values != ["None"]:
                raise ValueError(f"{flag} {' '.join(values)}: needs {count} values; see liteshogi {called} --help")
            kept.append((word, values[:count]))
            leading += values[count:]
        else:
            count = _fitting(one.repeated, values)
            if one.name not in lists:
                lists[one.name] = (flag, [])
                kept.append(lists[one.name])
            lists[one.name][1].extend([*([value] if equals else []), *values[:count]])
            leading += values[count:]
    positional = [one for one in known if one.positional and one.required]
    needed = [one.name.upper() for one in positional if given is None or not getattr(given, one.name)]
    may_be_empty = [one.name.upper() for one in positional if one.repeated is not None]
    greedy = [(flag, values) for flag, values in lists.values() if len(values) > 1]
    if greedy and len(leading) + others < len(needed):
        flag, values = greedy[-1]
        missing = " ".join(needed[len(leading) + others :])
        raise ValueError(
            f"{flag} takes every word after it ({' '.join(values)}), so {missing} is missing: write it before the "
            f"options, as in liteshogi {called} {' '.join(needed)} {flag} ..."
        )
    if None not in seen:  # tyro complains about an unknown option first
        unsaid = [one.flags[0] for one in known if one.required and not one.positional and one not in seen]
        absent = [name for name in needed[len(leading) + others :] if name not in may_be_empty]
        if missing := " and ".join([*absent, *([] if given else unsaid)]):
            raise ValueError(f"{missing}: missing; see liteshogi {called} --help")
    return [*leading, *(word for flag, values in kept for word in _option(flag, values))]


def _option(flag: str, values: list[str]) -> list[str]:
    """Return an option as words; a single value that looks like a flag stays in one word with its option."""
    return [f"{flag}={values[0]}"] if len(values) == 1 and _is_flag(values[0]) else [flag, *values]


def _grouped(words: list[str]) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Return the words before the first flag, and each flag with the words up to the next one."""
    leading: list[str] = []
    groups: list[tuple[str, list[str]]] = []
    for word in words:
        if _is_flag(word):
            groups.append((word, []))
        elif groups:
            groups[-1][1].append(word)
        else:
            leading.append(word)
    return leading, groups


def _is_flag(word: str) -> bool:
    """Return whether a word is a flag, not a negative number or the name of standard input."""
    return word.startswith("-") and len(word) > 1 and not word[1].isdigit()


def _fitting(kind: Any, values: list[str]) -> int:
    """Return the number of values, from the first on, that an option of this type can have."""
    for number, value in enumerate(values):
        if not _fits(kind, value):
            return number
    return len(values)


def _fits(kind: Any, value: str) -> bool:
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if kind in (int, float):
        try:
            kind(value)
        except ValueError:
            return False
    return True


def _without_none(kind: Any) -> Any:
    if get_origin(kind) in (Union, UnionType):
        parts = [part for part in get_args(kind) if part is not NoneType]
        return parts[0] if len(parts) == 1 else kind
    return kind


def _flag(field: str) -> str:
    """Return the flag of a field, as tyro spells it."""
    return f"--{field.rstrip('_').replace('_', '-')}"
