"""Read data files of any kind, records or notations, as a stream of chunks for `convert` and `stat`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lite.amounts import amount
from lite.notation.game import Game
from lite.notation.games import GameError, game_format, is_game_name, read_games
from lite.progress_line import PLAIN_SECONDS, TERMINAL_SECONDS, clock, draw, erase, is_redrawn
from lite.records.batch import labelled_dtype
from lite.records.file import DecodedGames, RecordFile, Refusals, decode_games
from lite.records.formats import (
    GAME_FORMATS,
    RECORD_FORMATS,
    ZERO_IS_NO_SCORE,
    RecordError,
    is_record_name,
    record_files,
    record_format,
)
from search.system.files import files_below, leads_to_file, require_file

GAMES_A_CHUNK = 256
"""Games of a notation file per chunk."""
_FEW = 4
"""A file with fewer games than this is never refused as a whole; all files together may be."""


@dataclass(frozen=True)
class Chunk:
    """Positions of a file, with their games if the format holds games."""

    path: Path
    positions: np.ndarray
    """`labelled_dtype` (positions,)."""
    games: Games | None
    """The games of the positions, or None if the format holds single positions."""


@dataclass(frozen=True)
class Games:
    """The good games of a chunk."""

    raw: np.ndarray
    """u1: hcpe3 bytes."""
    starts: np.ndarray
    """i8 (games,): offset of each game in `raw`."""
    counts: np.ndarray
    """i4 (games,): number of the chunk's positions that belong to each game."""
    plies: np.ndarray
    """i4 (games,): number of moves of each game."""
    results: np.ndarray
    """u1 (games,): result bytes as in hcpe."""
    ratings: np.ndarray
    """f4 (games,): rating of the weaker player, NaN if unknown."""
    candidates: np.ndarray
    """i8 (games,): total number of candidate moves of each game."""


def data_files(paths: tuple[Path, ...]) -> list[Path]:
    """Return the given files without repetition; each directory gives all record and game files below it.

    A `.txt` or `.bin` file may hold anything, so it is used only if it is given itself. Raises OSError, ValueError."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            named = (entry for entry in files_below(path) if is_record_name(entry) or is_game_name(entry))
            inside = [entry for entry in named if leads_to_file(entry)]
            if not inside:
                raise RecordError(f"{path}: no game or record files below this directory")
            files += inside
        else:
            require_file(path)
            if game_format(path) is None:
                record_files([path])
            files.append(path)
    if not files:
        raise RecordError("no files given; give at least one game or record file")
    unique: dict[Path, Path] = {}
    for path in files:
        unique.setdefault(path.resolve(), path)
    return list(unique.values())


def file_format(path: Path) -> str:
    """Return `csa`, `kif`, `ki2`, `usi`, `hcpe`, `hcpe3`, `psv` or `pack` by the file's suffix."""
    return game_format(path) or record_format(path)


def holds_games(path: Path) -> bool:
    """Return whether the file's format holds games, not single positions."""
    return file_format(path) not in RECORD_FORMATS or record_format(path) in GAME_FORMATS


