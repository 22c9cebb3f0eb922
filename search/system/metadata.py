"""JSON in the headers of network files: read text that anyone may have written, and write in a fixed order."""

from __future__ import annotations

import json
import struct
import textwrap
from typing import Any

_LENGTH = struct.Struct("<Q")
_ALIGNMENT = 8


def parse_json(text: str) -> Any:
    """Parse a JSON text. Raises ValueError, also for a text that is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None


def json_bytes(value: Any, indent: int | None = None) -> bytes:
    """Encode a value as UTF-8 JSON without escaping letters.

    A file name that is not valid UTF-8, which Python holds as lone surrogates, is written as their escapes;
    `parse_json` restores it.
    """
    return json.dumps(value, ensure_ascii=False, indent=indent).encode(errors="backslashreplace")


def one_line(text: object, longest: int = 80) -> str:
    """Shorten a text from a file to one line of at most `longest` characters, for an error message."""
    return textwrap.shorten(str(text), longest)


def sort_header(content: bytes) -> bytes:
    """Return a safetensors file with its header sorted by name.

    safetensors writes the header in any order. When sorted, equal networks are equal files, so that their digests
    agree.
    """
    (length,) = _LENGTH.unpack_from(content)
    header = json.loads(content[_LENGTH.size : _LENGTH.size + length])
    ordered = {name: dict(sorted(header[name].items())) for name in sorted(header)}
    encoded = json.dumps(ordered, ensure_ascii=False, separators=(",", ":")).encode()
    encoded += b" " * (-len(encoded) % _ALIGNMENT)
    return _LENGTH.pack(len(encoded)) + encoded + content[_LENGTH.size + length :]
