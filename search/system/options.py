"""The error for options that cannot be used, which names the fields at fault."""

from __future__ import annotations

from collections.abc import Callable


class OptionError(ValueError):
    """Options that are out of bounds, contradict each other, or have no effect.

    The message names each field in backticks (`` `nodes` 0: must be at least 1 ``), so that a program that has other
    names for its fields, as the command line has flags, can put them in: see `spelled`.
    """

    def __init__(self, message: str, *fields: str) -> None:
        """`message` holds each of `fields` in backticks at least once."""
        super().__init__(message)
        self.fields = fields

    def spelled(self, spell: Callable[[str], str]) -> str:
        """Return the message with every field as `spell` writes it, without backticks."""
        text = str(self)
        for field in self.fields:
            text = text.replace(f"`{field}`", spell(field))
        return text
