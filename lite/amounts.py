"""How many there are of something, in words."""

from __future__ import annotations


def amount(count: int, thing: str) -> str:
    """`1 game`, `2,000 games`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
