"""Parser of the words after `go`, robust against any text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from search.clock import Clocks

_CLOCKS = ("btime", "wtime", "byoyomi", "binc", "winc", "movetime")
_NUMBERS = (*_CLOCKS, "nodes", "depth", "rtime")
_MOVE = re.compile(r"[1-9][a-i][1-9][a-i]\+?|[PLNSBRG]\*[1-9][a-i]")


@dataclass(frozen=True)
class Go:
    """The limits of a `go` command."""

    clocks: Clocks = field(default_factory=Clocks)
    nodes: int | None = None
    depth: int | None = None
    searchmoves: tuple[str, ...] = ()
    infinite: bool = False
    ponder: bool = False
    mate: int | None = None
    """Milliseconds for a mate search, -1 for no limit; None for an ordinary search."""

    @property
    def is_limited(self) -> bool:
        """Whether a limit ends the search for a move, which is then not held."""
        return not (self.infinite or self.ponder) and bool(self.clocks.running or self.nodes or self.depth)


def shown(word: str) -> str:
    """Quote a word for a message: shortened, in ASCII."""
    return repr(word[:40].encode("ascii", "replace").decode())


def parse_go(text: str, late: bool = False) -> tuple[Go, list[str]]:
    """Read the words after `go`, or with `late` those after `ponderhit`, to which a `go` has given limits.

    Returns the limits and messages about words that were ignored. A `go` whose only limits cannot be read has those of
    an empty clock, because it should not search without end.
    """
    words = text.split()
    values: dict[str, Any] = {}
    messages: list[str] = []
    index, unread = 0, False
    while index < len(words):
        word = words[index]
        index += 1
        if word in _NUMBERS:
            if index < len(words) and re.fullmatch(r"[+-]?[0-9]{1,18}", words[index]):
                # A clock below zero counts as zero. YaneuraOu's rtime is a movetime with a random addition.
                values["movetime" if word == "rtime" else word] = max(0, int(words[index]))
                index += 1
            else:
                messages.append(f"go {word}: requires a whole number; ignored")
                unread = True
        elif word == "mate":
            values["mate"] = -1
            if index < len(words) and re.fullmatch(r"[0-9]{1,18}", words[index]):
                values["mate"] = int(words[index])
                index += 1
            elif index < len(words) and re.match("[+-]?[0-9]", words[index]):
                messages.append(f"go mate: requires milliseconds, not {shown(words[index])}; ignored")
                index, unread = index + 1, True
        elif word in ("ponder", "infinite"):
            values[word] = True
        elif word == "searchmoves":
            first = index
            while index < len(words) and _MOVE.fullmatch(words[index]):
                index += 1
            values["searchmoves"] = tuple(words[first:index])
        elif word == "movestogo":
            index += 1
        else:
            messages.append(f"go: unknown word {shown(word)}; ignored")
    for name in ("depth", "nodes"):
        if values.get(name) == 0:
            values[name] = 1
    if "mate" in values:
        is_endless = values["mate"] == -1 and not values.keys() & {"nodes", "infinite"}
    else:
        is_endless = not values.keys() & {*_NUMBERS, "infinite"}
    if is_endless and unread and not late:
        messages.insert(0, "go: no limit can be read; searching briefly")
        values |= {"mate": 0} if "mate" in values else {"btime": 0, "wtime": 0}
    clocks = Clocks(**{name: values.pop(name) for name in _CLOCKS if name in values})
    if "mate" in values and clocks.running:
        messages.append("go mate: the time limit is `go mate MILLISECONDS`; clocks are ignored")
    return Go(clocks, **values), messages[:4]
