"""Benchmark of the evaluation: nanoseconds of an incremental update, of the layers after it, and of a refresh.

Recorded games are replayed in order, so that captures, drops and king moves have their natural share, and every
position is evaluated once. The loops run inside Numba, and each does one thing more than the one before: play the
moves; play and update; play, update and evaluate the layers. The time of a part is the difference, in thread CPU time
per position. The loops alternate, and the median of several runs is reported.
"""

from __future__ import annotations

import lzma
import random
import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from search.compiling.jit import KERNEL, jit
from search.evaluation.accumulator import Accumulators, bring_up, forward, refresh, reset_accumulators, update
from search.evaluation.feature_sets import BONA_END, FeatureSet, feature_set
from search.evaluation.network import CLIPPED, PAIRWISE, EvalNetwork, Layer, Shards, view_inputs
from search.evaluation.network_file import load_network
from search.evaluation.shipped import DEFAULT, network_file
from search.evaluation.stacks import PROGRESS, make_stacks
from search.rules.movegen import list_moves
from search.rules.play import set_game, split_moves, without_ending
from search.rules.position import do_move, new_position, undo_move
from search.rules.sfen import position_from_sfen
from search.rules.shogi import SQUARES
from search.system.bounds import check_number
from search.system.files import require_file
from search.system.metadata import parse_json

MAX_PLIES = 1000
PLAY, UPDATE, FORWARD, REFRESH = range(4)


@dataclass(frozen=True)
class Games:
    """Games from the start position: the moves of all games in one array, and the start of each game in it."""

    moves: np.ndarray
    starts: np.ndarray
    source: str

    @property
    def plies(self) -> int:
        """Number of moves of all games."""
        return len(self.moves)


def _pack(games: Iterable[list[int]], source: str) -> Games:
    lists = [moves for moves in games if moves]
    if not lists:
        raise ValueError(f"{source}: contains no game from the start position")
    starts = np.cumsum([0, *map(len, lists)])
    return Games(np.concatenate([np.array(moves, np.uint16) for moves in lists]), starts, source)


def read_move_lists(path: Path, count: int) -> Games:
    """Read at most `count` games: one JSON object per line with `start` and `moves`, or USI lines; xz or plain.

    Games from other positions than the start position are skipped. Raises OSError, or ValueError that names the line.
    """
    require_file(path)
    lines, pos = [], new_position()
    opener: Any = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8", errors="replace") as file:
        for number, text in enumerate(_unpacked(file, path), 1):
            where = f"{path}: line {number}"
            if text.lstrip().startswith("{"):
                try:
                    game = parse_json(text)
                    start, moves = game.get("start", "startpos"), tuple(game["moves"])
                except (ValueError, KeyError, TypeError) as error:
                    raise ValueError(f"{where}: not a game: {error}") from None
            else:
                try:
                    start, moves = split_moves(without_ending(text))
                except ValueError as error:
                    raise ValueError(f"{where}: {error}") from None
            if start == "startpos":
                try:
                    set_game(pos, start, moves[:MAX_PLIES])
                except (ValueError, TypeError) as error:
                    raise ValueError(f"{where}: {error}") from None
                lines.append(pos["moves"][1 : pos["ply"] + 1].tolist())
            if len(lines) == count:
                break
    if not lines:
        raise ValueError(f"{path}: contains no game from the start position")
    return _pack(lines, path.name)


def _unpacked(file: Iterable[str], path: Path) -> Iterator[str]:
    try:
        yield from file
    except (lzma.LZMAError, EOFError) as error:
        raise ValueError(f"{path}: damaged: {error}") from None


def random_games(count: int, plies: int = 120, seed: int = 1) -> Games:
    """Return seeded random legal games, for use without recorded ones; their captures and drops are not typical."""
    generator, games = random.Random(seed), []
    for _ in range(count):
        pos, line = position_from_sfen("startpos"), []
        for _ in range(plies):
            moves = list_moves(pos)
            if not moves:
                break
            line.append(generator.choice(moves))
            do_move(pos, np.int64(line[-1]))
        games.append(line)
    return _pack(games, f"{count} random games")


def find_games(path: Path | None, count: int) -> Games:
    """Return the games of a file; without a file, random games."""
    return random_games(min(count, 200)) if path is None else read_move_lists(path, count)


