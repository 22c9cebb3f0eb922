"""Read numbers as Japanese texts write them: half-width, full-width or kanji digits, with brackets of either width."""

from __future__ import annotations

_HALF_WIDTH = {0xFF01 + offset: 0x21 + offset for offset in range(94)} | {ord("　"): " ", ord("−"): "-"}
_DIGITS = {sign: number for number, sign in enumerate("〇一二三四五六七八九")}
_UNITS = {"十": 10, "百": 100, "千": 1000}

NUMBER = "(?:[0-9０-９]{1,6}|[〇一二三四五六七八九十百千]{1,7})"
"""Pattern of a number that `number` can read."""


def half_width(text: str) -> str:
    """Return the text with full-width digits, letters, brackets and signs made half-width, character by character."""
    return text.translate(_HALF_WIDTH)


def number(text: str) -> int:
    """Return the value of a text that matches NUMBER: `77`, `７７`, `七十七` or `七七`."""
    if text[0] not in _DIGITS and text[0] not in _UNITS:
        return int(text)
    if not _UNITS.keys() & set(text):
        return int("".join(str(_DIGITS[sign]) for sign in text))
    total = digit = 0
    for sign in text:
        if sign in _UNITS:
            total, digit = total + max(digit, 1) * _UNITS[sign], 0
        else:
            digit = _DIGITS[sign]
    return total + digit
