"""Choose the games to analyse, and the files to write for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.language.english import ENGLISH
from experiments.language.japanese_game import is_japanese_game
from experiments.language.words import Words
from experiments.network_kinds.kind import has_network_suffix
from lite.notation.forms import game_format
from lite.notation.game import Game, GameError
from lite.notation.games import ANALYSED, is_game_name, read_games
from lite.training.folder import NETWORK_NAME
from search.evaluation.shipped import is_shipped
from search.system.files import files_below, leads_to_file
from search.system.options import OptionError


@dataclass(frozen=True)
class Chosen:
    """A game to analyse."""

    game: Game | GameError
    """The game, or the reason why it cannot be used."""
    output: Path
    """The KIF to write."""
    alone: bool
    """Whether the user named one file with one game."""
    japanese: bool
    """Whether the game's notation is Japanese (KIF, KI2)."""


def is_game_path(path: Path) -> bool:
    """Return whether a path has the name of a game file, which may be missing, or is a folder but no training run."""
    return not (path / NETWORK_NAME).is_file() if path.is_dir() else game_format(path) is not None


def is_network_name(name: str) -> bool:
    """Return whether a text names a shipped network or the folder of a training run, or has a network file's suffix."""
    return is_shipped(name) or Path(name).is_dir() or has_network_suffix(name)


def choose(paths: Sequence[Path], number: int | None, output: Path | None, words: Words = ENGLISH) -> Iterator[Chosen]:
    """Yield the games of files and folders, without those that an analysis wrote.

    number: the number of the game in each file, from 1; None means all games. A file in a folder may have fewer games.
    output: the KIF of a single game; for several games a folder, in which the games of a folder keep their relative
    paths. Without it each KIF is written beside its game. words: the language of errors.
    Raises OSError, ValueError, or OptionError for `number` and `output`.
    """
    if number is not None and number < 1:
        raise OptionError(f"`number` {number}: must be at least 1", "number")
    paths = [*{path.resolve(): path for path in paths}.values()]
    files = [(path, path.parent) for path in paths if not path.is_dir()]
    for folder in paths:
        if folder.is_dir():
            files += [(path, folder) for path in files_below(folder) if is_game_name(path) and leads_to_file(path)]
    if not files:
        raise ValueError(words.no_game_file.format(path=", ".join(map(str, paths))))
    places: set[Path] = set()
    for path, folder in files:
        whole = list(read_games(path, unfinished=True))
        games = [*enumerate(whole, 1)]
        if number is not None:
            games = games[number - 1 : number]
        if not games and path in paths:
            raise OptionError(words.no_such_game.format(path=path, number=number or 1), "number")
        alone = len(files) == len(games) == len(paths) == 1 and not paths[0].is_dir()
        if output is not None and output.suffix and not output.is_dir() and not alone:
            raise OptionError(words.output_is_file.format(path=output), "output")
        for index, game in games:
            number_of = f"-{index}" if len(whole) > 1 else ""
            names = (f"{path.stem}{number_of}", f"{path.name}{number_of}")  # g.kif may lie beside g.csa
            possible = [_kif_path(path.with_name(name), folder, output) for name in names]
            place = next((one for one in possible if one not in places), None)
            if place is None:
                raise OptionError(words.output_taken.format(path=path, output=possible[0]), "output")
            places.add(place)
            yield Chosen(game, place, alone, is_japanese_game(path))


def _kif_path(beside: Path, folder: Path, output: Path | None) -> Path:
    """Return the KIF of a game in `folder`. beside: the game's path without its suffix."""
    place = beside.with_name(f"{beside.name}{ANALYSED}.kif")
    if output is None:
        return place
    return output / place.relative_to(folder) if output.is_dir() or not output.suffix else output
