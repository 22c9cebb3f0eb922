"""Choose the language of texts for players: by option, by the system's locale, or by the notation of a game."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

from experiments.language.english import ENGLISH
from experiments.language.japanese import JAPANESE
from experiments.language.words import Words

Language = Literal["auto", "ja", "en"]
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
