"""Best network per evaluation time, as far as games or d1-RMSE decide it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from experiments.drawing.markdown import markdown_table
from experiments.sweep.columns import D1, Row, nanoseconds, standing_text
from experiments.sweep.games import of_most_positions
from experiments.sweep.results import Standing
from experiments.sweep.steps import PLANES

BUDGETS = (25, 50, 100, 200)
"""Nanoseconds per evaluation."""
UNDECIDED = "undecided"


@dataclass(frozen=True)
class Best:
    """The best network of a group, timed on one machine, among those that cost no more than a budget."""

    budget: int
    of: str
    """Name of this group of networks."""
    machine: str
    cheapest: float
    """Nanoseconds of the group's cheapest network."""
    fitting: tuple[Row, ...]
    """Networks within the budget."""

    @property
    def by_games(self) -> Row | None:
        """The network whose 95 % interval of Elo at equal time lies above those of all others that played; None if no
        network's does, or if only one of several played."""
        played = [row for row in self.fitting if "time" in row.games]
        best = max(played, key=lambda row: _low(row.games["time"]), default=None)
        others = [row.games["time"] for row in played if row is not best]
        if best is None or best.games["time"].elo_low is None or (not others and len(self.fitting) > 1):
            return None
        return best if all(_high(other) < _low(best.games["time"]) for other in others) else None

    @property
    def by_d1(self) -> Row | None:
        """The network of the lowest d1-RMSE; None if no network that fits has one."""
        return min((row for row in self.fitting if _has_d1(row)), key=_d1, default=None)

    @property
    def tied(self) -> tuple[Row, ...]:
        """Other networks whose d1-RMSE is within two standard errors of the difference to the lowest."""
        lowest = self.by_d1
        return () if lowest is None else tuple(row for row in self.fitting if row is not lowest and _near(row, lowest))


def best_within(rows: Sequence[Row]) -> Iterator[Best]:
    """Yield the best networks for each budget that the cheapest network meets, else for the largest budget: one among
    the plan's own networks that learnt from the most positions, and one among those made elsewhere. Nanoseconds of
    different machines do not compare. Without games at equal time and without d1-RMSE there is no best network."""
    timed = [row for row in rows if row.net.timed and row.net.size and row.net.size.features != PLANES]
    if not any("time" in row.games or _has_d1(row) for row in timed):
        return
    own = {net.key for net in of_most_positions([row.net for row in timed if not row.is_earlier])}
    groups = (
        ("this plan", [row for row in timed if row.net.key in own]),
        ("elsewhere", [row for row in timed if not row.net.options]),
    )
    for machine in dict.fromkeys(row.net.machine for row in timed):
        for of, group in groups:
            if here := [row for row in group if row.net.machine == machine]:
                cheapest = min(map(_cost, here))
                for budget in [one for one in BUDGETS if one >= cheapest] or BUDGETS[-1:]:
                    yield Best(budget, of, machine, cheapest, tuple(row for row in here if _cost(row) <= budget))


def budgets_as_markdown(rows: Sequence[Row]) -> str:
    """Return a table with a line per budget."""
    return markdown_table(list(best_within(rows)), COLUMNS)


def _cost(row: Row) -> float:
    return row.net.timed.evaluation_ns if row.net.timed else math.inf


def _has_d1(row: Row) -> bool:
    return row.net.tested.d1_rmse is not None


def _d1(row: Row) -> float:
    return math.inf if row.net.tested.d1_rmse is None else row.net.tested.d1_rmse


def _near(row: Row, lowest: Row) -> bool:
    errors = math.hypot(row.net.tested.d1_rmse_error or 0.0, lowest.net.tested.d1_rmse_error or 0.0)
    return _d1(row) - _d1(lowest) <= 2 * errors


def _low(standing: Standing) -> float:
    return -math.inf if standing.elo_low is None else standing.elo_low


def _high(standing: Standing) -> float:
    return math.inf if standing.elo_high is None else standing.elo_high


def _by_games(best: Best) -> str:
    if not best.fitting:
        return f"none: the cheapest costs {best.cheapest:.0f} ns"
    if not any("time" in row.games for row in best.fitting):
        return "not played"
    return best.by_games.title if best.by_games else UNDECIDED


def _nanoseconds(best: Best) -> str:
    """Return the cost of the network of the lowest d1-RMSE, or, without d1-RMSE, of the best by Elo."""
    row = best.by_d1 or best.by_games
    return nanoseconds(row) if row else ""


def _tied(best: Best) -> str:
    if best.by_d1 is None:
        return ""
    return ", ".join(row.title for row in best.tied) if len(best.tied) <= 3 else f"{len(best.tied)} others"


COLUMNS = [
    ("ns at most", lambda best: str(best.budget)),
    ("made in", lambda best: best.of),
    ("best by Elo at equal time", _by_games),
    ("Elo at equal time", lambda best: standing_text(best.by_games.games["time"]) if best.by_games else ""),
    ("lowest d1-RMSE", lambda best: best.by_d1.title if best.by_d1 else ""),
    ("d1-RMSE", lambda best: D1[1](best.by_d1) if best.by_d1 else ""),
    ("tied with", _tied),
    ("ns", _nanoseconds),
    ("machine", lambda best: best.machine),
]
