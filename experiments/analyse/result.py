"""Results of an analysis of games."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from experiments.analyse.figures import GameFigures
from experiments.language.words import Words


@dataclass(frozen=True)
class AnalysedGame:
    """One analysed game, and the files written for it."""

    figures: GameFigures
    kif: Path
    page: Path
    picture: Path
    words: Words
    """Language of the page and the picture."""


@dataclass(frozen=True)
class AnalysedGames:
    """Result of one run."""

    games: tuple[AnalysedGame, ...]
    skipped: tuple[Path, ...]
    """KIFs that an earlier run wrote."""
    refused: tuple[str, ...]
    """Reasons why games cannot be used."""
    interrupted: bool
