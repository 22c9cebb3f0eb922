"""Convert games and records of every format to hcpe, hcpe3 or psv; filter, split and deduplicate them."""

from __future__ import annotations

import re
import sys
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from lite.amounts import amount
from lite.datasets.chunks import Chunk, ChunkReader, Games, data_files
from lite.datasets.conversion import Conversion, check, output_paths, warnings_of
from lite.datasets.filters import Filters
from lite.datasets.outputs import Output
from lite.records.encode import game_hashes, one_move_games, position_hashes
from lite.records.formats import HCPE3, NO_GAME, record_format
from search.system.files import WholeFile
from search.system.options import OptionError

_TEST_SHARE = 0.1
_SEVERAL = re.compile(r"(?<=\bgame)s\b|(?<=\bposition)s\b")


@dataclass(frozen=True)
class WrittenFile:
    """A file that a conversion wrote."""

    path: str
    games: int
    """Games written; 0 if the inputs hold single positions and the format does too."""
    positions: int
    """Positions written; of games, only those marked for training."""
    bytes: int


@dataclass(frozen=True)
class ConversionSummary:
    """Counts of the records that a conversion read, left out and wrote."""

    files: int
    """Number of input files."""
    records_read: int
    """Records read: positions of hcpe and psv, games of other formats."""
    refused: dict[str, int]
    """Number of unusable records by reason."""
    first_refused: list[str]
    """The first refused records, each with file, place and reason."""
    games_read: int
    """Good games in the inputs."""
    positions_read: int
    """Good positions in the inputs."""
    left_out: dict[str, int]
    """Number of games or positions left out by the options, by reason."""
    without_score: int
    """Positions read that have no score."""
    outputs: tuple[WrittenFile, ...]
    warnings: list[str]
    """Warnings, which were printed to standard error too."""


def convert(options: Conversion) -> ConversionSummary:
    """Convert files as the options say. Raises OSError or ValueError, and then writes nothing."""
    files = data_files(options.inputs)
    check(options, files)
    warnings = warnings_of(options, files)
    for line in warnings:
        print(f"warning: {line}", file=sys.stderr)
    with ExitStack() as stack:
        outputs = [Output(stack.enter_context(WholeFile(path)), record_format(path)) for path in output_paths(options)]
        if options.duplicates == "merge":
            _count_duplicates(ChunkReader(files, options.check_moves), options, outputs)
        reader = ChunkReader(files, options.check_moves)
        writer = _Writer(options, outputs)
        for chunk in reader:
            writer.write(chunk)
        left_out = writer.filters.left_out
        if not any(output.positions for output in outputs):
            reason = f"left out: {reasons_text(left_out)}" if left_out else "no positions were read"
            raise ValueError(f"{options.output}: no position to write; {reason}")
        _check_parts(outputs)
        for output in outputs:
            output.file.finish()
    return ConversionSummary(
        len(files),
        reader.refusals.read,
        dict(reader.refusals.reasons.most_common()),
        reader.refusals.named,
        writer.games_read,
        writer.positions_read,
        dict(left_out.most_common()),
        writer.unscored,
        tuple(WrittenFile(str(output.file.path), output.games, output.positions, output.size) for output in outputs),
        warnings,
    )


def _check_parts(outputs: list[Output]) -> None:
    """Raise OptionError if the random split left one part empty: an empty file cannot be read."""
    games = sum(output.games for output in outputs)
    whole = amount(games, "game") if games else amount(sum(output.positions for output in outputs), "position")
    for output in outputs:
        if not output.positions:
            raise OptionError(
                f"{output.file.path}: none of {whole} falls into this part; give more data, or another `test_share` or "
                "`seed`, or write one file",
                "test_share",
                "seed",
            )


@dataclass(frozen=True)
class _Kept:
    """The positions of a chunk that the filters keep."""

    positions: np.ndarray
    """`labelled_dtype` (positions,)."""
    hashes: np.ndarray
    """u8 (positions,)."""
    part: np.ndarray
    """i8 (positions,): number of the output of each position."""
    game_of: np.ndarray | None
    """i8 (positions,): number of each position's game; None for positions without their games."""

    def of_part(self, number: int) -> _Kept:
        """Return the positions of one output."""
        which = np.flatnonzero(self.part == number)
        game_of = None if self.game_of is None else self.game_of[which]
        return _Kept(self.positions[which], self.hashes[which], self.part[which], game_of)


def _kept(chunk: Chunk, options: Conversion, filters: Filters) -> _Kept:
    """Return the positions that the filters keep. They go to the output of their game, or of their own hash."""
    games = chunk.games
    if games is None:
        positions = chunk.positions[filters.keep_single_positions(chunk.positions)]
        hashes = position_hashes(positions)
        return _Kept(positions, hashes, _part(hashes, options), None)
    game_of = _game_of(games)
    keep = filters.keep_positions(chunk.positions, filters.keep_games(games)[game_of])
    positions, game_of = chunk.positions[keep], game_of[keep]
    part = _part(game_hashes(games.raw, games.starts), options)
    return _Kept(positions, position_hashes(positions), part[game_of], game_of)


