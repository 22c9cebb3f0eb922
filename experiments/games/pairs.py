"""Pairs of games as jobs: an opening twice with colours changed, by two players who have forgotten all before it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from experiments.factory.jobs import Product, Stopped, Worker
from experiments.factory.study import SEARCH, Studio
from experiments.factory.study import Stopped as StudyStopped
from experiments.games.openings import Openings
from experiments.games.player import Cancelled, Duel, Ending, PlayedGame, Player, PuctPlayer
from search.rules.huffman import HCP, encode
from search.rules.play import set_game, split_moves
from search.rules.position import new_position
from search.rules.shogi import BLACK, WHITE

BALANCE_NODES = 2000
"""Of the search that says whether random moves have left an opening balanced."""
OUTCOMES = {1.0: "wins", 0.5: "draws", 0.0: "losses"}
COLOURS = {BLACK: "black", WHITE: "white"}
UNMOVED = "without a move"
"""Of games that a search has proved at their first position: records have nothing of them."""


@dataclass(frozen=True)
class PairTask:
    """What a worker needs to play pairs, which are told apart by their numbers alone."""

    first: Player | PuctPlayer
    second: Player | PuctPlayer
    """Of the first player's kind."""
    ending: Ending
    lines: tuple[str, ...]
    """Openings; each is used before one is used again, in an order of the seed's."""
    random_plies: tuple[int, int]
    """Random moves that are played on from there: at least, at most."""
    balance: int
    """Centipawns that the first player's network may see for either side after random moves."""
    played_out: float
    """Share of the games that the scores would end that are played to their end."""
    seed: int

    def open(self) -> Worker:
        """The memory of one worker. TypeError for players of two kinds, whose nodes do not compare."""
        if isinstance(self.first, Player) and isinstance(self.second, Player):
            return PairWorker(self, self.first, self.second)
        if isinstance(self.first, PuctPlayer) and isinstance(self.second, PuctPlayer):
            from experiments.zero.pairs import PuctPairWorker  # needs ONNX Runtime

            return PuctPairWorker(self, self.first, self.second)
        raise TypeError("a player by PUCT and one by alpha-beta do not meet in this process")

    def opening(self, number: int, random: np.random.Generator, fits: Callable[[str], bool]) -> str:
        """Where both games of a pair begin; what random moves have led to must fit."""
        openings = openings_of(self.lines, number, self.random_plies, self.seed)
        return openings.draw(random, fits if openings.most else None)


class PairWorker:
    """Plays pairs by alpha-beta, one game at a time."""

    def __init__(self, task: PairTask, first: Player, second: Player) -> None:
        self._task = task
        self._duel = Duel(first, second, task.ending)
        self._studio = Studio(first.network, 1)
        self._position = new_position()
        # What this compiles is no part of the time that a pair takes, which nodes a second are told by.
        Duel(replace(first, nodes=1, depth=0), replace(second, nodes=1, depth=0), plies=1).play("startpos")
        if task.random_plies[1]:
            self._is_balanced("startpos")

    def stop(self) -> None:
        """End the game under way."""
        self._duel.stop()
        self._studio.stop()

    def run(self, number: int) -> Product:
        """Both games as hcpe3, the first player being black in the first. Raises Stopped."""
        task, begun = self._task, time.thread_time()
        random = np.random.default_rng((task.seed, number))
        games = []
        try:
            self._studio.forget()
            opening = task.opening(number, random, self._is_balanced)
            for colour in COLOURS:
                self._duel.forget()
                out = bool(random.random() < task.played_out)
                games.append(self._duel.play(opening, colour, play_out=out))
        except (Cancelled, StudyStopped):
            raise Stopped from None
        return pair_product(games, begun)

    def _is_balanced(self, opening: str) -> bool:
        if self._duel.is_over(opening):
            return False
        pos = self._position
        set_game(pos, *split_moves(opening))
        code = np.frombuffer(encode(pos["board"], pos["hands"], int(pos["turn"]), HCP), np.uint8)
        scores, _ = self._studio.study(code[np.newaxis], SEARCH, BALANCE_NODES)
        return bool(abs(int(scores[0])) <= self._task.balance)


def line_of(lines: tuple[str, ...], number: int, seed: int) -> str:
    """The opening that a pair begins from, before random moves: each is used before one is used again."""
    turn, place = divmod(number, len(lines))
    return lines[np.random.default_rng((seed, turn, 0)).permutation(len(lines))[place]]


def openings_of(lines: tuple[str, ...], number: int, random_plies: tuple[int, int], seed: int) -> Openings:
    """What a pair's opening is drawn from: its line, and random moves played on."""
    return Openings((line_of(lines, number, seed),), *random_plies)


def pair_product(games: Iterable[PlayedGame], begun: float) -> Product:
    """The games as hcpe3 with what they add to the counts of a match, in the first player's view; `begun` is the
    thread's time at their start."""
    counts: Counter[str] = Counter()
    content = b""
    for game in games:
        colour = COLOURS[game.first_colour]
        if len(game.moves):
            content += game.hcpe3()
        else:
            counts[f"{UNMOVED} as {colour}"] += 1
        counts.update(game.counts())
        counts[f"{OUTCOMES[game.points]} as {colour}"] += 1
        counts["nodes of first"] += game.nodes[0]
        counts["nodes of second"] += game.nodes[1]
    return Product(content, {**counts, "seconds": round(time.thread_time() - begun, 4)})
