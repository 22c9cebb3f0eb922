"""Rates of the data factory on one core: games in process and through pipes, and labels of each kind."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.factory.walk import sample_codes, walk
from experiments.games.openings import Openings
from experiments.games.player import Duel, Player
from experiments.labels.study import QUIESCENCE, SEARCH, STATIC, Studio
from experiments.usi_client.dialogue import Dialogue
from lite.records.encode import position_records
from lite.records.file import RecordFile, Refusals
from lite.records.formats import HCPE, hcpe_dtype
from search.alphabeta.bench import signature
from search.evaluation.network_file import load_network
from search.evaluation.shipped import is_shipped
from search.rules.huffman import HCP
from search.system.cores import usable_cores

NODES = 1000
"""Nodes per move of the games."""
GAMES, PIPE_GAMES = 40, 4
LABEL_NODES = 500
"""Nodes of each labelling search."""
READY_SECONDS = 600.0


@dataclass(frozen=True)
class GameRates:
    """Rates of games in process."""

    positions_per_hour: int
    """Positions per hour of one core's CPU time."""
    nps: int
    """Nodes per second of one core's CPU time."""
    of_search: float
    """`nps` as a share of the nodes per second of a long search."""
    cores: int
    all_cores_positions_per_hour: int
    """Positions per hour of all cores, by the clock."""


@dataclass(frozen=True)
class PipeRates:
    """Rates of games between two engine processes."""

    positions_per_hour: int
    """Positions per hour by the clock."""


@dataclass(frozen=True)
class FactoryRates:
    """Rates of the data factory."""

    search_nps: int
    """Nodes per second of a long search."""
    games: GameRates
    pipes: PipeRates
    labels: dict[str, int]
    """Positions per second by kind: static, quiescence, search, walk, tree."""
    label_overhead: float
    """Time of a labelling search relative to the time of its nodes in a long search."""


def measure_factory(network_path: str, data: Path) -> FactoryRates:
    """Measure the rates with a network and the positions of a record file. Raises OSError or ValueError."""
    network, codes = load_network(network_path), _codes(data)
    nps = signature(network_path).nps
    player = Player(network, NODES)
    Duel(player).play("startpos")
    positions, nodes, seconds = _play(player, 0)
    cores, begun = usable_cores(), time.perf_counter()
    with ThreadPoolExecutor(cores) as threads:
        together = sum(one[0] for one in threads.map(lambda seed: _play(player, seed), range(cores)))
    games = GameRates(
        positions_per_hour=round(3600 * positions / seconds),
        nps=round(nodes / seconds),
        of_search=round(nodes / seconds / nps, 3),
        cores=cores,
        all_cores_positions_per_hour=round(3600 * together / (time.perf_counter() - begun)),
    )
    labels, searched = _measure_labels(Studio(network), codes)
    pipes = PipeRates(_measure_pipes(network_path))
    return FactoryRates(nps, games, pipes, labels, round(nps / searched, 3))


def _play(player: Player, seed: int) -> tuple[int, int, float]:
    """Return (positions, nodes, CPU seconds of this thread) of games of two players like this."""
    duel, random = Duel(player, player), np.random.default_rng(seed)
    begun, positions, nodes = time.thread_time(), 0, 0
    for _ in range(GAMES):
        duel.forget()
        game = duel.play(Openings(most=8).draw(random))
        positions, nodes = positions + len(game.moves), nodes + sum(game.nodes)
    return positions, nodes, time.thread_time() - begun


def _codes(data: Path) -> np.ndarray:
    file = RecordFile(data)
    found = np.concatenate([file.read_block(block, Refusals()) for block in file.blocks])
    codes = position_records(found, HCPE, HCP).view(hcpe_dtype)["hcp"]
    return np.ascontiguousarray(codes[np.random.default_rng(2).permutation(len(codes))])


def _measure_labels(studio: Studio, codes: np.ndarray) -> tuple[dict[str, int], float]:
    """Return (positions per second by kind, nodes per second of the labelling searches)."""
    few, fewest = codes[:20_000], codes[:2_000]

    def rate(work: Callable[[], int]) -> int:
        begun = time.thread_time()
        return round(work() / (time.thread_time() - begun))

    def samples() -> int:
        return len(sample_codes(studio.samples(fewest, NODES, 32, 1)))

    studio.study(codes[:10], STATIC)
    walk(codes[:10], 1, 4, 1)
    sample_codes(studio.samples(codes[:2], NODES, 32, 1))
    found = {
        "static": rate(lambda: len(studio.study(codes, STATIC)[0])),
        "walk": rate(lambda: len(walk(codes, 1, 4, 1)[0])),
        "quiescence": rate(lambda: len(studio.study(few, QUIESCENCE)[0])),
        "tree": rate(samples),
    }
    before, begun = studio.searched, time.thread_time()
    studio.study(fewest, SEARCH, LABEL_NODES)
    seconds = time.thread_time() - begun
    return found | {"search": round(len(fewest) / seconds)}, (studio.searched - before) / seconds


def _measure_pipes(network_path: str) -> int:
    """Return the positions per hour of games between two engine processes, one thinking at a time."""
    command = [sys.executable, "-m", "liteshogi"]
    eval_file = network_path if is_shipped(network_path) else Path(network_path).absolute()
    seconds = positions = 0.0
    with (
        Dialogue("engine", command, Path.cwd(), os.environ) as first,
        Dialogue("engine", command, Path.cwd(), os.environ) as second,
    ):
        for engine in (first, second):
            engine.send(f"setoption name EvalFile value {eval_file}")
            engine.send("isready")
            engine.until("readyok", READY_SECONDS)
        for number in range(PIPE_GAMES):
            for engine in (first, second):
                engine.send("usinewgame")
            opening = Openings(least=4, most=8).draw(np.random.default_rng(number))
            position, begun = f"position {opening}", time.perf_counter()
            while True:
                engine = (first, second)[int(positions) % 2]
                engine.send(position)
                engine.send(f"go nodes {NODES}")
                move = engine.until("bestmove", READY_SECONDS)[-1].split()[1]
                if move in ("resign", "win") or len(position) > 5 * 320:
                    break
                position, positions = f"{position} {move}", positions + 1
            seconds += time.perf_counter() - begun
    return round(3600 * positions / seconds)
