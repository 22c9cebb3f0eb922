"""Any data file, record or notation, as a stream of chunks: what `convert` and `stat` work on."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lite.amounts import amount
from lite.notation.game import Game
from lite.notation.games import GameError, game_format, is_game_name, read_games
from lite.records.decode import labelled_dtype
from lite.records.file import DecodedGames, RecordFile, Refusals, decode_games
from lite.records.formats import (
    HCPE3,
    RECORD_FORMATS,
    ZERO_IS_NO_SCORE,
    RecordError,
    is_record_name,
    record_files,
    record_format,
)
from search.system.files import files_below, leads_to_file

GAMES_A_CHUNK = 256
_FEW = 4
"""A file of fewer games is not called bad for one of them; a whole run of files is."""


@dataclass(frozen=True)
class Chunk:
    """Positions, and the games that they are of where the format has games."""

    path: Path
    positions: np.ndarray
    """`labelled_dtype`."""
    games: Games | None


@dataclass(frozen=True)
class Games:
    """The good games of a chunk."""

    raw: np.ndarray
    """u1: hcpe3 bytes."""
    starts: np.ndarray
    """i8 (games,): first bytes in `raw`."""
    counts: np.ndarray
    """i4 (games,): how many of the chunk's positions are each game's."""
    plies: np.ndarray
    """i4 (games,): moves."""
    results: np.ndarray
    """u1 (games,)."""
    ratings: np.ndarray
    """f4 (games,): the lower of the two players', NaN unknown."""
    candidates: np.ndarray
    """i8 (games,): candidate moves of all moves."""


def data_files(paths: tuple[Path, ...]) -> list[Path]:
    """The files named, each once; directories give all record and game files below them. Raises OSError, ValueError.

    A `.txt` or `.bin` in a directory may be anything, so it must be named itself."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            named = (entry for entry in files_below(path) if is_record_name(entry) or is_game_name(entry))
            inside = [entry for entry in named if leads_to_file(entry)]
            if not inside:
                raise RecordError(f"{path}: no game or record files below this directory")
            files += inside
        elif not path.exists():
            raise FileNotFoundError(f"{path}: no such file")
        else:
            if game_format(path) is None:
                record_files([path])
            files.append(path)
    if not files:
        raise RecordError("no files named: give at least one game or record file")
    unique: dict[Path, Path] = {}
    for path in files:
        unique.setdefault(path.resolve(), path)
    return list(unique.values())


def file_format(path: Path) -> str:
    """`csa`, `kif`, `ki2`, `usi`, `hcpe`, `hcpe3` or `psv`."""
    return game_format(path) or record_format(path)


def holds_games(path: Path) -> bool:
    return file_format(path) not in RECORD_FORMATS or record_format(path) == HCPE3


class ChunkReader:
    """Iterates over the chunks of files; `refusals` tells what could not be used.

    Raises OSError, RecordError while reading when a file, or all game files together, are mostly bad."""

    def __init__(self, files: list[Path], check_moves: bool = True) -> None:
        self.files = files
        self.check_moves = check_moves
        self.refusals = Refusals()
        self._notations = Refusals()
        self._progress = _Progress(len(files))

    def __iter__(self) -> Iterator[Chunk]:
        positions = 0
        for number, path in enumerate(self.files, 1):
            for chunk in self._record_chunks(path) if game_format(path) is None else self._notation_chunks(path):
                positions += len(chunk.positions)
                self._progress.show(number, path, positions)
                yield chunk
        self._progress.close()
        if self._notations.refused * 2 > self._notations.read:
            raise RecordError(
                f"{self._notations.refused:,} of {amount(self._notations.read, 'game')} cannot be used, the first: "
                f"{self._notations.named[0]}; nothing is used"
            )

    def _record_chunks(self, path: Path) -> Iterator[Chunk]:
        file = RecordFile(path, self.check_moves)
        found = Refusals()
        for block in file.blocks:
            refused = Refusals()
            if file.format != HCPE3:
                chunk = Chunk(path, file.read_block(block, refused), None)
            else:
                raw = file.raw_block(block)
                first = (block.first_record, block.start)
                decoded = decode_games(
                    raw, block.records, np.empty(block.positions, labelled_dtype), str(path), refused, first
                )
                chunk = Chunk(path, decoded.positions, _games(raw, decoded, np.full(block.records, np.nan)))
            self.refusals.add(refused)
            found.add(refused)
            file.judge(found)
            yield chunk
        self.refusals.add(file.lost)

    def _notation_chunks(self, path: Path) -> Iterator[Chunk]:
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
        parts = [game.hcpe3() for game in games]
        raw = np.frombuffer(b"".join(parts), np.uint8).copy()
        first_plies = np.array([game.first_ply for game in games], np.int32)
        plies = sum(len(game.moves) for game in games)
        refused = Refusals()
        decoded = decode_games(
            raw, len(games), np.empty(plies, labelled_dtype), str(path), refused, first_plies=first_plies
        )
        assert not refused.refused, str(refused)  # the builder replayed each of them
        ratings = np.array([_lower(game.ratings) for game in games], np.float32)
        return Chunk(path, decoded.positions, _games(raw, decoded, ratings))


def _lower(ratings: tuple[float | None, float | None]) -> float:
    return float("nan") if None in ratings else min(rating for rating in ratings if rating is not None)


def _games(raw: np.ndarray, decoded: DecodedGames, ratings: np.ndarray) -> Games:
    good = decoded.errors == 0
    starts = decoded.starts[good]
    plies = raw[starts + 32].astype(np.int32) | raw[starts + 33].astype(np.int32) << 8
    stops = np.append(decoded.starts[1:], raw.size)[good]
    extra = (stops - starts - 36 - 6 * plies.astype(np.int64)) // 4
    results = raw[starts + 34] & ~np.uint8(ZERO_IS_NO_SCORE)
    return Games(raw, starts, decoded.counts[good], plies, results, ratings[good].astype(np.float32), extra)


class _Progress:
    """A line on stderr now and then: rewritten on a terminal, every half minute elsewhere."""

    def __init__(self, files: int) -> None:
        self._files = files
        self._terminal = sys.stderr.isatty()
        self._last = time.monotonic()
        self._shown = False

    def show(self, number: int, path: Path, positions: int) -> None:
        if time.monotonic() - self._last < (0.5 if self._terminal else 30.0):
            return
        self._last = time.monotonic()
        self._shown = True
        line = f"file {number}/{self._files} {path.name}: {positions:,} positions"
        print(f"\r{line[:100]:<100}" if self._terminal else line, end="" if self._terminal else "\n", file=sys.stderr)
        sys.stderr.flush()

    def close(self) -> None:
        if self._terminal and self._shown:
            print(file=sys.stderr)
