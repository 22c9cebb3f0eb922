"""Translate messages of the rooms below, which write English and know no language.

A catalogue is a file of gettext (`ja.po`), which maps English messages to those of another language, with the names of
values in braces: `{path}: there is no such network`. Unlike in gettext, a message is looked up after its values have
been put in, so that errors, remarks and progress need no language on their way to the reader. The values are
translated, too: `g.kif: no moves` is `{place}: {error}` with the message `no moves`.
"""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from experiments.language.english import ENGLISH
from experiments.language.words import Words

ITEMS = "items"
"""Name of a value that is a list: each of its parts between commas is translated."""
NUMBERS = ("number", "count", "line", "wins", "draws", "losses")
"""Names of values that are digits, perhaps padded with blanks."""
_READERS: list[Words] = []


@contextmanager
def reading(words: Words) -> Iterator[None]:
    """Show messages in this language in the block."""
    _READERS.append(words)
    try:
        yield
    finally:
        _READERS.pop()


def shown(message: str) -> str:
    """Return a message of one or more lines in the reader's language; English outside of `reading`."""
    words = _READERS[-1] if _READERS else ENGLISH
    return message if words.code == "en" else "\n".join(map(translated, message.split("\n")))


def translated(message: str) -> str:
    """Return a message in Japanese; unchanged if no entry of the catalogue fits it."""
    for pattern, text in _patterns():
        if found := pattern.fullmatch(message):
            return text.format(**{name: _value(name, value) for name, value in found.groupdict().items()})
    return message


@cache
def japanese_messages() -> Mapping[str, str]:
    """Return the Japanese messages by their English texts."""
    messages: dict[str, str] = {}
    english = ""
    text = Path(__file__).with_name("ja.po").read_text(encoding="utf-8")
    for line in text.splitlines():
        keyword, _, quoted = line.partition(" ")
        if keyword == "msgid":
            english = ast.literal_eval(quoted)
        elif keyword == "msgstr" and english:  # the first entry, with an empty text, is gettext's header
            messages[english] = ast.literal_eval(quoted)
    return messages


def _value(name: str, value: str) -> str:
    return "、".join(map(translated, value.split(", "))) if name == ITEMS else translated(value)


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return the pattern and the translation of each entry, those with the most fixed letters first."""
    entries = japanese_messages().items()
    ordered = sorted(entries, key=lambda entry: -len("".join(literal for literal, _ in _parts(entry[0]))))
    return tuple((_pattern(english), text) for english, text in ordered)


def _pattern(english: str) -> re.Pattern[str]:
    kinds = {name: r" *-?[\d,]+" if name in NUMBERS else ".+?" for _, name in _parts(english) if name}
    parts = (re.escape(literal) + (f"(?P<{name}>{kinds[name]})" if name else "") for literal, name in _parts(english))
    return re.compile("".join(parts), re.DOTALL)


def _parts(text: str) -> list[tuple[str, str | None]]:
    """Return the fixed texts of a message, each with the name of the value after it."""
    return [(literal, name) for literal, name, _, _ in string.Formatter().parse(text)]
