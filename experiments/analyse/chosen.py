"""Which games are to be analysed, and where each one's files go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lite.notation.game import Game, GameError
from lite.notation.games import ANALYSED, is_game_name, read_games
from search.system.files import files_below, leads_to_file


@dataclass(frozen=True)
class Chosen:
    """A game and the KIF to write for it, or why the game cannot be used."""

    game: Game | GameError
    output: Path
    alone: bool
    """It is the only one that was asked for."""


def choose(paths: Sequence[Path], number: int | None, output: Path | None) -> Iterator[Chosen]:
    """The games of files, and of the game files anywhere in folders, but for those that an analysis has written.

    number: which game of each file, from 1; None all of them. A file in a folder may have fewer. output: for one game
    the KIF, for several a folder, in which the games of a folder keep their places; without it a KIF goes beside its
    game. Raises OSError or ValueError in words.
    """
    if number is not None and number < 1:
        raise ValueError("--number counts from 1")
    paths = [*{path.resolve(): path for path in paths}.values()]
    files = [(path, path.parent) for path in paths if not path.is_dir()]
    for folder in paths:
        if folder.is_dir():
            files += [(path, folder) for path in files_below(folder) if is_game_name(path) and leads_to_file(path)]
    if not files:
        raise ValueError(f"{', '.join(map(str, paths)) or 'no folder'}: holds no .kif, .kifu, .ki2, .csa or .usi file")
    places: set[Path] = set()
    for path, folder in files:
        whole = list(read_games(path, unfinished=True)) or [GameError(f"{path}: no game in it")]
        games = [*enumerate(whole, 1)]
        if number is not None:
            games = games[number - 1 : number]
        if not games and path in paths:
            raise ValueError(f"{path}: has no game number {number or 1}")
        alone = len(files) == len(games) == len(paths) == 1 and not paths[0].is_dir()
        if output is not None and output.suffix and not output.is_dir() and not alone:
            raise ValueError(
                f"{output}: is one file, and there are several games; name a folder with -o, that is there or without "
                "a suffix"
            )
        for index, game in games:
            number_of = f"-{index}" if len(whole) > 1 else ""
            names = (f"{path.stem}{number_of}", f"{path.name}{number_of}")  # g.kif may lie beside g.csa
            possible = [_place(path.with_name(name), folder, output) for name in names]
            place = next((one for one in possible if one not in places), None)
            if place is None:
                raise ValueError(f"{path}: {possible[0]} is another game's; analyse it apart, with another -o")
            places.add(place)
            yield Chosen(game, place, alone)


def _place(beside: Path, folder: Path, output: Path | None) -> Path:
    """The KIF of a game in `folder`; `beside` is it without its suffix, for where there is no output."""
    place = beside.with_name(f"{beside.name}{ANALYSED}.kif")
    if output is None:
        return place
    return output / place.relative_to(folder) if output.is_dir() or not output.suffix else output
