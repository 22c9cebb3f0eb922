"""Tuning the numbers of the search by games: pairs in this process between two settings, by SPSA.

The values follow from the counts of the pairs in the run's results, so the same command resumes an interrupted tuning.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.drawing.pictures import draw_tuning
from experiments.games.player import Duel, Player
from experiments.jobs.ledger import Counts
from experiments.jobs.produce import produce
from experiments.jobs.protocol import Product
from experiments.matches.alphabeta_pairs import PairWorker
from experiments.matches.in_process_games import InProcessGames
from experiments.matches.named_player import read_player
from experiments.matches.pair_task import PairTask
from experiments.tuning.spsa import Spsa, Trial, result_of
from lite.datasets.plan import plan_run
from search.alphabeta.parameters import Parameter, parameters_for
from search.system.options import OptionError

VERB = "tune"
PICTURE = "tune.png"
"""Picture in the folder of the run, drawn at its end and where it is interrupted."""
DRAWN = 400
"""Points of each line of the picture."""


@dataclass(frozen=True, kw_only=True)
class Tuning(InProcessGames):
    """Options of a tuning."""

    names: tuple[str, ...] = ()
    """Parameters to tune, by their names in search/alphabeta/parameters.py; without names, all."""
    net: str = "default"
    """The network of both players: a file, or the name of a shipped one."""
    gain: float | None = None
    """Learning rate at the end (r_end of OpenBench and Fishtest); by default from the number of games."""
    output: Path = Path("runs/tune")
    """Folder of the run; the same command resumes an interrupted run."""


@dataclass(frozen=True)
class TunedParameter:
    """A parameter of the search and its value after the games."""

    default: int
    value: float
    steps: float
    """Distance from the default in the parameter's own steps."""


@dataclass(frozen=True)
class TuningReport:
    """The state of a tuning."""

    games: int
    """Number of games that were played."""
    of: int
    """Number of requested games; `games` counts those played."""
    folder: Path
    parameters: Mapping[str, TunedParameter]


@dataclass(frozen=True)
class TuningTask:
    """Everything a worker needs to play the pairs of a tuning."""

    pairs: PairTask

    def open(self) -> TuningWorker:
        """Create a worker."""
        return TuningWorker(self.pairs)


class TuningWorker(PairWorker):
    """Plays a trial's pair of games."""

    def __init__(self, task: PairTask) -> None:
        assert isinstance(task.first, Player)
        assert isinstance(task.second, Player)
        super().__init__(task.settings, task.first, task.second)

    def run(self, trial: Trial) -> Product:  # type: ignore[override]  # a pair and how it is played
        """Return both games as hcpe3. Raises Stopped."""
        assert isinstance(self._duel, Duel)  # the player has no level
        self._duel.set_parameters(trial.first, trial.second)
        return super().run(trial.number)


class Tuner:
    """The values as the pairs land; the referee of a tuning."""

    def __init__(self, spsa: Spsa, pairs: int) -> None:
        self._spsa = spsa
        self.total: int | None = pairs
        self._pairs = pairs
        self.history: list[dict[str, float]] = []
        """Values by name, one entry every few pairs."""
        self._every = max(pairs // DRAWN, 1)
        self.games_a_point = 2 * self._every
        """Games from one entry of `history` to the next."""

    def trials(self) -> Iterator[tuple[int, Trial]]:
        """Yield pairs around the values of the moment when each is drawn."""
        for number in range(self._pairs):
            yield number, self._spsa.trial(number)

    def see(self, number: int, counts: Counts) -> None:
        """Take a step by the result of a pair."""
        self._spsa.learn(number, result_of(counts))
        if self._spsa.done % self._every == 0:
            self.history.append(self._spsa.values)

    def has_enough(self) -> bool:
        """Return False: a tuning is played to its end."""
        return False

    def measure(self) -> tuple[int, str]:
        """Return (pairs, text) for the progress line."""
        return self._spsa.done, f"{2 * self._spsa.done:,} of {2 * self._pairs:,} games"


def tune(options: Tuning) -> TuningReport:
    """Play the remaining games of a tuning and draw the course of the values. Raises as `produce` does.

    An interrupted tuning draws the course so far."""
    chosen = chosen_parameters(options.names, options.nodes)
    options.check()
    if options.gain is not None and not 0 < options.gain < math.inf:
        raise OptionError(f"`gain` {options.gain}: must be above 0", "gain")
    player = read_player(options.net, None, options.nodes, options.depth)
    _ = player.by_alphabeta  # PUCT has none of these numbers
    lines, pairs = options.lines(), options.games // 2
    spsa = Spsa(chosen, pairs, options.gain, options.seed)
    tuner = Tuner(spsa, pairs)
    deciding = {
        "names": [one.name for one in chosen],
        "defaults": [one.default for one in chosen],
        "games": options.games,
        "gain": options.gain,
        **options.deciding(lines, {}),
    }
    plan = plan_run(VERB, deciding, nets={"net": options.net}, conditions=player.conditions)
    task = TuningTask(options.task(player, player, lines))
    try:
        produce(options.place(), plan, task, tuner.trials(), referee=tuner)
    finally:
        if tuner.history:
            draw_tuning(tuner.history, tuner.games_a_point, chosen, options.output / PICTURE)
    values = zip(chosen, spsa.values.values(), strict=True)
    return TuningReport(
        2 * spsa.done,
        options.games,
        options.output,
        {one.name: TunedParameter(one.default, value, (value - one.default) / one.step) for one, value in values},
    )


def chosen_parameters(names: Sequence[str], nodes: int) -> list[Parameter]:
    """Return the parameters of these names, each once, or all, with their defaults at `nodes` nodes per search.

    Raises ValueError that names an unknown one.
    """
    known = {parameter.name: parameter for parameter in parameters_for(nodes)}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"no such parameter: {unknown[0]}; there are {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names or known)]
