"""The worker that plays pairs of games by alpha-beta."""

from __future__ import annotations

import functools
import time

import numpy as np

from experiments.games.level_duel import LevelDuel
from experiments.games.player import Duel, Player
from experiments.jobs.protocol import Product
from experiments.labels.study import SEARCH, Studio
from experiments.matches.pair import COLOURS, PairSettings, pair_product
from search.evaluation.material import material_network
from search.rules.huffman import HCP, encode
from search.rules.play import set_game, split_moves
from search.rules.position import new_position

BALANCE_NODES = 2000
"""Nodes of the search that decides whether random moves have left an opening balanced."""


class PairWorker:
    """Plays pairs by alpha-beta, one game at a time."""

    def __init__(self, task: PairSettings, first: Player, second: Player) -> None:
        self._task = task
        has_level = first.level is not None or second.level is not None
        self._duel: Duel | LevelDuel = (LevelDuel if has_level else Duel)(first, second, task.ending)
        self._studio = Studio(first.network, 1)
        _compile(bool(task.random_plies[1]))

    def stop(self) -> None:
        """End the game under way."""
        self._duel.stop()
        self._studio.stop()

    def run(self, number: int) -> Product:
        """Return both games as hcpe3; the first player is black in the first. Raises Stopped."""
        task, begun = self._task, time.thread_time()
        random = np.random.default_rng((task.seed, number))
        games = []
        self._studio.forget()
        opening, is_even = task.opening(number, random, self._evaluate)
        for colour in COLOURS:
            self._duel.forget()
            out = bool(random.random() < task.played_out)
            seed = int(np.random.default_rng((task.seed, number, colour + 1)).integers(1 << 31))
            games.append(self._duel.play(opening, colour, seed, out))
        return pair_product(games, begun, is_even)

    def _evaluate(self, opening: str) -> int | None:
        """Return the score of an opening for the mover; None if its game is over."""
        return None if self._duel.is_over(opening) else _score(self._studio, opening, BALANCE_NODES)


def _score(studio: Studio, opening: str, nodes: int) -> int:
    pos = new_position()
    set_game(pos, *split_moves(opening))
    code = np.frombuffer(encode(pos["board"], pos["hands"], int(pos["turn"]), HCP), np.uint8)
    return int(studio.study(code[np.newaxis], SEARCH, nodes)[0][0])


@functools.cache
def _compile(random_plies: bool) -> None:
    """Compile what pairs call, once a process: the time of a pair, from which nodes per second are computed, must not
    include it."""
    player = Player(material_network(), nodes=1, hash_mb=1)
    Duel(player, player, plies=1).play("startpos")
    if random_plies:
        _score(Studio(player.network, 1), "startpos", 1)
