"""Text in columns of a terminal or a KIF file."""

from __future__ import annotations


def in_columns(text: str, columns: int) -> str:
    """Return the text padded with blanks to a width of `columns`; a Japanese character takes two columns."""
    return text + " " * (columns - sum(1 if character.isascii() else 2 for character in text))
