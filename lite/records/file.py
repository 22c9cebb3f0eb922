"""Read one record file as blocks of positions, and count the records that are refused.

Only the place of each block is kept in memory (a block of games is a run of whole games), so files may be of any size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lite.amounts import amount
from lite.records.batch import labelled_dtype
from lite.records.decode import (
    ILLEGAL_MOVE,
    RECORD_ERRORS,
    TRUNCATED,
    decode_positions,
    scan_games,
    scratch_position,
    walk_games,
    walked_dtype,
)
from lite.records.formats import GAME_FORMATS, HCPE, NO_GAME, PACK, POSITION_BYTES, RecordError, record_format
from lite.records.held_file import HeldFile
from lite.records.pack import as_games, scan_pack
from search.rules import huffman

BLOCK_POSITIONS = 16384
"""Positions per block: large enough for fast disk reads, small enough that a pool holds many blocks."""
NAMED = 5
"""Number of refused records that are named; the others are only counted."""
_SAMPLE_BLOCKS = 4
"""Blocks of a file of games that are sampled when it is opened."""
_SAMPLE_PLACES, _SAMPLE_RECORDS = 16, 64
"""Places of an hcpe or psv file that are sampled when it is opened, and records per place."""
_WINDOW = 1 << 24
"""Bytes of games scanned at a time: more than the longest game has."""


@dataclass(frozen=True)
class RefusedRecords:
    """Number of records read, and of those refused."""

    records_read: int
    """Number of records read: positions of hcpe and psv, games of other formats."""
    refused: dict[str, int]
    """Number of refused records by reason."""
    first_refused: tuple[str, ...]
    """The first few refused records, each with file, place and reason."""


@dataclass
class Refusals:
    """Counts of the records read and of the records refused, by reason."""

    read: int = 0
    """Records read: positions of hcpe and psv, games of other formats."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Number of refused records by reason."""
    named: list[str] = field(default_factory=list)
    """The first few refused records, each with file, place and reason."""

    @property
    def refused(self) -> int:
        """The number of refused records."""
        return sum(self.reasons.values())

    def refuse(self, place: str, reason: str) -> None:
        """Count one refused record at `place` (file and record)."""
        self.enter(reason, f"{place}: {reason}")

    def enter(self, reason: str, text: str) -> None:
        """Count one refused record under `reason`; `text` is the line that names it."""
        self.reasons[reason] += 1
        if len(self.named) < NAMED:
            self.named.append(text)

    def add(self, other: Refusals) -> None:
        """Add the counts of `other`, and its named records while there is room."""
        self.read += other.read
        self.reasons.update(other.reasons)
        self.named += other.named[: NAMED - len(self.named)]

    def figures(self) -> RefusedRecords:
        """Return the counts of this moment."""
        return RefusedRecords(self.read, dict(self.reasons.most_common()), tuple(self.named))

    def __str__(self) -> str:
        """Return one line with the counts, the reasons and the first refused records."""
        if not self.refused:
            return f"{amount(self.read, 'record')} read, none refused"
        why = ", ".join(f"{count:,} {reason}" for reason, count in self.reasons.most_common())
        return f"{amount(self.read, 'record')} read, {self.refused:,} refused ({why}); first: {'; '.join(self.named)}"


@dataclass(frozen=True)
class Block:
    """A run of whole records in a file."""

    start: int
    """Offset of the first byte."""
    stop: int
    """Offset of the byte after the last one."""
    records: int
    """Number of records: positions of hcpe and psv, games of hcpe3 and pack."""
    positions: int
    """Array length needed to read the block; for games this is the number of moves."""
    learnable: int
    """Positions returned if no record is refused: fewer than `positions` if only some moves have candidates."""
    first_record: int
    """Index of the first record in the file."""


@dataclass(frozen=True)
class RawBlock:
    """The bytes of a block, with the games of pack converted to hcpe3."""

    raw: np.ndarray
    """u1."""
    first_plies: np.ndarray | None = None
    """i4 (games,): plies played before each game, if the format records them."""


