"""Benchmark of dlshogi's input planes against cshogi's, with a check that both are equal."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import cshogi
import numpy as np
from cshogi.dlshogi import make_input_features, make_move_label

from lite.records.batch import Batch
from lite.records.reader import Reader
from search.puct.planes import PLANES1, PLANES2, move_labels, write_planes
from search.rules.movegen import list_moves
from search.rules.position import new_position
from search.rules.set_up import BOARD_ERRORS, set_board
from search.rules.sfen import get_sfen
from search.rules.shogi import HAND_KINDS, OTHER_COLOUR, WHITE
from search.rules.view import view_position
from search.system.options import OptionError

SAMPLE = Path(__file__).parents[1] / "sample" / "valid_sample.hcpe3"
CHUNK = 64
"""Positions per call: as many as a batch of a search has; the planes of both fit into the caches."""
ROUNDS = 5


@dataclass(frozen=True)
class PlaneComparison:
    """Differences between this project's planes and move labels and cshogi's."""

    positions: int
    """Number of positions compared."""
    different_planes: int
    """Number of positions whose planes differ."""
    moves: int
    """Number of legal moves compared."""
    different_labels: int
    """Number of legal moves whose labels differ."""


@dataclass(frozen=True)
class PlaneTimes:
    """Thread CPU time in microseconds per position, the best of alternating rounds."""

    cshogi_us: float
    """Time of cshogi, float32, with the Python call for each position that its interface needs."""
    float32_us: float
    """Time of this project, float32."""
    bfloat16_us: float
    """Time of this project, bfloat16, as training uses it."""
    uint8_us: float
    """Time of this project, uint8."""
    ratio: float
    """`cshogi_us` divided by `float32_us`; 0 if the system counted no time (Windows counts in 64ths of a second)."""


@dataclass(frozen=True)
class PlaneBench(PlaneTimes, PlaneComparison):
    """Comparison and times on the same positions."""


def position_of(batch: Batch, index: int) -> np.void:
    """Return a position of a batch as a record of the search, with the colours of the game."""
    pieces, hands, turn = batch.pieces[index], batch.hands[index].reshape(2, HAND_KINDS), int(batch.turn[index])
    if turn == WHITE:
        pieces = OTHER_COLOUR[pieces][::-1]
        hands = hands[::-1]
    pos = new_position()
    if error := set_board(pos, pieces, hands, np.int64(turn), np.int64(1)):
        raise ValueError(f"position {index} of the batch: {BOARD_ERRORS[error]}")
    return pos


def compare_planes(batch: Batch) -> PlaneComparison:
    """Compare the planes of every position and the labels of all its legal moves with cshogi's."""
    one, two = np.zeros((PLANES1, 9, 9), np.float32), np.zeros((PLANES2, 9, 9), np.float32)
    mine1, mine2 = np.empty((PLANES1, 9, 9), np.float32), np.empty((PLANES2, 9, 9), np.float32)
    pieces, hands, in_check = np.zeros((1, 81), np.uint8), np.zeros((1, 14), np.uint8), np.zeros(1, np.bool_)
    wrong_planes = wrong_labels = moves = 0
    for index in range(len(batch)):
        pos = position_of(batch, index)
        board = cshogi.Board(get_sfen(pos))
        make_input_features(board, one, two)
        view_position(pos, pieces, hands, in_check, np.int64(0))
        write_planes(pieces, hands, in_check, mine1.reshape(-1), mine2.reshape(-1))
        same = np.array_equal(mine1, one) and np.array_equal(mine2, two)
        part = slice(index, index + 1)
        write_planes(batch.pieces[part], batch.hands[part], batch.in_check[part], mine1.reshape(-1), mine2.reshape(-1))
        wrong_planes += not (same and np.array_equal(mine1, one) and np.array_equal(mine2, two))
        legal = np.array(list_moves(pos), np.uint16)
        expected = {cshogi.move16(move): make_move_label(move, board.turn) for move in board.legal_moves}
        labels = move_labels(legal, np.full(len(legal), board.turn, np.uint8))
        wrong_labels += sum(
            expected.get(int(move)) != label for move, label in zip(legal, labels.tolist(), strict=True)
        )
        wrong_labels += len(expected) != len(legal)
        moves += len(legal)
    return PlaneComparison(len(batch), wrong_planes, moves, wrong_labels)


def measure_planes(batch: Batch) -> PlaneTimes:
    """Measure both on the same positions; they fill arrays of the same size, CHUNK positions each."""
    count = len(batch) // CHUNK * CHUNK
    boards = [cshogi.Board(get_sfen(position_of(batch, index))) for index in range(count)]
    room1, room2 = (np.zeros((CHUNK, planes, 9, 9), np.float32) for planes in (PLANES1, PLANES2))
    rows = list(zip(room1, room2, strict=True))

    def theirs() -> None:
        for begin in range(0, count, CHUNK):
            for board, (one, two) in zip(boards[begin : begin + CHUNK], rows, strict=True):
                make_input_features(board, one, two)

    def ours(dtype: type) -> Callable[[], None]:
        out1: np.ndarray = np.empty(CHUNK * PLANES1 * 81, dtype)
        out2: np.ndarray = np.empty(CHUNK * PLANES2 * 81, dtype)

        def fill() -> None:
            for begin in range(0, count, CHUNK):
                part = slice(begin, begin + CHUNK)
                write_planes(batch.pieces[part], batch.hands[part], batch.in_check[part], out1, out2)

        return fill

    ways = {"cshogi": theirs, "float32": ours(np.float32), "bfloat16": ours(np.uint16), "uint8": ours(np.uint8)}
    best = dict.fromkeys(ways, float("inf"))
    for round_number in range(ROUNDS + 1):
        for name, way in ways.items():
            begun = time.thread_time()
            way()
            if round_number:  # the first round compiles and warms the caches
                best[name] = min(best[name], (time.thread_time() - begun) / count * 1e6)
    times = {f"{name}_us": round(value, 3) for name, value in best.items()}
    return PlaneTimes(**times, ratio=round(best["cshogi"] / best["float32"], 2) if best["float32"] else 0.0)


def bench_planes(data: Sequence[Path], positions: int = 10_000) -> PlaneBench:
    """Compare and measure on `positions` positions of records. Raises ValueError if the records have fewer than CHUNK,
    and OptionError if `positions` is smaller."""
    if positions < CHUNK:
        raise OptionError(f"`positions` {positions}: must be at least {CHUNK}", "positions")
    batch = next(iter(Reader(tuple(data), positions, shuffle=True)))
    if len(batch) < CHUNK:
        raise ValueError(f"{data[0]}: contains fewer than {CHUNK} positions")
    return PlaneBench(**asdict(compare_planes(batch)), **asdict(measure_planes(batch)))
