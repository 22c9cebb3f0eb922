"""Recognise games in a Japanese notation, whose readers get Japanese texts."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from experiments.language.decoding import decoded
from lite.notation.forms import KI2, KIF, detect_format, game_format

_BEGIN = 1 << 16
"""Bytes of a file by which its notation is detected."""


def is_japanese_game(path: Path) -> bool:
    """Return whether a file is a game in a Japanese notation (KIF, KI2) by its first lines, otherwise by its suffix."""
    named = game_format(path)
    if named is None or not path.is_file():
        return named in (KIF, KI2)
    with suppress(OSError), path.open("rb") as file:
        begin, _, _ = file.read(_BEGIN).rpartition(b"\n")
        named = detect_format(decoded(begin), named)
    return named in (KIF, KI2)
