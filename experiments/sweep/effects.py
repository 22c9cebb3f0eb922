"""What one option does: nets of a sweep beside those that are like them in all but one option."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from experiments.drawing.markdown import markdown_table
from experiments.jobs.results import Line
from experiments.sweep.configuration import in_brief
from lite.networks.build import CONFIGS
from lite.program import machine_of

CURVE = "positions"
"""The option that a curve is drawn over, in place of differences."""


@dataclass(frozen=True)
class Pair:
    """Two nets, one option apart."""

    option: str
    base: Line
    """Of the default; where that is not among them, of the value that most nets have."""
    changed: Line
    before: Any
    after: Any

    @property
    def words(self) -> str:
        """The option, what it is and what it becomes."""
        return f"{self.option} {in_brief(self.before)} to {in_brief(self.after)}"

    @property
    def d1(self) -> float:
        """By how much more d1-RMSE: below 0 the change is for the better."""
        return float(self.changed["d1_rmse"] - self.base["d1_rmse"])

    @property
    def error(self) -> float:
        """The standard error of `d1`, as if each had been asked positions of its own: it is rather less."""
        return float((self.changed["d1_rmse_error"] ** 2 + self.base["d1_rmse_error"] ** 2) ** 0.5)

    @property
    def cost(self) -> float | None:
        """Nanoseconds that the change adds to an evaluation; None: different machines timed the two."""
        if machine_of(self.changed) != machine_of(self.base):
            return None
        return float(self.changed["evaluation_ns"] - self.base["evaluation_ns"])


def pairs_of(nets: Sequence[Line]) -> list[Pair]:
    """All of them among the sweep's own nets: option by option, change by change."""
    whole = [(_whole(net["options"]), net) for net in nets if net["options"]]
    options = dict.fromkeys(name for told, _ in whole for name in told if name != CURVE)
    return [
        pair for option in options for pair in sorted(_of_option(option, whole), key=lambda pair: _in_order(pair.after))
    ]


def _of_option(option: str, nets: Sequence[tuple[dict[str, Any], Line]]) -> Iterator[Pair]:
    groups: dict[str, list[tuple[Any, Line]]] = defaultdict(list)
    common = Counter(json.dumps(told[option]) for told, _ in nets if option in told)
    for told, net in nets:
        if option in told:
            rest = {name: value for name, value in told.items() if name != option}
            groups[json.dumps(rest, sort_keys=True)].append((told[option], net))
    for group in groups.values():
        default = _defaults(group[0][1]["options"]["kind"]).get(option)
        group.sort(key=lambda one: (one[0] != default, -common[json.dumps(one[0])], _in_order(one[0])))
        (value, base), *others = group
        for other, net in others:
            if other != value:  # a default, left out in one and given in the other
                yield Pair(option, base, net, value, other)


def _in_order(value: Any) -> tuple[str, Any]:
    return type(value).__name__, value


def _whole(options: dict[str, Any]) -> dict[str, Any]:
    """The options with those of the network that were left to their defaults."""
    return _defaults(options["kind"]) | options


def _defaults(kind: str) -> dict[str, Any]:
    """Of a kind of network and of chance, as JSON has them."""
    network: dict[str, Any] = json.loads(json.dumps(vars(CONFIGS[kind]())))
    return network | {"seed": 0}


def effects_as_markdown(pairs: Sequence[Pair]) -> str:
    """A line a change: its mean over the pairs that it was made in."""
    groups: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        groups[pair.words].append(pair)
    return markdown_table(list(groups.values()), COLUMNS)


def _cost_of(pairs: list[Pair]) -> str:
    """Of the pairs that one machine has timed."""
    costs = [pair.cost for pair in pairs if pair.cost is not None]
    return f"{fmean(costs):+.0f}" if costs else ""


COLUMNS: list[tuple[str, Callable[[list[Pair]], str]]] = [
    ("change", lambda pairs: pairs[0].words),
    ("pairs", lambda pairs: str(len(pairs))),
    ("d1-RMSE", lambda pairs: f"{fmean(pair.d1 for pair in pairs):+.4f} +- {fmean(pair.error for pair in pairs):.4f}"),
    ("ns", _cost_of),
]
