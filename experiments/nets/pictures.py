"""Pictures of a plan's results, on white, which is legible on a dark page too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.drawing.pictures import write_figure
from experiments.nets.columns import Row, rows_of
from experiments.nets.plan import Plan
from experiments.nets.results import Results
from experiments.nets.seeds import by_label
from experiments.nets.summary import correlation, rows_in

TITLES = {"residual": "residual", "d1_rmse": "d1-RMSE", "accuracy": "accuracy on held-out games, %"}
COLOURS = 10
"""Colours that matplotlib has for lines."""
GRID = {"color": "#dddddd", "lw": 0.5}
EPOCH_TITLES = {
    "policy_accuracy": "Policy accuracy",
    "policy_loss": "Policy loss",
    "accuracy": "Value accuracy",
    "log_loss": "Value loss",
}


def draw_pictures(plan: Plan, results: Results, folder: Path) -> list[Path]:
    """Draw the pictures of tables with two networks or more; return their files."""
    made, rows = [], rows_of(plan, results)
    for name, table in plan.tables.items():
        found = rows_in(plan, rows, name)
        if table.picture and len(found) > 1:
            made.append(folder / f"{name}.png")
            write_figure(_PICTURES[table.picture](plan, name, found), made[-1])
    return made


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def _matrix(plan: Plan, _: str, rows: Sequence[Row]) -> Any:
    """Draw residuals by the kind they are measured on (across) and the network (down), and d1-RMSE."""
    kinds = list(plan.measures.kinds)
    size = (12, 0.45 * len(rows) + 1.6)
    figure, (matrix, dots) = _pyplot().subplots(1, 2, figsize=size, width_ratios=(len(kinds), 3))
    values = np.array([[row.net.tested.residual_by_kind[kind] for kind in kinds] for row in rows])
    matrix.imshow(values, cmap="Blues", aspect="auto")
    middle = values.min() + 0.6 * np.ptp(values)
    for (line, column), value in np.ndenumerate(values):
        colour = "white" if value > middle else "black"
        matrix.text(column, line, f"{value:.3f}", ha="center", va="center", color=colour, fontsize=9)
    matrix.set(title="residual, by the kind measured on (across) and the network (down)")
    matrix.set_xticks(range(len(kinds)), [kind.replace(", ", ",\n") for kind in kinds])
    _draw_dots(dots, rows, "d1_rmse")
    dots.set_ylim(*matrix.get_ylim())
    _name_lines(matrix, rows)
    return figure


def _dots(_: Plan, __: str, rows: Sequence[Row]) -> Any:
    """Draw d1-RMSE and residual of each network."""
    names = _measured(rows, ("d1_rmse", "residual"))
    figure, places = _pyplot().subplots(1, len(names), figsize=(12, 0.34 * len(rows) + 1.4), sharey=True, squeeze=False)
    for place, name in zip(places[0], names, strict=True):
        _draw_dots(place, rows, name)
    places[0][0].set_ylim(len(rows) - 0.5, -0.5)
    _name_lines(places[0][0], rows)
    return figure


def _lines(plan: Plan, table: str, rows: Sequence[Row]) -> Any:
    """Draw figures over the number of positions or the share of the result, a line for each `line` of the points."""
    shares = plan.tables[table].over == "result share"
    names = _measured(rows, tuple(TITLES) if shares else ("residual", "d1_rmse"))
    figure, places = _pyplot().subplots(1, len(names), figsize=(12, 4.2), squeeze=False)
    for place, name in zip(places[0], names, strict=True):
        for number, line in enumerate(dict.fromkeys(_line(row) for row in rows)):
            points = (
                (row.result_share if shares else row.million_positions, _figure(row, name))
                for row in rows
                if _line(row) == line
            )
            _draw_line(place, points, number, line)
        place.set(title=TITLES[name], xlabel="share of the result, %" if shares else "million positions")
        if not shares:
            ticks = ("0.1", "0.3", "1", "3", "10", "30")
            place.set(xscale="log")
            place.set_xticks([float(tick) for tick in ticks], ticks)
            place.minorticks_off()
        place.grid(**GRID)
    places[0][0].legend(fontsize=8)
    return figure


def _games(_: Plan, __: str, rows: Sequence[Row]) -> Any:
    """Draw Elo over each yardstick, with the correlation of the two."""
    group_of: Callable[[Row], str] = (lambda row: row.title) if len(rows) <= COLOURS else _first_table
    names = _measured(rows, tuple(TITLES))
    figure, places = _pyplot().subplots(1, len(names), figsize=(12, 4.4), sharey=True, squeeze=False)
    for place, name in zip(places[0], names, strict=True):
        for number, group in enumerate(dict.fromkeys(map(group_of, rows))):
            found = [row for row in rows if group_of(row) == group]
            figures, elos = [_figure(row, name) for row in found], [row.elo for row in found]
            errors = [row.elo_error for row in found]
            place.errorbar(figures, elos, errors, fmt="o", ms=5, lw=1, color=f"C{number % COLOURS}", label=group)
        figures = [_figure(row, name) for row in rows]
        words = (
            ""
            if len(rows) < 4 or len(set(figures)) < 2
            else "\ncorrelation {:+.2f} +- {:.2f}".format(*correlation(figures, rows))
        )
        place.set(title=TITLES[name] + words)
        place.locator_params(axis="x", nbins=6)
        place.grid(**GRID)
    places[0][0].set(ylabel="Elo against the common opponent")
    places[0][0].legend(fontsize=8, loc="lower left")
    return figure


def _epochs(_: Plan, __: str, rows: Sequence[Row]) -> Any:
    """Draw figures on held-out games after each epoch, seed by seed; a draw head's calibration, too."""
    groups = by_label(rows)
    logs = {label: [row.net.trained.log for row in found if row.net.trained] for label, found in groups.items()}
    shown = [
        name
        for name in EPOCH_TITLES
        if any(getattr(epoch, name) is not None for found in logs.values() for log in found for epoch in log)
    ]
    calibrated = any(row.net.tested.draw for row in rows)
    count = max(1, len(shown) + calibrated)
    size = (11, 4 * ((count + 1) // 2))
    figure, axes = _pyplot().subplots((count + 1) // 2, 2, figsize=size, squeeze=False)
    places = list(axes.flat)
    for place, name in zip(places, shown, strict=False):
        for number, (label, found) in enumerate(logs.items()):
            for seed, log in enumerate(found):
                values = [getattr(epoch, name) for epoch in log]
                style = {"marker": ".", "color": f"C{number}", "label": None if seed else label}
                place.plot(range(1, len(values) + 1), values, **style)
        place.set(title=f"{EPOCH_TITLES[name]} on held-out games", xlabel="epoch")
        place.xaxis.get_major_locator().set_params(integer=True)
        place.legend(fontsize=8)
    if calibrated:
        _draw_calibration(places[len(shown)], list(groups.values()))
    for place in places[count:]:
        place.remove()
    return figure


def _draw_calibration(place: Any, groups: Sequence[Sequence[Row]]) -> None:
    for number, group in enumerate(groups):
        for draw in (row.net.tested.draw for row in group if row.net.tested.draw):
            predicted, actual = [b.predicted for b in draw.calibration], [b.actual for b in draw.calibration]
            place.plot(predicted, actual, marker="o", color=f"C{number}")
    largest = max(place.get_xlim()[1], place.get_ylim()[1])
    place.plot([0, largest], [0, largest], color="#bbbbbb", lw=1)
    place.set(title="Calibration of the draw head", xlabel="predicted", ylabel="share of draws")


_PICTURES: dict[str, Callable[[Plan, str, Sequence[Row]], Any]] = {
    "matrix": _matrix,
    "dots": _dots,
    "lines": _lines,
    "games": _games,
    "epochs": _epochs,
}


def _first_table(row: Row) -> str:
    return (row.point.tables or ("others",))[0] if row.point else "others"


def _line(row: Row) -> str:
    return row.point.line if row.point else ""


def _measured(rows: Sequence[Row], names: tuple[str, ...]) -> list[str]:
    """Return those of the figures that every network has."""
    return [name for name in names if all(getattr(row.net.tested, name) is not None for row in rows)] or ["accuracy"]


def _figure(row: Row, name: str) -> float:
    value = float(getattr(row.net.tested, name) or 0.0)
    return 100 * value if name == "accuracy" else value


def _draw_dots(place: Any, rows: Sequence[Row], name: str) -> None:
    """Draw a dot per network, top to bottom, with its error where the figure has one."""
    errors = [getattr(row.net.tested, f"{name}_error", None) or 0 for row in rows]
    place.errorbar([_figure(row, name) for row in rows], range(len(rows)), xerr=errors, fmt="o", ms=5, color="C0")
    place.set(title=TITLES[name], yticks=())
    place.grid(axis="x", **GRID)


def _name_lines(place: Any, rows: Sequence[Row]) -> None:
    place.set_yticks(range(len(rows)), [row.title for row in rows])


def _draw_line(place: Any, points: Iterable[tuple[float, float]], number: int, label: str) -> None:
    """Draw a line through the first point of each place; others there, of other seeds, are crosses."""
    line: dict[float, float] = {}
    for at, value in points:
        if at in line:
            place.plot(at, value, "x", color=f"C{number}")
        else:
            line[at] = value
    place.plot(*zip(*sorted(line.items()), strict=True), marker="o", ms=5, color=f"C{number}", label=label or None)
