"""What each number of the search is worth by a judge's word, all of them moved at once.

Each position is searched twice: with every number moved a few steps up or down by chance, and with every one moved the
other way. What one pair of searches tells belongs to none of them, but over thousands each number's part stands out as
clearly as if all pairs had been searched for it alone (a two-level design with mirrored runs; Box, Hunter and Hunter,
"Statistics for Experimenters", 2005). So a hundred numbers cost no more than one, where games tell of one at a time.

The yardsticks are how far the search's win rate is from the judge's, how often its move is another, and what that one
loses by the judge's searches of what either leads to. All are told in hundredths of what twice the nodes are worth in
the same positions. What a number does to the time of a node is told likewise, in hundredths of a doubling: worth less
cost is what it is worth by the clock.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.games.game_position import GamePosition, read_positions
from experiments.games.player import Player
from experiments.jobs.description import Description
from experiments.jobs.ledger import Counts
from experiments.jobs.produce import Place, produce
from experiments.jobs.protocol import Product, Stopped
from experiments.judge.choosers import rules_of
from experiments.judge.judge import Judge, Judging
from experiments.judge.losses import clipped
from experiments.matches.named_player import read_player
from experiments.tuning.tune import chosen_parameters
from lite.records.formats import HCPE
from search.alphabeta.engine import AlphaBetaEngine
from search.alphabeta.parameters import Parameter, make_numbers, parameters_for
from search.engine import Analysis
from search.score import win_rate
from search.system.bounds import check_numbers

MEASURES = ("error", "disagreed", "lost")
"""Of a search: the difference of its win rate from the judge's, whether its move is another (0 or 1), and what win rate
that loses (below zero where the judge comes to like it better than its own)."""
SIDES = ("first", "second")
TIME = "log2 of a node's time"
"""CPU seconds; the search runs in the thread that asks for it."""


@dataclass(frozen=True)
class EffectOptions:
    """Which numbers are measured, where."""

    net: str
    """The network that searches: a file, or the name of a shipped one."""
    positions: Path
    """File of positions, as `judge positions` makes it."""
    nodes: int = 40_000
    """Of a search."""
    names: tuple[str, ...] = ()
    """Parameters to measure, see search/alphabeta/parameters.py; without names all."""
    option: tuple[str, ...] = ()
    """NAME=VALUE options of the search: numbers that are moved, are moved from there."""
    reach: float = 4.0
    """Steps that each number is moved by, up and down; depths and counts, whose step is one, by one."""
    rounds: int = 20
    """Pairs of searches of each position."""
    seed: int = 1
    """Which numbers are moved up, and which down."""
    output: Path = Path("runs/parameters")
    """Folder of what is found: called again, it goes on."""


def measure_effects(options: EffectOptions, judging: Judging) -> dict[str, Any]:
    """{player, judge, judge_nodes, positions, pairs, base, doubled, parameters}; goes on where it was cut.

    `pairs` are all that the folder holds, also those of more `rounds` before.
    `base` and `doubled` are the mean MEASURES of the search as it is, with its nodes and with twice as many.
    `parameters` is {name: {value, moved, worth, worth_error, moves, moves_error, loss, loss_error, cost, cost_error}}:
    what moving it up by `moved`, half the way from the one search to the other, is worth by the win rate, by the moves,
    and by what they lose, and what a node then takes longer, in hundredths of a doubling, errors being standard errors
    over positions.
    Raises OSError or ValueError in words, KeyboardInterrupt.
    """
    check_numbers(options, "rounds", "nodes")
    check_numbers(options, "seed", least=0, most=None)
    if not 0 < options.reach < math.inf:
        raise ValueError(f"--reach {options.reach}: must be above 0")
    parameters = chosen_parameters(options.names, options.nodes)
    positions = read_positions(options.positions)
    if len(positions) < 2 or len(positions) * options.rounds < 2 * len(parameters):
        raise ValueError(
            f"{options.positions}: {options.rounds} rounds of its {len(positions)} positions are too few for "
            f"{len(parameters)} parameters: ask for more --rounds"
        )
    named = read_player(options.net, options.option, options.nodes, 0, "--option")
    player = named.by_alphabeta
    judge = judging.open()
    design = Design(parameters, player.parameters, options.reach, options.seed)
    results = Results(len(positions), options.rounds)
    told = {"nodes": options.nodes, "names": [one.name for one in parameters], "option": options.option}
    told |= {"reach": options.reach, "seed": options.seed, "judge_nodes": judge.nodes, "judge": judge.identity}
    description = Description(
        "judge parameters", told, (options.positions,), {"net": named.net}, signature=named.signature
    )
    task = EffectTask(player, judge, tuple(positions), design)
    place = Place(options.output, HCPE, judging.workers)
    produce(place, description, task, results.jobs(), referee=results)
    return {
        "player": named.name(False),
        "judge": judge.engine.id_name,
        "judge_nodes": judge.nodes,
        "positions": len(positions),
        **results.report(design),
    }


class Design:
    """Which way each number is moved, by the numbers of a position and a round."""

    def __init__(self, parameters: Sequence[Parameter], changes: Any, reach: float, seed: int) -> None:
        self.parameters = tuple(parameters)
        self.changes = dict(changes)
        self._seed = seed
        self.centre = np.array([self.changes.get(one.name, one.default) for one in parameters], np.int64)
        far = np.array([1 if one.step == 1 else max(1, round(reach * one.step)) for one in parameters], np.int64)
        bounds = [one.low for one in parameters], [one.high for one in parameters]
        self._low, self._high = (np.clip(self.centre + sign * far, *bounds) for sign in (-1, 1))
        self.moved = (self._high - self._low) / 2
        """f8 (parameters,): half the way from down to up, which a bound may have cut short."""

    def signs(self, place: int, number: int) -> np.ndarray:
        """i8 (parameters,): 1 where the first search of the pair has the number moved up, else -1."""
        return np.random.default_rng((self._seed, place, number)).integers(0, 2, len(self.parameters)) * 2 - 1

    def values(self, signs: np.ndarray) -> dict[str, int]:
        """The search's parameters, kept within their bounds."""
        moved = np.where(signs > 0, self._high, self._low).tolist()
        return self.changes | dict(zip((one.name for one in self.parameters), moved, strict=True))