def random_network(
    features: str | FeatureSet,
    width: int,
    hidden: tuple[int, ...],
    perspectives: int,
    outputs: tuple[str, ...] = ("value",),
    activation: str = CLIPPED,
    buckets: int = 1,
    *,
    stacks: tuple[str, ...] = (),
    hidden_squares: bool = False,
    shortcut: bool = False,
    shards: Shards | None = None,
) -> EvalNetwork:
    """Return a network of given dimensions with random weights, the same at every call.

    `hidden` has the outputs of the hidden layers, the shortcut included; `stacks` has tokens of `stacks.STACK_TOKENS`.
    """
    generator = np.random.default_rng(1)
    chosen = feature_set(features) if isinstance(features, str) else features
    rows = generator.integers(-30, 31, (chosen.rows, width), np.int16)
    progress = None
    if any(token in PROGRESS for token in stacks):
        progress = generator.integers(-40000, 40001, (SQUARES, BONA_END), np.int32)
    axes = make_stacks(stacks, progress)
    stacked = () if axes.count == 1 else (axes.count,)
    layers, inputs = [], perspectives * view_inputs(width, activation)
    for number, (count, shift) in enumerate((*((size, 6) for size in hidden), (buckets * len(outputs), 0))):
        weight = generator.integers(-40, 41, (*stacked, count, inputs), np.int8)
        layers.append(Layer(weight, generator.integers(-500, 501, (*stacked, count), np.int32), shift))
        inputs = count if number else (count - shortcut) * (2 if hidden_squares else 1)
    bias = generator.integers(0, 64, width, np.int16)
    return EvalNetwork(
        chosen,
        rows,
        bias,
        tuple(layers),
        perspectives,
        outputs=outputs,
        activation=activation,
        buckets=buckets,
        sum_bits=15 if activation == PAIRWISE else 16,
        hidden_squares=hidden_squares,
        shortcut=shortcut,
        shards=shards,
        stacks=axes,
    )


@jit
def _walk(pos, accumulators, net, moves, starts, part):
    """Play every game forward, doing `part` at every position, and back; return the sum of all outputs."""
    total = np.int64(0)
    for game in range(len(starts) - 1):
        reset_accumulators(accumulators)
        update(pos, accumulators, net, np.int64(0))
        update(pos, accumulators, net, np.int64(1))
        for index in range(starts[game], starts[game + 1]):
            do_move(pos, np.int64(moves[index]))
            if part == REFRESH:
                refresh(pos, accumulators, net, np.int64(pos.turn))
            elif part != PLAY:
                bring_up(pos, accumulators, net)
                if part == FORWARD:
                    total += forward(pos, accumulators, net)
        for index in range(starts[game + 1] - 1, starts[game] - 1, -1):
            undo_move(pos, np.int64(moves[index]))
    return total


@dataclass(frozen=True)
class Times:
    """Nanoseconds of the parts of one network's evaluation."""

    update_ns: float
    """Nanoseconds of an incremental update of all perspectives, per position."""
    forward_ns: float
    """Nanoseconds of the layers after the sums, per position."""
    refresh_ns: float
    """Nanoseconds of a refresh, per perspective."""
    network: str
    """Feature set and dimensions of the network."""


@dataclass(frozen=True)
class EvaluationBench:
    """Times of a network and of others for comparison, along the same games."""

    times: Times
    default: Times | None
    """Times of the default network, if no network was named."""
    half_kp: Times
    """Times of HalfKP 256x2-32-32 with random weights."""
    kernel: str
    games: int
    positions: int
    source: str
    """Source of the games."""


def describe_dimensions(net: EvalNetwork) -> str:
    """Return the feature set, the layers' sizes and the stacks of a network."""
    hidden = "-".join(map(str, net.hidden))
    return " ".join((f"{net.feature_set.name} {net.width}x{net.perspectives}-{hidden}", *net.stacks.tokens))


def measure(net: EvalNetwork, games: Games, runs: int = 7) -> Times:
    """Return the median times of one network along games."""
    pos, accumulators = position_from_sfen("startpos"), Accumulators(net)
    times: list[list[float]] = [[] for _ in range(4)]
    for run in range(runs + 1):
        for part in (PLAY, UPDATE, FORWARD, REFRESH):
            before = time.thread_time_ns()
            _walk(pos, accumulators.record, accumulators.network, games.moves, games.starts, np.int64(part))
            if run:  # the first run warms the caches
                times[part].append((time.thread_time_ns() - before) / games.plies)
    play, updated, evaluated, refreshed = (statistics.median(part) for part in times)
    update_ns, forward_ns, refresh_ns = updated - play, evaluated - updated, refreshed - play
    return Times(round(update_ns, 1), round(forward_ns, 1), round(refresh_ns, 1), describe_dimensions(net))


def bench_evaluation(
    network_path: str | None = None, games: Path | None = None, count: int = 1000, runs: int = 7
) -> EvaluationBench:
    """Return the times of a network, and of others for comparison.

    network_path: a path or `default`; without it random weights with the dimensions of the (16, 4, 32) network, because
    times do not depend on weights, and the default network, if there is one, for comparison.
    """
    check_number("count", count)
    check_number("runs", runs)
    recorded, default = find_games(games, count), None
    network = load_network(network_path) if network_path is not None else random_network("piece_square", 96, (32,), 1)
    times = measure(network, recorded, runs)
    if network_path is None:
        times = replace(times, network=f"{times.network}, (16, 4, 32)")
        if network_file(DEFAULT).is_file():
            default = measure(load_network("default"), recorded, runs)
            default = replace(default, network=f"{default.network}, default")
    half_kp = measure(random_network("half_kp", 256, (32, 32), 2), recorded, max(runs // 2, 3))
    counts = (KERNEL, len(recorded.starts) - 1, recorded.plies, recorded.source)
    return EvaluationBench(times, default, half_kp, *counts)
