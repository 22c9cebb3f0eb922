"""How fast the factory makes what it makes, one core, beside what the same costs elsewhere."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

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
from search.rules.huffman import HCP
from search.system.cores import usable_cores

NODES = 1000
"""A move."""
GAMES, PIPE_GAMES = 40, 4
LABEL_NODES = 500
READY_SECONDS = 600.0


def measure_factory(net: str, data: Path) -> dict[str, Any]:
    """Rates of one core, by its CPU time, with a network and the positions of a record file.

    {search_nps: the long search's nodes a second; games: {positions_per_hour, nps, of_search, cores,
    all_cores_positions_per_hour}, in process, the last by the clock; pipes: {positions_per_hour}, of two engine
    processes, by the clock; labels: {static, quiescence, search, walk, tree:
    positions a second}; label_overhead: a label's time over what its nodes take in the long search}.
    """
    network, codes = load_network(net), _codes(data)
    nps = signature(net).nps
    player = Player(network, NODES)
    Duel(player).play("startpos")
    positions, nodes, seconds = _play(player, 0)
    cores, begun = usable_cores(), time.perf_counter()
    with ThreadPoolExecutor(cores) as threads:
        together = sum(one[0] for one in threads.map(lambda seed: _play(player, seed), range(cores)))
    games = {
        "positions_per_hour": round(3600 * positions / seconds),
        "nps": round(nodes / seconds),
        "of_search": round(nodes / seconds / nps, 3),
        "cores": cores,
        "all_cores_positions_per_hour": round(3600 * together / (time.perf_counter() - begun)),
    }
    labels, searched = _measure_labels(Studio(network), codes)
    return {
        "search_nps": nps,
        "games": games,
        "pipes": {"positions_per_hour": _measure_pipes(net)},
        "labels": labels,
        "label_overhead": round(nps / searched, 3),
    }


def _play(player: Player, seed: int) -> tuple[int, int, float]:
    """(Positions, nodes, seconds of this thread) of some games of two players like this."""
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
    """(Positions a second by kind, nodes a second of the searches that label)."""
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


def _measure_pipes(net: str) -> int:
    """Positions an hour of a game between two engine processes, one thinking at a time."""
    command = [sys.executable, "-m", "liteshogi"]
    seconds = positions = 0.0
    with (
        Dialogue("engine", command, Path.cwd(), os.environ) as first,
        Dialogue("engine", command, Path.cwd(), os.environ) as second,
    ):
        for engine in (first, second):
            engine.send(f"setoption name EvalFile value {net if net == 'default' else Path(net).absolute()}")
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
