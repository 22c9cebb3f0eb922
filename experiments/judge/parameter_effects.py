"""The effect of each number of the search by a judge's scores, with all numbers moved at once.

Each position is searched twice: with every number moved a few steps up or down at random, and with every one moved the
other way. The difference of one pair of searches is due to all of them, but over thousands of pairs each number's part
stands out as clearly as if all pairs had moved it alone (a two-level design with mirrored runs; Box, Hunter and Hunter,
"Statistics for Experimenters", 2005). So a hundred numbers cost no more than one, where games measure one at a time.

The measures are the distance of the search's win rate from the judge's, the share of moves that differ from the
judge's, and the win rate that those lose by the judge's searches of the positions after them. All are given in
hundredths of the gain from twice the nodes in the same positions. The effect of a number on the time of a node is
given in hundredths of a doubling: effect minus cost is the effect at equal time.
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
from experiments.jobs.ledger import Counts
from experiments.jobs.produce import produce
from experiments.jobs.protocol import Product, Stopped
from experiments.judge.choosers import rules_of
from experiments.judge.judge import Judge, Judging
from experiments.judge.statistics import clipped
from experiments.matches.named_player import read_player
from experiments.tuning.tune import chosen_parameters
from lite.datasets.plan import plan_run
from search.alphabeta.engine import AlphaBetaEngine
from search.alphabeta.parameters import Parameter, make_numbers, parameters_for
from search.engine import Analysis
from search.score import win_rate
from search.system.bounds import check_numbers
from search.system.options import OptionError

VERB = "judge parameters"
MEASURES = ("error", "disagreed", "lost")
"""Measures of a search: the difference of its win rate from the judge's, whether its move is another (0 or 1), and the
win rate that this loses (below zero if the judge's searches rate it above the judge's own move)."""
SIDES = ("first", "second")
TIME = "log2 of a node's time"
"""Logarithm of the CPU seconds per node; the search runs in the thread that starts it."""


@dataclass(frozen=True)
class EffectOptions:
    """Options of measuring the numbers of the search."""

    net: str
    """The network that searches: a file, or the name of a shipped one."""
    positions: Path
    """File of positions, one `sfen SFEN moves ...` per line, as `judge positions` writes it."""
    nodes: int = 40_000
    """Nodes of each search."""
    names: tuple[str, ...] = ()
    """Parameters to measure, by their names in search/alphabeta/parameters.py; without names, all."""
    option: tuple[str, ...] = ()
    """NAME=VALUE options of the search; parameters set here are moved from these values."""
    reach: float = 4.0
    """Steps by which each number is moved up and down; depths and counts, whose step is one, are moved by one."""
    rounds: int = 20
    """Pairs of searches of each position."""
    seed: int = 1
    """Seed of the numbers that are moved up and down."""
    output: Path = Path("runs/judge/parameters")
    """Folder of the run; the same command resumes an interrupted run."""


@dataclass(frozen=True)
class ParameterEffect:
    """Effect of moving a number up by `moved`, in hundredths of a doubling of the nodes, with standard errors over
    positions."""

    value: int
    """Value that the number is moved from."""
    moved: float
    """Half of the distance between the two searches' values."""
    effect: float
    """Effect by the distance of the search's win rates from the judge's."""
    effect_error: float
    """Standard error of `effect`."""
    moves: float
    """Effect by the share of moves that equal the judge's."""
    moves_error: float
    """Standard error of `moves`."""
    loss: float
    """Effect by the win rate that the search's moves lose."""
    loss_error: float
    """Standard error of `loss`."""
    cost: float
    """Increase of a node's time, in hundredths of a doubling."""
    cost_error: float
    """Standard error of `cost`."""


@dataclass(frozen=True)
class EffectsReport:
    """Effects of the numbers of the search."""

    player: str
    judge: str
    judge_nodes: int
    positions: int
    pairs: int
    """Pairs of searches in the folder, including those of an earlier call with more `rounds`."""
    base: dict[str, float]
    """Means of the unchanged search, by measure: error, disagreed, lost."""
    doubled: dict[str, float]
    """Means with twice the nodes, by measure: error, disagreed, lost."""
    parameters: dict[str, ParameterEffect]


