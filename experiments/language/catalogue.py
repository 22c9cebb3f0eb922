"""Translate messages of other packages, which write English and know no language.

A catalogue is a file of gettext (`ja.po`), which maps English messages to those of another language, with the names of
values in braces: `{path}: there is no such network`. Unlike in gettext, a message is looked up after its values have
been put in, so that errors, remarks and progress need no language on their way to the reader. The values are
translated, too: `g.kif: no moves` is `{place}: {error}` with the message `no moves`. Where several entries fit, those
that fix most of the message's letters, in it and in its values, are taken.

Labels of pages (titles, columns, axes) are entries with the context `label` (gettext's `msgctxt`): short words such as
`first`, which would change names in messages.
"""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path

from experiments.language.english import ENGLISH
from experiments.language.words import Words

ITEMS = "items"
"""Name of a value that is a list: each of its parts between commas is translated."""
NUMBERS = ("number", "count", "line", "wins", "draws", "losses")
"""Names of values that are digits, perhaps padded with blanks."""
KINDS = {
    **dict.fromkeys(NUMBERS, r" *-?[\d,]+"),
    **dict.fromkeys(("started", "updated"), r"\d{4}-\d\d-\d\d\S*"),
    **dict.fromkeys(("lower", "upper"), r"[+-]\d+|\?"),
    **dict.fromkeys(("name_or_suffix", "other_name"), r"[.`-]\S+"),
    "server": r"\S+:\d+",
    "duration": r"[\d:]+",
}
"""Patterns of values that are not just any text: digits, times, ends of intervals, options and suffixes, addresses."""
LABEL = "label"
"""Context of a page's labels."""
_READERS: list[Words] = []


@contextmanager
def reading(words: Words) -> Iterator[None]:
    """Show messages in this language in the block."""
    _READERS.append(words)
    try:
        yield
    finally:
        _READERS.pop()


def reader() -> Words:
    """Return the texts of the reader's language; English outside of `reading`."""
    return _READERS[-1] if _READERS else ENGLISH


def shown(message: str) -> str:
    """Return a message of one or more lines in the reader's language."""
    return message if reader() is ENGLISH else "\n".join(map(translated, message.split("\n")))


def label(text: str) -> str:
    """Return a page's label in the reader's language; names and figures in it stay as they are."""
    return text if reader() is ENGLISH else translated(text, LABEL)


def translated(message: str, context: str = "") -> str:
    """Return a message in Japanese; unchanged if no entry of the catalogue with this context fits it."""
    return _fixed(message, context)[1]


@lru_cache(maxsize=1 << 14)
def _fixed(message: str, context: str) -> tuple[int, str]:
    """Return how many letters of a message entries fix, and the message in Japanese."""
    most = (0, message)
    for letters, pattern, text in _patterns(context):
        if found := pattern.fullmatch(message):
            values = {name: (0, value) if context else _value(name, value) for name, value in found.groupdict().items()}
            count = letters + sum(fixed for fixed, _ in values.values())
            if count > most[0]:
                most = count, text.format(**{name: value for name, (_, value) in values.items()})
    return most


@cache
def japanese_messages(context: str = "") -> Mapping[str, str]:
    """Return the Japanese messages of a context by their English texts."""
    messages: dict[str, str] = {}
    english = found = ""
    text = Path(__file__).with_name("ja.po").read_text(encoding="utf-8")
    for line in text.splitlines():
        keyword, _, quoted = line.partition(" ")
        if keyword == "msgctxt":
            found = ast.literal_eval(quoted)
        elif keyword == "msgid":
            english = ast.literal_eval(quoted)
        elif keyword == "msgstr":
            if english and found == context:  # the first entry, with an empty text, is gettext's header
                messages[english] = ast.literal_eval(quoted)
            found = ""
    return messages


def _value(name: str, value: str) -> tuple[int, str]:
    if name != ITEMS:
        return _fixed(value, "")
    items = [_fixed(item, "") for item in value.split(", ")]
    return sum(fixed for fixed, _ in items), "、".join(item for _, item in items)


@cache
def _patterns(context: str) -> tuple[tuple[int, re.Pattern[str], str], ...]:
    """Return the fixed letters, the pattern and the translation of each entry, those with the most letters first."""
    entries = japanese_messages(context).items()
    found = [
        (sum(len(literal) for literal, _ in _parts(english)), _pattern(english), text) for english, text in entries
    ]
    return tuple(sorted(found, key=lambda entry: -entry[0]))


def _pattern(english: str) -> re.Pattern[str]:
    parts = (
        re.escape(literal) + (f"(?P<{name}>{KINDS.get(name, '.+?')})" if name else "")
        for literal, name in _parts(english)
    )
    return re.compile("".join(parts), re.DOTALL)


def _parts(text: str) -> list[tuple[str, str | None]]:
    """Return the fixed texts of a message, each with the name of the value after it."""
    return [(literal, name) for literal, name, _, _ in string.Formatter().parse(text)]
