"""Recorded positions, read in blocks for jobs to work on."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from experiments.factory.expand import ExpandJob
from lite.records.encode import position_records
from lite.records.file import RecordFile, Refusals
from lite.records.formats import HCPE, hcpe_dtype, record_files
from search.rules.huffman import HCP


class Sources:
    """The positions of record files in order, `positions` of them per job. Raises OSError or RecordError for a file
    that holds no records."""

    def __init__(self, data: Sequence[Path], positions: int) -> None:
        # Moves are not checked: positions may have been replaced since their search.
        self._files = [RecordFile(path, check_moves=False, block_positions=positions) for path in record_files(data)]
        self.refusals = Refusals()
        """Records that could not be read so far, each counted once."""
        for file in self._files:
            self.refusals.add(file.lost)

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
                    records = position_records(file.read_block(block, refused), HCPE, HCP).view(hcpe_dtype)
                    of_file.add(refused)
                    if turn == 0:
                        self.refusals.add(refused)
                    yield number, ExpandJob(number, turn, records[::every])
                    number += 1
                file.judge(of_file)

    def report_refused(self) -> None:
        """Print a line on standard error if records were refused."""
        if self.refusals.refused:
            print(f"left out: {self.refusals}", file=sys.stderr)
