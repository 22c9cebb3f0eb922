"""Convert games and records of every format to hcpe, hcpe3 or psv; filter, split and deduplicate them."""

from __future__ import annotations

import re
import sys
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from lite.amounts import amount
from lite.datasets.chunks import Chunk, ChunkReader, Games, data_files, file_format, holds_games
from lite.datasets.duplicates import HashCounts, HashSet
from lite.networks.limits import check_choice
from lite.notation.games import game_format
from lite.records.encode import copy_games, game_hashes, one_move_games, position_hashes, position_records
from lite.records.formats import (
    DECLARATION,
    DRAW,
    HCPE,
    HCPE3,
    MOVE_LIMIT,
    NO_GAME,
    PSV,
    SENNICHITE,
    WINNER_MASK,
    WRITTEN_SUFFIXES,
    record_format,
)
from search.rules import huffman
from search.system.bounds import check_number, check_numbers
from search.system.files import WholeFile, check_output
from search.system.options import OptionError
from search.system.paths import take_paths

LeaveOut = Literal["draw", "sennichite", "declaration", "move-limit"]
Duplicates = Literal["keep", "drop", "merge"]
_TEST_SHARE = 0.1
_SEVERAL = re.compile(r"(?<=\bgame)s\b|(?<=\bposition)s\b")
_KIND_BITS = {"sennichite": SENNICHITE, "declaration": DECLARATION, "move-limit": MOVE_LIMIT}


@dataclass(frozen=True)
class Conversion:
    """Options of a conversion: inputs, outputs and filters."""

    inputs: tuple[Path, ...]
    """Game and record files, or directories with such files at any depth: .csa .kif .kifu .ki2 .ki2u .usi .sfen .hcpe
    .hcpe3 .psv .pack. Files .txt (games) and .bin (psv) are read only if they are given themselves."""
    output: Path
    """File to write; the suffix decides the format. Missing directories are made."""
    test_share: float | None = None
    """Share to hold out for testing: whole games, or single positions if the input has no games. The output
    all.hcpe3 becomes all.train.hcpe3 and all.test.hcpe3."""
    test_output: Path | None = None
    """File for the held-out share, in the same format as the output; the share defaults to a tenth."""
    seed: int = 0
    """Random seed for the choice of the held-out games."""
    min_rating: float | None = None
    """Minimum rating of both players, from floodgate's CSA files. Games without ratings are left out."""
    min_plies: int = 0
    """Minimum number of moves of a game."""
    max_plies: int | None = None
    """Maximum number of moves of a game."""
    leave_out: tuple[LeaveOut, ...] = ()
    """Endings of games to leave out."""
    from_ply: int = 0
    """Leave out positions before this ply (positions of unknown ply are kept)."""
    skip_in_check: bool = False
    """Leave out positions in which the side to move is in check."""
    max_score: int | None = None
    """Leave out positions with a larger absolute score, in centipawns."""
    require_score: bool = False
    """Leave out positions without a score."""
    duplicates: Duplicates = "keep"
    """Treatment of equal positions (in hcpe3: equal games): keep all, drop all except the first, or merge them into one
    with their mean score and most frequent game result."""
    check_moves: bool = True
    """Refuse hcpe and psv records with an illegal move. Otherwise only the move is dropped (for data whose positions
    were replaced after the search)."""
    overwrite: bool = False
    """Replace existing files."""

    def __post_init__(self) -> None:
        take_paths(self)
        if isinstance(self.leave_out, str):  # one word instead of a tuple, as one path instead of several
            object.__setattr__(self, "leave_out", (self.leave_out,))


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


@dataclass
class _Output:
    """One of the files to write, and its counts."""

    file: WholeFile
    form: str
    games: int = 0
    positions: int = 0
    size: int = 0
    seen: HashSet = field(default_factory=HashSet)
    """Hashes of everything written, to drop duplicates."""
    sums: HashCounts = field(default_factory=HashCounts)
    """Counts of everything to write, to merge duplicates."""

    def write(self, raw: np.ndarray, positions: int, games: int) -> None:
        """Write bytes that hold `positions` positions of `games` games."""
        self.file.write(raw.tobytes())
        self.size += raw.size
        self.positions += positions
        self.games += games


