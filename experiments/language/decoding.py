"""The text of lines whose encoding nobody states."""

from __future__ import annotations

from contextlib import suppress


def decoded(content: bytes) -> str:
    """Return the text of bytes in UTF-8 or, if they are not that, in Shift JIS; bytes of neither are replaced."""
    for encoding in ("utf-8", "cp932"):
        with suppress(UnicodeDecodeError):
            return content.decode(encoding)
    return content.decode("utf-8", "replace")
