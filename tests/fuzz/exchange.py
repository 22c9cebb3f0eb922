"""Files of JSON or TOML with one value, or one name, exchanged for another that nobody expects there. Chance, and the
fuzzer, seldom make them: what they change is no JSON any more."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

NAMES = ("", "a\nb", "\u2028", "9" * 5000)
STRANGE = (
    *NAMES,
    *("\0", "\ud800", "../../x", "-", "nan", "1", "startpos", None, True, 0, 1, -1, 0.5, 1e308, 10**30, -(10**30)),
    *(float("nan"), float("inf"), [], {}, [[]], [1, 2], [None], ["a\nb"], {"a\nb": 1}),
)
DATA = "data"
"""Where a header of safetensors holds a JSON text."""


def exchanged(value: Any) -> Iterator[Any]:
    """What it can become by one exchange. Of a list the first entry stands for all."""
    yield from STRANGE
    if isinstance(value, list) and value:
        yield from (2 * value, 20 * value, value[1:])
        yield from ([one, *value[1:]] for one in exchanged(value[0]))
    if isinstance(value, dict):
        yield from ({**value, name: 1} for name in NAMES)
        for name, own in value.items():
            others = {one: value[one] for one in value if one != name}
            yield others
            yield from ({**others, another: own} for another in NAMES)
            yield from (
                {**others, name: one} for one in (texts if name == DATA and isinstance(own, str) else exchanged)(own)
            )


def texts(text: str) -> Iterator[Any]:
    """`exchanged`, of a text of JSON."""
    yield from STRANGE
    with suppress(ValueError):  # one of another kind
        yield from map(json.dumps, exchanged(json.loads(text)))


def as_toml(value: Any) -> str:
    """Raises TypeError for what TOML has no word for."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)} = {as_toml(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    if value is None:
        raise TypeError
    return json.dumps(value).replace("NaN", "nan").replace("Infinity", "inf")


def files(name: str, content: bytes, every: int) -> Iterator[bytes]:
    """What a reader's file can become by one exchange: one of so many."""
    if name.endswith(".toml"):
        for value in islice(exchanged(tomllib.loads(content.decode())), 0, None, every):
            if isinstance(value, dict):
                try:
                    lines = [f"{json.dumps(key)} = {as_toml(one)}\n" for key, one in value.items()]
                except TypeError:
                    continue
                yield "".join(lines).encode()
    elif name.endswith(".jsonl"):
        lines = [json.loads(line) for line in content.splitlines() if line.startswith(b"{")]
        each = ((number, value) for number, line in enumerate(lines) for value in exchanged(line))
        for number, value in islice(each, 0, None, every):
            yield b"".join(json.dumps(one).encode() + b"\n" for one in [*lines[:number], value, *lines[number + 1 :]])
    else:
        header, zero, rest = content.partition(b"\0")
        for value in islice(exchanged(json.loads(header)), 0, None, every):
            yield json.dumps(value, separators=(",", ":")).encode() + zero + rest
