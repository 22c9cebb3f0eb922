"""Games and records of every format to hcpe, hcpe3 or psv; filtered, split, freed of duplicates."""

from __future__ import annotations

import re
import sys
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from lite.amounts import amount
from lite.datasets.chunks import Chunk, ChunkReader, Games, data_files, file_format, holds_games
from lite.datasets.duplicates import HashCounts, HashSet
from lite.networks.limits import check_choice
from lite.records.encode import copy_games, game_hashes, one_move_games, position_hashes, position_records
from lite.records.formats import (
    DECLARATION,
    DRAW,
    HCPE,
    HCPE3,
    MOVE_LIMIT,
    NO_GAME,
    PSV,
    RECORD_SUFFIXES,
    SENNICHITE,
    WINNER_MASK,
    record_format,
)
from search.rules import huffman
from search.system.bounds import check_numbers
from search.system.files import WholeFile, check_output
from search.system.paths import take_paths

LeaveOut = Literal["draw", "sennichite", "declaration", "move-limit"]
Duplicates = Literal["keep", "drop", "merge"]
_TEST_SHARE = 0.1
_SEVERAL = re.compile(r"(?<=\bgame)s\b|(?<=\bposition)s\b")
_KIND_BITS = {"sennichite": SENNICHITE, "declaration": DECLARATION, "move-limit": MOVE_LIMIT}


@dataclass(frozen=True)
class Conversion:
    """What is converted, and what is left out of it."""

    inputs: tuple[Path, ...]
    """Files, or directories with files of these formats at any depth: .csa .kif .kifu .ki2 .ki2u .usi .sfen .txt
    .hcpe .hcpe3 .psv, and, named itself, .bin (psv)."""
    output: Path
    """The file to write; its suffix says which format. A missing directory is made."""
    test_share: float | None = None
    """Hold out this share for testing: whole games, or positions by their hash where the input has no games. `-o
    all.hcpe3` then becomes all.train.hcpe3 and all.test.hcpe3."""
    test_output: Path | None = None
    """Another file of the same format for the held-out share (a tenth, unless --test-share says how much); --output is
    the other part."""
    seed: int = 0
    """Another seed holds out other games."""
    min_rating: float | None = None
    """Both players at least this strong (floodgate's ratings in CSA files; games without ratings are left out)."""
    min_plies: int = 0
    """Games of at least so many moves."""
    max_plies: int | None = None
    """Games of at most so many moves."""
    leave_out: tuple[LeaveOut, ...] = ()
    """Games that ended so."""
    from_ply: int = 0
    """Positions after at least so many moves (positions of unknown ply stay)."""
    skip_in_check: bool = False
    """Leave out positions where the mover is in check."""
    max_score: int | None = None
    """Leave out positions with a larger |score|."""
    require_score: bool = False
    """Leave out positions without a score."""
    duplicates: Duplicates = "keep"
    """Equal positions (in hcpe3: equal games): keep all, drop all but the first, or merge into one of mean score and
    most frequent result of their games."""
    check_moves: bool = True
    """Refuse hcpe and psv records with an illegal move; without it only the move is dropped (for data whose positions
    were replaced after the search)."""
    overwrite: bool = False
    """Replace files that are there."""

    def __post_init__(self) -> None:
        take_paths(self)
        if isinstance(self.leave_out, str):  # as one path may stand for several
            object.__setattr__(self, "leave_out", (self.leave_out,))


@dataclass
class _Output:
    """One of the files to write, and its counts."""

    file: WholeFile
    form: str
    games: int = 0
    positions: int = 0
    size: int = 0
    seen: HashSet = field(default_factory=HashSet)
    """What was written, to drop duplicates."""
    sums: HashCounts = field(default_factory=HashCounts)
    """What is to be written, to merge them."""

    def write(self, raw: np.ndarray, positions: int, games: int) -> None:
        self.file.write(raw.tobytes())
        self.size += raw.size
        self.positions += positions
        self.games += games


