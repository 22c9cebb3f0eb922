"""USI options: their declarations, and values read from any text. Imports nothing that compiles."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from difflib import get_close_matches
from typing import get_args

from search.rules.declaration_names import DeclarationRule

HIGHEST = (1 << 31) - 1
"""Largest number of any option: ShogiGUI reads numbers as 32 bits and would change a larger limit."""


@dataclass(frozen=True)
class Spin:
    """A whole number in a range."""

    name: str
    default: int
    low: int
    high: int

    def declaration(self) -> str:
        """Return the line that declares the option to a GUI."""
        return f"option name {self.name} type spin default {self.default} min {self.low} max {self.high}"

    def read(self, text: str) -> int:
        """Return the value of a text. Raises ValueError for a text that is no whole number in the range."""
        try:
            value = int(text)
        except ValueError:
            raise ValueError(f"{self.name} {text[:40]!r} is not a whole number") from None
        if not self.low <= value <= self.high:
            raise ValueError(f"{self.name} {value} is outside {self.low} to {self.high}")
        return value


@dataclass(frozen=True)
class Check:
    """A boolean: true or false."""

    name: str
    default: bool

    def declaration(self) -> str:
        """Return the line that declares the option to a GUI."""
        return f"option name {self.name} type check default {str(self.default).lower()}"

    def read(self, text: str) -> bool:
        """Return the value of a text. Raises ValueError for a text that is neither true nor false."""
        if text.lower() not in ("true", "false"):
            raise ValueError(f"{self.name} {text[:40]!r} is neither true nor false")
        return text.lower() == "true"


@dataclass(frozen=True)
class Combo:
    """One of several words."""

    name: str
    default: str
    words: tuple[str, ...]

    def declaration(self) -> str:
        """Return the line that declares the option to a GUI."""
        return f"option name {self.name} type combo default {self.default} " + " ".join(f"var {w}" for w in self.words)

    def read(self, text: str) -> str:
        """Return the value of a text. Raises ValueError for a text that is none of the words."""
        if text not in self.words:
            raise ValueError(f"{self.name} {text[:40]!r} must be one of {', '.join(self.words)}")
        return text


@dataclass(frozen=True)
class FileName:
    """A path. The default is a token without spaces, because GUIs cut defaults at a space."""

    name: str
    default: str
    type: str = "filename"

    def declaration(self) -> str:
        """Return the line that declares the option to a GUI."""
        return f"option name {self.name} type {self.type} default {self.default}"

    def read(self, text: str) -> str:
        """Return the path that a text gives; an empty text gives the default."""
        return self.default if text in ("", "<empty>") else text  # MyShogi sends `<empty>` for no text


Option = Spin | Check | Combo | FileName

SESSION_OPTIONS: tuple[Option, ...] = (
    Check("USI_Ponder", False),
    Spin("MultiPV", 1, 1, 593),
    Check("UCI_ShowWDL", False),
    Spin("NetworkDelay", 120, 0, 10_000),
    Spin("NetworkDelay2", 1120, 0, 10_000),
    Spin("MinimumThinkingTime", 0, 0, 100_000),
    Spin("DepthLimit", 0, 0, 1000),
    Spin("NodesLimit", 0, 0, HIGHEST),
    Spin("Mate_Root_Search", 0, 0, 1 << 30),
    Spin("MaxMovesToDraw", 0, 0, 100_000),
    Combo("EnteringKingRule", "CSARule27", get_args(DeclarationRule)),
    Spin("ResignValue", 99_999, 0, 99_999),
    Spin("Draw_Value_Black", 500, 0, 1000),
    Spin("Draw_Value_White", 500, 0, 1000),
)
"""Options of every engine's session. Books add `search.usi.book_options`, engines those of their adapter."""


class OptionValues:
    """Current values by name; names are compared without regard to case."""

    def __init__(self, declared: tuple[Option, ...]) -> None:
        self.declared = declared
        self._options = {option.name.lower(): option for option in declared}
        self._values: dict[str, int | bool | str] = {option.name: option.default for option in declared}
        self._given: set[str] = set()
        self.settings = 0
        """Number of options set so far; an option that is set again to its value counts, too."""

    def copy(self) -> OptionValues:
        """Copy the current values, independent of later changes."""
        found = copy.copy(self)
        found._values, found._given = self._values.copy(), self._given.copy()
        return found

    def set(self, name: str, text: str) -> str:
        """Set an option from text; return its declared name. Raises ValueError for an unknown option or a bad value."""
        option = self._options.get(name.lower())
        if option is None:
            near = get_close_matches(name[:60].lower(), self._options, 1)
            hint = f"; did you mean {self._options[near[0]].name}?" if near else ""
            raise ValueError(f"unknown option {name[:60]!r}{hint}")
        self._values[option.name] = option.read(text)
        self._given.add(option.name)
        self.settings += 1
        return option.name

    def has(self, name: str) -> bool:
        """Whether an option of this name is declared."""
        return name in self._values

    def is_set(self, name: str) -> bool:
        """Whether an option was set, perhaps to its default."""
        return name in self._given

    def is_default(self, name: str) -> bool:
        """Whether an option has its default value."""
        return self._values[name] == self._options[name.lower()].default

    def number(self, name: str) -> int:
        """The value of a Spin."""
        return int(self._values[name])

    def flag(self, name: str) -> bool:
        """The value of a Check."""
        return bool(self._values[name])

    def text(self, name: str) -> str:
        """The value of a Combo or FileName, or any other value as text."""
        return str(self._values[name])
