"""The worker that plays pairs of games by PUCT: one opening with both colours, without exploration."""

from __future__ import annotations

import time

import numpy as np

from experiments.games.player import PuctPlayer
from experiments.jobs.protocol import Product
from experiments.matches.pair import COLOURS, PairSettings, pair_product
from experiments.puct_selfplay.exploration import Exploration
from experiments.puct_selfplay.puct_game import Game, tree_megabytes
from experiments.puct_selfplay.search import search_together
from search.puct.engine import Settings
from search.puct.leaves import Leaves
from search.puct.onnx_network import open_network
from search.rules.shogi import BLACK

BALANCE_PLAYOUTS = 64
"""Playouts of the search that decides whether random moves have left an opening balanced."""
STRICT = Exploration(noise_share=0, soft_plies=0)


class PuctPairWorker:
    """Plays pairs by PUCT, both games at a time."""

    def __init__(self, task: PairSettings, first: PuctPlayer, second: PuctPlayer) -> None:
        self._task = task
        self._players = (first, second)
        self._models = [open_network(player.network) for player in self._players]
        self._leaves = Leaves(len(COLOURS))
        self._stopped = False

    def stop(self) -> None:
        """End the games under way."""
        self._stopped = True

    def run(self, number: int) -> Product:
        """Return both games as hcpe3; the first player is black in the first. Raises Stopped."""
        task, begun = self._task, time.thread_time()
        random = np.random.default_rng((task.seed, number))
        self._leaves.table.clear()
        opening, is_even = task.opening(number, random, self._evaluate)
        games = [self._new_game(opening, colour, bool(random.random() < task.played_out)) for colour in COLOURS]
        playing = games
        while playing:
            for game in playing:
                game.begin_move()
            playing = [game for game in playing if not game.is_over]
            self._leaves.begin_search()
            for seat, player in enumerate(self._players):
                moving = [game for game in playing if game.player == seat]
                search_together(moving, player.nodes, self._models[seat], self._leaves, lambda: self._stopped)
            for game in playing:
                game.end_move(STRICT, random)
            playing = [game for game in playing if not game.is_over]
        return pair_product((game.finished() for game in games), begun, is_even)

    def _evaluate(self, opening: str) -> int | None:
        """Return the score of an opening for the mover; None if its game is over or proved."""
        game = self._new_game(opening, BLACK, False)
        game.begin_move()
        if game.is_over:
            return None
        search_together([game], BALANCE_PLAYOUTS, self._models[0], self._leaves, lambda: self._stopped)
        return game.score

    def _new_game(self, opening: str, colour: int, play_out: bool) -> Game:
        megabytes = tree_megabytes(max(player.nodes for player in self._players))
        return Game(opening, self._task.ending, Settings(), megabytes, play_out, colour)
