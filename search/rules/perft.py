"""Perft: the number of lines of legal moves of a given length, and the speed of counting them.

The tree is counted in two ways. `count_leaves` takes the number of legal moves at the last ply as its leaves and
measures move generation. `make_leaves` plays and takes back every leaf, as a search does.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

import numpy as np

from search.compiling.jit import jit
from search.rules.movegen import MAX_MOVES, legal_moves, list_moves
from search.rules.play import set_game, split_moves
from search.rules.position import STACK, do_move, new_position, undo_move
from search.rules.sfen import move_to_usi
from search.rules.shogi import START_SFEN
from search.rules.sliders import METHOD
from search.system.bounds import check_number

MAX_DEPTH = 20

BENCH_POSITIONS = {
    "startpos": (START_SFEN, 4),
    "matsuri": ("l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1", 3),
    "middle game": ("ln1g3nl/1r3kg2/p2pppsp1/3s2p1p/1pp4P1/P1P1SP2P/1PSPP1P2/2G2G1R1/LN1K3NL w Bb 28", 4),
}


@jit
def count_leaves(pos, depth, buffers):
    """Return the number of lines of `depth` (int64 >= 1) legal moves; `buffers` uint16 [depth + 1, MAX_MOVES] is
    scratch."""
    moves = buffers[depth]
    count = legal_moves(pos, moves)
    if depth == 1:
        return count
    total = 0
    for index in range(count):
        move = np.int64(moves[index])
        do_move(pos, move)
        total += count_leaves(pos, depth - 1, buffers)
        undo_move(pos, move)
    return total


@jit
def make_leaves(pos, depth, buffers):
    """Return the number of lines as `count_leaves` does, but play and take back every leaf."""
    moves = buffers[depth]
    count = legal_moves(pos, moves)
    total = 0
    for index in range(count):
        move = np.int64(moves[index])
        do_move(pos, move)
        total += 1 if depth == 1 else make_leaves(pos, depth - 1, buffers)
        undo_move(pos, move)
    return total


def perft(position: str, depth: int) -> int:
    """Return the number of lines of `depth` legal moves from a position; at depth 0 there is one, the empty line.

    `position` is `startpos` or an SFEN, optionally followed by `moves 7g7f ...`. Raises ValueError for anything else,
    and OptionError unless `depth` is 0 to MAX_DEPTH.
    """
    check_number("depth", depth, 0, MAX_DEPTH)
    pos = _set_up(position)
    if depth == 0:
        return 1
    return int(count_leaves(pos, np.int64(depth), np.zeros((depth + 1, MAX_MOVES), np.uint16)))


def _set_up(position: str) -> np.void:
    pos = new_position()
    set_game(pos, *split_moves(position), longest=STACK - 1 - MAX_DEPTH)
    return pos


def _rate(function, sfen: str, depth: int, runs: int) -> float:
    """Return the median of leaves per second over some runs, by this thread's CPU time."""
    pos, buffers, rates = _set_up(sfen), np.zeros((depth + 1, MAX_MOVES), np.uint16), []
    function(pos, np.int64(1), buffers)
    for _ in range(runs):
        start = time.thread_time()
        leaves = function(pos, np.int64(depth), buffers)
        rates.append(leaves / (time.thread_time() - start))
    return statistics.median(rates)


def timed_perft(position: str, depth: int, divided: bool = False) -> tuple[int, float, dict[str, int]]:
    """Return the number of lines, seconds without compiling, and if `divided` the numbers below each first move in
    USI.

    Raises as `perft` does, before it compiles anything.
    """
    check_number("depth", depth, 0, MAX_DEPTH)
    perft(position, min(depth, 1))  # loads or compiles the code
    begun = time.perf_counter()
    below = divide(position, depth) if divided and depth >= 1 else {}
    nodes = sum(below.values()) if below else perft(position, depth)
    return nodes, time.perf_counter() - begun, below


def divide(position: str, depth: int) -> dict[str, int]:
    """Return the number of lines below each first move in USI notation; `depth` is at least 1."""
    pos, buffers = _set_up(position), np.zeros((depth + 1, MAX_MOVES), np.uint16)
    below = {}
    for move in list_moves(pos):
        do_move(pos, np.int64(move))
        below[move_to_usi(move)] = int(count_leaves(pos, np.int64(depth - 1), buffers)) if depth > 1 else 1
        undo_move(pos, np.int64(move))
    return below


@dataclass(frozen=True)
class PerftRates:
    """Leaves per second on one core."""

    made_per_s: int
    """Leaves per second if every leaf is played and taken back."""
    counted_per_s: int
    """Leaves per second if the moves of the last ply are only counted."""


@dataclass(frozen=True)
class PerftSpeed:
    """Speeds of perft on some positions."""

    sliders: str
    """Method of the sliding pieces' attacks."""
    positions: dict[str, PerftRates]
    """Speeds by the position's name."""


def measure_perft() -> PerftSpeed:
    """Measure leaves per second on one core: medians of five runs on each of three positions."""
    rates = {
        name: PerftRates(
            made_per_s=round(_rate(make_leaves, sfen, depth - 1 if name == "matsuri" else depth, 5)),
            counted_per_s=round(_rate(count_leaves, sfen, depth, 5)),
        )
        for name, (sfen, depth) in BENCH_POSITIONS.items()
    }
    return PerftSpeed(METHOD, rates)
