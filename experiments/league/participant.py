"""A player as a user writes it: `[NAME=]PLAYER [OPTION=VALUE ...]`, in one argument."""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.network_kinds.kind import has_network_suffix
from search.evaluation.shipped import is_shipped

_NAMED = re.compile(r"""([^\s=/\\'"-][^\s=/\\'"]*)=(\S.*)""", re.DOTALL)
_VALUE = r"""(?:'[^']*'|"[^"]*"|[^\s'"]\S*)?"""
_QUOTED = r"""'[A-Za-z_][\w ]*=[^']*'|"[A-Za-z_][\w ]*=[^"]*\""""
"""An option whose name may hold blanks."""
_OPTIONS = re.compile(rf"(?:\s+(?:[A-Za-z_]\w*={_VALUE}|{_QUOTED}))+\s*$")


@dataclass(frozen=True)
class Participant:
    """A player of a match or a league."""

    label: str
    """The user's name for it; empty: it is named by its command and options."""
    command: str
    """A network's file or name, a source tree of this engine, or the command of a USI engine."""
    options: tuple[str, ...] = ()
    """NAME=VALUE options."""

    @property
    def name(self) -> str:
        """Name for readers: its label, or its network or program with its options, without folders."""
        if self.label:
            return self.label
        path = Path(self.command)
        words = [self.command] if path.exists() else shlex.split(self.command) or [self.command]
        first = Path(words[0]).stem if has_network_suffix(path) else Path(words[0]).name
        options = [re.sub(r"=.*/", "=", option) for option in self.options]
        return " ".join([first or words[0], *words[1:], *options])


def parse_participant(text: str) -> Participant:
    """Parse `default`, `mine=mine.safetensors razor_margin=300`, `yo='/my engines/YaneuraOu' Threads=1`.

    Text that exists as a file or folder, or names a shipped network, has neither NAME= nor options. Values with blanks
    are quoted, and so are options whose names have blanks. The options are not checked. Raises ValueError for quotation
    marks that are not closed.
    """
    label = ""
    if not _exists(text) and (named := _NAMED.fullmatch(text)):
        label, text = named.groups()
    if _exists(text) or not (found := _OPTIONS.search(text)):
        return Participant(label, text)
    text_of_options = found[0].replace("\\", "/") if os.name == "nt" else found[0]  # a backslash is shlex's escape
    try:
        options = tuple(shlex.split(text_of_options))
    except ValueError as error:
        raise ValueError(f"player {text!r}: {error}") from error
    return Participant(label, text[: found.start()], options)


def unique_names(participants: Sequence[Participant]) -> list[str]:
    """Return the players' names. Raises ValueError if two are equal."""
    names = [one.name for one in participants]
    if equal := _repeated(names):
        name, count = equal
        raise ValueError(f"{count} players are called {name}: name them, as in A={name} B={name}")
    return names


def refuse_equal_labels(participants: Sequence[Participant]) -> None:
    """Raise ValueError if users gave two players one name."""
    if equal := _repeated([one.label for one in participants if one.label]):
        name, count = equal
        raise ValueError(f"{count} players are called {name}: give each a name of its own")


def _repeated(names: Sequence[str]) -> tuple[str, int] | None:
    """Return a name that occurs more than once, with its number."""
    return next(((name, count) for name, count in Counter(names).items() if count > 1), None)


def _exists(text: str) -> bool:
    return is_shipped(text) or os.path.exists(text)  # False for a text that is too long for a path