class Results:
    """What has come of the searches; the referee of the work."""

    def __init__(self, positions: int, rounds: int) -> None:
        self._positions, self._rounds = positions, rounds
        self.total: int | None = positions * (rounds + 1)
        self._found: dict[int, np.ndarray] = {}

    def jobs(self) -> Iterator[tuple[int, tuple[int, int]]]:
        """(Place of a position, round). In round 0 nothing is moved, and the second search has twice the nodes."""
        for number in range(self._positions * (self._rounds + 1)):
            yield number, (number % self._positions, number // self._positions)

    def see(self, number: int, counts: Counts) -> None:
        """A pair has been searched."""
        self._found[number] = np.array([[counts[f"{name} {side}"] for name in (*MEASURES, TIME)] for side in SIDES])

    def has_enough(self) -> bool:
        """Never: each position has its rounds."""
        return False

    def measure(self) -> tuple[int, str]:
        """For the progress line."""
        return len(self._found), f"{len(self._found):,} of {self.total:,} pairs of searches"

    def report(self, design: Design) -> dict[str, Any]:
        """pairs, base, doubled and parameters, see `measure_effects`."""
        level = np.mean([self._found[place][:, : len(MEASURES)] for place in range(self._positions)], axis=0)
        gain = level[0] - level[1]
        if not (gain > 0).all():
            raise ValueError(
                "twice the nodes bring the search no nearer to the judge: its word needs more nodes, or more positions"
            )
        pairs = [number for number in self._found if number >= self._positions]
        places = np.array([number % self._positions for number in pairs])
        signs = np.array([design.signs(number % self._positions, number // self._positions) for number in pairs], float)
        more = np.array([self._found[number][0] - self._found[number][1] for number in pairs])
        # Of errors less is better and what they cost is told by `gain`; a node's time is in doublings already.
        columns = more / [*-gain, 1] * 100 / 2
        figures = np.vstack([part for column in columns.T for part in effects(signs, column, places)])
        names = [f"{what}{error}" for what in ("worth", "moves", "loss", "cost") for error in ("", "_error")]
        return {
            "pairs": len(pairs),
            "base": dict(zip(MEASURES, level[0].round(4).tolist(), strict=True)),
            "doubled": dict(zip(MEASURES, level[1].round(4).tolist(), strict=True)),
            "parameters": {
                one.name: {"value": value, "moved": moved, **dict(zip(names, row, strict=True))}
                for one, value, moved, row in zip(
                    design.parameters,
                    design.centre.tolist(),
                    design.moved.tolist(),
                    figures.T.round(2).tolist(),
                    strict=True,
                )
            },
        }


def effects(signs: np.ndarray, better: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """f8 (parameters,) twice: least squares of `better` (pairs,) by `signs` (pairs, parameters), more pairs than
    parameters, and standard errors that allow for pairs of one of the `places` (pairs,) being alike (Liang and Zeger,
    Biometrika 73, 1986).

    What is left of `better` is smaller than its noise was, for each parameter has fitted a part of that: with half as
    many parameters as pairs the errors would be seven tenths of what they are. So the variance is raised by what few
    pairs and few places take from it (CR1; Cameron and Miller, "A Practitioner's Guide to Cluster-Robust Inference",
    2015)."""
    inverse = np.linalg.pinv(signs.T @ signs)
    found = inverse @ (signs.T @ better)
    scores = np.zeros((int(places.max()) + 1, signs.shape[1]))
    np.add.at(scores, places, signs * (better - signs @ found)[:, None])
    pairs, groups = len(places), len(np.unique(places))
    raised = groups / (groups - 1) * (pairs - 1) / (pairs - signs.shape[1])
    return found, np.sqrt(raised * np.diag(inverse @ (scores.T @ scores) @ inverse))


@dataclass(frozen=True)
class EffectTask:
    """Positions to be searched with numbers moved."""

    player: Player
    judge: Judge
    positions: tuple[GamePosition, ...]
    design: Design

    def open(self) -> EffectWorker:
        return EffectWorker(self)


class EffectWorker:
    """One thread's search, and its judge."""

    def __init__(self, task: EffectTask) -> None:
        self._task = task
        self._engine = AlphaBetaEngine(task.player.network, task.player.hash_mb)
        self._engine.steps = task.player.steps
        self._seat = task.judge.seat()
        self._stopped = False

    def stop(self) -> None:
        self._stopped = True
        self._engine.stop()
        self._seat.stop()

    def run(self, job: tuple[int, int]) -> Product:
        """The MEASURES and the TIME of both searches, as counts."""
        place, number = job
        design, nodes = self._task.design, self._task.player.nodes
        position = self._task.positions[place]
        opinion = self._seat.ask(position)
        if number == 0:
            # All of them, for a search of twice the nodes may have others.
            still = {one.name: one.default for one in parameters_for(nodes)} | design.changes
            searches = [(still, nodes), (still, 2 * nodes)]
        else:
            signs = design.signs(place, number)
            searches = [(design.values(signs), nodes), (design.values(-signs), nodes)]
        counts: dict[str, float] = {}
        for side, (parameters, limit) in zip(SIDES, searches, strict=True):
            found, time_of_node = self._search(position, parameters, limit)
            error = abs(win_rate(clipped(found.score)) - win_rate(clipped(opinion.score)))
            move = found.best_move or "resign"
            lost = 0.0 if move == opinion.move else self._value(position, opinion.move) - self._value(position, move)
            counts |= {f"error {side}": round(error, 6), f"lost {side}": round(lost, 6)}
            counts[f"disagreed {side}"] = int(move != opinion.move)
            counts[f"{TIME} {side}"] = round(math.log2(time_of_node), 4)
        return Product(b"", counts)

    def _value(self, position: GamePosition, move: str) -> float:
        """The win rate that a move leads to by the judge's word."""
        return win_rate(clipped(self._seat.value(position, move)[0]))

    def _search(self, position: GamePosition, parameters: dict[str, int], nodes: int) -> tuple[Analysis, float]:
        """A search that knows nothing from before, and the seconds of a node."""
        self._engine.new_game()
        self._engine.numbers = make_numbers(parameters)
        self._engine.rules = rules_of(self._task.player, position)
        begun = time.thread_time()
        found = self._engine.analyse(position.start.removeprefix("sfen "), position.moves, nodes=nodes)
        if self._stopped:
            raise Stopped
        return found, (time.thread_time() - begun + 1e-9) / (found.nodes + 1)
