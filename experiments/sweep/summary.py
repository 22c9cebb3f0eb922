"""The page of a plan's results: its tables, all networks, the best per cost, the effect of single options."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.sweep.budgets import best_within, budgets_as_markdown
from experiments.sweep.columns import (
    ALL,
    Row,
    by_cost,
    failures,
    nets_as_markdown,
    rows_of,
    table_columns,
    warnings_as_markdown,
)
from experiments.sweep.effects import effects_as_markdown, pairs_of
from experiments.sweep.plan import Plan
from experiments.sweep.results import Results
from experiments.sweep.seeds import seeds_as_markdown
from search.system.files import read_text, write_atomically

_MARKED = re.compile(r"<!-- table ([^\n]*?) -->\n.*?<!-- end -->", re.DOTALL)
ROUNDS = 2_000
"""Number of resamplings of networks and games, for the error of a correlation."""
ABOUT_SEEDS = "+- is the standard error over the seeds, Δ the difference to the first column, seed by seed."
ABOUT_NETS = (
    "+- of Elo is half of its 95 % interval, of d1-RMSE and accuracy a standard error. A spread is the slowest less "
    "the fastest timing, over their median; nanoseconds with a spread are of timings that never agreed."
)
ABOUT_BUDGETS = (
    "A network is best by Elo where its 95 % interval lies above those of all others that played. Networks tie by "
    "d1-RMSE within two standard errors of their difference."
)
ABOUT_EFFECTS = (
    "Mean differences between networks that are equal in all other options. Their errors treat the networks as "
    "independent, so they are too wide; the variation between trainings is in the line of `seed`."
)


def rows_in(plan: Plan, rows: Sequence[Row], name: str) -> list[Row]:
    """Return the networks that a table of the plan shows."""
    table = plan.table[name]
    if table.form == "games":
        return sorted((row for row in rows if row.elo_error is not None), key=lambda row: row.net.tested.d1_rmse or 0.0)
    return [row for row in rows if row.point and (row.point.tables is None or name in row.point.tables)]


def table_as_markdown(plan: Plan, rows: Sequence[Row], name: str) -> str:
    """Return a table of the plan; empty where none of its networks is done."""
    table, found = plan.table[name], rows_in(plan, rows, name)
    if not found:
        return ""
    if table.form == "seeds":
        return seeds_as_markdown(found)
    return nets_as_markdown(found, table_columns(plan.measure.kinds if table.form == "kinds" else {}))


def summary(plan: Plan, results: Results) -> str:
    """Return the page as Markdown."""
    rows = rows_of(plan, results)
    sections: list[tuple[str, str, str]] = []
    for name, table in plan.table.items():
        about = ABOUT_SEEDS if table.form == "seeds" else ABOUT_NETS
        sections.append((table.title or name, about, table_as_markdown(plan, rows, name)))
    sections.append(("All networks", ABOUT_NETS, nets_as_markdown(by_cost(list(rows)), ALL)))
    if list(best_within(rows)):
        sections.append(("Best network per evaluation time", ABOUT_BUDGETS, budgets_as_markdown(rows)))
    if plan.space and (pairs := pairs_of(rows)):
        sections.append(("Effect of one option", ABOUT_EFFECTS, effects_as_markdown(pairs)))
    sections.append(("Warnings", "", warnings_as_markdown(rows)))
    failed = "".join(f"- {one.label}, seed {one.seed}: {one.why}\n" for one in failures(plan, rows, results))
    sections.append(("Failed", "", failed))
    return "\n".join(
        f"## {title}\n\n{about + chr(10) * 2 if about else ''}{text}" for title, about, text in sections if text
    )


def read_page(page: Path, plan: Plan) -> str:
    """Return the text of a page whose tables can be replaced.

    Raises OSError, or ValueError for a mark without an end or of no table, and for a page without marks.
    """
    text = read_text(page)
    marked = _MARKED.findall(text)
    if text.count("<!-- table ") != len(marked):
        raise ValueError(f"{page}: every `<!-- table NAME -->` must be closed by `<!-- end -->`")
    if not marked:
        raise ValueError(f"{page}: has no mark for a table; put `<!-- table NAME -->` and `<!-- end -->` for one")
    for name in marked:
        if name not in plan.table:
            raise ValueError(f"{page}: table {name}: the plan has {', '.join(plan.table) or 'none'}")
    return text


def fill_page(page: Path, plan: Plan, results: Results) -> None:
    """Replace each table of a page, between `<!-- table NAME -->` and `<!-- end -->`. Raises as `read_page`."""
    text, rows = read_page(page, plan), rows_of(plan, results)
    filled = _MARKED.sub(
        lambda mark: f"<!-- table {mark[1]} -->\n{table_as_markdown(plan, rows, mark[1])}<!-- end -->", text
    )
    write_atomically(page, filled.encode())


def correlation(figures: Sequence[float], rows: Sequence[Row]) -> tuple[float, float]:
    """Return the correlation of a figure with Elo over networks that have played, and its standard error.

    The error is estimated by resampling the networks, and the Elo of each within its error.
    """
    values = np.array(figures)
    elos, errors = np.array([row.elo for row in rows]), np.array([row.elo_error for row in rows]) / 1.96
    random = np.random.default_rng(0)
    found = []
    for drawn in random.integers(0, len(rows), (ROUNDS, len(rows))):
        if len(set(values[drawn])) > 2:
            found.append(np.corrcoef(values[drawn], random.normal(elos[drawn], errors[drawn]))[0, 1])
    return float(np.corrcoef(values, elos)[0, 1]), float(np.std(found))
