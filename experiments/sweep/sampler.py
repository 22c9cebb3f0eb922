"""Points that optuna's samplers choose by what came of those before, for less d1-RMSE and fewer nanoseconds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.jobs.results import NET, Line, Results
from experiments.sweep.configuration import Configuration, Point, Range

if TYPE_CHECKING:
    import optuna

STUDY = "study.log"
"""Optuna's own record of what was chosen, in the folder of the sweep."""
AIMS = ("d1_rmse", "evaluation_ns")
"""Figures that are to be small."""
PATIENCE = 20
"""Points in a row that were there already, after which the space is taken for exhausted."""


class Sampler:
    """Chooses points one by one. A point that was under way when the sweep was cut comes first."""

    def __init__(self, configuration: Configuration, folder: Path, results: Results) -> None:
        """Raises ModuleNotFoundError without optuna, ValueError for other choices than those of the folder's study."""
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._configuration, self._results = configuration, results
        study = str(folder / STUDY)
        lock = JournalFileOpenLock(study)  # the other kind needs symbolic links, which Windows keeps for administrators
        storage = JournalStorage(JournalFileBackend(study, lock))
        self._study = optuna.create_study(
            storage=storage, study_name="sweep", directions=["minimize"] * len(AIMS), load_if_exists=True
        )
        self._refuse_other_choices(study)
        seed = configuration.seed + len(self._study.trials)  # a sampler does not remember how far its numbers were
        samplers = {
            "random": lambda: optuna.samplers.RandomSampler(seed),
            "tpe": lambda: optuna.samplers.TPESampler(seed=seed, n_startup_trials=min(10, configuration.points)),
            "nsga2": lambda: optuna.samplers.NSGAIISampler(seed=seed, population_size=min(50, configuration.points)),
        }
        self._study.sampler = samplers[configuration.search]()
        self._under_way: dict[tuple[str, int], Any] = {}
        self._failed = 0

    def points(self) -> Iterator[Point]:
        """Those that are not done yet, until there are as many as are wanted."""
        import optuna

        for frozen in self._study.get_trials(states=[optuna.trial.TrialState.RUNNING]):
            trial = optuna.Trial(self._study, frozen._trial_id)
            if (point := self._offer(trial)) is not None:
                yield point
        again = 0
        while self._chosen() + self._failed < self._configuration.points and again < PATIENCE:
            point = self._offer(self._study.ask())
            again = 0 if point is not None else again + 1
            if point is not None:
                yield point

    def tell(self, point: Point, line: Line | None) -> None:
        """What came of a point; None: it failed."""
        import optuna

        trial = self._under_way.pop((point.name, point.seed), None)
        if trial is None:
            return  # it is not of this sampler's choice
        if line is None:
            self._failed += 1
            self._study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            self._study.tell(trial, [line[aim] for aim in AIMS])

    def _chosen(self) -> int:
        """Points that are done or under way, each once."""
        done = {one.user_attrs.get("point") for one in self._study.trials if one.values or not one.state.is_finished()}
        return len(done - {None})

    def _refuse_other_choices(self, study: str) -> None:
        """Optuna takes them for the whole study, and says so after a point was begun, in words of its own."""
        spaces = self._configuration.spaces
        wanted: dict[str, Any] = {"space": tuple(range(len(spaces)))} if len(spaces) > 1 else {}
        for number, space in enumerate(spaces):
            for name, choices in space.items():
                wanted[f"{number}.{name}"] = None if isinstance(choices, Range) else tuple(_as_texts(choices))
        for trial in self._study.trials:
            for key, distribution in trial.distributions.items():
                if key in wanted and getattr(distribution, "choices", None) != wanted[key]:
                    name = key.partition(".")[2] or "[[space]]"
                    raise ValueError(
                        f"{study}: the points there were chosen among other choices of {name}, which are fixed for a "
                        "study; go on with those, or use another -o"
                    )

    def _offer(self, trial: optuna.Trial) -> Point | None:
        """The point of a trial; None where its results are there, or it is under way for another trial."""
        import optuna

        point = self._suggest(trial)
        trial.set_user_attr("point", f"{point.name} {point.seed}")
        key = (point.name, point.seed)
        if key in self._under_way:
            self._study.tell(trial, state=optuna.trial.TrialState.FAIL)
            return None
        self._under_way[key] = trial
        if line := self._results.find(NET, *key):
            self.tell(point, line)
            return None
        return point

    def _suggest(self, trial: optuna.Trial) -> Point:
        spaces = self._configuration.spaces
        number = trial.suggest_categorical("space", range(len(spaces))) if len(spaces) > 1 else 0
        chosen: dict[str, Any] = {}
        for name, choices in spaces[number].items():
            key = f"{number}.{name}"
            if not isinstance(choices, Range):
                chosen[name] = json.loads(trial.suggest_categorical(key, _as_texts(choices)))
            elif choices.whole:
                low, high = int(choices.low), int(choices.high)
                chosen[name] = trial.suggest_int(key, low, high, step=int(choices.step or 1), log=choices.log)
            else:
                chosen[name] = trial.suggest_float(key, choices.low, choices.high, step=choices.step, log=choices.log)
        return self._configuration.point(chosen)


def _as_texts(choices: Iterable[Any]) -> list[str]:
    """Optuna's values are plain, and options may be lists."""
    return [json.dumps(one) for one in choices]
