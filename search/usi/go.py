"""The words after `go`: what they limit, read from text that may be anything."""

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
    """What `go` said."""

    clocks: Clocks = field(default_factory=Clocks)
    nodes: int | None = None
    depth: int | None = None
    searchmoves: tuple[str, ...] = ()
    infinite: bool = False
    ponder: bool = False
    mate: int | None = None
    """Milliseconds for a mate search, -1 for no limit; None for an ordinary search."""


def shown(word: str) -> str:
    """A word as a complaint quotes it: short, and of characters that every console has."""
    return repr(word[:40].encode("ascii", "replace").decode())


def parse_go(text: str) -> tuple[Go, list[str]]:
    """Read the words after `go`; with the limits, complaints about words that say nothing known."""
    words = text.split()
    values: dict[str, Any] = {}
    complaints: list[str] = []
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word in _NUMBERS:
            if index < len(words) and re.fullmatch(r"[+-]?[0-9]{1,18}", words[index]):
                # A clock that has run below zero is a clock without time.
                # YaneuraOu's rtime is a movetime that it adds some chance to.
                values["movetime" if word == "rtime" else word] = max(0, int(words[index]))
                index += 1
            else:
                complaints.append(f"go {word} needs a whole number; it was left out")
        elif word == "mate":
            values["mate"] = -1
            if index < len(words) and re.fullmatch(r"[0-9]{1,18}", words[index]):
                values["mate"] = int(words[index])
                index += 1
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
            complaints.append(f"go: {shown(word)} is no limit that is known here; it was left out")
    for name in ("depth", "nodes"):
        if values.get(name) == 0:
            values[name] = 1
    clocks = Clocks(**{name: values.pop(name) for name in _CLOCKS if name in values})
    if "mate" in values and clocks.running:
        complaints.append("go mate takes its time as `go mate MILLISECONDS`; the clocks were left out")
    return Go(clocks, **values), complaints[:4]
