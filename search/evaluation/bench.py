"""Nanoseconds of an incremental update, of the layers after it, and of a refresh.

Recorded games are played through in game order, so that captures, drops and king moves have their natural share, and
every position is evaluated once. The loops run inside Numba and differ in one thing each: playing the moves alone,
playing and updating, playing, updating and the layers; a part's time is the difference, in thread CPU time, per
position. Each loop runs several times, in turns, and the median counts.
"""

from __future__ import annotations

import lzma
import os
import random
import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from search.compiling.jit import KERNEL, jit
from search.evaluation.accumulator import Accumulators, forward, refresh, reset_accumulators, update
from search.evaluation.feature_sets import BONA_END, FeatureSet, feature_set
from search.evaluation.network import CLIPPED, PAIRWISE, EvalNetwork, Layer, Shards, view_inputs
from search.evaluation.network_file import load_network
from search.evaluation.shipped import DEFAULT, network_file
from search.evaluation.stacks import PROGRESS, make_stacks
from search.rules.movegen import list_moves
from search.rules.play import set_game, split_moves
from search.rules.position import do_move, new_position, undo_move
from search.rules.sfen import position_from_sfen
from search.rules.shogi import SQUARES
from search.system.bounds import check_number
from search.system.metadata import parse_json

MAX_PLIES = 1000
PLAY, UPDATE, FORWARD, REFRESH = range(4)


@dataclass(frozen=True)
class Games:
    """Games from the start position: all moves in one array (16 bits), and where each game starts in it."""

    moves: np.ndarray
    starts: np.ndarray
    source: str

    @property
    def plies(self) -> int:
        return len(self.moves)


def _pack(games: Iterable[list[int]], source: str) -> Games:
    lists = [moves for moves in games if moves]
    if not lists:
        raise ValueError(f"{source}: no games from the start position in it")
    starts = np.cumsum([0, *map(len, lists)])
    return Games(np.concatenate([np.array(moves, np.uint16) for moves in lists]), starts, source)


def read_games(path: Path, count: int) -> Games:
    """At most `count` games of a file, packed by xz or not: JSON objects a line with `start` and `moves`, or USI lines.

    Games that start elsewhere than at the start position are left out. Raises OSError, or ValueError naming the line.
    """
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
                    raise ValueError(f"{where}: no game: {error}") from None
            else:
                start, moves = split_moves(text)
            if start == "startpos":
                try:
                    set_game(pos, start, moves[:MAX_PLIES])
                except (ValueError, TypeError) as error:
                    raise ValueError(f"{where}: {error}") from None
                lines.append(pos["moves"][1 : pos["ply"] + 1].tolist())
            if len(lines) == count:
                break
    if not lines:
        raise ValueError(f"{path}: no games from the start position in it")
    return _pack(lines, path.name)


def _unpacked(file: Iterable[str], path: Path) -> Iterator[str]:
    try:
        yield from file
    except (lzma.LZMAError, EOFError) as error:
        raise ValueError(f"{path}: damaged: {error}") from None


def random_games(count: int, plies: int = 120, seed: int = 1) -> Games:
    """Seeded random legal games, where no recorded ones are at hand; their captures and drops are not natural."""
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
    """The games of a file; else those below the folder that LITESHOGI_DATA names, else random ones."""
    if path is not None:
        return read_games(path, count)
    if data := os.environ.get("LITESHOGI_DATA"):
        return read_games(Path(data) / "games" / "games.jsonl.xz", count)
    return random_games(min(count, 200))


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
    """Play every game forward, doing `part` at every position, and back; the sum of all outputs."""
    total = np.int64(0)
    for game in range(len(starts) - 1):
        reset_accumulators(accumulators)
        update(pos, accumulators, net, np.int64(0))
        update(pos, accumulators, net, np.int64(1))
        for index in range(starts[game], starts[game + 1]):
            do_move(pos, np.int64(moves[index]))
            mover = np.int64(pos.turn)
            if part == REFRESH:
                refresh(pos, accumulators, net, mover)
            elif part != PLAY:
                update(pos, accumulators, net, mover)
                if net.perspectives == 2:
                    update(pos, accumulators, net, 1 - mover)
                if part == FORWARD:
                    total += forward(pos, accumulators, net)
        for index in range(starts[game + 1] - 1, starts[game] - 1, -1):
            undo_move(pos, np.int64(moves[index]))
    return total


def measure(net: EvalNetwork, games: Games, runs: int = 7) -> dict[str, Any]:
    """Figures of one network: update_ns and forward_ns per position, refresh_ns per perspective, and its dimensions."""
    pos, accumulators = position_from_sfen("startpos"), Accumulators(net)
    times: list[list[float]] = [[] for _ in range(4)]
    for run in range(runs + 1):
        for part in (PLAY, UPDATE, FORWARD, REFRESH):
            before = time.thread_time_ns()
            _walk(pos, accumulators.record, accumulators.network, games.moves, games.starts, np.int64(part))
            if run:  # the first turn warms the caches
                times[part].append((time.thread_time_ns() - before) / games.plies)
    play, updated, evaluated, refreshed = (statistics.median(part) for part in times)
    hidden = "-".join(map(str, net.hidden))
    return {
        "update_ns": round(updated - play, 1),
        "forward_ns": round(evaluated - updated, 1),
        "refresh_ns": round(refreshed - play, 1),
        "network": " ".join((f"{net.feature_set.name} {net.width}x{net.perspectives}-{hidden}", *net.stacks.tokens)),
    }


def bench_evaluation(
    net: str | None = None, games: Path | None = None, count: int = 1000, runs: int = 7
) -> dict[str, Any]:
    """The figures of the network, of others beside it, the kernel and the games.

    net: a path or `default`; without it random weights of the (16, 4, 32) net's dimensions, as times do not depend on
    weights. Beside stand the default network, if there is one, and NNUE's dimensions, with random weights.
    """
    check_number("count", count)
    check_number("runs", runs)
    recorded = find_games(games, count)
    chosen = random_network("piece_square", 96, (32,), 1) if net is None else load_network(net)
    figures = measure(chosen, recorded, runs)
    if net is None:
        figures["network"] += ", (16, 4, 32)"
        if network_file(DEFAULT).is_file():
            figures["default"] = measure(load_network("default"), recorded, runs)
            figures["default"]["network"] += ", default"
    return figures | {
        "half_kp": measure(random_network("half_kp", 256, (32, 32), 2), recorded, max(runs // 2, 3)),
        "kernel": KERNEL,
        "games": len(recorded.starts) - 1,
        "positions": recorded.plies,
        "source": recorded.source,
    }