def _game_of(games: Games) -> np.ndarray:
    """Return the number of each position's game in its chunk."""
    return np.repeat(np.arange(len(games.starts)), games.counts)


def _part(hashes: np.ndarray, options: Conversion) -> np.ndarray:
    """Return for each hash 0 for the output or 1 for the test output; depends on the seed."""
    if len(output_paths(options)) == 1:
        return np.zeros(len(hashes), np.int64)
    share = _TEST_SHARE if options.test_share is None else options.test_share
    seed = np.random.default_rng(options.seed).integers(1 << 63, dtype=np.uint64)
    mixed = (hashes ^ seed) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return ((mixed >> np.uint64(11)).astype(np.float64) / float(1 << 53) < share).astype(np.int64)


def _count_duplicates(reader: ChunkReader, options: Conversion, outputs: list[Output]) -> None:
    """Count equal positions of each output, which are merged when they are written."""
    filters = Filters(options)
    for chunk in reader:
        kept = _kept(chunk, options, filters)
        for number, output in enumerate(outputs):
            mine = kept.of_part(number)
            labels = mine.positions
            played = labels["kind_of_result"] & NO_GAME == 0
            output.sums.add(mine.hashes, labels["result"], played, labels["scored"], labels["score"])


class _Writer:
    """Writes chunks to the outputs, and counts what it reads and leaves out."""

    def __init__(self, options: Conversion, outputs: list[Output]) -> None:
        self.options = options
        self.outputs = outputs
        self.filters = Filters(options)
        self.games_read = self.positions_read = self.unscored = 0

    def write(self, chunk: Chunk) -> None:
        """Write what the filters keep of a chunk."""
        games = chunk.games
        self.games_read += 0 if games is None else len(games.starts)
        self.positions_read += len(chunk.positions)
        self.unscored += int((~chunk.positions["scored"]).sum())
        if games is not None and self.outputs[0].form == HCPE3:
            self._write_games(chunk.positions, games)
            return
        kept = _kept(chunk, self.options, self.filters)
        for number, output in enumerate(self.outputs):
            if output.form == HCPE3:
                self._write_one_move_games(output, kept.of_part(number).positions)
            else:
                self._write_positions(output, kept.of_part(number))

    def _write_games(self, positions: np.ndarray, games: Games) -> None:
        """Write the games of which a position is left."""
        game_of = _game_of(games)
        keep_games = self.filters.keep_games(games)
        keep = self.filters.keep_positions(positions, keep_games[game_of])
        left = np.bincount(game_of[keep], minlength=len(games.starts)) > 0
        self.filters.count("games without a position left", keep_games & ~left)
        hashes = game_hashes(games.raw, games.starts)
        part = _part(hashes, self.options)
        for number, output in enumerate(self.outputs):
            mine = keep_games & left & (part == number)
            if self.options.duplicates == "drop" and mine.any():
                first = np.zeros(len(mine), bool)
                first[mine] = output.seen.add(hashes[mine])
                self.filters.count("duplicate games", mine & ~first)
                mine = first
            output.write_games(games, mine, keep, game_of)

    def _write_one_move_games(self, output: Output, positions: np.ndarray) -> None:
        played = positions["kind_of_result"] & NO_GAME == 0
        self.filters.count("positions without a game, which hcpe3 cannot hold", ~played)
        moved = positions["move"] != 0
        self.filters.count("positions without a move", played & ~moved)
        games = one_move_games(positions[played & moved])
        if self.options.duplicates == "drop":
            first = output.seen.add(game_hashes(games.reshape(-1), np.arange(0, games.size, games.shape[1])))
            self.filters.count("duplicate games", ~first)
            games = games[first]
        output.write(games.reshape(-1), len(games), len(games))

    def _write_positions(self, output: Output, kept: _Kept) -> None:
        """Write positions, the first of equal ones where duplicates are dropped or merged."""
        positions, first = kept.positions, np.ones(len(kept.positions), bool)
        if self.options.duplicates == "drop":
            first = output.seen.add(kept.hashes)
        elif self.options.duplicates == "merge":
            merged = output.sums.merged(kept.hashes)
            first = merged.first
            positions["kind_of_result"][positions["result"] != merged.results] = 0
            positions["kind_of_result"][merged.played] &= ~np.uint8(NO_GAME)
            positions["result"], positions["scored"], positions["score"] = merged.results, merged.scored, merged.scores
        self.filters.count("duplicate positions", ~first)
        games = 0 if kept.game_of is None else len(np.unique(kept.game_of[first]))
        output.write_positions(positions[first], games)


def reasons_text(counts: dict[str, int] | Counter[str]) -> str:
    """Return counts by reason as `3 games of this, 1 game of that`; an empty string for no counts."""
    return ", ".join(
        f"{count:,} {_SEVERAL.sub('', reason, count=1) if count == 1 else reason}" for reason, count in counts.items()
    )
