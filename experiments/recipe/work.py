"""Work through a plan: data, nets, their measures and games, what has no result yet."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments.jobs.results import DATA, NET, Results
from experiments.recipe.data import make_cut, make_searched, make_tree
from experiments.recipe.measure import THREADS, measure, net_of, play, run_alone, train
from experiments.recipe.plan import Plan, Row
from lite.datasets.description import describe_data
from lite.datasets.provenance import sha256_of
from lite.program import libraries, program
from search.evaluation.shipped import network_file


def work_through(plan: Plan, results: Results, folder: Path, only: tuple[str, ...], games: bool) -> None:
    """Make, train and measure what has no result yet, in the plan's order, `only` the rows of some tables if any are
    named and those that their trainings begin with; `games` come after all trainings, second seeds last. Raises
    ValueError for a table that is none, and FileNotFoundError before anything is made where a file that all nets are
    measured by is not there."""
    tables = dict.fromkeys(table for row in plan.rows for table in row.tables)
    if unknown := [name for name in only if name not in tables]:
        raise ValueError(f"--only {unknown[0]}: the plan has no such table; there are {', '.join(tables)}")
    rows = [row for row in plan.rows if not only or set(only) & set(row.tables)]
    _require(plan, rows, results, folder, games)
    (folder / "nets").mkdir(exist_ok=True)
    for name in _given(plan):
        results.describe(name, folder / name)
    for name in (plan.measures.teacher, plan.measures.opponent, plan.measures.openings):
        results.describe_file(name, folder / network_file(name))
    for name in plan.measures.kinds.values():
        make(name, plan, results, folder)
    for number in range(max((len(row.seeds) for row in rows), default=0)):
        for row in rows:
            for seed in row.seeds[number : number + 1]:
                learn(row, seed, plan, results, folder)
    for row in rows if games else ():
        compete(row, plan, results, folder)


def _require(plan: Plan, rows: Sequence[Row], results: Results, folder: Path, games: bool) -> None:
    """Refuse what would fail when the first net has been trained."""
    measures = plan.measures
    wanted: list[str] = []
    if any(results.find(NET, row.name, seed) is None for row in rows for seed in row.seeds):
        wanted += [measures.residual, measures.yardstick, measures.valid, *measures.kinds.values()]
    if games and any(row.games and results.find("games", row.name, row.seeds[0]) is None for row in rows):
        wanted += [str(network_file(measures.opponent)), measures.openings]
    for name in wanted:
        if name not in plan.data and not (folder / name).exists():
            raise FileNotFoundError(f"{folder / name}: there is no such file, by which the plan measures")


def _given(plan: Plan) -> Iterator[str]:
    """Data and games that the plan does not make."""
    measures = plan.measures
    used = (measures.residual, measures.yardstick, measures.valid, *(name for row in plan.rows for name in row.data))
    sources = (name for data in plan.data.values() for name in data.sources(plan.data))
    yield from dict.fromkeys(name for name in (*used, *sources) if name and name not in plan.data)


def make(name: str, plan: Plan, results: Results, folder: Path) -> None:
    """Make a set of positions, and what it is made of, where the plan says how and it is not there."""
    data = plan.data.get(name)
    if data is None or (results.find(DATA, name) and (folder / name).exists()):
        return
    for source in data.sources(plan.data):
        make(source, plan, results, folder)
    begun, cpu, teacher = time.monotonic(), time.process_time(), plan.measures.teacher
    if data.command:
        _, taken = run_alone([*data.command, "-o", name, "--json"], folder / name, folder)
        results.add(DATA, name, 0, {"of": describe_data(folder / name)} | taken | program())
        return
    if data.cut:
        made = make_cut(data, folder)
    elif data.tree:
        made = make_tree(data, folder, teacher, THREADS)
    else:
        made = make_searched(data, folder, teacher, THREADS)
    taken = {"seconds": round(time.monotonic() - begun, 1), "cpu_seconds": round(time.process_time() - cpu, 1)}
    results.add(DATA, name, 0, {"of": describe_data(folder / name), "positions": made} | taken | program())


def learn(row: Row, seed: int, plan: Plan, results: Results, folder: Path) -> None:
    """A row's net with a seed, trained and measured; that which its training begins with first."""
    if results.find(NET, row.name, seed) is not None:
        return
    taken: dict[str, Any] = {}
    if row.shape:
        for name in row.data:
            make(name, plan, results, folder)
        for before in plan.rows:
            if before.name == row.after:
                learn(before, seed, plan, results, folder)
        taken = train(row, plan.shapes[row.shape], seed, plan.measures.valid, folder) | {"data": _digests(row, results)}
    figures = measure(row, seed, plan.measures, folder)
    net = Path(net_of(row, seed, folder))
    made = {"net": net.relative_to(folder).as_posix(), "sha256": sha256_of(net)}
    results.add(NET, row.name, seed, figures | taken | made | program() | libraries())


def _digests(row: Row, results: Results) -> dict[str, str]:
    """Of what a row learns from, as far as they are kept: data that are made again may come out otherwise."""
    lines = {name: results.find(DATA, name) or {} for name in row.data}
    return {name: line["of"]["sha256"] for name, line in lines.items() if "of" in line}


def compete(row: Row, plan: Plan, results: Results, folder: Path) -> None:
    """The games of a row's first net, if it plays."""
    seed = row.seeds[0]
    if row.games and results.find("games", row.name, seed) is None:
        games = play(f"{row.name}-{seed}", net_of(row, seed, folder), plan.measures, folder)
        results.add("games", row.name, seed, games | program())
