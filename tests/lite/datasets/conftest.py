"""Conversions and sixty games for the tests of data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lite.datasets.conversion import Conversion
from lite.datasets.convert import ConversionSummary, convert
from lite.records.batch import BATCH_FIELDS, Batch


def run(output: Path, *inputs: Path, **options: Any) -> ConversionSummary:
    return convert(Conversion(tuple(inputs), output, **({"overwrite": True} | options)))


def differing(first: Batch, second: Batch) -> set[str]:
    assert len(first) == len(second)
    return {name for name in BATCH_FIELDS if not np.array_equal(getattr(first, name), getattr(second, name))}


@pytest.fixture
def games(sample_bytes: list[bytes], tmp_path: Path) -> Path:
    """A file of sixty games, with a sennichite and with the first game twice."""
    drawn = next(game for game in sample_bytes if game[34] == 4)
    path = tmp_path / "games.hcpe3"
    decided = [game for game in sample_bytes if game[34] in (1, 2)]
    path.write_bytes(b"".join(decided[:58]) + drawn + decided[0])
    return path