def convert(options: Conversion) -> ConversionSummary:
    """Convert files as the options say. Raises OSError or ValueError, and then writes nothing."""
    files = data_files(options.inputs)
    _check(options, files)
    warnings = _warnings(options, files)
    for line in warnings:
        print(f"warning: {line}", file=sys.stderr)
    with ExitStack() as stack:
        outputs = [_Output(stack.enter_context(WholeFile(path)), record_format(path)) for path in _paths(options)]
        work = _Work(options, files, outputs)
        if options.duplicates == "merge":
            work.run(merge_pass=True)
        work.run()
        if not any(output.positions for output in outputs):
            reason = f"left out: {reasons_text(work.left_out)}" if work.left_out else "no positions were read"
            raise ValueError(f"{options.output}: no position to write; {reason}")
        _check_parts(outputs)
        for output in outputs:
            output.file.finish()
    refusals = work.reader.refusals
    return ConversionSummary(
        len(files),
        refusals.read,
        dict(refusals.reasons.most_common()),
        refusals.named,
        work.games_read,
        work.positions_read,
        dict(work.left_out.most_common()),
        work.unscored,
        tuple(WrittenFile(str(output.file.path), output.games, output.positions, output.size) for output in outputs),
        warnings,
    )


def _paths(options: Conversion) -> list[Path]:
    """Return the files to write: one, or one for training and one for testing."""
    path = options.output
    if options.test_output is not None:
        return [path, options.test_output]
    if options.test_share is not None:
        return [path.with_name(f"{path.stem}.{part}{path.suffix}") for part in ("train", "test")]
    return [path]


def _check(options: Conversion, files: list[Path]) -> None:
    """Raise ValueError or OSError for options that cannot be used, before anything is read."""
    check_choice("duplicates", options.duplicates, get_args(Duplicates))
    for name in options.leave_out:
        check_choice("leave_out", name, get_args(LeaveOut))
    paths = _paths(options)
    for path in paths:
        check_output(path, WRITTEN_SUFFIXES, options.overwrite, files)
        if record_format(path) == HCPE3 and options.duplicates == "merge":
            raise OptionError(
                f"`duplicates` merge: {path} holds whole games, which cannot be merged; drop duplicates, or write hcpe "
                "or psv",
                "duplicates",
            )
    if len(paths) == 2 and paths[0].resolve() == paths[1].resolve():
        raise OptionError(f"`test_output` {paths[1]}: must be another file than `output`", "test_output", "output")
    if record_format(paths[-1]) != record_format(paths[0]):
        raise OptionError(
            f"`test_output` {paths[1]}: must have the format of `output`; name it {paths[1].stem}{paths[0].suffix}",
            "test_output",
            "output",
        )
    if options.test_share is not None and not 0.0 < options.test_share < 1.0:
        raise OptionError(f"`test_share` {options.test_share}: must be between 0 and 1", "test_share")
    check_numbers(options, "min_plies", "max_plies", "from_ply", "max_score", least=0)
    check_number("seed", options.seed, least=0, most=None)
    if options.min_rating is not None and (bad := [path for path in files if game_format(path) is None]):
        raise OptionError(
            f"`min_rating` {options.min_rating:g}: {bad[0]} holds records, which have no ratings; give CSA games",
            "min_rating",
        )
    if bad := [path for path in files if not holds_games(path)]:
        for option in ("min_plies", "max_plies"):
            if (plies := getattr(options, option)) != getattr(Conversion, option):
                raise OptionError(f"`{option}` {plies}: {bad[0]} holds single positions, not games", option)


def _check_parts(outputs: list[_Output]) -> None:
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


def _warnings(options: Conversion, files: list[Path]) -> list[str]:
    """Return warnings about combinations of inputs and options that may mislead."""
    lines = []
    flat = [path for path in files if not holds_games(path)]
    if len(_paths(options)) == 2 and flat:
        lines.append(
            f"{flat[0].name}{' and others' if len(flat) > 1 else ''}: positions without their games are split by "
            "position, so both parts hold positions of the same games, and accuracy on the test file is too high"
        )
    if flat and record_format(options.output) == HCPE3:
        lines.append("positions without their games become games of one move")
    if any(file_format(path) == PSV for path in files) and set(options.leave_out) - {"draw"}:
        lines.append("psv does not record how a game ended, so only draws can be left out of it")
    return lines


