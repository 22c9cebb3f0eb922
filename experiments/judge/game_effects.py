"""What changes of the search are worth in games, all of them tried at once.

In each pair of games chance gives each change to the first player or to the second. The games are broken off and judged
(`experiments.judge.judged_match`); over hundreds of pairs each change's part stands out as clearly as if all pairs had been
played for it alone (a two-level design; Box, Hunter and Hunter, "Statistics for Experimenters", 2005).

A change may be several numbers and steps together, against the search as it is. Without any, every number of the search
is asked about, a few steps up against as many down. That tells which side of a number is the worse one far off, and not
how far to go to the other: what it says wants to be asked again as changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from experiments.games.player import Player
from experiments.jobs.description import Description
from experiments.jobs.ledger import Counts
from experiments.jobs.produce import Place, produce
from experiments.jobs.protocol import Product
from experiments.judge.judge import Judging
from experiments.judge.judged_match import JudgedTask, JudgedWorker, share_of
from experiments.judge.parameter_effects import Design, effects
from experiments.matches.counted_games import CountedGames
from experiments.matches.named_player import NamedPlayer, read_player
from experiments.tuning.tune import chosen_parameters
from lite.records.formats import HCPE
from search.system.bounds import check_numbers


@dataclass(frozen=True)
class GameEffectOptions:
    """Which changes are measured, and how the games are played."""

    net: str
    """The network of both players: a file, or the name of a shipped one."""
    openings: Path
    nodes: int = 100_000
    """Of a move."""
    plies: int = 50
    """After which a game is broken off and judged."""
    pairs: int = 1000
    """Of games, both with one opening. A run that was cut tells what it knows if no more are asked for."""
    change: tuple[str, ...] = ()
    """What one side has by chance, each in quotes: "futility_base=31 futility_margin=78" "skip_probcut=true"."""
    names: tuple[str, ...] = ()
    """Without a change, the parameters to measure, see search/alphabeta/parameters.py; without names all."""
    option: tuple[str, ...] = ()
    """NAME=VALUE options of both sides."""
    reach: float = 4.0
    """Steps that each of the parameters is moved by, up and down; depths and counts, whose step is one, by one."""
    seed: int = 1
    """Order of the openings, and who has which change."""
    output: Path = Path("runs/effects")
    """Folder of what is found: called again, it goes on."""


def measure_game_effects(options: GameEffectOptions, judging: Judging) -> dict[str, Any]:
    """{player, judge, judge_nodes, nodes, plies, pairs, effects}; goes on where it was cut.

    `pairs` are those that have been played. `effects` is a list of {less, more, worth, worth_error}: what `more` adds
    to the share of win rate beside a search that has `less`, in hundredths, with its standard error. Raises OSError or
    ValueError in words, KeyboardInterrupt.
    """
    check_numbers(options, "plies", "pairs")
    if not 0 < options.reach < math.inf:
        raise ValueError(f"--reach {options.reach}: must be above 0")
    if options.change and options.names:
        raise ValueError("--change and --names: a change names its own numbers; leave one of them out")
    if options.change and options.reach != GameEffectOptions.reach:
        raise ValueError(f"--reach {options.reach}: a change says itself how far; leave it out")
    named = _player(options, ())
    both = named.by_alphabeta
    factors = [_factor_of(options, change) for change in options.change] or _moved(options, both.parameters)
    if options.pairs < 2 * len(factors):
        raise ValueError(f"--pairs {options.pairs}: too few for {len(factors)} changes")
    games = 2 * options.pairs
    counted = CountedGames(
        nodes=options.nodes, games=games, openings=options.openings, seed=options.seed, output=options.output
    )
    counted.check()
    lines = counted.lines()
    judge = judging.open()
    design = GameDesign(tuple(factors), options.seed)
    results = PairResults(options.pairs)
    told = {"nodes": options.nodes, "plies": options.plies, "effects": [one.more for one in factors]}
    told |= {"option": options.option, "reach": options.reach, "seed": options.seed}
    told |= {"judge": judge.identity, "judge_nodes": judge.nodes}
    description = Description("judge effects", told, (options.openings,), {"net": named.net}, signature=named.signature)
    task = GameEffectTask(both, both, judge, lines, options.plies, options.seed, design=design)
    place = Place(options.output, HCPE, judging.workers)
    produce(place, description, task, ((number, number) for number in range(options.pairs)), referee=results)
    return {
        "player": named.name(False),
        "judge": judge.engine.id_name,
        "judge_nodes": judge.nodes,
        "nodes": options.nodes,
        "plies": options.plies,
        "pairs": results.measure()[0],
        "effects": results.report(design),
    }


@dataclass(frozen=True)
class Factor:
    """Two levels of something, of which one side has the one and the other side the other."""

    less: str
    """For readers."""
    more: str
    parameters: tuple[Mapping[str, int], Mapping[str, int]]
    """Changes of the search's parameters, of either level."""
    toggled: int = 0
    """Bits of the steps that `more` lacks and `less` has, or the other way round."""


