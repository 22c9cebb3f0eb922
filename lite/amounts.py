"""Amounts with their noun in singular or plural."""

from __future__ import annotations


def amount(count: int, thing: str) -> str:
    """Return an amount such as `1 game` or `2,000 games`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