class _Work:
    """One pass over the inputs (two if duplicates are merged), with its counts."""

    def __init__(self, options: Conversion, files: list[Path], outputs: list[_Output]) -> None:
        self.options = options
        self.files = files
        self.outputs = outputs
        self.reader: ChunkReader

    def run(self, merge_pass: bool = False) -> None:
        """Read all inputs and write the outputs; `merge_pass` only counts duplicates to be merged."""
        self.left_out: Counter[str] = Counter()
        self.games_read = self.positions_read = self.unscored = 0
        self.reader = ChunkReader(self.files, self.options.check_moves)
        for chunk in self.reader:
            self.positions_read += len(chunk.positions)
            self.unscored += int((~chunk.positions["scored"]).sum())
            games = chunk.games
            if games is not None:
                self.games_read += len(games.starts)
                self._games_chunk(chunk, games, merge_pass)
            else:
                keep = self._keep_positions(chunk.positions, self._result_bytes(chunk.positions))
                self._positions(chunk.positions[keep], None, merge_pass)

    def _games_chunk(self, chunk: Chunk, games: Games, merge_pass: bool) -> None:
        keep_games = self._keep_games(games)
        hashes = game_hashes(games.raw, games.starts)
        game_of = np.repeat(np.arange(len(games.starts)), games.counts)
        keep = keep_games[game_of] & self._keep_positions(chunk.positions, None, keep_games[game_of])
        side = self._side(hashes)
        if self.outputs[0].form != HCPE3:
            self._positions(chunk.positions[keep], side[game_of][keep], merge_pass, game_of[keep])
            return
        left = np.bincount(game_of[keep], minlength=len(games.starts)) > 0
        self._count("games without a position left", keep_games & ~left)
        keep_games &= left
        for number, output in enumerate(self.outputs):
            mine = keep_games & (side == number)
            if self.options.duplicates == "drop" and mine.any():
                first = np.zeros(len(mine), bool)
                first[mine] = output.seen.add(hashes[mine])
                self._count("duplicate games", mine & ~first)
                mine = first
            self._write_games(output, games, mine, keep, game_of)

    def _write_games(
        self, output: _Output, games: Games, mine: np.ndarray, keep: np.ndarray, game_of: np.ndarray
    ) -> None:
        if not mine.any():
            return
        positions = int((keep & mine[game_of]).sum())
        if keep[mine[game_of]].all():
            # No position of these games is left out, so their bytes are copied unchanged.
            stops = games.starts + 36 + 6 * games.plies.astype(np.int64) + 4 * games.candidates
            parts = [games.raw[start:stop] for start, stop in zip(games.starts[mine], stops[mine], strict=True)]
            output.write(np.concatenate(parts), positions, len(parts))
            return
        out = np.empty(games.raw.size * 2, np.uint8)
        size = copy_games(games.raw, games.starts, mine, keep, out)
        output.write(out[:size], positions, int(mine.sum()))

    def _keep_games(self, games: Games) -> np.ndarray:
        """Return a mask of the games that the options keep."""
        options = self.options
        keep = np.ones(len(games.starts), bool)
        if options.min_rating is not None:
            keep &= self._pass("games below the rating, or without one", games.ratings >= options.min_rating, keep)
        if options.min_plies:
            keep &= self._pass("games too short", games.plies >= options.min_plies, keep)
        if options.max_plies is not None:
            keep &= self._pass("games too long", games.plies <= options.max_plies, keep)
        return self._keep_results(games.results, keep, "games")

    def _keep_results(self, results: np.ndarray, keep: np.ndarray, what: str) -> np.ndarray:
        """Return `keep` without the results that are to be left out."""
        for name in self.options.leave_out:
            ended = (results & WINNER_MASK) == DRAW if name == "draw" else (results & _KIND_BITS[name]) != 0
            keep = keep & self._pass(f"{what} ended by {name}", ~ended, keep)
        return keep

    def _keep_positions(
        self, positions: np.ndarray, results: np.ndarray | None, among: np.ndarray | None = None
    ) -> np.ndarray:
        """Return a mask of the positions that the options keep, among those of the mask `among`."""
        options = self.options
        keep = np.ones(len(positions), bool) if among is None else among.copy()
        if results is not None:
            keep = self._keep_results(results, keep, "positions of games")
        if options.from_ply:
            early = (positions["ply"] >= 0) & (positions["ply"] < options.from_ply)
            keep &= self._pass("positions too early", ~early, keep)
        if options.skip_in_check:
            keep &= self._pass("positions in check", ~positions["in_check"], keep)
        if options.max_score is not None:
            small = np.abs(positions["score"].astype(np.int32)) <= options.max_score
            keep &= self._pass("positions with too large a score", small, keep)
        if options.require_score:
            keep &= self._pass("positions without a score", positions["scored"], keep)
        return keep

    def _pass(self, reason: str, good: np.ndarray, among: np.ndarray) -> np.ndarray:
        """Count those of `among` that are not good under `reason`, and return the good ones."""
        self._count(reason, among & ~good)
        return good

    def _count(self, reason: str, which: np.ndarray) -> None:
        if count := int(which.sum()):
            self.left_out[reason] += count

    @staticmethod
    def _result_bytes(positions: np.ndarray) -> np.ndarray:
        """Return result bytes for the filters, which need only draws and the bits of the kind. A position without a
        game is no draw."""
        drawn = (positions["result"] == 0.5) & (positions["kind_of_result"] & NO_GAME == 0)
        return (np.where(drawn, DRAW, 1) | positions["kind_of_result"]).astype(np.uint8)

    def _side(self, hashes: np.ndarray) -> np.ndarray:
        """Return for each hash 0 for the output or 1 for the test output; depends on the seed."""
        if len(self.outputs) == 1:
            return np.zeros(len(hashes), np.int64)
        share = _TEST_SHARE if self.options.test_share is None else self.options.test_share
        seed = np.random.default_rng(self.options.seed).integers(1 << 63, dtype=np.uint64)
        mixed = (hashes ^ seed) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        return ((mixed >> np.uint64(11)).astype(np.float64) / float(1 << 53) < share).astype(np.int64)

    def _positions(
        self, positions: np.ndarray, side: np.ndarray | None, merge_pass: bool, game_of: np.ndarray | None = None
    ) -> None:
        """Write positions to the output of their side, which is that of their game or follows from their own hash."""
        hashes = position_hashes(positions)
        if side is None:
            side = self._side(hashes)
        for number, output in enumerate(self.outputs):
            which = np.flatnonzero(side == number)
            mine, keys = positions[which], hashes[which]
            if merge_pass:
                played = mine["kind_of_result"] & NO_GAME == 0
                output.sums.add(keys, mine["result"], played, mine["scored"], mine["score"])
                continue
            if self.options.duplicates == "merge" or (self.options.duplicates == "drop" and output.form != HCPE3):
                mine, first = self._without_duplicates(output, mine, keys)
                which = which[first]
            if output.form == HCPE3:
                self._write_one_move_games(output, mine)
            else:
                games = len(np.unique(game_of[which])) if game_of is not None else 0
                dialect = huffman.HCP if output.form == HCPE else huffman.PSV
                output.write(position_records(mine, output.form, dialect), len(mine), games)

    def _write_one_move_games(self, output: _Output, positions: np.ndarray) -> None:
        played = positions["kind_of_result"] & NO_GAME == 0
        self._count("positions without a game, which hcpe3 cannot hold", ~played)
        moved = positions["move"] != 0
        self._count("positions without a move", played & ~moved)
        games = one_move_games(positions[played & moved])
        if self.options.duplicates == "drop":
            first = output.seen.add(game_hashes(games.reshape(-1), np.arange(0, games.size, games.shape[1])))
            self._count("duplicate games", ~first)
            games = games[first]
        output.write(games.reshape(-1), len(games), len(games))

    def _without_duplicates(self, output: _Output, mine: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the positions that remain after dropping or merging duplicates, and a mask of them."""
        if self.options.duplicates == "drop":
            first = output.seen.add(keys)
        else:
            merged = output.sums.merged(keys)
            first = merged.first
            mine["kind_of_result"][mine["result"] != merged.results] = 0
            mine["kind_of_result"][merged.played] &= ~np.uint8(NO_GAME)
            mine["result"], mine["scored"], mine["score"] = merged.results, merged.scored, merged.scores
        self._count("duplicate positions", ~first)
        return mine[first], first


def reasons_text(counts: dict[str, int] | Counter[str]) -> str:
    """Return counts by reason as `3 games of this, 1 game of that`; an empty string for no counts."""
    return ", ".join(
        f"{count:,} {_SEVERAL.sub('', reason, count=1) if count == 1 else reason}" for reason, count in counts.items()
    )
