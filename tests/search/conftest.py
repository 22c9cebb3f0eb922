"""Fixtures of the tests of the search: random and recorded games."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from search.rules.movegen import list_moves
from search.rules.position import do_move
from search.rules.sfen import position_from_sfen

# Positions that random games from the start rarely reach: full hands, entered kings, promoted pieces, checks.
ROOTS = (
    "startpos",
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
    "ln1g3nl/1r3kg2/p2pppsp1/3s2p1p/1pp4P1/P1P1SP2P/1PSPP1P2/2G2G1R1/LN1K3NL w Bb 28",
    "1+P1K5/+P2G+P+S3/1+R+P1+L1+N2/9/9/9/3+l2+n1+p/1g1+s+p2k1/2+p1+r4 b BGS2N2L5Pbgs3p 200",
    "4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L9P9p 1",
)


@pytest.fixture(scope="session")
def roots() -> tuple[str, ...]:
    return ROOTS


def _rounds() -> tuple[str, tuple[str, ...]]:
    """Return moves of two kings around two ranks of their side, three rounds of 36 plies except for the last ply."""
    files = "123456789"
    black = [file + "h" for file in reversed(files)] + [file + "i" for file in files]
    white = [file + "b" for file in reversed(files)] + [file + "a" for file in files]
    steps = [[one + other for one, other in zip(ring, ring[1:] + ring[:1], strict=True)] for ring in (black, white)]
    walk = [move for pair in zip(*steps, strict=True) for move in pair]
    return "9/k8/9/9/9/9/9/K8/9 b r2p 1", tuple(walk * 3)[:-1]


@pytest.fixture(scope="session", params=["some rounds without checks", "a round longer than the tree looks back"])
def drawn_at_once(request: pytest.FixtureRequest) -> tuple[str, tuple[str, ...], str]:
    """A start, the moves since, and a move that repeats the position for the fourth time, which draws the game."""
    if request.param.startswith("some"):
        quiet, checks = ["4h3h", "5a6a", "3h4h", "6a5a"], ["4h5h", "5a4a", "5h4h", "4a5a"]
        return "4k4/9/9/9/9/9/9/5R3/8K b r2b4g4s4n4l18p 1", (*quiet, *checks, *checks[:-1]), checks[-1]
    start, moves = _rounds()
    return start, moves, "9a9b"


@pytest.fixture(scope="session")
def data_directory() -> Path:
    return Path(__file__).parent.parent / "data"


@pytest.fixture(scope="session")
def play_random():
    """play_random(sfen, seed, plies): yields (position, moves so far) along a random legal game."""

    def play(sfen: str, seed: int, plies: int) -> Iterator[tuple[np.void, list[int]]]:
        pos, generator = position_from_sfen(sfen), random.Random(seed)
        line: list[int] = []
        for _ in range(plies):
            yield pos, line
            moves = list_moves(pos)
            if not moves:
                return
            # Captures and checks keep hands full and positions varied, unlike uniformly random moves.
            line.append(generator.choice(moves))
            do_move(pos, np.int64(line[-1]))

    return play
