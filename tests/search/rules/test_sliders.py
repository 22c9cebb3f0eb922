"""The sliders' attacks: every method gives the same."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from search.compiling.target import cpu_flags
from search.rules.bitboard import bitboards
from search.rules.shogi import SQUARES
from search.rules.sliders import (
    METHOD,
    _bishop_by_ray,
    _bishop_by_reversal,
    _rook_by_ray,
    _rook_by_reversal,
    bishop_attacks,
    rook_attacks,
)

CHECKOUT = Path(__file__).parents[3]


def assert_equal_attacks(bishop, rook) -> None:
    """Compare attacks with those by ray, on boards with few and with many pieces."""
    generator = random.Random(3)
    for _ in range(100):
        full = generator.random()
        low, high = bitboards(np.array([generator.random() < full for _ in range(SQUARES)]))
        for square in map(np.int64, range(SQUARES)):
            assert bishop(square, low, high) == _bishop_by_ray(square, low, high)
            assert rook(square, low, high) == _rook_by_ray(square, low, high)


def test_attacks_by_reversed_bytes():
    assert_equal_attacks(_bishop_by_reversal, _rook_by_reversal)


@pytest.mark.slow  # compiles everything again
@pytest.mark.skipif("bmi2" not in cpu_flags(), reason="the tables are indexed by pext")
def test_attacks_by_table():
    if METHOD == "table":
        assert_equal_attacks(bishop_attacks, rook_attacks)
        return
    command = [sys.executable, "-m", "pytest", "-q", "-m", "slow", f"{__file__}::test_attacks_by_table"]
    environment = os.environ | {"LITESHOGI_SLIDERS": "table"}
    done = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
