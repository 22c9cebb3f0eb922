"""What the headers of network files hold: JSON that anyone may have written, in one order when it is ours."""

from __future__ import annotations

import json
import struct
import textwrap
from typing import Any

_LENGTH = struct.Struct("<Q")
_ALIGNMENT = 8


def parse_json(text: str) -> Any:
    """The value of a JSON text. ValueError in words, also for one that is nested too deeply to be read."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None


def json_bytes(value: Any, indent: int | None = None) -> bytes:
    """A value as JSON in UTF-8, its letters as they are. A file's name in other bytes than UTF-8, which Python has as
    lone surrogates, becomes their escapes, and `parse_json` gives that name again."""
    return json.dumps(value, ensure_ascii=False, indent=indent).encode(errors="backslashreplace")


def quoted(text: object, longest: int = 80) -> str:
    """What a file says, as a complaint repeats it: in a line, and short."""
    return textwrap.shorten(str(text), longest)


def sort_header(content: bytes) -> bytes:
    """A safetensors file with its metadata in the order of the names: safetensors writes them in any order, and equal
    networks are to make equal files, so that digests compare."""
    (length,) = _LENGTH.unpack_from(content)
    header = json.loads(content[_LENGTH.size : _LENGTH.size + length])
    ordered = {name: dict(sorted(header[name].items())) for name in sorted(header)}
    encoded = json.dumps(ordered, ensure_ascii=False, separators=(",", ":")).encode()
    encoded += b" " * (-len(encoded) % _ALIGNMENT)
    return _LENGTH.pack(len(encoded)) + encoded + content[_LENGTH.size + length :]
