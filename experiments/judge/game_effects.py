"""The effect of changes of the search in judged games, all tried at once.

In each pair of games each change is given at random to the first or to the second player. The games are stopped early
and judged (`experiments.judge.judged_match`); over hundreds of pairs each change's part stands out as clearly as if all
pairs had tried it alone (a two-level design; Box, Hunter and Hunter, "Statistics for Experimenters", 2005).

A change may be several numbers and steps together, against the search as it is. Without any, every number of the search
is measured, a few steps up against as many down. That shows which side of a number is the worse one far from its value,
and not how far to go to the other: its findings should be measured again as changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np

from experiments.games.player import Player
from experiments.jobs.ledger import Counts
from experiments.jobs.produce import produce
from experiments.jobs.protocol import Product
from experiments.judge.judge import Judging
from experiments.judge.judged_match import JudgedTask, JudgedWorker, share_of
from experiments.judge.parameter_effects import Design, check_reach, effects
from experiments.matches.in_process_games import InProcessGames
from experiments.matches.named_player import NamedPlayer, read_player
from experiments.tuning.tune import chosen_parameters
from lite.datasets.plan import plan_run
from search.alphabeta.parameters import STEPS
from search.system.bounds import check_numbers
from search.system.options import OptionError

VERB = "judge effects"


@dataclass(frozen=True)
class GameEffectOptions:
    """Options of measuring changes of the search in games."""

    net: str
    """The network of both players: a file, or the name of a shipped one."""
    openings: Path
    """File of balanced openings, one per line as an SFEN or `startpos moves ...`."""
    nodes: int = 100_000
    """Nodes per move."""
    plies: int = 50
    """Plies after which a game is stopped early and judged."""
    pairs: int = 1000
    """Pairs of games, each from one opening. An interrupted run reports its pairs if no more are requested."""
    change: tuple[str, ...] = ()
    """Changes to measure, each in quotes: "futility_base=31 futility_margin=78" "skip_probcut=true". No two may change
    the same number or step."""
    names: tuple[str, ...] = ()
    """Parameters to measure if no change is given, by their names in search/alphabeta/parameters.py; without names,
    all."""
    option: tuple[str, ...] = ()
    """NAME=VALUE options of both players."""
    reach: float = 4.0
    """Steps by which each parameter is moved up and down; depths and counts, whose step is one, are moved by one."""
    seed: int = 1
    """Seed of the order of the openings and of the players that have each change."""
    output: Path = Path("runs/judge/effects")
    """Folder of the run; the same command resumes an interrupted run."""


@dataclass(frozen=True)
class ChangeEffect:
    """Effect of a change on the share of win rate, in hundredths."""

    less: str
    """Name of the search without the change."""
    more: str
    """Name of the search with the change."""
    effect: float
    """Win rate above one half against the search without the change, in hundredths."""
    effect_error: float
    """Standard error of `effect`."""


@dataclass(frozen=True)
class GameEffectsReport:
    """Effects of changes of the search in games."""

    player: str
    judge: str
    judge_nodes: int
    nodes: int
    plies: int
    pairs: int
    """Pairs of games that were played."""
    effects: tuple[ChangeEffect, ...]


def measure_game_effects(options: GameEffectOptions, judging: Judging) -> GameEffectsReport:
    """Measure changes of the search in judged games; the same call resumes. Raises as `produce` does."""
    check_numbers(options, "plies", "pairs")
    check_reach(options.reach)
    if options.change and options.names:
        raise OptionError(
            "`change` and `names`: a change names its own numbers; leave out one of them", "change", "names"
        )
    if options.change and options.reach != GameEffectOptions.reach:
        raise OptionError(f"`reach` {options.reach}: has no effect with `change`; leave it out", "reach", "change")
    named = _player(options, ())
    both = named.by_alphabeta
    factors = [_factor_of(options, change) for change in options.change] or _moved(options, both.parameters)
    _check_apart(factors)
    if options.pairs < 2 * len(factors):
        raise OptionError(f"`pairs` {options.pairs}: too few for {len(factors)} changes", "pairs")
    games = 2 * options.pairs
    rules = InProcessGames(
        nodes=options.nodes, games=games, openings=options.openings, seed=options.seed, output=options.output
    )
    rules.check()
    lines = rules.lines()
    design = GameDesign(tuple(factors), options.seed)
    results = PairResults(options.pairs)
    with judging.open() as judge:
        deciding = {"nodes": options.nodes, "plies": options.plies, "effects": [one.more for one in factors]}
        deciding |= {"option": options.option, "reach": options.reach, "seed": options.seed, "judge_nodes": judge.nodes}
        plan = plan_run(
            VERB,
            deciding,
            goal={"pairs": options.pairs},
            sources={"openings": [options.openings]},
            nets={"net": named.net},
            conditions={**named.conditions, **judge.conditions},
            others=judge.engine.files(),
        )
        task = GameEffectTask(both, both, judge, lines, options.plies, options.seed, design=design)
        jobs = ((number, number) for number in range(options.pairs))
        produce(judging.place(options.output), plan, task, jobs, referee=results, keep=judge.keep)
    return GameEffectsReport(
        named.name(False),
        judge.engine.id_name,
        judge.nodes,
        options.nodes,
        options.plies,
        results.measure()[0],
        tuple(results.report(design)),
    )


@dataclass(frozen=True)
class Factor:
    """Two levels of something; one player has one level and the other player the other."""

    less: str
    """Name of the first level for readers."""
    more: str
    """Name of the second level for readers."""
    parameters: tuple[Mapping[str, int], Mapping[str, int]]
    """Changes of the search's parameters by level."""
    toggled: int = 0
    """Bits of the steps in which the levels differ."""


