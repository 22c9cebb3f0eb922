"""Read record files as batches for training: shuffled across files, in bounded memory, resumable to the exact batch.

Each epoch shuffles the blocks of all files (see lite.records.file). Consecutive blocks make pools of about
`pool_positions`. Each pool is decoded in the background while the previous one is in use, and its positions are
shuffled. Every good position comes exactly once per epoch. All random draws depend only on (seed, epoch, pool), so the
place in the stream is three numbers: epoch, pool, positions taken from it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from lite.records.batch import BATCH_FIELDS, Batch, Visits, as_batch, empty_batch, labelled_dtype
from lite.records.file import BLOCK_POSITIONS, Block, RecordFile, Refusals
from lite.records.formats import record_files
from lite.records.gather import gather, gather_visits, join_visits
from lite.records.place import POOL_POSITIONS, ReaderIdentity, ReaderPlace, ReadFile

Given = TypeVar("Given")
Made = TypeVar("Made")


@dataclass(frozen=True)
class _Pool:
    """Positions decoded together."""

    positions: np.ndarray
    """`labelled_dtype`: the positions that the options keep."""
    raw: np.ndarray
    """u1: the bytes into which visits_at are offsets; empty if no visits are read."""
    refusals: dict[int, Refusals]
    """Refused records by block number."""


class Reader:
    """An iterable over batches of the positions in record files; each iteration is one epoch.

    Iteration starts at the reader's current place (the start of an epoch, or the place of `load_state_dict`) and stops
    at the end of the epoch. The next iteration is the next epoch, in another order. The last batch may be shorter.

    files: hcpe, hcpe3, psv and pack files, or directories of them. shuffle: False keeps file order in every epoch.
    skip_in_check: leave out positions in check. min_ply: leave out earlier positions (those of unknown ply are kept).
    max_score: leave out positions with a larger |score| (those without a score are kept).
    check_moves: False drops illegal moves of hcpe and psv instead of refusing their records. mark_entered: set the bit
    ENTERED in kind_of_result of games. read_visits: set `Batch.visits` of hcpe3 games. threads: number of threads that
    open files and decode pools; the positions do not depend on it.
    Raises OSError or RecordError for files that are missing, empty or mostly bad, here or while reading."""

    def __init__(
        self,
        files: Iterable[Path | str],
        batch_size: int,
        shuffle: bool = True,
        seed: int = 0,
        *,
        skip_in_check: bool = False,
        min_ply: int = 0,
        max_score: int | None = None,
        check_moves: bool = True,
        mark_entered: bool = False,
        read_visits: bool = False,
        pool_positions: int = POOL_POSITIONS,
        block_positions: int = BLOCK_POSITIONS,
        threads: int = 1,
    ) -> None:
        if min(batch_size, pool_positions, block_positions, threads) < 1:
            raise ValueError("batch_size, pool_positions, block_positions and threads must be at least 1")
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.seed = seed
        self.skip_in_check = skip_in_check
        self.min_ply = min_ply
        self.max_score = max_score
        self.mark_entered = mark_entered
        self.read_visits = read_visits
        self.pool_positions = pool_positions
        self.block_positions = block_positions
        self.threads = threads
        self.files = self._at_once(
            lambda path: RecordFile(path, check_moves, block_positions, mark_entered, read_visits),
            record_files(files),
        )
        self._blocks = [(number, block) for number, file in enumerate(self.files) for block in file.blocks]
        self._room = sum(block.positions for _, block in self._blocks)
        self.positions = sum(file.positions for file in self.files)
        """Positions per epoch, including those that are refused while reading or that the options leave out."""
        self.unscored = sum(file.unscored * file.positions for file in self.files) / max(1, self.positions)
        """Share of positions without a score, estimated from a sample of every file."""
        self.epoch = 0
        """Epoch of the next batch, from 0."""
        self._pool = 0
        self._offset = 0
        self.refusals = self.lost
        """Records refused so far; each counts once, in however many epochs it is read. Complete after one epoch."""
        self._counted_blocks: set[int] = set()
        """Blocks whose refused records are in `refusals`."""
        self.decoded = 0
        """Positions decoded so far."""
        self.decode_seconds = 0.0
        """Seconds spent decoding so far."""
        self._order: tuple[int, list[list[int]]] | None = None
        self._kept: _Pool | None = None
        self._spare: list[list[np.ndarray]] = []

    def _at_once(self, function: Callable[[Given], Made], values: Iterable[Given]) -> list[Made]:
        """Return `function` of each value, computed by `threads` threads; raises the first error in order."""
        with ThreadPoolExecutor(self.threads, thread_name_prefix="files") as threads:
            return list(threads.map(function, values))

    @property
    def lost(self) -> Refusals:
        """Records found to be unreadable when the files were opened: a truncated last game, or everything after a
        damaged one."""
        found = Refusals()
        for file in self.files:
            found.add(file.lost)
        return found

    @property
    def place(self) -> ReaderPlace:
        """The place after the last batch."""
        return ReaderPlace(self.epoch, self._pool, self._offset, self._identity)

    def resume_at(self, place: ReaderPlace) -> None:
        """Go to the place of another reader. Raises ValueError if the content of files, or options, differ."""
        place.of.require(self._identity, [file.path for file in self.files])
        self.epoch, self._pool, self._offset = place.epoch, place.pool, place.offset

    @cached_property
    def _identity(self) -> ReaderIdentity:
        """The files and options that a resumed reader must share with the interrupted one."""
        digests = self._at_once(lambda file: file.file.digest, self.files)
        return ReaderIdentity(
            files=tuple(
                ReadFile(file.path.name, file.size, digest) for file, digest in zip(self.files, digests, strict=True)
            ),
            batch_size=self.batch_size,
            shuffle=self.shuffle,
            seed=self.seed,
            skip_in_check=self.skip_in_check,
            min_ply=self.min_ply,
            max_score=self.max_score,
            check_moves=all(file.check_moves for file in self.files),
            mark_entered=self.mark_entered,
            read_visits=self.read_visits,
            pool_positions=self.pool_positions,
            block_positions=self.block_positions,
        )

    def _pools(self, epoch: int) -> list[list[int]]:
        """Return the pools of an epoch as lists of block numbers."""
        if self._order is None or self._order[0] != epoch:
            order = np.arange(len(self._blocks))
            if self.shuffle:
                order = np.random.default_rng((self.seed, epoch)).permutation(order)
            pools: list[list[int]] = []
            filled = self.pool_positions
            for number in order.tolist():
                positions = self._blocks[number][1].positions
                if filled + positions > self.pool_positions and (not pools or pools[-1]):
                    pools.append([])
                    filled = 0
                pools[-1].append(number)
                filled += positions
            self._order = (epoch, pools)
        return self._order[1]

    def _keep(self, positions: np.ndarray) -> np.ndarray:
        """Return the positions that the options keep."""
        if not (self.skip_in_check or self.min_ply > 0 or self.max_score is not None):
            return positions
        keep = np.ones(len(positions), bool)
        if self.skip_in_check:
            keep &= ~positions["in_check"]
        if self.min_ply > 0:
            keep &= (positions["ply"] < 0) | (positions["ply"] >= self.min_ply)
        if self.max_score is not None:
            keep &= np.abs(positions["score"].astype(np.int32)) <= self.max_score
        return positions[keep]

    def _decode_pool(self, numbers: list[int], out: np.ndarray) -> _Pool:
        """Decode blocks in file order into the start of `out`."""
        begun = time.perf_counter()
        numbers = sorted(numbers)
        blocks = [self._blocks[number] for number in numbers]
        starts = np.cumsum([0, *(block.positions for _, block in blocks)]).tolist()

        def decode(index: int) -> tuple[np.ndarray, np.ndarray | None, Refusals]:
            (number, block), found = blocks[index], Refusals()
            place = out[starts[index] : starts[index] + block.positions]
            read = self.files[number].raw_block(block)
            kept = self._keep(self.files[number].decode_block(read, block, found, place))
            return kept, read.raw if self.read_visits else None, found

        refusals: dict[int, Refusals] = {}
        raws: list[np.ndarray] = []
        filled = before = 0
        with ThreadPoolExecutor(self.threads, thread_name_prefix="decoder") as threads:
            for index, (kept, raw, found) in enumerate(threads.map(decode, range(len(blocks)))):
                refusals[numbers[index]] = found
                if raw is not None:
                    kept["visits_at"][kept["visits_at"] >= 0] += before
                    before += len(raw)
                    raws.append(raw)
                # Positions that were refused or left out, in this or an earlier block, leave a gap.
                if filled < starts[index] or not np.may_share_memory(kept, out):
                    out[filled : filled + len(kept)] = kept
                filled += len(kept)
        self.decoded += filled
        self.decode_seconds += time.perf_counter() - begun
        return _Pool(out[:filled], np.concatenate(raws) if raws else np.empty(0, np.uint8), refusals)

    def _pool_order(self, epoch: int, pool: int, count: int) -> np.ndarray:
        """Return the order in which a pool's positions are given."""
        if not self.shuffle:
            return np.arange(count)
        return np.random.default_rng((self.seed, epoch, pool)).permutation(count)

    def __iter__(self) -> Iterator[Batch]:
        # Memory for two pools is allocated once and reused by later iterations: fresh memory would cost more in page
        # faults than the decoding. Overlapping iterations get memory of their own.
        memory = self._spare.pop() if self._spare else [np.empty(0, labelled_dtype), np.empty(0, labelled_dtype)]
        try:
            with ThreadPoolExecutor(1, thread_name_prefix="reader") as thread:
                yield from self._epoch_batches(thread, memory)
        finally:
            self._spare.append(memory)

    def _pool_future(
        self, thread: ThreadPoolExecutor, memory: list[np.ndarray], pools: list[list[int]], pool: int
    ) -> Future:
        """Start decoding a pool; return the future `_Pool`."""
        if len(pools) == 1 and self._kept is not None:  # everything fits into one pool: decode it once for all epochs
            future: Future = Future()
            future.set_result(self._kept)
            return future
        wanted = sum(self._blocks[number][1].positions for number in pools[pool])
        if memory[pool % 2].size < wanted:
            memory[pool % 2] = np.empty(max(wanted, min(self.pool_positions, self._room)), labelled_dtype)
        return thread.submit(self._decode_pool, pools[pool], memory[pool % 2])

    def _epoch_batches(self, thread: ThreadPoolExecutor, memory: list[np.ndarray]) -> Iterator[Batch]:
        """Yield the rest of the current epoch's batches."""
        epoch = self.epoch
        pools = self._pools(epoch)
        by_file = {number: Refusals() for number in range(len(self.files))}
        batch, filled = empty_batch(self.batch_size), 0
        visits: list[Visits] = []
        ahead: Future | None = None
        start = self._offset
        for pool in range(self._pool, len(pools)):
            decoded: _Pool = (ahead or self._pool_future(thread, memory, pools, pool)).result()
            ahead = self._pool_future(thread, memory, pools, pool + 1) if pool + 1 < len(pools) else None
            if len(pools) == 1:
                self._kept = decoded
            for block, found in decoded.refusals.items():
                number = self._blocks[block][0]
                by_file[number].add(found)
                self.files[number].check_refusals(by_file[number])
                if block not in self._counted_blocks:
                    self._counted_blocks.add(block)
                    self.refusals.add(found)
            order = self._pool_order(epoch, pool, len(decoded.positions))
            taken = start
            start = 0
            while taken < len(order):
                part = order[taken : taken + self.batch_size - filled]
                gather(decoded.positions, part, batch, filled)
                if self.read_visits:
                    visits.append(gather_visits(decoded.raw, decoded.positions["visits_at"][part], filled))
                taken += len(part)
                filled += len(part)
                if filled == self.batch_size:
                    self.epoch, self._pool, self._offset = epoch, pool, taken
                    batch.visits = join_visits(visits) if visits else None
                    yield batch
                    batch, filled, visits = empty_batch(self.batch_size), 0, []
        self.epoch, self._pool, self._offset = epoch + 1, 0, 0
        if filled:
            batch.visits = join_visits(visits) if visits else None
            yield _shortened(batch, filled)


