"""Points that optuna's samplers choose by the results of earlier points, for less d1-RMSE and fewer nanoseconds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.sweep.plan import Plan, Point
from experiments.sweep.results import NetResult, Results, difference
from experiments.sweep.space import Range
from search.system.options import OptionError

if TYPE_CHECKING:
    import optuna

STUDY = "study.log"
"""Optuna's record of the chosen points, in the folder of the plan."""
AIMS = 2
"""Figures that are minimised: d1-RMSE and nanoseconds."""
PATIENCE = 20
"""Number of consecutive points that are done already, after which the space counts as exhausted."""


class Sampler:
    """Chooses points one by one. A point that was under way when an earlier run was interrupted comes first."""

    def __init__(self, plan: Plan, folder: Path, results: Results) -> None:
        """Raises ModuleNotFoundError without optuna, ValueError for other choices than those of the folder's study."""
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._plan, self._results = plan, results
        study = str(folder / STUDY)
        lock = JournalFileOpenLock(study)  # the other kind needs symbolic links, which Windows keeps for administrators
        storage = JournalStorage(JournalFileBackend(study, lock))
        self._study = optuna.create_study(
            storage=storage, study_name="sweep", directions=["minimize"] * AIMS, load_if_exists=True
        )
        self._refuse_other_choices(study)
        seed = plan.seed + len(self._study.trials)  # a sampler does not remember how far its numbers were
        samplers = {
            "random": lambda: optuna.samplers.RandomSampler(seed),
            "tpe": lambda: optuna.samplers.TPESampler(seed=seed, n_startup_trials=min(10, plan.points)),
            "nsga2": lambda: optuna.samplers.NSGAIISampler(seed=seed, population_size=min(50, plan.points)),
        }
        self._study.sampler = samplers[plan.search]()
        self._under_way: dict[tuple[str, int], Any] = {}
        self._failed = 0

    def points(self) -> Iterator[Point]:
        """Yield points that are not done, up to the plan's number."""
        import optuna

        for frozen in self._study.get_trials(states=[optuna.trial.TrialState.RUNNING]):
            trial = optuna.Trial(self._study, frozen._trial_id)
            if (point := self._offer(trial)) is not None:
                yield point
        again = 0
        while self.chosen() + self._failed < self._plan.points and again < PATIENCE:
            point = self._offer(self._study.ask())
            again = 0 if point is not None else again + 1
            if point is not None:
                yield point

    def see(self, point: Point, net: NetResult | None) -> None:
        """Take in the result of a point; None means that it failed."""
        import optuna

        trial = self._under_way.pop((point.name, point.seed), None)
        if trial is None:
            return  # this sampler did not choose it
        self._failed += net is None
        if net is None or net.tested.d1_rmse is None or net.timed is None:
            self._study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            self._study.tell(trial, [net.tested.d1_rmse, net.timed.evaluation_ns])

    def chosen(self) -> int:
        """Return the number of points that are done or under way, each once."""
        under_way = {one.user_attrs.get("point") for one in self._study.trials if not one.state.is_finished()}
        return len((under_way | {_in_study(*key) for key in self.done()}) - {None})

    def done(self) -> set[tuple[str, int]]:
        """Return the keys of the chosen points that are done."""
        chosen = {trial.user_attrs.get("point") for trial in self._study.trials}
        return {net.key for net in self._results.all(NetResult) if _in_study(net.name, net.seed) in chosen}

    def _refuse_other_choices(self, study: str) -> None:
        """Raise ValueError for choices that differ from those of the study, which optuna fixes with its first point,
        and for other options of all points, whose figures do not compare."""
        spaces = self._plan.spaces
        wanted: dict[str, Any] = {"space": tuple(range(len(spaces)))} if len(spaces) > 1 else {}
        for number, space in enumerate(spaces):
            for name, choices in space.items():
                wanted[f"{number}.{name}"] = None if isinstance(choices, Range) else tuple(_as_texts(choices))
        for trial in self._study.trials:
            for key, distribution in trial.distributions.items():
                if key in wanted and getattr(distribution, "choices", None) != wanted[key]:
                    name = key.partition(".")[2] or "[[space]]"
                    raise OptionError(
                        f"{study}: its points were chosen among other choices of {name}, which are fixed for a study; "
                        "restore those, or choose another `output`",
                        "output",
                    )
        chosen, done = {name for space in spaces for name in space}, self.done()
        for net in self._results.all(NetResult):
            planned = self._plan.whole({name: value for name, value in net.options.items() if name in chosen})
            if net.key in done and (words := difference(net.options, planned)):
                raise OptionError(
                    f"{study}: its points were trained with {words}; restore that, or choose another `output`",
                    "output",
                )

    def _offer(self, trial: optuna.Trial) -> Point | None:
        """Return the point of a trial; None if it is done, or under way for another trial."""
        import optuna

        point = self._suggest(trial)
        trial.set_user_attr("point", _in_study(point.name, point.seed))
        key = (point.name, point.seed)
        if key in self._under_way:
            self._study.tell(trial, state=optuna.trial.TrialState.FAIL)
            return None
        self._under_way[key] = trial
        if net := self._results.find(NetResult, *key):
            self.see(point, net)
            return None
        return point

    def _suggest(self, trial: optuna.Trial) -> Point:
        spaces = self._plan.spaces
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
        return self._plan.made(chosen)


def _in_study(name: str, seed: int) -> str:
    """Return how the study names a point."""
    return f"{name} {seed}"


def _as_texts(choices: Iterable[Any]) -> list[str]:
    """Return choices as JSON texts: optuna's values are plain, and options may be lists."""
    return [json.dumps(one) for one in choices]
