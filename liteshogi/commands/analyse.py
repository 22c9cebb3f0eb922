"""`liteshogi analyse`: search every position of games; write annotated KIF, pages and pictures."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated

import tyro

from experiments.analyse.analyse import Analysing, analyse_games
from experiments.analyse.as_text import as_text
from experiments.analyse.chosen import is_game_path, is_network_name
from experiments.analyse.figures import GameFigures
from experiments.analyse.result import AnalysedGame, AnalysedGames
from experiments.language.choose import words_for
from experiments.language.japanese_game import is_japanese_game
from experiments.language.words import Words
from liteshogi.commands.arguments import Json, Net
from liteshogi.json_output import json_text


@dataclass(frozen=True)
class PrintedGame(GameFigures):
    """Figures of a game, and its files."""

    kif: str
    page: str
    picture: str


@dataclass(frozen=True)
class PrintedGames:
    """Result for all games."""

    games: tuple[PrintedGame, ...]
    skipped: tuple[str, ...]
    """KIFs that an earlier run wrote."""
    refused: tuple[str, ...]
    """Reasons why games cannot be used."""
    interrupted: bool
    """Whether the analysis was interrupted."""


@dataclass(frozen=True)
class Command(Analysing):
    """Search every position of games and report scores, best lines and mistakes.

    Each game is written as KIF with comments, as an HTML page to step through, and as a picture of the win rate. Ctrl-C
    ends the analysis and writes the completed part. With a folder of games, the same command resumes it. Without a
    network, `default` is used.
    """

    net: Net = "default"
    games: tyro.conf.Positional[tuple[Path, ...]] = ()
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    json: Json = False

    @property
    def words(self) -> Words:
        """Return the texts of the reader's language."""
        return words_for(self.language, any(map(is_japanese_game, (Path(self.net), *self.games))))

    def run(self) -> None:
        options, words = self, self.words
        # A single word is more likely a mistyped game than a network without a game.
        if is_game_path(Path(self.net)) or not (self.games or is_network_name(self.net)):
            options = replace(self, net="default", games=(Path(self.net), *self.games))
        found = analyse_games(options)
        print(json_text(printed(found), readable=True) if self.json else as_text(found, words))
        if found.interrupted:
            raise KeyboardInterrupt
        if found.refused and not (found.games or found.skipped):
            raise ValueError(words.no_readable_game)


def printed(found: AnalysedGames) -> PrintedGames:
    """Return the result as it is printed."""
    games = tuple(map(_printed_game, found.games))
    return PrintedGames(games, tuple(map(str, found.skipped)), found.refused, found.interrupted)


def _printed_game(game: AnalysedGame) -> PrintedGame:
    figures = {field.name: getattr(game.figures, field.name) for field in fields(GameFigures)}
    return PrintedGame(**figures, kif=str(game.kif), page=str(game.page), picture=str(game.picture))
