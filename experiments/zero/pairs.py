"""Pairs of games of two PUCT players as jobs: an opening twice with colours changed, and nothing left to chance."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass

import numpy as np

from experiments.factory.jobs import Product
from experiments.games.openings import Openings
from experiments.games.pairs import COLOURS, count_side, line_of
from experiments.games.player import Ending, PuctPlayer
from experiments.zero.exploration import Exploration
from experiments.zero.game import Game, tree_megabytes
from experiments.zero.network import open_network
from experiments.zero.search import search_together
from search.puct.engine import Settings
from search.puct.leaves import Leaves
from search.rules.shogi import BLACK

BALANCE_PLAYOUTS = 64
"""Of the search that says whether random moves have left an opening balanced."""
STRICT = Exploration(noise_share=0, soft_plies=0)


@dataclass(frozen=True)
class PuctPairTask:
    """What a worker needs to play pairs, which are told apart by their numbers alone; as `PairTask`."""

    first: PuctPlayer
    second: PuctPlayer
    ending: Ending
    lines: tuple[str, ...]
    random_plies: tuple[int, int]
    balance: int
    played_out: float
    seed: int

    def open(self) -> PuctPairWorker:
        """The memory of one worker."""
        return PuctPairWorker(self)


class PuctPairWorker:
    """Plays pairs, both games at a time."""

    def __init__(self, task: PuctPairTask) -> None:
        self._task = task
        self._models = [open_network(player.network) for player in (task.first, task.second)]
        self._leaves = Leaves(len(COLOURS))
        self._stopped = False

    def stop(self) -> None:
        """End the games under way."""
        self._stopped = True

    def run(self, number: int) -> Product:
        """Both games as hcpe3, the first player being black in the first. Raises Stopped."""
        task, begun = self._task, time.thread_time()
        random = np.random.default_rng((task.seed, number))
        self._leaves.table.clear()
        openings = Openings((line_of(task.lines, number, task.seed),), *task.random_plies)
        opening = openings.draw(random, self._is_balanced if openings.most else None)
        games = [self._new_game(opening, colour, bool(random.random() < task.played_out)) for colour in COLOURS]
        playing = games
        while playing:
            for game in playing:
                game.begin_move()
            playing = [game for game in playing if not game.is_over]
            self._leaves.begin_search()
            for seat, player in enumerate((task.first, task.second)):
                moving = [game for game in playing if game.player == seat]
                search_together(moving, player.nodes, self._models[seat], self._leaves, lambda: self._stopped)
            for game in playing:
                game.end_move(STRICT, random)
            playing = [game for game in playing if not game.is_over]
        counts: Counter[str] = Counter()
        played = [game.finished() for game in games]
        for one in played:
            counts.update(count_side(one))
        content = b"".join(one.hcpe3() for one in played if len(one.moves))
        return Product(content, {**counts, "seconds": round(time.thread_time() - begun, 4)})

    def _is_balanced(self, opening: str) -> bool:
        game = self._new_game(opening, BLACK, False)
        game.begin_move()
        if game.is_over:
            return False
        search_together([game], BALANCE_PLAYOUTS, self._models[0], self._leaves, lambda: self._stopped)
        return game.score is not None and abs(game.score) <= self._task.balance

    def _new_game(self, opening: str, colour: int, play_out: bool) -> Game:
        task = self._task
        megabytes = tree_megabytes(max(task.first.nodes, task.second.nodes))
        return Game(opening, task.ending, Settings(), megabytes, play_out, colour)
