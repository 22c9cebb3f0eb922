"""Files of JSON or TOML with one value or one name replaced by an unexpected one.

Random changes and the fuzzer seldom make such files, because the changed text is usually not JSON.
"""

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
"""Key of a safetensors header whose value is a JSON text."""


def exchanged(value: Any) -> Iterator[Any]:
    """Yield what a value can become by one exchange. Only the first entry of a list is changed."""
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
    """Yield JSON texts with one value or name exchanged."""
    yield from STRANGE
    with suppress(ValueError):  # an input of another kind
        yield from map(json.dumps, exchanged(json.loads(text)))


def as_toml(value: Any) -> str:
    """Return the TOML of a value; raise TypeError for values that TOML cannot express."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)} = {as_toml(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    if value is None:
        raise TypeError
    return json.dumps(value).replace("NaN", "nan").replace("Infinity", "inf")


def files(name: str, content: bytes, every: int) -> Iterator[bytes]:
    """Yield a reader's file after one exchange; of all exchanges one in `every`."""
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
