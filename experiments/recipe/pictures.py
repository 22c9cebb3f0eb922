"""A picture for each of the recipe's tables, on white, which is legible on a dark page too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from experiments.drawing.figure import write_figure
from experiments.jobs.results import Results
from experiments.recipe.plan import KINDS, Plan
from experiments.recipe.tables import GAMES, Measured, correlation, measured, name_of

matplotlib.use("Agg")
from matplotlib import pyplot

TITLES = {"residual": "residual", "d1_rmse": "d1-RMSE", "accuracy": "accuracy on held-out games, %"}
COLOURS = 10
"""That matplotlib tells apart."""
GRID = {"color": "#dddddd", "lw": 0.5}


def draw_all(plan: Plan, results: Results, folder: Path) -> list[Path]:
    """The pictures of the tables with two rows or more; their files."""
    made = []
    for table, draw in PICTURES.items():
        if len(rows := measured(plan, results, table)) > 1:
            made.append(folder / f"{table}.png")
            write_figure(draw(rows), made[-1])
    return made


def draw_kinds(rows: Sequence[Measured]) -> Any:
    """What has learnt from which kind is how far off on which, and d1-RMSE."""
    figure, (matrix, dots) = pyplot.subplots(1, 2, figsize=(12, 0.45 * len(rows) + 1.6), width_ratios=(5, 3))
    values = np.array([[row.net[f"residual_{kind}"] for kind in KINDS] for row in rows])
    matrix.imshow(values, cmap="Blues", aspect="auto")
    middle = values.min() + 0.6 * np.ptp(values)
    for (line, column), value in np.ndenumerate(values):
        colour = "white" if value > middle else "black"
        matrix.text(column, line, f"{value:.3f}", ha="center", va="center", color=colour, fontsize=9)
    matrix.set(title="residual, by what it is measured on (across) and learnt from (down)")
    matrix.set_xticks(range(len(KINDS)), [words.replace(", ", ",\n") for words in KINDS.values()])
    _draw_dots(dots, rows, "d1_rmse")
    dots.set_ylim(*matrix.get_ylim())
    _name_lines(matrix, rows)
    return figure


def draw_labels(rows: Sequence[Measured]) -> Any:
    """d1-RMSE and residual of each label, from scratch and after static ones."""
    figure, places = pyplot.subplots(1, 2, figsize=(12, 0.34 * len(rows) + 1.4), sharey=True)
    for place, name in zip(places, ("d1_rmse", "residual"), strict=True):
        _draw_dots(place, rows, name)
    places[0].set_ylim(len(rows) - 0.5, -0.5)
    _name_lines(places[0], rows)
    return figure


def draw_results(rows: Sequence[Measured]) -> Any:
    """The yardsticks over the share of the result, a line for each of the scores that it is mixed with."""
    figure, places = pyplot.subplots(1, len(TITLES), figsize=(12, 3.8))
    for place, (name, title) in zip(places, TITLES.items(), strict=True):
        for number, scores in enumerate(dict.fromkeys(row.row.line for row in rows)):
            found = [row for row in rows if row.row.line == scores]
            _draw_line(place, ((row.result_share, _figure(row, name)) for row in found), number, scores)
        place.set(title=title, xlabel="share of the result, %", xticks=(0, 10, 25, 50))
        place.grid(**GRID)
    places[0].legend(fontsize=8)
    return figure


def draw_volume(rows: Sequence[Measured]) -> Any:
    """Residual and d1-RMSE over the number of positions, a line for each shape."""
    figure, places = pyplot.subplots(1, 2, figsize=(12, 4.8))
    for place, name in zip(places, ("residual", "d1_rmse"), strict=True):
        for number, shape in enumerate(dict.fromkeys(row.row.shape for row in rows)):
            found = [row for row in rows if row.row.shape == shape]
            _draw_line(place, ((row.million_positions, _figure(row, name)) for row in found), number, shape)
        place.set(title=TITLES[name], xlabel="million positions", xscale="log")
        ticks = ("0.1", "0.3", "1", "3", "10", "30")
        place.set_xticks([float(tick) for tick in ticks], ticks)
        place.minorticks_off()
        place.grid(**GRID)
    places[0].legend(fontsize=8)
    return figure


def draw_games(rows: Sequence[Measured]) -> Any:
    """Elo over each yardstick, and how far they go together."""
    group_of = name_of if len(rows) <= COLOURS else _table_of
    figure, places = pyplot.subplots(1, len(TITLES), figsize=(12, 4.4), sharey=True)
    for place, (name, title) in zip(places, TITLES.items(), strict=True):
        for number, group in enumerate(dict.fromkeys(map(group_of, rows))):
            found = [row for row in rows if group_of(row) == group]
            figures, elos = [_figure(row, name) for row in found], [row.elo for row in found]
            errors = [row.elo_error for row in found]
            place.errorbar(figures, elos, errors, fmt="o", ms=5, lw=1, color=f"C{number}", label=group)
        words = "" if len(rows) < 4 else "\ncorrelation {:+.2f} +- {:.2f}".format(*correlation(rows, name))
        place.set(title=title + words)
        place.locator_params(axis="x", nbins=6)
        place.grid(**GRID)
    places[0].set(ylabel="Elo against the common opponent")
    places[0].legend(fontsize=8, loc="lower left")
    return figure


PICTURES = {
    "kinds": draw_kinds,
    "results": draw_results,
    "labels": draw_labels,
    "volume": draw_volume,
    GAMES: draw_games,
}


def _table_of(row: Measured) -> str:
    return row.row.tables[0]


def _figure(row: Measured, name: str) -> float:
    return float(100 * row.net[name] if name == "accuracy" else row.net[name])


def _draw_dots(place: Any, rows: Sequence[Measured], name: str) -> None:
    """A dot a row, top to bottom, with its error where the figure has one."""
    errors = [row.net.get(f"{name}_error", 0) for row in rows]
    place.errorbar([row.net[name] for row in rows], range(len(rows)), xerr=errors, fmt="o", ms=5, color="C0")
    place.set(title=TITLES[name], yticks=())
    place.grid(axis="x", **GRID)


def _name_lines(place: Any, rows: Sequence[Measured]) -> None:
    place.set_yticks(range(len(rows)), [name_of(row) for row in rows])


def _draw_line(place: Any, points: Iterable[tuple[float, float]], number: int, label: str) -> None:
    """Through the first of the points of each place; others there, of other seeds, as crosses."""
    line: dict[float, float] = {}
    for at, value in points:
        if at in line:
            place.plot(at, value, "x", color=f"C{number}")
        else:
            line[at] = value
    place.plot(*zip(*sorted(line.items()), strict=True), marker="o", ms=5, color=f"C{number}", label=label)
