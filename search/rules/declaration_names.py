"""Names of the rules of declaration. Imports nothing that compiles."""

from typing import Literal

DeclarationRule = Literal["NoEnteringKing", "CSARule24", "CSARule24H", "CSARule27", "CSARule27H", "TryRule"]
"""YaneuraOu's names; those ending in H consider a handicap, see `search.rules.declaration`."""
