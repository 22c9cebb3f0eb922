"""One record file as blocks of positions: what can be read of it, in which pieces, and what had to be refused.

Nothing is held but the place of each block (a block of hcpe3 is a run of whole games), so a file may be of any size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lite.amounts import amount
from lite.records.decode import (
    RECORD_ERRORS,
    TRUNCATED,
    decode_positions,
    labelled_dtype,
    scan_games,
    scratch_position,
    walk_games,
)
from lite.records.formats import HCPE, HCPE3, NO_GAME, POSITION_BYTES, RecordError, record_format
from lite.records.held_file import HeldFile
from search.rules import huffman

BLOCK_POSITIONS = 16384
"""Positions of a block: large enough to read a disk well, small enough that a pool holds many of them."""
NAMED = 5
"""So many refused records are named; the rest are counted."""
_SAMPLE_BLOCKS = 4
"""Of hcpe3."""
_SAMPLE_PLACES, _SAMPLE_RECORDS = 16, 64
"""Of hcpe and psv."""
_WINDOW = 1 << 24
"""Bytes of games looked through at a time: more than the longest game has."""


@dataclass
class Refusals:
    """What was read, and what was refused and why."""

    read: int = 0
    """Records looked at: positions of hcpe and psv, games of hcpe3."""
    reasons: Counter[str] = field(default_factory=Counter)
    named: list[str] = field(default_factory=list)
    """The first few refused records, each with file, place and reason."""

    @property
    def refused(self) -> int:
        return sum(self.reasons.values())

    def refuse(self, place: str, reason: str) -> None:
        self.enter(reason, f"{place}: {reason}")

    def enter(self, reason: str, text: str) -> None:
        """Count one under `reason`; `text` is the line that names it."""
        self.reasons[reason] += 1
        if len(self.named) < NAMED:
            self.named.append(text)

    def add(self, other: Refusals) -> None:
        self.read += other.read
        self.reasons.update(other.reasons)
        self.named += other.named[: NAMED - len(self.named)]

    def figures(self, prefix: str = "") -> dict[str, Any]:
        """{records_read, refused: {reason: how many}, first_refused: the named}, for JSON; the names begin with
        `prefix`."""
        return {
            f"{prefix}records_read": self.read,
            f"{prefix}refused": dict(self.reasons.most_common()),
            f"{prefix}first_refused": self.named,
        }

    def __str__(self) -> str:
        """One line: how many, why, and the first of them."""
        if not self.refused:
            return f"{amount(self.read, 'record')} read, none refused"
        why = ", ".join(f"{count:,} {reason}" for reason, count in self.reasons.most_common())
        return f"{amount(self.read, 'record')} read, {self.refused:,} refused ({why}); first: {'; '.join(self.named)}"


@dataclass(frozen=True)
class Block:
    """A stretch of a file."""

    start: int
    """Its first byte."""
    stop: int
    records: int
    """Positions of hcpe and psv, games of hcpe3."""
    positions: int
    """Room that its positions need while they are read: of hcpe3 one for each move."""
    learnable: int
    """How many of them are given where none is refused: fewer in games where some moves alone have candidates."""
    first_record: int


class RecordFile:
    """A record file, opened and divided into blocks; it stays open, see `HeldFile`.

    `check_moves` refuses hcpe and psv records whose move is illegal; without it the move is dropped (for data whose
    positions were replaced by other ones after the search). `mark_entered` sets the bit ENTERED in kind_of_result, from
    hcpe3 alone: only its games show how they end. `read_visits` sets visits_at, and refuses games of hcpe3 with an
    illegal candidate. Raises OSError or RecordError when the file is empty, shorter than a record, or mostly bad."""

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
        """What the division into blocks already showed to be unreadable; part of no block."""
        if self.size == 0:
            raise RecordError(f"{self.path}: the file is empty; remove it or write it again")
        if self.format == HCPE3:
            self._divide_games(block_positions)
        else:
            self._divide_positions(block_positions)
        self.positions = sum(block.learnable for block in self.blocks)
        """How many `read_block` gives of all blocks where none is refused."""
        self.records = sum(block.records for block in self.blocks)
        self._zero_is_score = True
        self.unscored, self._zero_is_score = self._judge_sample()
        """The share of positions without a score, in a sample."""

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
        while at < self.size and not error:
            window = self.file.read(at, min(at + _WINDOW, self.size))
            place = 0
            while place < window.size and not error:
                wanted = np.int64(block_positions - positions)
                place, *more, error = scan_games(window, np.int64(place), wanted)
                games, positions, learnable = games + more[0], positions + more[1], learnable + more[2]
                if positions >= block_positions:
                    self.blocks.append(Block(start, at + place, games, positions, learnable, games_before))
                    start, games_before = at + place, games_before + games
                    games = positions = learnable = 0
            at += place
            if error == TRUNCATED and at - place + window.size < self.size:
                error = 0  # it is only the window that ends there
        if games:
            self.blocks.append(Block(start, at, games, positions, learnable, games_before))
        if error:
            self._lose_rest(at, games_before + games + 1, error)

    def _lose_rest(self, at: int, game: int, error: int) -> None:
        """Enter among the lost that the game at a byte, and with it the rest of the file, cannot be read."""
        self.lost.read += 1
        left = self.size - at
        reason = RECORD_ERRORS[error]
        if error != TRUNCATED:
            reason += ", and where the next game starts is unknown"
        if left > self.size // 2:
            raise RecordError(
                f"{self.path}: game {game} at byte {at}: {reason}; {left:,} of {self.size:,} bytes cannot be read: is "
                "it an hcpe3 file? Convert or copy it again"
            )
        self.lost.refuse(f"{self.path} game {game} at byte {at} ({left:,} bytes)", reason)

    def raw_block(self, block: Block) -> np.ndarray:
        """The block's bytes, u1. Raises OSError if the file has been written to meanwhile."""
        return self.file.read(block.start, block.stop)

    def read_block(self, block: Block, refusals: Refusals, out: np.ndarray | None = None) -> np.ndarray:
        """The block's good positions as `labelled_dtype`, in file order; the refused are entered into `refusals`.

        With `out`, `labelled_dtype` (>= block.positions,), they are written there and the result is its start. Safe to
        call from several threads."""
        return self.decode_block(self.raw_block(block), block, refusals, out)

    def decode_block(
        self, raw: np.ndarray, block: Block, refusals: Refusals, out: np.ndarray | None = None
    ) -> np.ndarray:
        """`read_block` of bytes that have been read already; their visits_at are places in `raw`."""
        name = str(self.path)
        if out is None:
            out = np.empty(block.positions, labelled_dtype)
        if self.format == HCPE3:
            first = (block.first_record, block.start)
            flags = (self.mark_entered, self.read_visits)
            return decode_games(raw, block.records, out, name, refusals, first, None, *flags).positions
        checks = (self.check_moves, self._zero_is_score)
        return _decode_records(raw, self.format, name, block.first_record, checks, refusals, out)

    def _judge_sample(self) -> tuple[float, bool]:
        """Look at records from several places of the file, so that a wrong file is refused before hours of work.

        Returns the share of positions there without a score, and whether a score of 0 without a mark is one: games say
        of themselves that theirs are none, and who marks those without a score has found the others."""
        refusals = Refusals()
        found = unscored = 0
        zero_is_score = self.format == HCPE3
        for block in self._sample():
            positions = self.read_block(block, refusals)
            found += len(positions)
            unscored += int((~positions["scored"]).sum())
            zero_is_score |= bool(positions["score"].any() or (positions["kind_of_result"] & NO_GAME).any())
        refusals.add(self.lost)
        self.judge(refusals, refusals.read)
        if not found:
            raise RecordError(f"{self.path}: no game has a move that can be used; remove it or write it again")
        zero_is_score |= unscored > 0
        return unscored / found if zero_is_score else 1.0, zero_is_score

    def _sample(self) -> Iterator[Block]:
        """Of hcpe3 some of the blocks; of the others a few records from each of as many places, all of a small file."""
        if self.format == HCPE3:
            count = len(self.blocks)
            for index in sorted({count * part // _SAMPLE_BLOCKS for part in range(_SAMPLE_BLOCKS)}):
                yield self.blocks[index]
            return
        width, records = POSITION_BYTES[self.format], min(self.records, _SAMPLE_RECORDS)
        for first in sorted(set(np.linspace(0, self.records - records, _SAMPLE_PLACES).astype(int).tolist())):
            yield Block(first * width, (first + records) * width, records, records, records, first)

    def judge(self, refusals: Refusals, records: int | None = None) -> None:
        """Raises RecordError if more than half of this file's records (or of `records`) are among the refused."""
        if refusals.refused * 2 > (self.records if records is None else records):
            illegal = " (positions replaced after the search? convert it with --no-check-moves first)"
            moves = refusals.reasons.most_common(1)[0][0] == "an illegal move" and self.format != HCPE3
            raise RecordError(
                f"{self.path}: {refusals.refused:,} of {amount(refusals.read, 'record')} cannot be used, the first: "
                f"{refusals.named[0]}; is it really {self.format}{illegal if moves else ''}? Nothing of it is used"
            )


@dataclass(frozen=True)
class DecodedGames:
    """hcpe3 games replayed."""

    positions: np.ndarray
    """`labelled_dtype`: the positions of the good games, game after game."""
    starts: np.ndarray
    """i8 (games,): each game's first byte."""
    errors: np.ndarray
    """u1 (games,): 0 for a good game, else a number of RECORD_ERRORS."""
    counts: np.ndarray
    """i4 (games,): how many of the positions are each game's."""


def decode_games(
    raw: np.ndarray,
    games: int,
    out: np.ndarray,
    name: str,
    refusals: Refusals,
    first: tuple[int, int] = (0, 0),
    first_plies: np.ndarray | None = None,
    mark_entered: bool = False,
    read_visits: bool = False,
) -> DecodedGames:
    """Replay the `games` whole hcpe3 games of `raw` (u1) into `out`, `labelled_dtype` (>= all their moves,).

    `name` stands for their file in what is refused, `first` is the number and the byte of the first game there;
    first_plies: i4 (games,), plies played before each game's first position; without it see `walk_games`;
    mark_entered, read_visits: see `RecordFile`."""
    errors, error_plies = np.zeros(games, np.uint8), np.zeros(games, np.int32)
    starts, counts = np.zeros(games, np.int64), np.zeros(games, np.int32)
    plies = np.zeros(0, np.int32) if first_plies is None else np.ascontiguousarray(first_plies, np.int32)
    flags = (mark_entered, read_visits)
    taken = walk_games(raw, plies, *flags, scratch_position(), out, errors, error_plies, starts, counts)
    refusals.read += games
    for game in np.flatnonzero(errors):
        place = f"{name} game {first[0] + game + 1} at byte {first[1] + starts[game]}"
        if error_plies[game]:
            place += f", move {error_plies[game] + 1}"
        refusals.refuse(place, RECORD_ERRORS[errors[game]])
    return DecodedGames(out[:taken], starts, errors, counts)


def _decode_records(
    raw: np.ndarray,
    form: str,
    name: str,
    first_record: int,
    checks: tuple[bool, bool],
    refusals: Refusals,
    out: np.ndarray,
) -> np.ndarray:
    """`labelled_dtype` positions of hcpe or psv records (u1), written into `out`; `checks`: check_moves and
    zero_is_score of `decode_positions`."""
    width = POSITION_BYTES[form]
    errors = np.zeros(raw.size // width, np.uint8)
    dialect = np.int64(huffman.HCP if form == HCPE else huffman.PSV)
    taken = decode_positions(raw, np.int64(width), dialect, *checks, scratch_position(), out, errors)
    refusals.read += errors.size
    for record in np.flatnonzero(errors):
        refusals.refuse(f"{name} record {first_record + record + 1}", RECORD_ERRORS[errors[record]])
    return out[:taken]
