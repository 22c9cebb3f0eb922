"""Choose the language of texts for players: by option, by the system's locale, or by the notation of a game."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

from experiments.language.english import ENGLISH
from experiments.language.japanese import JAPANESE
from experiments.language.line_text import line_text
from experiments.language.words import Words
from lite.notation.forms import KI2, KIF, detect_format, game_format
from lite.notation.game import Game
from lite.notation.kif_writer import sides_of

Language = Literal["auto", "ja", "en"]
_BEGIN = 1 << 16
"""Bytes of a file by which its notation is detected."""
_LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")


def words_for(language: Language, japanese_game: bool = False, environment: Mapping[str, str] | None = None) -> Words:
    """Return the texts of a language.

    `auto` is Japanese if the system's locale is, or for a game in a Japanese notation (KIF, KI2), else English.
    environment: variables that give the locale; default `os.environ`.
    """
    if language != "auto":
        return JAPANESE if language == "ja" else ENGLISH
    variables = os.environ if environment is None else environment
    locale = next((variables[name] for name in _LOCALE_VARIABLES if variables.get(name)), "")
    return JAPANESE if japanese_game or locale.lower().startswith("ja") else ENGLISH


def is_japanese_game(path: Path) -> bool:
    """Return whether a file is a game in a Japanese notation (KIF, KI2) by its first lines, otherwise by its suffix."""
    named = game_format(path)
    if named is None or not path.is_file():
        return named in (KIF, KI2)
    with suppress(OSError), path.open("rb") as file:
        begin, _, _ = file.read(_BEGIN).rpartition(b"\n")
        named = detect_format(line_text(begin), named)
    return named in (KIF, KI2)


def words_for_game(words: Words, game: Game) -> Words:
    """Return the texts of a language with the names of a game's sides, which are others in a handicap game."""
    return replace(words, sides=sides_of(game)) if words is JAPANESE else words
