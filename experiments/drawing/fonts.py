"""Fonts for Japanese text and shogi notation in pages and in matplotlib's figures."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Sequence
from pathlib import Path

JAPANESE_FONTS = (
    "Noto Sans CJK JP",
    "Noto Sans JP",
    "IPAexGothic",
    "IPAGothic",
    "TakaoGothic",
    "VL Gothic",
    "Hiragino Sans",
    "Yu Gothic",
    "Meiryo",
    "MS Gothic",
)
"""Preferred fonts, best first."""
NOTATION_FONT = Path(__file__).with_name("font_files") / "shogi-notation.ttf"
"""File of this package's font."""
NOTATION = "Shogi Notation"
"""Name of this package's font."""


def font_face() -> str:
    """Return the CSS rule that brings this package's font into a page."""
    font = base64.b64encode(NOTATION_FONT.read_bytes()).decode()
    return f'@font-face {{ font-family: "{NOTATION}"; src: url(data:font/ttf;base64,{font}) }}'


def japanese_fonts() -> list[str]:
    """Return the fonts to search for each character, in order: a Japanese font if the system has one, matplotlib's own,
    and this package's, which has the characters of moves and pieces."""
    from matplotlib import font_manager

    manager = font_manager.fontManager
    if NOTATION not in manager.get_font_names():
        manager.addfont(NOTATION_FONT)
    found = _system_font()
    return [*([found] if found else []), "DejaVu Sans", NOTATION]


def can_be_drawn(text: str, fonts: Sequence[str]) -> bool:
    """Return whether every character of the text is in one of the fonts."""
    from matplotlib import font_manager

    found = [font_manager.get_font(font_manager.findfont(name)) for name in fonts]
    return all(any(font.get_char_index(ord(character)) for font in found) for character in text)


def _system_font() -> str | None:
    """The name of a font with Japanese characters, if the system has one."""
    from matplotlib import font_manager

    manager = font_manager.fontManager
    known = {font.fname for font in manager.ttflist}
    for path in font_manager.findSystemFonts():
        if path not in known:  # installed after matplotlib cached its list of fonts
            with contextlib.suppress(OSError, RuntimeError):
                manager.addfont(path)
    # matplotlib's Last Resort font has an empty box for every character.
    found = {font.name: font.fname for font in manager.ttflist if not font.name.startswith(("Last Resort", NOTATION))}
    for name in (*(name for name in JAPANESE_FONTS if name in found), *found):
        with contextlib.suppress(OSError, RuntimeError):
            font = font_manager.get_font(found[name])
            if font.get_char_index(ord("歩")) and font.get_char_index(ord("ア")):
                return name
    return None
