"""A tuning: pairs of games in this process, counted in nodes or depth, between two settings of one search.

A run's folder holds the games and the ledger of what came of them, from which the values follow: the same command goes
on with a tuning that was cut.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.drawing.pictures import draw_tuning
from experiments.games.player import Player
from experiments.jobs.description import Description
from experiments.jobs.ledger import Counts
from experiments.jobs.produce import produce
from experiments.jobs.protocol import Product
from experiments.matches.alphabeta_pairs import PairWorker
from experiments.matches.counted_games import CountedGames
from experiments.matches.named_player import read_player
from experiments.matches.pair_task import PairTask
from experiments.tuning.spsa import Spsa, Trial, result_of
from search.alphabeta.parameters import Parameter, parameters_for
from search.system.files import write_atomically

PICTURE, VALUES = "tune.png", "tune.json"
"""What a tuning leaves in its folder beside the games, at its end or where it was cut."""
DRAWN = 400
"""Points of each line of the picture."""


@dataclass(frozen=True, kw_only=True)
class Tuning(CountedGames):
    """What is tuned, and by which games."""

    names: tuple[str, ...] = ()
    """Parameters to tune, see search/alphabeta/parameters.py; without names all."""
    net: str = "default"
    """The network of both players."""
    gain: float | None = None
    """Learning rate at the end (r_end of OpenBench and Fishtest); by default from the number of games."""
    output: Path = Path("runs/tune")
    """Folder of the run: called again, it goes on."""


@dataclass(frozen=True)
class TuningTask:
    """What a worker needs."""

    pairs: PairTask

    def open(self) -> TuningWorker:
        """The memory of one worker."""
        return TuningWorker(self.pairs)


class TuningWorker(PairWorker):
    """Plays a trial's pair of games."""

    def __init__(self, task: PairTask) -> None:
        assert isinstance(task.first, Player)
        assert isinstance(task.second, Player)
        super().__init__(task.settings, task.first, task.second)

    def run(self, trial: Trial) -> Product:  # type: ignore[override]  # a pair and how it is played
        """Both games as hcpe3. Raises Stopped."""
        self._duel.set_parameters(trial.first, trial.second)
        return super().run(trial.number)


class Tuner:
    """The values as the games come in, in the order in which they land; the referee of a tuning's work."""

    def __init__(self, spsa: Spsa, pairs: int) -> None:
        self._spsa = spsa
        self.total: int | None = pairs
        self._pairs = pairs
        self.history: list[dict[str, float]] = []
        """The values after each pair, thinned out."""
        self._every = max(pairs // DRAWN, 1)
        self.games_a_point = 2 * self._every
        """From one of them to the next."""

    def trials(self) -> Iterator[tuple[int, Trial]]:
        """Pairs around the values that hold when each is drawn."""
        for number in range(self._pairs):
            yield number, self._spsa.trial(number)

    def see(self, number: int, counts: Counts) -> None:
        """A pair has been played."""
        self._spsa.learn(number, result_of(counts))
        if self._spsa.done % self._every == 0:
            self.history.append(self._spsa.values)

    def has_enough(self) -> bool:
        """Never: a tuning goes to its end."""
        return False

    def measure(self) -> tuple[int, str]:
        """For the progress line."""
        return self._spsa.done, f"{2 * self._spsa.done:,} of {2 * self._pairs:,} games"


def tune(options: Tuning) -> dict[str, Any]:
    """Play what is left of a tuning and draw how the values went: {games, of, folder, parameters: {name: {default,
    value, steps}}}. Raises as `produce` does; stopped by Ctrl-C it leaves how far it came in the folder, as a picture
    and as a file of this."""
    chosen = chosen_parameters(options.names, options.nodes)
    options.check()
    if options.gain is not None and not 0 < options.gain < math.inf:
        raise ValueError(f"--gain {options.gain}: must be above 0")
    player = read_player(options.net, (), options.nodes, options.depth, "--net")
    _ = player.by_alphabeta  # PUCT has none of these numbers
    lines, pairs = options.lines(), options.games // 2
    spsa = Spsa(chosen, pairs, options.gain, options.seed)
    tuner = Tuner(spsa, pairs)
    told = {"names": [one.name for one in chosen], "defaults": [one.default for one in chosen]}
    told |= {"games": options.games, "gain": options.gain, **options.described(lines, {})}
    description = Description("tune", told, (), {"net": options.net}, signature=player.signature)
    task = TuningTask(options.task(player, player, lines))
    try:
        produce(options.place(), description, task, tuner.trials(), referee=tuner)
    finally:
        if tuner.history:
            draw_tuning(tuner.history, tuner.games_a_point, chosen, options.output / PICTURE)
            report = _report(options, spsa, chosen)
            write_atomically(options.output / VALUES, json.dumps(report, indent=1).encode() + b"\n")
    return _report(options, spsa, chosen)


def _report(options: Tuning, spsa: Spsa, chosen: Sequence[Parameter]) -> dict[str, Any]:
    return {
        "games": 2 * spsa.done,
        "of": options.games,
        "folder": str(options.output),
        "parameters": {
            one.name: {"default": one.default, "value": value, "steps": (value - one.default) / one.step}
            for one, value in zip(chosen, spsa.values.values(), strict=True)
        },
    }


def chosen_parameters(names: Sequence[str], nodes: int) -> list[Parameter]:
    """The parameters of these names, each once, or all, with their defaults in a search of so many nodes.

    ValueError names one that does not exist.
    """
    known = {parameter.name: parameter for parameter in parameters_for(nodes)}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"no such parameter: {unknown[0]}; there are {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names or known)]