class RecordFile:
    """A record file that is divided into blocks and stays open, see `HeldFile`.

    check_moves: refuse hcpe and psv records with an illegal move. Without it only the move is dropped, for data whose
    positions were replaced after the search. mark_entered: set the bit ENTERED in kind_of_result (for games only, since
    only they show how they end). read_visits: set visits_at, and refuse hcpe3 games with an illegal candidate.
    Raises OSError or RecordError if the file is empty, shorter than a record, or mostly bad."""

    def __init__(
        self,
        path: Path | str,
        check_moves: bool = True,
        block_positions: int = BLOCK_POSITIONS,
        mark_entered: bool = False,
        read_visits: bool = False,
    ) -> None:
        self.path = Path(path)
        self.format = record_format(self.path)
        self.check_moves = check_moves
        self.mark_entered = mark_entered
        self.read_visits = read_visits
        self.file = HeldFile(self.path)
        self.size = self.file.size
        self.blocks: list[Block] = []
        self.lost = Refusals()
        """Records found to be unreadable while the file was divided; they belong to no block."""
        if self.size == 0:
            raise RecordError(f"{self.path}: the file is empty; remove it or write it again")
        if self.format in GAME_FORMATS:
            self._divide_games(block_positions)
        else:
            self._divide_positions(block_positions)
        self.positions = sum(block.learnable for block in self.blocks)
        """Positions that `read_block` returns for all blocks together if no record is refused."""
        self.records = sum(block.records for block in self.blocks)
        self._zero_is_score = True
        self.unscored, self._zero_is_score = self._judge_sample()
        """Share of positions without a score, estimated from a sample."""

    def _divide_positions(self, block_positions: int) -> None:
        width = POSITION_BYTES[self.format]
        count, rest = divmod(self.size, width)
        if count == 0:
            raise RecordError(f"{self.path}: {self.size} bytes are less than one {self.format} record of {width}")
        for first in range(0, count, block_positions):
            records = min(block_positions, count - first)
            self.blocks.append(Block(first * width, (first + records) * width, records, records, records, first))
        if rest:
            self.lost.read += 1
            self.lost.refuse(f"{self.path} record {count + 1}", RECORD_ERRORS[TRUNCATED])

    def _divide_games(self, block_positions: int) -> None:
        start = at = games_before = games = positions = learnable = error = 0
        scan = scan_pack if self.format == PACK else scan_games
        while at < self.size and not error:
            window = self.file.read(at, min(at + _WINDOW, self.size))
            place = 0
            while place < window.size and not error:
                wanted = np.int64(block_positions - positions)
                place, *more, error = scan(window, np.int64(place), wanted)
                games, positions, learnable = games + more[0], positions + more[1], learnable + more[2]
                if positions >= block_positions:
                    self.blocks.append(Block(start, at + place, games, positions, learnable, games_before))
                    start, games_before = at + place, games_before + games
                    games = positions = learnable = 0
            at += place
            if error == TRUNCATED and at - place + window.size < self.size:
                error = 0  # the window ends there, the file does not
        if games:
            self.blocks.append(Block(start, at, games, positions, learnable, games_before))
        if error:
            self._lose_rest(at, games_before + games + 1, error)

    def _lose_rest(self, at: int, game: int, error: int) -> None:
        """Count the game at byte `at` as refused, and with it the rest of the file. Raises RecordError if that is most
        of the file."""
        self.lost.read += 1
        left = self.size - at
        reason = RECORD_ERRORS[error]
        if error != TRUNCATED:
            reason += ", and where the next game starts is unknown"
        if left > self.size // 2:
            remedy = "; if it holds single positions of 40 bytes, rename it to .psv" if self.format == PACK else ""
            raise RecordError(
                f"{self.path}: game {game} at byte {at}: {reason}; {left:,} of {self.size:,} bytes cannot be read; "
                f"check that the file is {self.format}, or convert or copy it again{remedy}"
            )
        self.lost.refuse(f"{self.path} game {game} at byte {at} ({left:,} bytes)", reason)

    def raw_block(self, block: Block) -> RawBlock:
        """Return the bytes of a block. Raises OSError if the file was written to since it was opened."""
        raw = self.file.read(block.start, block.stop)
        return RawBlock(*as_games(raw, block.records, block.positions)) if self.format == PACK else RawBlock(raw)

    def read_block(self, block: Block, refusals: Refusals, out: np.ndarray | None = None) -> np.ndarray:
        """Return the good positions of a block as `labelled_dtype` in file order; add refused records to `refusals`.

        out: `labelled_dtype` (>= block.positions,) to write into; the result is then a slice of it. Thread-safe."""
        return self.decode_block(self.raw_block(block), block, refusals, out)

    def decode_block(
        self, found: RawBlock, block: Block, refusals: Refusals, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Do the work of `read_block` on bytes that were read before; visits_at are offsets in `found.raw`."""
        if out is None:
            out = np.empty(block.positions, labelled_dtype)
        if self.format in GAME_FORMATS:
            return self.decode_games(found, block, refusals, out).positions
        checks = (self.check_moves, self._zero_is_score)
        return _decode_records(found.raw, self.format, str(self.path), block.first_record, checks, refusals, out)

    def decode_games(self, found: RawBlock, block: Block, refusals: Refusals, out: np.ndarray) -> DecodedGames:
        """Replay the games of a block into `out`, `labelled_dtype` (>= block.positions,)."""
        first = (block.first_record, None if self.format == PACK else block.start)
        flags = (self.mark_entered, self.read_visits)
        name = str(self.path)
        return decode_games(found.raw, block.records, out, name, refusals, first, found.first_plies, *flags)

    def _judge_sample(self) -> tuple[float, bool]:
        """Decode records from several places of the file, so that a wrong file is refused before hours of work.

        Returns the share of sampled positions without a score, and whether an unmarked score of 0 is a known score. In
        formats of games it is, because each game decides this anew; in other formats it is if a position has another
        score, has no game, or is marked as unknown."""
        refusals = Refusals()
        found = unscored = 0
        zero_is_score = self.format in GAME_FORMATS
        for block in self._sample():
            positions = self.read_block(block, refusals)
            found += len(positions)
            unscored += int((~positions["scored"]).sum())
            zero_is_score |= bool(positions["score"].any() or (positions["kind_of_result"] & NO_GAME).any())
        refusals.add(self.lost)
        self.check_refusals(refusals, refusals.read)
        if not found:
            raise RecordError(f"{self.path}: no game has a move that can be used; remove it or write it again")
        zero_is_score |= unscored > 0
        return unscored / found if zero_is_score else 1.0, zero_is_score

    def _sample(self) -> Iterator[Block]:
        """Yield the blocks to sample: whole blocks of games, or short runs of hcpe or psv records from many places."""
        if self.format in GAME_FORMATS:
            count = len(self.blocks)
            for index in sorted({count * part // _SAMPLE_BLOCKS for part in range(_SAMPLE_BLOCKS)}):
                yield self.blocks[index]
            return
        width, records = POSITION_BYTES[self.format], min(self.records, _SAMPLE_RECORDS)
        for first in sorted(set(np.linspace(0, self.records - records, _SAMPLE_PLACES).astype(int).tolist())):
            yield Block(first * width, (first + records) * width, records, records, records, first)

    def check_refusals(self, refusals: Refusals, records: int | None = None) -> None:
        """Raise RecordError if more than half of this file's records (or of `records`) were refused."""
        if refusals.refused * 2 > (self.records if records is None else records):
            remedy = f"check that the file is {self.format}"
            if refusals.reasons.most_common(1)[0][0] == RECORD_ERRORS[ILLEGAL_MOVE] and self.format not in GAME_FORMATS:
                remedy += "; if its positions were replaced after the search, convert it without checking moves first"
            raise RecordError(
                f"{self.path}: {refusals.refused:,} of {amount(refusals.read, 'record')} cannot be used, the first: "
                f"{refusals.named[0]}; nothing of it is used; {remedy}"
            )


@dataclass(frozen=True)
class DecodedGames:
    """The positions of replayed hcpe3 games."""

    positions: np.ndarray
    """`labelled_dtype`: the positions of the good games, game after game."""
    starts: np.ndarray
    """i8 (games,): offset of each game's first byte."""
    errors: np.ndarray
    """u1 (games,): 0 for a good game, otherwise a key of RECORD_ERRORS."""
    counts: np.ndarray
    """i4 (games,): number of positions of each game."""


def decode_games(
    raw: np.ndarray,
    games: int,
    out: np.ndarray,
    name: str,
    refusals: Refusals,
    first: tuple[int, int | None] = (0, 0),
    first_plies: np.ndarray | None = None,
    mark_entered: bool = False,
    read_visits: bool = False,
) -> DecodedGames:
    """Replay the `games` whole hcpe3 games of `raw` (u1) into `out`, `labelled_dtype` (>= number of moves,).

    name: the file, for the names of refused games. first: number and offset of the first game in that file; an offset
    of None leaves offsets out of the names.
    first_plies: i4 (games,), plies played before each game's first position; default as in `walk_games`.
    mark_entered, read_visits: see `RecordFile`."""
    walked = np.zeros(games, walked_dtype)
    plies = np.zeros(0, np.int32) if first_plies is None else np.ascontiguousarray(first_plies, np.int32)
    taken = walk_games(raw, plies, mark_entered, read_visits, scratch_position(), out, walked)
    refusals.read += games
    for number in np.flatnonzero(walked["error"]):
        game = walked[number]
        place = f"{name} game {first[0] + number + 1}"
        if first[1] is not None:
            place += f" at byte {first[1] + game['start']}"
        if game["ply"]:
            place += f", move {game['ply'] + 1}"
        refusals.refuse(place, RECORD_ERRORS[game["error"]])
    return DecodedGames(out[:taken], *(walked[name].copy() for name in ("start", "error", "positions")))


def _decode_records(
    raw: np.ndarray,
    form: str,
    name: str,
    first_record: int,
    checks: tuple[bool, bool],
    refusals: Refusals,
    out: np.ndarray,
) -> np.ndarray:
    """Decode hcpe or psv records (u1) into `out` and return the good positions. checks: check_moves and zero_is_score
    of `decode_positions`."""
    width = POSITION_BYTES[form]
    errors = np.zeros(raw.size // width, np.uint8)
    dialect = np.int64(huffman.HCP if form == HCPE else huffman.PSV)
    taken = decode_positions(raw, np.int64(width), dialect, *checks, scratch_position(), out, errors)
    refusals.read += errors.size
    for record in np.flatnonzero(errors):
        refusals.refuse(f"{name} record {first_record + record + 1}", RECORD_ERRORS[errors[record]])
    return out[:taken]