def convert(options: Conversion) -> dict[str, Any]:
    """Do what the options say; a summary for JSON. Raises OSError or ValueError in words, and then writes nothing.

    files: how many were read. records_read, refused ({reason: how many}), first_refused (their names): of hcpe, hcpe3
    and psv. games_read, positions_read: what was in them. left_out: {reason: how many games or positions, as it says}.
    without_score: positions of those read. outputs: for each file that was written its path, games, positions and
    bytes. warnings: the lines that standard error was told.
    """
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
            raise ValueError(f"nothing is left to write: {counted(work.left_out) or 'no positions were read'}")
        _check_parts(outputs)
        for output in outputs:
            output.file.finish()
    return {
        "files": len(files),
        **work.reader.refusals.figures(),
        "games_read": work.games_read,
        "positions_read": work.positions_read,
        "left_out": dict(work.left_out.most_common()),
        "without_score": work.unscored,
        "outputs": [
            {"path": str(output.file.path), "games": output.games, "positions": output.positions, "bytes": output.size}
            for output in outputs
        ],
        "warnings": warnings,
    }


def _paths(options: Conversion) -> list[Path]:
    """The files to write: one, or the part to train on and the part to test on."""
    path = options.output
    if options.test_output is not None:
        return [path, options.test_output]
    if options.test_share is not None:
        return [path.with_name(f"{path.stem}.{part}{path.suffix}") for part in ("train", "test")]
    return [path]


def _check(options: Conversion, files: list[Path]) -> None:
    """What cannot be done, before anything is read."""
    check_choice("duplicates", options.duplicates, get_args(Duplicates))
    for name in options.leave_out:
        check_choice("leave_out", name, get_args(LeaveOut))
    paths = _paths(options)
    for path in paths:
        check_output(path, RECORD_SUFFIXES, options.overwrite, files)
        if record_format(path) == HCPE3 and options.duplicates == "merge":
            raise ValueError(f"{path}: whole games cannot be merged; use --duplicates drop, or write hcpe or psv")
    if len(paths) == 2 and paths[0].resolve() == paths[1].resolve():
        raise ValueError(f"{options.output}: both outputs are this file")
    if record_format(paths[-1]) != record_format(paths[0]):
        raise ValueError(
            f"{paths[1]}: both parts are written in one format; name it {paths[1].stem}{paths[0].suffix}, or change -o"
        )
    if options.test_share is not None and not 0.0 < options.test_share < 1.0:
        raise ValueError(f"--test-share {options.test_share}: a share lies between 0 and 1")
    check_numbers(options, "min_plies", "max_plies", "from_ply", "max_score", least=0)
    if options.seed < 0:
        raise ValueError(f"--seed {options.seed}: must be 0 or more")
    if options.min_rating is not None and (bad := [path for path in files if file_format(path) != "csa"]):
        raise ValueError(f"{bad[0]}: only CSA files hold ratings; leave --min-rating out")
    if (options.min_plies or options.max_plies is not None) and (bad := [f for f in files if not holds_games(f)]):
        raise ValueError(f"{bad[0]}: this format holds positions, not games; leave --min-plies and --max-plies out")


def _check_parts(outputs: list[_Output]) -> None:
    """Raises ValueError if chance has left one of them empty, which no reader takes for data."""
    games = sum(output.games for output in outputs)
    of = amount(games, "game") if games else amount(sum(output.positions for output in outputs), "position")
    for output in outputs:
        if not output.positions:
            raise ValueError(
                f"{output.file.path}: of {of} none falls to this part; give more, another --test-share or --seed, or "
                "write one file"
            )