def measure_effects(options: EffectOptions, judging: Judging) -> EffectsReport:
    """Measure the effects of numbers of the search; the same call resumes. Raises as `produce` does."""
    check_numbers(options, "rounds", "nodes")
    check_numbers(options, "seed", least=0, most=None)
    check_reach(options.reach)
    parameters = chosen_parameters(options.names, options.nodes)
    positions = read_positions(options.positions)
    if len(positions) < 2 or len(positions) * options.rounds < 2 * len(parameters):
        raise OptionError(
            f"`rounds` {options.rounds}: too few for {len(parameters)} parameters and the {len(positions)} positions "
            f"of {options.positions}",
            "rounds",
        )
    named = read_player(options.net, options.option, options.nodes, 0, "option")
    player = named.by_alphabeta
    design = Design(parameters, player.parameters, options.reach, options.seed)
    results = Results(len(positions), options.rounds)
    with judging.open() as judge:
        deciding = {"nodes": options.nodes, "names": [one.name for one in parameters], "option": options.option}
        deciding |= {"reach": options.reach, "seed": options.seed, "judge_nodes": judge.nodes}
        plan = plan_run(
            VERB,
            deciding,
            goal={"rounds": options.rounds},
            sources={"positions": [options.positions]},
            nets={"net": named.net},
            conditions={**named.conditions, **judge.conditions},
            others=judge.engine.files(),
        )
        task = EffectTask(player, judge, tuple(positions), design)
        produce(judging.place(options.output), plan, task, results.jobs(), referee=results, keep=judge.keep)
    base, doubled = results.levels()
    return EffectsReport(
        named.name(False),
        judge.engine.id_name,
        judge.nodes,
        len(positions),
        results.pairs,
        dict(zip(MEASURES, base.round(4).tolist(), strict=True)),
        dict(zip(MEASURES, doubled.round(4).tolist(), strict=True)),
        results.effects(design),
    )


def check_reach(reach: float) -> None:
    """Raise OptionError unless the value of `reach` is a finite number above 0."""
    if not 0 < reach < math.inf:
        raise OptionError(f"`reach` {reach}: must be above 0", "reach")


class Design:
    """The direction in which each number is moved, by position and round."""

    def __init__(self, parameters: Sequence[Parameter], changes: Any, reach: float, seed: int) -> None:
        self.parameters = tuple(parameters)
        self.changes = dict(changes)
        self._seed = seed
        self.centre = np.array([self.changes.get(one.name, one.default) for one in parameters], np.int64)
        far = np.array([1 if one.step == 1 else max(1, round(reach * one.step)) for one in parameters], np.int64)
        bounds = [one.low for one in parameters], [one.high for one in parameters]
        self._low, self._high = (np.clip(self.centre + sign * far, *bounds) for sign in (-1, 1))
        self.moved = (self._high - self._low) / 2
        """Half of the distance from down to up, f8 (parameters,), which a bound may have reduced."""

    def signs(self, place: int, number: int) -> np.ndarray:
        """Return i8 (parameters,): 1 where the pair's first search has the number moved up, else -1."""
        return np.random.default_rng((self._seed, place, number)).integers(0, 2, len(self.parameters)) * 2 - 1

    def values(self, signs: np.ndarray) -> dict[str, int]:
        """Return the search's parameters, within their bounds."""
        moved = np.where(signs > 0, self._high, self._low).tolist()
        return self.changes | dict(zip((one.name for one in self.parameters), moved, strict=True))


