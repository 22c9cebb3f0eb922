"""The tables of what has been measured, in Markdown, put where the page has a mark for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.drawing.markdown import markdown_table
from experiments.elo.strength import in_words
from experiments.jobs.results import NET, Line, Results
from experiments.recipe.plan import KINDS, Plan, Row
from search.system.files import read_text, write_atomically

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
    def elo(self) -> float | None:
        """Against the common opponent; None without games, or where one side won all."""
        return self.games["elo"] if self.games else None

    @property
    def elo_error(self) -> float | None:
        """Half of what lies between the ends of its 95 % interval, in Elo; where that has one end, as far as it is."""
        if self.elo is None or self.games is None:
            return None
        ends = [end for end in (self.games["elo_low"], self.games["elo_high"]) if end is not None]
        return sum(abs(end - self.elo) for end in ends) / len(ends) if ends else None

    @property
    def result_share(self) -> float:
        """Of the result in what is learnt, in percent, the rest being the score; of a row that says how it is mixed."""
        return 100 - 100 * (self.row.lambda_ or 0.0)

    @property
    def million_positions(self) -> float:
        """It has learnt from."""
        return float(self.net["samples"] / self.net["epochs"] / 1e6)


def measured(plan: Plan, results: Results, table: str) -> list[Measured]:
    """What there is of a table's rows, in the plan's order; of GAMES all that have played. ValueError for a row of
    `kinds` that was measured without them."""

    def find() -> Iterator[Measured]:
        for row in plan.rows:
            for seed in row.seeds:
                net, games = results.find(NET, row.name, seed), results.find("games", row.name, seed)
                found = net and Measured(row, seed, net, games)
                if found and (found.elo_error is not None if table == GAMES else table in row.tables):
                    if table == "kinds" and not found.net.keys() >= {f"residual_{kind}" for kind in KINDS}:
                        raise ValueError(
                            f"{results.path}: net {row.name!r}, seed {seed}: was not measured on all of the plan's "
                            "kinds; remove its line, and `liteshogi recipe run` measures it anew"
                        )
                    yield found

    return list(find())


def correlation(rows: Sequence[Measured], name: str) -> tuple[float, float]:
    """(Correlation of a figure with Elo over nets, its standard error).

    The error is by drawing nets anew, and the Elo of each within its error.
    """
    figures = np.array([row.net[name] for row in rows])
    elos, errors = np.array([row.elo for row in rows]), np.array([row.elo_error for row in rows]) / 1.96
    random = np.random.default_rng(0)
    found = []
    for drawn in random.integers(0, len(rows), (ROUNDS, len(rows))):
        if len(set(figures[drawn])) > 2:
            found.append(np.corrcoef(figures[drawn], random.normal(elos[drawn], errors[drawn]))[0, 1])
    return float(np.corrcoef(figures, elos)[0, 1]), float(np.std(found))


Column = tuple[str, Callable[[Measured], str]]


def write_tables(page: Path, plan: Plan, results: Results) -> None:
    """Put each table of the page, between `<!-- NAME -->` and `<!-- end -->`, in words of what there is by now.

    Raises OSError, or ValueError for a mark without an end or of no table, and for a page without marks.
    """
    parts = read_text(page).split("<!-- ")
    if all(part.startswith("end -->") for part in parts[1:]):
        raise ValueError(f"{page}: has no mark for a table; put `<!-- table NAME -->` and `<!-- end -->` for one")
    for number, part in enumerate(parts[1:], 1):
        name, found, _ = part.partition(" -->")
        if name == "end":
            continue
        table = name.removeprefix("table ")
        if not found or table == name or number + 1 == len(parts) or not parts[number + 1].startswith("end -->"):
            raise ValueError(f"{page}: <!-- {name}: a table's mark is `<!-- table NAME -->`, closed by `<!-- end -->`")
        parts[number] = f"{name} -->\n{as_markdown(plan, results, table)}"
    write_atomically(page, "<!-- ".join(parts).encode())


def as_markdown(plan: Plan, results: Results, table: str) -> str:
    """A table, a line a row and seed. Raises ValueError for one that no row is of."""
    if table != GAMES and not any(table in row.tables for row in plan.rows):
        raise ValueError(f"{table}: no row of the plan is of this table")
    columns = [*COLUMNS, *(BY_KIND if table == "kinds" else WORK)]
    rows = measured(plan, results, table)
    if table == GAMES:
        rows.sort(key=lambda one: one.net["d1_rmse"])
    return markdown_table(rows, columns)


def name_of(one: Measured) -> str:
    """In tables and pictures."""
    return one.row.name if one.seed == one.row.seeds[0] else f"{one.row.name}, another seed"


def _elo(one: Measured) -> str:
    if one.games is None:
        return ""
    return in_words(one.games["elo"], one.games["elo_low"], one.games["elo_high"]).removeprefix("Elo ")


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
