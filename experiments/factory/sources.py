"""Recorded positions, read in blocks for jobs to work on."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

import numpy as np

from experiments.factory.expand import ExpandJob
from experiments.labels.following_scores import following_scores
from lite.records.batch import labelled_dtype
from lite.records.encode import position_records
from lite.records.file import Block, RecordFile, Refusals
from lite.records.formats import GAME_FORMATS, HCPE, hcpe_dtype, record_files
from search.rules.huffman import HCP
from search.score import CP_PER_LOGIT
from search.system.options import OptionError


class Sources:
    """The positions of record files in order, `positions` of them per job.

    discount: if above 0, scores are those of `following_scores` with this discount and `cp_per_logit`. Raises OSError
    or RecordError for a file that holds no records, and OptionError for one without whole games if `discount` is above
    0."""

    def __init__(
        self, data: Sequence[Path], positions: int, discount: float = 0.0, cp_per_logit: float = CP_PER_LOGIT
    ) -> None:
        # Moves are not checked: positions may have been replaced since their search.
        self._files = [RecordFile(path, check_moves=False, block_positions=positions) for path in record_files(data)]
        self.refusals = Refusals()
        """Records that could not be read so far, each counted once."""
        self._discount, self._cp_per_logit = discount, cp_per_logit
        for file in self._files:
            self.refusals.add(file.lost)
            if discount and file.format not in GAME_FORMATS:
                raise OptionError(f"`discount`: {file.path} has no whole games; give hcpe3", "discount", "data")

    def __len__(self) -> int:
        """Return the number of jobs of one pass over the positions."""
        return sum(len(file.blocks) for file in self._files)

    def jobs(self, again: bool = False, every: int = 1) -> Iterator[tuple[int, ExpandJob]]:
        """Yield numbered jobs, in one pass or (`again`) in endless passes, each with every `every`-th position of its
        block. Raises RecordError where a file turns out to be mostly unreadable."""
        number = 0
        for turn in count() if again else range(1):
            for file in self._files:
                of_file = Refusals()
                for block in file.blocks:
                    refused = Refusals()
                    records = position_records(self._read(file, block, refused), HCPE, HCP).view(hcpe_dtype)
                    of_file.add(refused)
                    if turn == 0:
                        self.refusals.add(refused)
                    yield number, ExpandJob(number, turn, records[::every])
                    number += 1
                file.check_refusals(of_file)

    def _read(self, file: RecordFile, block: Block, refused: Refusals) -> np.ndarray:
        """Return the positions of a block, as `RecordFile.read_block` does, with the scores to be used."""
        if not self._discount:
            return file.read_block(block, refused)
        room = np.empty(block.positions, labelled_dtype)
        games = file.decode_games(file.raw_block(block), block, refused, room)
        games.positions["score"] = following_scores(games.positions, games.counts, self._discount, self._cp_per_logit)
        return games.positions

    def report_refused(self) -> None:
        """Print a line on standard error if records were refused."""
        if self.refusals.refused:
            print(f"left out: {self.refusals}", file=sys.stderr)
