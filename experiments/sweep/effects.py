"""The effect of one option: networks of a plan beside those that are like them in all but that option."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from experiments.drawing.markdown import markdown_table
from experiments.sweep.columns import Row
from experiments.sweep.results import NetResult
from experiments.sweep.space import in_brief, in_full
from experiments.sweep.training import default_options

CURVE = "positions"
"""The option that a curve is drawn over, in place of differences."""
BEGINNING = "after"
"""Name of the point that a training began from, which both networks of a pair share."""


@dataclass(frozen=True)
class Pair:
    """Two networks that differ in one option, both with a d1-RMSE."""

    option: str
    base: NetResult
    """The one with the value that is the default of most kinds of networks in the plan, else the most common one."""
    changed: NetResult
    before: Any
    after: Any

    @property
    def words(self) -> str:
        """The option, its value in `base` and in `changed`."""
        show = in_full if in_brief(self.before) == in_brief(self.after) else in_brief
        return f"{self.option} {show(self.before)} to {show(self.after)}"

    @property
    def d1(self) -> float:
        """Difference of d1-RMSE: below 0 the change is for the better."""
        return (self.changed.tested.d1_rmse or 0.0) - (self.base.tested.d1_rmse or 0.0)

    @property
    def error(self) -> float:
        """Standard error of `d1` with the networks taken as independent, which makes it too wide."""
        errors = (self.changed.tested.d1_rmse_error or 0.0, self.base.tested.d1_rmse_error or 0.0)
        return float(sum(error**2 for error in errors) ** 0.5)

    @property
    def cost(self) -> float | None:
        """Nanoseconds that the change adds to an evaluation; None if different machines timed the two."""
        before, after = self.base.timed, self.changed.timed
        if before is None or after is None or self.changed.machine != self.base.machine:
            return None
        return after.evaluation_ns - before.evaluation_ns


def pairs_of(rows: Sequence[Row]) -> list[Pair]:
    """Return all pairs among a plan's own networks: option by option, change by change."""
    whole = [
        ({**default_options(row.net.options["kind"]), **row.net.options, BEGINNING: row.after}, row.net)
        for row in rows
        if row.net.options and row.net.tested.d1_rmse is not None
    ]
    options = dict.fromkeys(name for given, _ in whole for name in given if name not in (CURVE, BEGINNING))
    return [
        pair for option in options for pair in sorted(_of_option(option, whole), key=lambda pair: _in_order(pair.after))
    ]


def _of_option(option: str, nets: Sequence[tuple[dict[str, Any], NetResult]]) -> Iterator[Pair]:
    groups: dict[str, list[tuple[Any, NetResult]]] = defaultdict(list)
    common = Counter(json.dumps(given[option]) for given, _ in nets if option in given)
    kinds = {net.options["kind"] for _, net in nets}
    # Counted over all kinds, so that a change is never in the table in both directions.
    defaults = Counter(json.dumps(default_options(kind).get(option)) for kind in kinds)
    for given, net in nets:
        if option in given:
            rest = {name: value for name, value in given.items() if name != option}
            groups[json.dumps(rest, sort_keys=True)].append((given[option], net))
    for group in groups.values():
        group.sort(key=lambda one: _preference(one[0], defaults, common))
        (value, base), *others = group
        for other, net in others:
            if other != value:  # a default, left out in one and given in the other
                yield Pair(option, base, net, value, other)


def _preference(value: Any, defaults: Counter[str], common: Counter[str]) -> tuple[int, int, tuple[str, str]]:
    """Return a key that sorts the values of an option: a pair's base has the smaller key."""
    text = json.dumps(value)
    return -defaults[text], -common[text], _in_order(value)


def _in_order(value: Any) -> tuple[str, str]:
    return type(value).__name__, f"{value:020.9f}" if isinstance(value, int | float) else json.dumps(value)


def effects_as_markdown(pairs: Sequence[Pair]) -> str:
    """Return a table with a line per change: its mean over the pairs that differ in it."""
    groups: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        groups[pair.words].append(pair)
    return markdown_table(list(groups.values()), COLUMNS)


def _cost_of(pairs: list[Pair]) -> str:
    """Return the mean cost of the pairs that one machine has timed."""
    costs = [pair.cost for pair in pairs if pair.cost is not None]
    return f"{fmean(costs):+.0f}" if costs else ""


COLUMNS: list[tuple[str, Callable[[list[Pair]], str]]] = [
    ("change", lambda pairs: pairs[0].words),
    ("pairs", lambda pairs: str(len(pairs))),
    ("d1-RMSE", lambda pairs: f"{fmean(pair.d1 for pair in pairs):+.4f} +- {fmean(pair.error for pair in pairs):.4f}"),
    ("ns", _cost_of),
]
