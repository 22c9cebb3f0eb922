"""Make the sets of a plan, and check those that networks are measured on."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from experiments.jobs.workforce import Workforce
from experiments.labels.yardstick import check_scores
from experiments.sweep.entries import Measures
from experiments.sweep.plan import Plan
from experiments.sweep.results import File, Results
from experiments.sweep.work import Place
from lite.datasets.description import describe_data
from lite.training.testing import check_games
from search.system.files import message_of


def make_sets(
    plan: Plan, learnt: Iterable[str], place: Place, results: Results, workforce: Workforce
) -> dict[str, str]:
    """Make the sets that networks are measured on or that points learn from, each after those that it is made of.

    learnt: files and sets that points learn from. Returns {name: reason} of those sets of `learnt` that could not be
    made. Raises OSError or ValueError for a measure's."""
    (place.folder / "data").mkdir(exist_ok=True)

    def make(name: str) -> None:
        path = place.of(name)
        if name not in plan.sets or (results.find(File, name) is not None and path.exists()):
            return
        data = plan.sets[name]
        for source in data.sources:
            make(source)
        print(f"making {name}", file=sys.stderr, flush=True)
        data.way.make([place.of(source) for source in data.sources], path, workforce)
        results.add(File(name, 0, of=describe_data(path), made_of=plan.data[name]))

    for name in plan.measure.files():
        make(name)
    unmade: dict[str, str] = {}
    for name in dict.fromkeys(learnt):
        try:
            make(name)
        except (OSError, ValueError) as error:
            unmade[name] = message_of(error)
    return unmade


def require_measures(measures: Measures, place: Place) -> None:
    """Raise FileNotFoundError or ValueError for measures that would fail when the first network is trained."""
    if measures.yardstick:
        check_scores(tuple(map(place.of, measures.yardstick)))
    for name in measures.files():
        if not place.of(name).exists():
            raise FileNotFoundError(f"{name}: there is no such file; correct the plan's [measure], which names it")
    check_games(tuple(map(place.of, measures.valid)))
