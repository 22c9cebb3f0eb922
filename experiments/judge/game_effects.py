"""What each number of the search is worth in games, all of them moved at once.

In each pair of games every number is moved a few steps up or down by chance for the first player, and the other way for
the second. The games are broken off and judged (`experiments.judge.match`); over hundreds of pairs each number's part
stands out as clearly as if all pairs had been played for it alone. Steps of the search can be asked about likewise: one
side has them. What positions searched with empty memory tell of the numbers (`experiments.judge.effects`) holds in
games of few nodes a move and not in those of many, so the latter are asked themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from experiments.factory.description import Description
from experiments.factory.jobs import Product
from experiments.factory.ledger import Counts
from experiments.factory.produce import Place, produce
from experiments.games.counted import CountedGames
from experiments.games.options import read_player
from experiments.games.player import Player
from experiments.judge.effects import Design, effects
from experiments.judge.judge import Judging
from experiments.judge.match import JudgedTask, JudgedWorker, share_of
from experiments.tuning.tune import chosen_parameters
from lite.records.formats import HCPE
from search.alphabeta.parameters import STEPS


@dataclass(frozen=True)
class GameEffectOptions:
    """Which numbers are measured, and how the games are played."""

    net: str
    openings: Path
    nodes: int = 100_000
    """Of a move."""
    plies: int = 50
    """After which a game is broken off and judged."""
    pairs: int = 1000
    """Of games, both with one opening."""
    names: tuple[str, ...] = ()
    """Parameters to measure, see search/alphabeta/parameters.py, and steps, as `skip_probcut`; without names all
    parameters and no step."""
    option: tuple[str, ...] = ()
    """NAME=VALUE options of the search: numbers that are moved, are moved from there."""
    reach: float = 4.0
    """Steps that each number is moved by, up and down; depths and counts, whose step is one, by one."""
    seed: int = 1
    output: Path = Path("runs/effects")


def measure_game_effects(options: GameEffectOptions, judging: Judging) -> dict[str, Any]:
    """{player, judge, judge_nodes, nodes, plies, pairs, parameters, steps}; goes on where it was cut.

    `parameters` is {name: {value, moved, worth, worth_error}}: what moving it up by `moved` adds to the share of win
    rate, in hundredths, beside a search in which it is moved down as far, so that it is twice what `moved` alone is
    worth. `steps` is {name: {worth, worth_error}}: what leaving it out adds. Errors are standard errors. Raises OSError
    or ValueError in words, KeyboardInterrupt.
    """
    if options.plies < 1 or not options.reach > 0 or options.pairs < 1:
        raise ValueError("--plies, --reach and --pairs must be above 0")
    steps = tuple(name for name in STEPS if _skipped(name) in options.names)
    names = tuple(name for name in options.names if name not in {_skipped(step) for step in steps})
    parameters = chosen_parameters(names, options.nodes) if names or not steps else []
    counted = CountedGames(
        nodes=options.nodes, games=2 * options.pairs, openings=options.openings, output=options.output
    )
    counted.check()
    lines = counted.lines()
    if options.pairs < 2 * (len(parameters) + len(steps)):
        raise ValueError(f"--pairs {options.pairs}: too few for {len(parameters) + len(steps)} numbers and steps")
    named = read_player(options.net, options.option, options.nodes, 0, "--option")
    if not isinstance(named.player, Player):
        raise ValueError(f"{options.net}: is played by PUCT, whose numbers are others")
    judge = judging.open()
    design = GameDesign(Design(parameters, named.player.parameters, options.reach, options.seed), steps)
    results = PairResults(options.pairs)
    told = {"nodes": options.nodes, "plies": options.plies, "names": [one.name for one in parameters], "steps": steps}
    told |= {"option": options.option, "reach": options.reach, "seed": options.seed}
    told |= {"judge": judge.engine.id_name, "judge_nodes": judge.nodes}
    description = Description("judge effects", told, (options.openings,), {"net": named.net})
    task = GameEffectTask(named.player, named.player, judge, lines, options.plies, options.seed, design=design)
    place = Place(options.output, HCPE, judging.workers)
    produce(place, description, task, ((number, number) for number in range(options.pairs)), referee=results)
    return {
        "player": named.name(False),
        "judge": judge.engine.id_name,
        "judge_nodes": judge.nodes,
        "nodes": options.nodes,
        "plies": options.plies,
        "pairs": options.pairs,
        **results.report(design),
    }


def _skipped(step: str) -> str:
    """The name of a step's option."""
    return "skip_" + step.replace(" ", "_").replace("-", "_")


@dataclass(frozen=True)
class GameDesign:
    """Who has which numbers and steps, by the number of a pair."""

    numbers: Design
    steps: tuple[str, ...]

    def signs(self, pair: int) -> np.ndarray:
        """i8 (parameters + steps,): 1 where the first player has the number moved up or the step left out, else -1."""
        return self.numbers.signs(pair, 0, len(self.steps))

    def searches(self, pair: int, steps: int) -> Iterator[tuple[dict[str, int], int]]:
        """The parameters and the steps of either player, those of both being `steps` but for the ones measured."""
        count = len(self.numbers.parameters)
        for signs in (self.signs(pair), -self.signs(pair)):
            without = (1 << STEPS.index(step) for step, sign in zip(self.steps, signs[count:], strict=True) if sign > 0)
            yield self.numbers.values(signs[:count]), steps & ~sum(without)


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

    def report(self, design: GameDesign) -> dict[str, Any]:
        """parameters and steps, see `measure_game_effects`."""
        pairs = np.array(sorted(self._shares))
        signs = np.array([design.signs(int(pair)) for pair in pairs], float)
        more = np.array([self._shares[int(pair)] - 0.5 for pair in pairs]) * 100
        found, errors = effects(signs, more, np.arange(len(pairs)))
        worths = [{"worth": round(w, 2), "worth_error": round(e, 2)} for w, e in zip(found, errors, strict=True)]
        numbers, count = design.numbers, len(design.numbers.parameters)
        moved = zip(numbers.parameters, numbers.centre.tolist(), numbers.moved.tolist(), worths[:count], strict=True)
        return {
            "parameters": {one.name: {"value": value, "moved": by, **worth} for one, value, by, worth in moved},
            "steps": dict(zip(design.steps, worths[count:], strict=True)),
        }


@dataclass(frozen=True)
class GameEffectTask(JudgedTask):
    """Pairs to be played with numbers moved."""

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
        parameters, steps = zip(*self._design.searches(number, self._player.steps), strict=True)
        self.duel.set_parameters(*parameters)
        self.duel.set_steps(*steps)
        return super().run(number)