def first_positions(batches: Iterable[Batch], count: int | None) -> Iterator[Batch]:
    """Yield batches up to the first `count` positions, shortening the last one; None yields all of them."""
    left = count
    for batch in batches:
        part = batch if left is None else _shortened(batch, left)
        yield part
        if left is not None:
            left -= len(part)
            if not left:
                return


def _shortened(batch: Batch, count: int) -> Batch:
    """Return the first `count` positions of a batch, or all of them if it has fewer."""
    visits = batch.visits
    if visits is not None:
        rows = int(np.searchsorted(visits.position, count))
        visits = Visits(visits.position[:rows], visits.move[:rows], visits.visits[:rows])
    return Batch(**{name: getattr(batch, name)[:count] for name in BATCH_FIELDS}, visits=visits)


def read_all(files: Iterable[Path | str], **options: Any) -> Batch:
    """Read all good positions of small files as one Batch, in file order; `options` as for Reader."""
    reader = Reader(files, 1, shuffle=False, **options)
    everything = [number for pool in reader._pools(0) for number in pool]
    pool = reader._decode_pool(everything, np.empty(reader._room, labelled_dtype))
    batch = as_batch(pool.positions)
    if reader.read_visits:
        batch.visits = gather_visits(pool.raw, pool.positions["visits_at"].copy(), 0)
    return batch


__all__ = ["Batch", "Block", "Reader", "first_positions", "read_all"]