def _warnings(options: Conversion, files: list[Path]) -> list[str]:
    lines = []
    flat = [path for path in files if not holds_games(path)]
    if len(_paths(options)) == 2 and flat:
        lines.append(
            f"{flat[0].name}{' and others' if len(flat) > 1 else ''}: positions without their games are split by "
            "position; positions of one game land on both sides, and accuracy on the test file is too good"
        )
    if flat and record_format(options.output) == HCPE3:
        lines.append("positions without their games become games of one move")
    if any(file_format(path) == PSV for path in files) and set(options.leave_out) - {"draw"}:
        lines.append("psv does not say how a game ended: --leave-out finds only draws in it")
    return lines


class _Work:
    """One pass over the inputs (two when merging), with its counts."""

    def __init__(self, options: Conversion, files: list[Path], outputs: list[_Output]) -> None:
        self.options = options
        self.files = files
        self.outputs = outputs
        self.reader: ChunkReader

    def run(self, merge_pass: bool = False) -> None:
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
            # Nothing of these games is left out: their bytes as they are.
            stops = games.starts + 36 + 6 * games.plies.astype(np.int64) + 4 * games.candidates
            parts = [games.raw[start:stop] for start, stop in zip(games.starts[mine], stops[mine], strict=True)]
            output.write(np.concatenate(parts), positions, len(parts))
            return
        out = np.empty(games.raw.size * 2, np.uint8)
        size = copy_games(games.raw, games.starts, mine, keep, out)
        output.write(out[:size], positions, int(mine.sum()))

    def _keep_games(self, games: Games) -> np.ndarray:
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
        for name in self.options.leave_out:
            ended = (results & WINNER_MASK) == DRAW if name == "draw" else (results & _KIND_BITS[name]) != 0
            keep = keep & self._pass(f"{what} ended by {name}", ~ended, keep)
        return keep

    def _keep_positions(
        self, positions: np.ndarray, results: np.ndarray | None, among: np.ndarray | None = None
    ) -> np.ndarray:
        """Which positions the options keep; counted are those `among` the ones that are still there."""
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
        self._count(reason, among & ~good)
        return good

    def _count(self, reason: str, which: np.ndarray) -> None:
        if count := int(which.sum()):
            self.left_out[reason] += count

    @staticmethod
    def _result_bytes(positions: np.ndarray) -> np.ndarray:
        """Draw or not, and the kind's bits, as a result byte has them; who won does not matter to the filters. What no
        game stands behind is no draw."""
        drawn = (positions["result"] == 0.5) & (positions["kind_of_result"] & NO_GAME == 0)
        return (np.where(drawn, DRAW, 1) | positions["kind_of_result"]).astype(np.uint8)

    def _side(self, hashes: np.ndarray) -> np.ndarray:
        """0 for the output, 1 for the test output, by hash and seed."""
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
        """Write positions to the output of their side (their games', or their own by hash)."""
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
        self._count("positions without a game, for which hcpe3 has no word", ~played)
        moved = positions["move"] != 0
        self._count("positions without a move", played & ~moved)
        games = one_move_games(positions[played & moved])
        if self.options.duplicates == "drop":
            first = output.seen.add(game_hashes(games.reshape(-1), np.arange(0, games.size, games.shape[1])))
            self._count("duplicate games", ~first)
            games = games[first]
        output.write(games.reshape(-1), len(games), len(games))

    def _without_duplicates(self, output: _Output, mine: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What is left of positions with these hashes, and which ones that are, bool."""
        if self.options.duplicates == "drop":
            first = output.seen.add(keys)
        else:
            first, results, played, scored, scores = output.sums.merged(keys)
            mine["kind_of_result"][mine["result"] != results] = 0
            mine["kind_of_result"][played] &= ~np.uint8(NO_GAME)
            mine["result"], mine["scored"], mine["score"] = results, scored, scores
        self._count("duplicate positions", ~first)
        return mine[first], first


def counted(counts: dict[str, int] | Counter[str]) -> str:
    """`3 games of this, 1 game of that`; empty for none."""
    return ", ".join(
        f"{count:,} {_SEVERAL.sub('', reason, count=1) if count == 1 else reason}" for reason, count in counts.items()
    )
