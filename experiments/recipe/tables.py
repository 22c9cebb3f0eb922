"""The tables of what has been measured, in Markdown, put where the page has a mark for each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.recipe.plan import Plan, Row
from experiments.recipe.results import Line, Results
from search.machine.files import write_atomically

KINDS = {
    "played": "played",
    "random": "random moves",
    "main": "tree, main search",
    "quiescence": "tree, quiescence",
    "settled": "settled",
}
"""Of held-out positions, by their names in a plan."""
GAMES = "games"
"""The table of all that have played."""
ROUNDS = 2_000
"""Of drawing nets and games anew, for the error of a correlation."""


@dataclass(frozen=True)
class Measured:
    """A row, a seed, and its results."""

    row: Row
    seed: int
    net: Line
    games: Line | None

    @property
    def share(self) -> float:
        """Of the points in its games, at least and at most half a game from none and all."""
        assert self.games is not None
        played = self.games["games"]
        return float(min(max(self.games["points"], 0.5), played - 0.5) / played)

    @property
    def elo(self) -> float:
        """Of its games, by `share`."""
        return 400 * math.log10(self.share / (1 - self.share))

    @property
    def elo_error(self) -> float:
        """One standard error of `elo`, as independent games would have it."""
        assert self.games is not None
        return 400 / math.log(10) / math.sqrt(self.share * (1 - self.share) * self.games["games"])


def measured(plan: Plan, results: Results, table: str) -> list[Measured]:
    """What there is of a table's rows, in the plan's order; of GAMES all that have played."""

    def find() -> Iterator[Measured]:
        for row in plan.rows:
            for seed in row.seeds:
                net, games = results.find("net", row.name, seed), results.find("games", row.name, seed)
                if net and (games if table == GAMES else table in row.tables):
                    yield Measured(row, seed, net, games)

    return list(find())


def correlation(rows: Sequence[Measured], name: str) -> tuple[float, float]:
    """Spearman's rank correlation of a figure with Elo over nets, and its standard error by drawing nets anew, and the
    Elo of each within its error."""
    figures = np.array([row.net[name] for row in rows])
    elos, errors = np.array([row.elo for row in rows]), np.array([row.elo_error for row in rows])
    random = np.random.default_rng(0)
    found = []
    for drawn in random.integers(0, len(rows), (ROUNDS, len(rows))):
        if len(set(figures[drawn])) > 2:
            found.append(_spearman(figures[drawn], random.normal(elos[drawn], errors[drawn])))
    return _spearman(figures, elos), float(np.std(found))


def _spearman(first: np.ndarray, second: np.ndarray) -> float:
    ranks = [np.searchsorted(np.sort(one), one, side) for one in (first, second) for side in ("left", "right")]
    return float(np.corrcoef(ranks[0] + ranks[1], ranks[2] + ranks[3])[0, 1])


Column = tuple[str, Callable[[Measured], str]]


def write_tables(page: Path, plan: Plan, results: Results) -> None:
    """Put each table of the page, between `<!-- NAME -->` and `<!-- end -->`, in words of what there is by now.

    Raises OSError, or ValueError for a mark without an end or of no table.
    """
    parts = page.read_text(encoding="utf-8").split("<!-- ")
    for number, part in enumerate(parts[1:], 1):
        name, found, _ = part.partition(" -->")
        if name == "end":
            continue
        table = name.removeprefix("table ")
        if not found or table == name or number + 1 == len(parts) or not parts[number + 1].startswith("end -->"):
            raise ValueError(f"{page}: <!-- {name}: a table's mark is `<!-- table NAME -->`, closed by `<!-- end -->`")
        parts[number] = f"{name} -->\n{as_markdown(plan, results, table)}\n"
    write_atomically(page, "<!-- ".join(parts).encode())


def as_markdown(plan: Plan, results: Results, table: str) -> str:
    """A table, a line a row and seed. Raises ValueError for one that no row is of."""
    if table != GAMES and not any(table in row.tables for row in plan.rows):
        raise ValueError(f"{table}: no row of the plan is of this table")
    columns = [*COLUMNS, *(BY_KIND if table == "kinds" else WORK)]
    rows = measured(plan, results, table)
    if table == GAMES:
        rows.sort(key=lambda one: -one.elo)
    lines = [[name for name, _ in columns], ["---"] * len(columns)]
    lines += [[show(one) for _, show in columns] for one in rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def name_of(one: Measured) -> str:
    """In tables and pictures."""
    return one.row.name if one.seed == one.row.seeds[0] else f"{one.row.name}, another seed"


def _elo(one: Measured) -> str:
    if one.games is None:
        return ""
    low, high = one.games["elo_low"], one.games["elo_high"]
    error = "" if low is None or high is None else f" +- {(high - low) / 2:.0f}"
    return f"{one.elo:+.0f}{error}"


def _kind(name: str, words: str) -> Column:
    return f"on {words}", lambda one: f"{one.net[f'residual_{name}']:.4f}"


COLUMNS: list[Column] = [
    ("net", name_of),
    ("residual", lambda one: f"{one.net['residual']:.4f}"),
    ("d1-RMSE", lambda one: f"{one.net['d1_rmse']:.4f}"),
    ("accuracy", lambda one: f"{100 * one.net['accuracy']:.2f} %"),
    ("Elo", _elo),
]
BY_KIND: list[Column] = [_kind(*entry) for entry in KINDS.items()]
WORK: list[Column] = [
    ("million samples", lambda one: f"{one.net['samples'] / 1e6:.1f}" if "samples" in one.net else ""),
    ("CPU seconds", lambda one: f"{one.net['cpu_seconds']:.0f}" if "cpu_seconds" in one.net else ""),
]