def _player(options: GameEffectOptions, change: Sequence[str]) -> NamedPlayer:
    return read_player(options.net, (*options.option, *change), options.nodes, 0, "--change" if change else "--option")


def _factor_of(options: GameEffectOptions, change: str) -> Factor:
    """ValueError in words for a change that is none."""
    both, changed = _player(options, ()).by_alphabeta, _player(options, change.split()).by_alphabeta
    if (both.parameters, both.steps) == (changed.parameters, changed.steps):
        raise ValueError(f"--change {change}: changes no number and no step of the search")
    # What `--option` has set and this change leaves alone may be another change's.
    own = {name: value for name, value in changed.parameters.items() if both.parameters.get(name) != value}
    return Factor("as it is", change, ({}, own), both.steps ^ changed.steps)


def _moved(options: GameEffectOptions, changes: Mapping[str, int]) -> list[Factor]:
    """A factor for each of the parameters: moved down, and up."""
    design = Design(chosen_parameters(options.names, options.nodes), changes, options.reach, options.seed)
    ones = np.ones(len(design.parameters), np.int64)
    low, high = design.values(-ones), design.values(ones)
    names = [one.name for one in design.parameters]
    return [
        Factor(f"{name}={low[name]}", f"{name}={high[name]}", ({name: low[name]}, {name: high[name]})) for name in names
    ]


@dataclass(frozen=True)
class GameDesign:
    """Who has which of the changes, by the number of a pair."""

    factors: tuple[Factor, ...]
    seed: int

    def signs(self, pair: int) -> np.ndarray:
        """i8 (factors,): 1 where the first player has more of it, else -1."""
        return np.random.default_rng((self.seed, pair, 0)).integers(0, 2, len(self.factors)) * 2 - 1

    def searches(self, pair: int, both: Player) -> Iterator[tuple[dict[str, int], int]]:
        """The parameters and the steps of either player."""
        signs = self.signs(pair)
        for side in (signs, -signs):
            parameters, toggled = dict(both.parameters), 0
            for one, sign in zip(self.factors, side, strict=True):
                parameters |= one.parameters[int(sign > 0)]
                toggled |= one.toggled if sign > 0 else 0
            yield parameters, both.steps ^ toggled


class PairResults:
    """What has come of the pairs; the referee of the work."""

    def __init__(self, pairs: int) -> None:
        self.total: int | None = pairs
        self._shares: dict[int, float] = {}

    def see(self, number: int, counts: Counts) -> None:
        """A pair has been played."""
        self._shares[number] = share_of(counts)

    def has_enough(self) -> bool:
        """Never: as many are played as were asked for."""
        return False

    def measure(self) -> tuple[int, str]:
        """For the progress line."""
        return len(self._shares), f"{len(self._shares):,} of {self.total:,} pairs of games"

    def report(self, design: GameDesign) -> list[dict[str, Any]]:
        """See `measure_game_effects`."""
        pairs = sorted(self._shares)
        signs = np.array([design.signs(pair) for pair in pairs], float)
        more = np.array([self._shares[pair] - 0.5 for pair in pairs]) * 100
        found, errors = effects(signs, more, np.arange(len(pairs)))
        return [
            {"less": one.less, "more": one.more, "worth": round(worth, 2), "worth_error": round(error, 2)}
            for one, worth, error in zip(design.factors, found.tolist(), errors.tolist(), strict=True)
        ]


@dataclass(frozen=True)
class GameEffectTask(JudgedTask):
    """Pairs to be played with changes."""

    design: GameDesign = field(kw_only=True)

    def open(self) -> GameEffectWorker:
        return GameEffectWorker(self)


class GameEffectWorker(JudgedWorker):
    """One thread's players, and its judge."""

    def __init__(self, task: GameEffectTask) -> None:
        super().__init__(task)
        self._design, self._player = task.design, task.first

    def run(self, number: int) -> Product:
        """As that of a match."""
        parameters, steps = zip(*self._design.searches(number, self._player), strict=True)
        self.duel.set_parameters(*parameters)
        self.duel.set_steps(*steps)
        return super().run(number)