def _player(options: GameEffectOptions, change: Sequence[str]) -> NamedPlayer:
    return read_player(options.net, (*options.option, *change), options.nodes, 0, "change" if change else "option")


def _factor_of(options: GameEffectOptions, change: str) -> Factor:
    """Return the factor of a change. Raises OptionError for one that changes nothing."""
    both, changed = _player(options, ()).by_alphabeta, _player(options, change.split()).by_alphabeta
    if (both.parameters, both.steps) == (changed.parameters, changed.steps):
        raise OptionError(f"`change` {change}: changes no number and no step of the search", "change")
    # Values that `option` has set and this change leaves alone may belong to another change.
    own = {name: value for name, value in changed.parameters.items() if both.parameters.get(name) != value}
    return Factor("as it is", change, ({}, own), both.steps ^ changed.steps)


def _check_apart(factors: Sequence[Factor]) -> None:
    """Raise OptionError if two changes have the same number or step: a side with both would play only one of them."""
    for one, other in combinations(factors, 2):
        steps = one.toggled & other.toggled
        shared = [name for name in one.parameters[1] if name in other.parameters[1]]
        shared += [name for bit, name in enumerate(STEPS) if steps >> bit & 1]
        if shared:
            raise OptionError(
                f"`change` {one.more} and {other.more}: both change {shared[0]}; measure them in two runs", "change"
            )


def _moved(options: GameEffectOptions, changes: Mapping[str, int]) -> list[Factor]:
    """Return a factor for each of the parameters: moved down, and up."""
    design = Design(chosen_parameters(options.names, options.nodes), changes, options.reach, options.seed)
    ones = np.ones(len(design.parameters), np.int64)
    low, high = design.values(-ones), design.values(ones)
    names = [one.name for one in design.parameters]
    return [
        Factor(f"{name}={low[name]}", f"{name}={high[name]}", ({name: low[name]}, {name: high[name]})) for name in names
    ]


@dataclass(frozen=True)
class GameDesign:
    """The assignment of changes to players by the number of a pair."""

    factors: tuple[Factor, ...]
    """Factors that have no number and no step in common."""
    seed: int

    def signs(self, pair: int) -> np.ndarray:
        """Return i8 (factors,): 1 where the first player has the level `more`, else -1."""
        return np.random.default_rng((self.seed, pair, 0)).integers(0, 2, len(self.factors)) * 2 - 1

    def searches(self, pair: int, both: Player) -> Iterator[tuple[dict[str, int], int]]:
        """Yield the parameters and the steps of both players."""
        signs = self.signs(pair)
        for side in (signs, -signs):
            parameters, steps = dict(both.parameters), both.steps
            for one, sign in zip(self.factors, side, strict=True):
                parameters |= one.parameters[int(sign > 0)]
                steps ^= one.toggled if sign > 0 else 0
            yield parameters, steps


class PairResults:
    """The shares of the pairs; the referee of the work."""

    def __init__(self, pairs: int) -> None:
        self.total: int | None = pairs
        self._shares: dict[int, float] = {}

    def see(self, number: int, counts: Counts) -> None:
        """Take note of a pair."""
        self._shares[number] = share_of(counts)

    def has_enough(self) -> bool:
        """Return False: all pairs are played."""
        return False

    def measure(self) -> tuple[int, str]:
        """Return (pairs, text) for the progress line."""
        return len(self._shares), f"{len(self._shares):,} of {self.total:,} pairs of games"

    def report(self, design: GameDesign) -> Iterator[ChangeEffect]:
        """Yield the effect of each change."""
        pairs = sorted(self._shares)
        signs = np.array([design.signs(pair) for pair in pairs], float)
        more = np.array([self._shares[pair] - 0.5 for pair in pairs]) * 100
        found, errors = effects(signs, more, np.arange(len(pairs)))
        for one, effect, error in zip(design.factors, found.tolist(), errors.tolist(), strict=True):
            yield ChangeEffect(one.less, one.more, round(effect, 2), round(error, 2))


@dataclass(frozen=True)
class GameEffectTask(JudgedTask):
    """Everything a worker needs to play and judge pairs with changes."""

    design: GameDesign = field(kw_only=True)

    def open(self) -> GameEffectWorker:
        return GameEffectWorker(self)


class GameEffectWorker(JudgedWorker):
    """One thread's players, and its judge."""

    def __init__(self, task: GameEffectTask) -> None:
        super().__init__(task)
        self._design, self._player = task.design, task.first

    def run(self, number: int) -> Product:
        """Play and judge a pair, as `JudgedWorker.run`, with its changes."""
        parameters, steps = zip(*self._design.searches(number, self._player), strict=True)
        self.duel.set_parameters(*parameters)
        self.duel.set_steps(*steps)
        return super().run(number)