class ChunkReader:
    """Iterates over the chunks of files; `refusals` counts the records and games that cannot be used.

    Raises OSError or RecordError while reading if a file, or all game files together, are mostly bad."""

    def __init__(self, files: list[Path], check_moves: bool = True) -> None:
        self.files = files
        self.check_moves = check_moves
        self.refusals = Refusals()
        self._notations = Refusals()
        self._share = 0.0
        """Share of the current file that is read, as far as it is known."""

    def __iter__(self) -> Iterator[Chunk]:
        positions, progress = 0, _Progress(self.files)
        for number, path in enumerate(self.files):
            self._share = 0.0
            for chunk in self._record_chunks(path) if game_format(path) is None else self._notation_chunks(path):
                positions += len(chunk.positions)
                progress.show(number, self._share, positions)
                yield chunk
        erase()
        if self._notations.refused * 2 > self._notations.read:
            raise RecordError(
                f"{self._notations.refused:,} of {amount(self._notations.read, 'game')} cannot be used, the first: "
                f"{self._notations.named[0]}; nothing is used"
            )

    def _record_chunks(self, path: Path) -> Iterator[Chunk]:
        """Yield the chunks of a record file."""
        file = RecordFile(path, self.check_moves)
        found = Refusals()
        for block in file.blocks:
            refused = Refusals()
            if file.format not in GAME_FORMATS:
                chunk = Chunk(path, file.read_block(block, refused), None)
            else:
                read = file.raw_block(block)
                decoded = file.decode_games(read, block, refused, np.empty(block.positions, labelled_dtype))
                chunk = Chunk(path, decoded.positions, _games(read.raw, decoded, np.full(block.records, np.nan)))
            self.refusals.add(refused)
            found.add(refused)
            file.check_refusals(found)
            self._share += block.records / file.records
            yield chunk
        self.refusals.add(file.lost)

    def _notation_chunks(self, path: Path) -> Iterator[Chunk]:
        """Yield the chunks of a notation file."""
        found = Refusals()
        waiting: list[Game] = []
        for game in read_games(path):
            found.read += 1
            if isinstance(game, GameError):
                found.enter(game.reason, str(game))
                continue
            waiting.append(game)
            if len(waiting) >= GAMES_A_CHUNK:
                yield self._chunk(path, waiting)
                waiting = []
        if waiting:
            yield self._chunk(path, waiting)
        if found.read >= _FEW and found.refused * 2 > found.read:
            raise RecordError(
                f"{path}: {found.refused:,} of {found.read:,} games cannot be used, the first: {found.named[0]}; "
                "nothing is used"
            )
        self.refusals.add(found)
        self._notations.add(found)

    def _chunk(self, path: Path, games: list[Game]) -> Chunk:
        """Return notation games as a chunk."""
        parts = [game.hcpe3() for game in games]
        raw = np.frombuffer(b"".join(parts), np.uint8).copy()
        first_plies = np.array([game.first_ply for game in games], np.int32)
        plies = sum(len(game.moves) for game in games)
        refused = Refusals()
        decoded = decode_games(
            raw, len(games), np.empty(plies, labelled_dtype), str(path), refused, first_plies=first_plies
        )
        assert not refused.refused, str(refused)  # the builder has checked each game
        ratings = np.array([_lower(game.ratings) for game in games], np.float32)
        return Chunk(path, decoded.positions, _games(raw, decoded, ratings))


def _lower(ratings: tuple[float | None, float | None]) -> float:
    """Return the lower rating, or NaN if one is unknown."""
    return float("nan") if None in ratings else min(rating for rating in ratings if rating is not None)


def _games(raw: np.ndarray, decoded: DecodedGames, ratings: np.ndarray) -> Games:
    """Return the good games among decoded ones."""
    good = decoded.errors == 0
    starts = decoded.starts[good]
    plies = raw[starts + 32].astype(np.int32) | raw[starts + 33].astype(np.int32) << 8
    stops = np.append(decoded.starts[1:], raw.size)[good]
    extra = (stops - starts - 36 - 6 * plies.astype(np.int64)) // 4
    results = raw[starts + 34] & ~np.uint8(ZERO_IS_NO_SCORE)
    return Games(raw, starts, decoded.counts[good], plies, results, ratings[good].astype(np.float32), extra)


class _Progress:
    """Progress line of the reading of files: rewritten on a terminal, printed every half minute elsewhere."""

    def __init__(self, files: list[Path]) -> None:
        self._files = files
        self._sizes = [path.stat().st_size for path in files]
        self._begun = self._last = time.monotonic()

    def show(self, number: int, share: float, positions: int) -> None:
        """Show the line if enough time has passed since the last one. share: of file `number`, from 0, that is read."""
        now = time.monotonic()
        if now - self._last < (TERMINAL_SECONDS if is_redrawn() else PLAIN_SECONDS):
            return
        self._last = now
        done, total = sum(self._sizes[:number]) + share * self._sizes[number], sum(self._sizes)
        left = f", {clock((now - self._begun) / done * (total - done))} left" if done else ""
        draw(f"file {number + 1}/{len(self._files)} {self._files[number].name}: {positions:,} positions", left)
