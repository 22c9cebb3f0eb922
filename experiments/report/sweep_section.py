"""Sweeps: what nets are worth by what an evaluation costs, with the front that none beats, and peers beside."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.jobs.results import Line, Results
from experiments.report.charts import MACHINE, Chart, Row, around, intervals, lines, pareto_front, points
from experiments.report.match_section import standing_row_of
from experiments.report.section import Origin, Section, Table
from experiments.sweep.budgets import budgets_as_markdown
from experiments.sweep.effects import Pair, effects_as_markdown, pairs_of
from experiments.sweep.games import NODES, TIME
from experiments.sweep.sweep import CONFIGURATION, RESULTS
from experiments.sweep.table import as_markdown, name_of, sweep_nets
from lite.program import machine_of

COST, D1, ACCURACY, MILLIONS = "evaluation, ns", "d1-RMSE", "accuracy, %", "million positions seen"
MORE = "difference of d1-RMSE"
ELSEWHERE = "made elsewhere"


def is_sweep(path: Path) -> bool:
    return (path / CONFIGURATION).is_file() and (path / RESULTS).is_file()


def sweep_section(runs: Mapping[str, Path]) -> Section:
    """Runs by their names. Raises OSError, or ValueError in words for one that cannot be read."""
    charts: list[Chart] = []
    tables: list[Table] = []
    origins: list[Origin] = []
    for run, path in runs.items():
        results = Results(path / RESULTS)
        nets = sweep_nets(results)
        if not nets:
            raise ValueError(f"{path}: no net of this sweep is done yet; wait for the first, or leave it out")
        charts += _drawn(run, nets)
        tables.append(Table.of_markdown(budgets_as_markdown(nets), f"{run}: the best net for so many nanoseconds"))
        tables.append(Table.of_markdown(as_markdown(results), f"{run}: all nets"))
        if pairs := pairs_of(nets):
            charts.append(_effects(run, pairs, _kinds(nets)))
            tables.append(Table.of_markdown(effects_as_markdown(pairs), f"{run}: one option at a time, all else equal"))
        seeds = sorted({net["seed"] for net in nets})
        origins.append(Origin.by(run, f"liteshogi sweep {path / CONFIGURATION}", nets, seeds))
    about = (
        "A line leads through the sweep's own nets that none of them beats in both: nanoseconds of an evaluation in "
        "the engine, and its worth. d1-RMSE is how far one ply and quiescence are from long searches: less is better. "
        "At equal time a net has as many nodes as its speed allows. Intervals are 95 %, but for the tables' +- of "
        "d1-RMSE, which are standard errors; there is no line to a side without a bound. Those of differences are as "
        "of nets that were asked positions of their own, and what chance in training does, changes of the seed tell."
    )
    return Section("Sweeps", about, charts, tables, origins)


def _drawn(run: str, nets: Sequence[Line]) -> Iterator[Chart]:
    told, kinds = [_told(net) for net in nets], _kinds(nets)
    rows = [row | around(D1, net["d1_rmse"], net["d1_rmse_error"]) for row, net in zip(told, nets, strict=True)]
    yield _over_cost(f"{run}: d1-RMSE over cost", rows, D1, kinds, lower=True)
    yield _over_cost(f"{run}: accuracy on held-out games over cost", rows, ACCURACY, kinds)
    for kind, words in ((NODES, "at equal nodes"), (TIME, "at equal time")):
        played = [row | standing_row_of(net[kind]) for row, net in zip(told, nets, strict=True) if net[kind]]
        if played := [row for row in played if "Elo" in row]:
            yield _over_cost(f"{run}: Elo {words} over cost", played, "Elo", kinds)
    if grown := _grown(nets):
        yield lines(f"{run}: d1-RMSE over positions", grown, MILLIONS, D1, "net", log=True)


def _kinds(nets: Sequence[Line]) -> list[str]:
    """Of all nets of a run, which has one colour for each in all its charts."""
    return sorted({_told(net)["kind"] for net in nets}, key=lambda kind: (kind == ELSEWHERE, kind))


def _effects(run: str, pairs: Sequence[Pair], kinds: Sequence[str]) -> Chart:
    rows = []
    for pair in pairs:
        kind, shape = pair.base["options"]["kind"], "-".join(map(str, pair.base["shape"]))
        told = {"change": pair.words, "of": f"{kind} {shape}", "kind": kind}
        if pair.cost is not None:
            told["ns more"] = pair.cost
        rows.append(told | around(MORE, pair.d1, pair.error))
    return intervals(f"{run}: what one option does to d1-RMSE, all else equal", rows, "change", MORE, "kind", kinds)


def _over_cost(title: str, rows: Sequence[Row], worth: str, kinds: Sequence[str], lower: bool = False) -> Chart:
    """Nanoseconds of different machines do not compare: each has a front of its own. Nets made elsewhere learnt from
    other positions, and are in none."""
    own = [row for row in rows if row["kind"] != ELSEWHERE]
    machines = dict.fromkeys(row[MACHINE] for row in own)
    front = [
        row
        for machine in machines
        for row in pareto_front([row for row in own if row[MACHINE] == machine], COST, worth, lower)
    ]
    peers = {row["net"]: row for row in rows if row["kind"] == ELSEWHERE}
    return points(title, rows, COST, worth, "kind", True, front, kinds, peers)


def _told(net: Line) -> Row:
    """What hovering tells of a net."""
    return {
        "net": name_of(net),
        "kind": net["options"].get("kind", ELSEWHERE),
        "shape": "-".join(map(str, net["shape"])),
        COST: net["evaluation_ns"],
        "nodes/s": net["nps"],
        "multiply-adds": net["multiply_adds"],
        "kilobytes": net["bytes"] / 1000,
        D1: net["d1_rmse"],
        ACCURACY: 100 * net["accuracy"],
        MACHINE: machine_of(net),
    }


def _grown(nets: Sequence[Line]) -> list[Row]:
    """Nets that differ in nothing but how many positions they have seen."""
    groups: dict[str, list[Line]] = defaultdict(list)
    for net in nets:
        if "samples" in net:
            groups[_alike(net["options"])].append(net)
    rows = []
    for group in groups.values():
        if len({net["samples"] for net in group}) > 1:
            shape = f"{group[0]['options']['kind']} {'-'.join(map(str, group[0]['shape']))}"
            rows += [{"net": shape, MILLIONS: net["samples"] / 1e6, D1: net["d1_rmse"]} for net in group]
    return sorted(rows, key=lambda row: row[MILLIONS])


def _alike(options: Mapping[str, Any]) -> str:
    return json.dumps({name: value for name, value in options.items() if name != "positions"}, sort_keys=True)