class Results:
    """The measures of the searches; the referee of the work."""

    def __init__(self, positions: int, rounds: int) -> None:
        self._positions, self._rounds = positions, rounds
        self.total: int | None = positions * (rounds + 1)
        self._found: dict[int, np.ndarray] = {}
        self._level: np.ndarray | None = None

    def jobs(self) -> Iterator[tuple[int, tuple[int, int]]]:
        """Yield (index of a position, round). In round 0 nothing is moved: the second search has twice the nodes."""
        for number in range(self._positions * (self._rounds + 1)):
            yield number, (number % self._positions, number // self._positions)

    def see(self, number: int, counts: Counts) -> None:
        """Take note of a pair of searches."""
        self._found[number] = np.array([[counts[f"{name} {side}"] for name in (*MEASURES, TIME)] for side in SIDES])
        if self._level is None and all(place in self._found for place in range(self._positions)):
            first = [self._found[place][:, : len(MEASURES)] for place in range(self._positions)]
            self._level = np.mean(first, axis=0)

    def has_enough(self) -> bool:
        """Return whether `levels` refuses round 0, so that further rounds would be in vain."""
        return self._level is not None and not _is_nearer(self._level)

    def measure(self) -> tuple[int, str]:
        """Return (pairs, text) for the progress line."""
        return len(self._found), f"{len(self._found):,} of {self.total:,} pairs of searches"

    def levels(self) -> np.ndarray:
        """Return f8 (2, measures): mean MEASURES of the search as it is, and with twice the nodes."""
        assert self._level is not None, "round 0 is not whole"
        if not _is_nearer(self._level):
            raise ValueError(
                "twice the nodes bring the search no nearer to the judge; give the judge more nodes, or more positions"
            )
        return self._level

    @property
    def pairs(self) -> int:
        """Pairs of searches with numbers moved."""
        return len(self._moved())

    def _moved(self) -> list[int]:
        return [number for number in self._found if number >= self._positions]

    def effects(self, design: Design) -> dict[str, ParameterEffect]:
        """Return the effects by parameter."""
        level = self.levels()
        pairs = self._moved()
        places = np.array([number % self._positions for number in pairs])
        signs = np.array([design.signs(number % self._positions, number // self._positions) for number in pairs], float)
        more = np.array([self._found[number][0] - self._found[number][1] for number in pairs])
        # Less is better of the measures, which are scaled by the gain of a doubling; a time is in doublings already.
        columns = more / [*(level[1] - level[0]), 1] * 100 / 2
        figures = np.vstack([part for column in columns.T for part in effects(signs, column, places)])
        return {
            one.name: ParameterEffect(value, moved, *row)
            for one, value, moved, row in zip(
                design.parameters,
                design.centre.tolist(),
                design.moved.tolist(),
                figures.T.round(2).tolist(),
                strict=True,
            )
        }


def _is_nearer(level: np.ndarray) -> bool:
    """Return whether twice the nodes lessen every measure of `Results.levels`."""
    return bool((level[1] < level[0]).all())


def effects(signs: np.ndarray, better: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (effects, standard errors), each f8 (parameters,): least squares of `better` (pairs,) by `signs` (pairs,
    parameters), for more pairs than parameters. The errors allow for correlation of pairs of one place, by `places`
    (pairs,) (Liang and Zeger, Biometrika 73, 1986).

    The residuals of `better` are smaller than its noise, as each parameter has fitted a part of it: with half as many
    parameters as pairs, errors would be seven tenths of the true ones. So the variance is corrected for few pairs and
    few places (CR1; Cameron and Miller, "A Practitioner's Guide to Cluster-Robust Inference",
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
    """Everything a worker needs to search positions with numbers moved."""

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
        """Return the MEASURES and the TIME of both searches, as counts. Raises Stopped."""
        place, number = job
        design, nodes = self._task.design, self._task.player.nodes
        position = self._task.positions[place]
        opinion = self._seat.ask(position)
        if number == 0:
            # Set all parameters: a search of twice the nodes may have other defaults.
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
        return Product(counts=counts, answers=self._seat.fresh())

    def _value(self, position: GamePosition, move: str) -> float:
        """Return the win rate after a move by the judge."""
        return win_rate(clipped(self._seat.value(position, move)[0]))

    def _search(self, position: GamePosition, parameters: dict[str, int], nodes: int) -> tuple[Analysis, float]:
        """Return (a search with empty memory, seconds per node)."""
        self._engine.new_game()
        self._engine.numbers = make_numbers(parameters)
        self._engine.rules = rules_of(self._task.player, position)
        begun = time.thread_time()
        found = self._engine.analyse(position.start.removeprefix("sfen "), position.moves, nodes=nodes)
        if self._stopped:
            raise Stopped
        return found, (time.thread_time() - begun + 1e-9) / (found.nodes + 1)
