"""What a sweep is for: which net is best where an evaluation may cost so many nanoseconds and no more."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from experiments.drawing.markdown import markdown_table
from experiments.jobs.results import Line
from experiments.sweep.games import NODES, TIME, of_most_positions
from experiments.sweep.table import d1_of, elo_of, name_of
from lite.program import machine_of

BUDGETS = (25, 50, 100, 200)
"""Nanoseconds of an evaluation."""


@dataclass(frozen=True)
class Best:
    """The best of some nets, those of one machine, that cost no more than a budget."""

    budget: int
    of: str
    """Which nets these are."""
    net: Line | None
    """None: no net costs so little."""
    cheapest: float
    """Nanoseconds of the cheapest of all."""
    alike: int
    """Others within the budget that games at equal time do not tell from it: their 95 % intervals reach its Elo."""


def best_within(nets: Sequence[Line]) -> Iterator[Best]:
    """The best for each budget: of the sweep's own nets that learnt from the most positions, and of those made
    elsewhere, which learnt from others. Nanoseconds of different machines do not compare."""
    groups = (("this sweep", of_most_positions(nets)), ("elsewhere", [net for net in nets if not net["options"]]))
    for machine in dict.fromkeys(map(machine_of, nets)):
        for of, group in groups:
            if here := [net for net in group if machine_of(net) == machine]:
                yield from (_best(budget, of, here) for budget in BUDGETS)


def _best(budget: int, of: str, nets: Sequence[Line]) -> Best:
    """By Elo at equal time; by d1-RMSE where none that costs so little has played."""
    cheapest = min(net["evaluation_ns"] for net in nets)
    fitting = [net for net in nets if net["evaluation_ns"] <= budget]
    played = [net for net in fitting if net[TIME]]
    if not played:
        return Best(budget, of, min(fitting, key=lambda net: float(net["d1_rmse"]), default=None), cheapest, 0)
    best = max(played, key=_elo)
    alike = sum(_reaches(net, best) for net in played if net is not best)
    return Best(budget, of, best, cheapest, alike)


def _elo(net: Line) -> float:
    """At equal time; that of a net which has won or lost all is infinite."""
    games = net[TIME]
    if games["elo"] is not None:
        return float(games["elo"])
    return math.inf if games["points"] else -math.inf


def _reaches(net: Line, best: Line) -> bool:
    high = net[TIME]["elo_high"]
    return high is None or high >= _elo(best)


def budgets_as_markdown(nets: Sequence[Line]) -> str:
    """A line a budget."""
    return markdown_table(list(best_within(nets)), COLUMNS)


def _told(show: Callable[[Line], str], without: str = "") -> Callable[[Best], str]:
    """What `show` says of a best net; `without`: where that is nothing."""
    return lambda best: "" if best.net is None else show(best.net) or without


def _named(best: Best) -> str:
    return name_of(best.net) if best.net else f"none: the cheapest costs {best.cheapest:.0f} ns"


def _chosen_by(best: Best) -> str:
    if best.net is None:
        return ""
    return "Elo at equal time" if best.net[TIME] else "d1-RMSE"


COLUMNS: list[tuple[str, Callable[[Best], str]]] = [
    ("ns at most", lambda best: str(best.budget)),
    ("made in", lambda best: best.of),
    ("best net", _named),
    ("best by", _chosen_by),
    ("ns", _told(lambda net: f"{net['evaluation_ns']:.0f}")),
    ("Elo at equal time", _told(elo_of(TIME), "not played")),
    ("Elo at equal nodes", _told(elo_of(NODES), "not played")),
    ("others not told from it", lambda best: str(best.alike) if best.net and best.net[TIME] else ""),
    ("d1-RMSE", _told(d1_of)),
    ("KB", _told(lambda net: f"{net['bytes'] / 1000:,.0f}")),
    ("machine", _told(machine_of)),
]
