"""Text in columns of a terminal or a KIF file."""

from __future__ import annotations


def in_columns(text: str, columns: int) -> str:
    """Return the text padded with blanks to a width of `columns`; a Japanese character takes two columns."""
    return text + " " * (columns - columns_of(text))


def columns_of(text: str) -> int:
    """Return the columns that a text takes; a Japanese character takes two."""
    return sum(1 if character.isascii() else 2 for character in text)
