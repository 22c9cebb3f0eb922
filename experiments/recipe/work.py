"""Work through a plan: data, nets, their measures and games, what has no result yet."""

from __future__ import annotations

import time
from pathlib import Path

from experiments.recipe.data import make_cut, make_searched, make_tree
from experiments.recipe.measure import THREADS, measure, net_of, play, train
from experiments.recipe.plan import Plan, Row
from experiments.results import Results
from experiments.verb import Verbs
from lite.datasets.provenance import program


def work_through(plan: Plan, results: Results, folder: Path, only: tuple[str, ...], games: bool) -> None:
    """Make, train and measure what has no result yet, in the plan's order, `only` the rows of some tables if any are
    named; `games` come after all trainings, second seeds last."""
    (folder / "nets").mkdir(exist_ok=True)
    for name in plan.measures.kinds.values():
        make(name, plan, results, folder)
    rows = [row for row in plan.rows if not only or set(only) & set(row.tables)]
    for number in range(max((len(row.seeds) for row in rows), default=0)):
        for row in rows:
            for seed in row.seeds[number : number + 1]:
                learn(row, seed, plan, results, folder)
    for row in rows if games else ():
        compete(row, plan, results, folder)


def make(name: str, plan: Plan, results: Results, folder: Path) -> None:
    """Make a set of positions, and what it is made of, where the plan says how and it is not there."""
    data = plan.data.get(name)
    if data is None or (results.find("data", name) and (folder / name).exists()):
        return
    for source in (*data.cut, data.tree, data.search, *data.command[1:2]):
        make(source, plan, results, folder)
    begun, cpu, teacher = time.monotonic(), time.process_time(), plan.measures.teacher
    if data.command:
        _, taken = Verbs().run([*data.command, "-o", name, "--json"], folder)
        results.add("data", name, 0, taken | program())
        return
    if data.cut:
        made = make_cut(data, folder)
    elif data.tree:
        made = make_tree(data, folder, teacher, THREADS)
    else:
        made = make_searched(data, folder, teacher, THREADS)
    taken = {"seconds": round(time.monotonic() - begun, 1), "cpu_seconds": round(time.process_time() - cpu, 1)}
    results.add("data", name, 0, {"positions": made} | taken | program())


def learn(row: Row, seed: int, plan: Plan, results: Results, folder: Path) -> None:
    """A row's net with a seed, trained and measured."""
    if results.find("net", row.name, seed) is not None:
        return
    taken = {}
    if row.shape:
        for name in row.data:
            make(name, plan, results, folder)
        taken = train(row, plan.shapes[row.shape], seed, folder)
    figures = measure(row, seed, plan.measures, folder)
    results.add("net", row.name, seed, figures | taken | program())


def compete(row: Row, plan: Plan, results: Results, folder: Path) -> None:
    """The games of a row's first net, if it plays."""
    seed = row.seeds[0]
    if row.games and results.find("games", row.name, seed) is None:
        games = play(f"{row.name}-{seed}", net_of(row, seed, folder), plan.measures, folder)
        results.add("games", row.name, seed, games | program())
