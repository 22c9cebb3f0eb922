"""The section of sweeps: figures of a plan's networks over cost, over positions, over seeds, and in games."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from experiments.elo.strength import student
from experiments.report.charts import (
    MACHINE,
    Chart,
    Row,
    around,
    diagonal,
    intervals,
    lines,
    pareto_front,
    points,
)
from experiments.report.match_section import standing_row
from experiments.report.section import Run, Section, Table, origin_of
from experiments.sweep.budgets import best_within, budgets_as_markdown
from experiments.sweep.checked_plan import plan_of
from experiments.sweep.columns import ALL, by_cost, failures, nets_as_markdown, rows_of, warnings_as_markdown
from experiments.sweep.columns import Row as Net
from experiments.sweep.effects import Pair, effects_as_markdown, pairs_of
from experiments.sweep.plan import Plan
from experiments.sweep.results import NetResult, Results
from experiments.sweep.seeds import by_label, mean_of
from experiments.sweep.space import option_label
from experiments.sweep.summary import correlation, rows_in, table_as_markdown

COST, D1, ACCURACY, MILLIONS = "evaluation, ns", "d1-RMSE", "accuracy, %", "million positions seen"
SHARE, MORE = "share of the result, %", "difference of d1-RMSE"
ELSEWHERE = "made elsewhere"
ABOUT = (
    "A line leads through the plan's own networks that none of them beats in both nanoseconds of an evaluation and the "
    "figure. d1-RMSE is the distance of one ply and quiescence from long searches: less is better. At equal time a "
    "network has as many nodes as its speed allows. Intervals are 95 %, over seeds by Student's t; +- of d1-RMSE in "
    "tables is a standard error. Errors of differences treat the networks as independent, so they are too wide. "
    "Seed-to-seed variation is in the changes of the seed."
)


NONE_DONE = "no network is done yet"


def nets_section(runs: Sequence[Run]) -> Section:
    """Return the section of sweeps. Raises OSError or ValueError for a run that cannot be read."""
    charts: list[Chart] = []
    tables: list[Table] = []
    for run in runs:
        plan = plan_of(run.record.goal["plan"], str(run.record.goal["file"]))
        results = Results.read(run.path)
        rows = rows_of(plan, results)
        failed = [[one.label, str(one.seed), one.why] for one in failures(plan, rows, results)]
        if failed:
            tables.append(Table(("network", "seed", "reason"), failed, f"{run.name}: failed"))
        if not rows:
            tables.append(Table(("sweep", "state"), [[run.name, NONE_DONE]]))
            continue
        charts += _over_cost(run.name, by_cost(rows))
        for name in plan.table:
            charts += _of_table(run.name, plan, name, rows_in(plan, rows, name))
            if text := table_as_markdown(plan, rows, name):
                title = f"{run.name}: {plan.table[name].title or name}"
                tables += [Table.of_markdown(part, title) for part in text.split("\n\n") if part]
        if list(best_within(rows)):
            tables.append(Table.of_markdown(budgets_as_markdown(rows), f"{run.name}: best network per evaluation time"))
        tables.append(Table.of_markdown(nets_as_markdown(by_cost(rows), ALL), f"{run.name}: all networks"))
        if text := warnings_as_markdown(rows):
            tables.append(Table.of_markdown(text, f"{run.name}: warnings"))
        if plan.space and (pairs := pairs_of(rows)):
            charts.append(_effects(run.name, pairs, _kinds(rows)))
            tables.append(Table.of_markdown(effects_as_markdown(pairs), f"{run.name}: effect of one option"))
    return Section("Networks", ABOUT, charts, tables, [origin_of(run) for run in runs])


def _over_cost(run: str, rows: Sequence[Net]) -> Iterator[Chart]:
    timed = [row for row in rows if row.net.timed]
    kinds = _kinds(rows)
    drawn: tuple[tuple[str, str, Callable[[Net], Row], bool], ...] = (
        ("d1-RMSE over cost", D1, _d1, True),
        ("accuracy on held-out games over cost", ACCURACY, _accuracy, False),
        ("Elo at equal nodes over cost", "Elo", lambda row: _elo(row, "nodes"), False),
        ("Elo at equal time over cost", "Elo", lambda row: _elo(row, "time"), False),
    )
    for title, worth, figures, lower in drawn:
        shown = [(row, found) for row in timed if worth in (found := _hover(row) | figures(row))]
        if len(shown) > 1:
            yield _chart_over_cost(f"{run}: {title}", shown, worth, kinds, lower)
    if grown := _grown(rows):
        yield lines(f"{run}: d1-RMSE over positions", grown, MILLIONS, D1, "network", log=True)


def _of_table(run: str, plan: Plan, name: str, rows: Sequence[Net]) -> Iterator[Chart]:
    """Yield the charts of a table with two networks or more."""
    table = plan.table[name]
    title = f"{run}: {table.title or name}"
    if len(rows) < 2:
        return
    if table.form == "seeds":
        yield from _over_seeds(title, rows)
    elif table.over:
        over = SHARE if table.over == "result share" else "million positions"
        drawn = [
            _hover(row)
            | _d1(row)
            | {over: row.result_share if over == SHARE else row.million_positions, "line": row.point.line}
            for row in rows
            if row.point and row.net.trained and row.net.tested.d1_rmse is not None
        ]
        if drawn:
            yield lines(f"{title}: d1-RMSE", drawn, over, D1, "line", log=over != SHARE)
    elif table.form == "games":
        for worth in (D1, "residual", ACCURACY):
            played = [(found, row) for row in rows if worth in (found := _hover(row) | _d1(row) | _elo(row, "nodes"))]
            shown = [found for found, _ in played]
            if figures := [float(found[worth]) for found in shown]:
                words = ""
                if len(set(figures)) > 3:
                    words = ", correlation {:+.2f} +- {:.2f}".format(*correlation(figures, [row for _, row in played]))
                yield points(f"{title}: Elo over {worth}{words}", shown, worth, "Elo", "kind")
    else:
        measured = [_hover(row) | _d1(row) for row in rows if row.net.tested.d1_rmse is not None]
        if measured:
            yield intervals(f"{title}: d1-RMSE", measured, "network", D1, "kind")


def _over_seeds(title: str, rows: Sequence[Net]) -> Iterator[Chart]:
    groups = by_label(rows)
    means: list[Row] = []
    for label, found in groups.items():
        accuracy = mean_of([row.net.tested.report.accuracy for row in found])
        if accuracy.mean is not None:
            error = None if accuracy.error is None else 100 * accuracy.error
            width = 1.96 if error is None else student(len(found) - 1)
            means.append({"network": label, **around(ACCURACY, 100 * accuracy.mean, error, width)})
    if means:
        yield intervals(f"{title}: accuracy on held-out games", means, "network", ACCURACY, "network")
    curves = [
        {"network": row.title, "epoch": epoch, ACCURACY: 100 * one.accuracy}
        for row in rows
        if row.net.trained
        for epoch, one in enumerate(row.net.trained.log, 1)
        if one.accuracy is not None
    ]
    if curves:
        yield lines(f"{title}: accuracy by epoch", curves, "epoch", ACCURACY, "network")
    bins: list[Row] = [
        {"network": label, "predicted": one.predicted, "actual": one.actual}
        for label, found in groups.items()
        for one in found[0].net.tested.report.calibration
    ]
    draws: list[Row] = [
        {"network": row.title, "predicted": one.predicted, "actual": one.actual}
        for row in rows
        if row.net.tested.draw
        for one in row.net.tested.draw.calibration
    ]
    for words, rates in (("calibration on held-out games", bins), ("calibration of the draw output", draws)):
        if rates:
            yield diagonal(lines(f"{title}: {words}", rates, "predicted", "actual", "network"))
    for by, words in (("nodes", "at equal nodes"), ("time", "at equal time"), ("clock", "by the clock")):
        played = [{"network": label} | row for label, found in groups.items() if (row := _elo(found[0], by))]
        if played:
            yield intervals(f"{title}: Elo {words}", played, "network", "Elo", "network")


def _shape(net: NetResult) -> str:
    return "-".join(map(str, net.size.shape)) if net.size else ""


def _kind(row: Net) -> str:
    return str(row.net.options.get("kind", ELSEWHERE))


def _kinds(rows: Sequence[Net]) -> list[str]:
    """Return the kinds of all networks of a run, which has one colour for each in all its charts."""
    return sorted(set(map(_kind, rows)), key=lambda kind: (kind == ELSEWHERE, kind))


def _effects(run: str, pairs: Sequence[Pair], kinds: Sequence[str]) -> Chart:
    rows = []
    for pair in pairs:
        kind, shape = pair.base.options["kind"], _shape(pair.base)
        row: Row = {"change": pair.words, "of": f"{kind} {shape}", "kind": kind}
        if pair.cost is not None:
            row["ns more"] = pair.cost
        rows.append(row | around(MORE, pair.d1, pair.error))
    return intervals(f"{run}: effect of one option on d1-RMSE", rows, "change", MORE, "kind", kinds)


def _chart_over_cost(
    title: str, nets: Sequence[tuple[Net, Row]], worth: str, kinds: Sequence[str], lower: bool
) -> Chart:
    """Return the chart of a figure over nanoseconds.

    Nanoseconds of different machines do not compare: each machine has its own front. Networks made elsewhere or by an
    earlier plan learnt otherwise, and are in none.
    """
    own = [row for net, row in nets if net.net.options and not net.is_earlier]
    machines = dict.fromkeys(row[MACHINE] for row in own)
    front = [
        row
        for machine in machines
        for row in pareto_front([row for row in own if row[MACHINE] == machine], COST, worth, lower)
    ]
    peers = {net.title: row for net, row in nets if not net.net.options}
    return points(title, [row for _, row in nets], COST, worth, "kind", True, front, kinds, peers)


def _hover(row: Net) -> Row:
    """Return the facts about a network that a chart shows beside the figure."""
    net = row.net
    found: Row = {
        "network": row.title,
        "kind": _kind(row),
        "shape": _shape(net),
        MACHINE: net.machine,
    }
    if net.size:
        found |= {"multiply-adds": net.size.multiply_adds, "kilobytes": net.size.bytes / 1000}
    if net.timed:
        found |= {COST: net.timed.evaluation_ns, "nodes/s": net.timed.nps}
    if net.tested.report.accuracy is not None:
        found[ACCURACY] = 100 * net.tested.report.accuracy
    if net.tested.residual is not None:
        found["residual"] = net.tested.residual
    return found


def _d1(row: Net) -> Row:
    tested = row.net.tested
    return {} if tested.d1_rmse is None else around(D1, tested.d1_rmse, tested.d1_rmse_error)


def _accuracy(row: Net) -> Row:
    report = row.net.tested.report
    if report.accuracy is None:
        return {}
    return around(
        ACCURACY, 100 * report.accuracy, None if report.accuracy_error is None else 100 * report.accuracy_error
    )


def _elo(row: Net, by: str) -> Row:
    standing = row.games.get(by)
    found = {} if standing is None else standing_row(standing)
    return found if "Elo" in found else {}


def _grown(rows: Sequence[Net]) -> list[Row]:
    """Return networks that differ in nothing but the number of positions that they have seen."""
    groups: dict[tuple[str, str], list[Net]] = defaultdict(list)
    for row in rows:
        if row.net.trained and row.net.tested.d1_rmse is not None:
            groups[row.after, _alike(row.net.options)].append(row)
    curves = [
        group for group in groups.values() if len({row.net.trained.samples for row in group if row.net.trained}) > 1
    ]
    found: list[Row] = [
        {"network": name, MILLIONS: row.net.trained.samples / 1e6, D1: row.net.tested.d1_rmse}
        for name, group in zip(_names([group[0] for group in curves]), curves, strict=True)
        for row in group
        if row.net.trained
    ]
    return sorted(found, key=lambda row: float(row[MILLIONS]))


def _names(rows: Sequence[Net]) -> list[str]:
    """Return a name for each network: its kind and shape, with the options in which those of one shape differ."""
    shapes = [f"{_kind(row)} {_shape(row.net)}" for row in rows]
    names = []
    for shape, row in zip(shapes, rows, strict=True):
        alike = [other.net.options for other, found in zip(rows, shapes, strict=True) if found == shape]
        words = [
            option_label(name, value)
            for name, value in row.net.options.items()
            if name != "positions" and any(other.get(name) != value for other in alike)
        ]
        names.append(" ".join([shape, *words, *(("after", row.after) if row.after else ())]))
    return names


def _alike(options: Mapping[str, Any]) -> str:
    return json.dumps({name: value for name, value in options.items() if name != "positions"}, sort_keys=True)
