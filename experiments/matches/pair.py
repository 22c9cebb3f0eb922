"""A pair of games: one opening played twice with colours exchanged, as records and counts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from experiments.games.openings import NoOpening, Openings
from experiments.games.player import Ending, PlayedGame
from experiments.jobs.protocol import Product
from search.rules.shogi import BLACK, WHITE

OUTCOMES = {1.0: "wins", 0.5: "draws", 0.0: "losses"}
COLOURS = {BLACK: "black", WHITE: "white"}
UNMOVED = "without a move"
"""Count of games that a search has proved at their first position, which leave no record."""
UNEVEN = "opening beyond the balance"
"""Count of pairs whose opening is less even than requested, as none was that even."""


@dataclass(frozen=True)
class PairSettings:
    """Settings that all pairs of a match share; a pair's number gives its opening."""

    ending: Ending
    lines: tuple[str, ...]
    """Openings; each is used before one is used again, in an order that the seed gives."""
    random_plies: tuple[int, int]
    """Random moves played after the opening: at least, at most."""
    balance: int
    """Largest evaluation for either side after random moves, centipawns, by the first player's network; where no
    opening is that even, the most even one is played."""
    played_out: float
    """Share of the games that the scores would end that are played to their end."""
    seed: int

    def opening(
        self, number: int, random: np.random.Generator, evaluate: Callable[[str], int | None]
    ) -> tuple[str, bool]:
        """Return the opening of both games of a pair, and whether it is within the balance.

        evaluate: returns the evaluation of an opening for either side, None if its game is over or proved. A line
        without random moves is not evaluated.
        """
        openings = openings_of(self.lines, number, self.random_plies, self.seed)
        if not openings.most:
            return openings.draw(random), True
        found: dict[str, int] = {}

        def fits(opening: str) -> bool:
            if (score := evaluate(opening)) is not None:
                found[opening] = abs(score)
            return opening in found and found[opening] <= self.balance

        try:
            return openings.draw(random, fits), True
        except NoOpening:
            if not found:
                raise
            return min(found, key=found.__getitem__), False


def line_of(lines: tuple[str, ...], number: int, seed: int) -> str:
    """Return a pair's opening before random moves; each opening is used before one is used again."""
    turn, place = divmod(number, len(lines))
    return lines[np.random.default_rng((seed, turn, 0)).permutation(len(lines))[place]]


def openings_of(lines: tuple[str, ...], number: int, random_plies: tuple[int, int], seed: int) -> Openings:
    """Return the openings that a pair's opening is drawn from: its line with random moves."""
    return Openings((line_of(lines, number, seed),), *random_plies)


def pair_product(games: Iterable[PlayedGame], begun: float, is_even: bool) -> Product:
    """Return the games as hcpe3 with their counts from the first player's view.

    begun: the thread's CPU time at their start. is_even: whether their opening is within the balance.
    """
    counts = Counter[str]() if is_even else Counter({UNEVEN: 1})
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
