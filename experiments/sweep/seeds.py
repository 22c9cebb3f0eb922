"""Networks that were trained with several seeds: means, their errors, and differences to the first network."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from experiments.drawing.markdown import markdown_lines
from experiments.elo.strength import elo_text
from experiments.sweep.columns import Row
from experiments.sweep.results import NetResult, Standing
from experiments.sweep.steps import Rare


@dataclass(frozen=True)
class Mean:
    """A mean and its standard error; the mean is None without values, the error also for a single value."""

    mean: float | None
    error: float | None


@dataclass(frozen=True)
class Compared:
    """A figure of a network over its seeds, and its difference to that of the first network."""

    value: Mean
    difference: Mean | None = None


@dataclass(frozen=True)
class Figure:
    """A figure of the table: its heading, where it stands, and how it is written."""

    heading: str
    of: Callable[[NetResult], float | None]
    percent: bool = False

    def write(self, found: Compared) -> str:
        """Return `0.1234 +- 0.0005 (Δ +0.0010 +- 0.0003)`, percentages with two digits."""
        text = self._mean(found.value)
        if found.difference is not None and found.difference.mean is not None:
            text += f" (Δ {self._mean(found.difference, '+')})"
        return text

    def _mean(self, found: Mean, sign: str = "") -> str:
        def number(value: float, sign: str = "") -> str:
            return f"{100 * value:{sign}.2f} %" if self.percent else f"{value:{sign}.5f}"

        if found.mean is None:
            return "-"
        return number(found.mean, sign) + (f" +- {number(found.error)}" if found.error is not None else "")


def _of_draw(name: str) -> Callable[[NetResult], float | None]:
    def of(net: NetResult) -> float | None:
        draw: Rare | None = net.tested.draw
        return None if draw is None else getattr(draw, name)

    return of


FIGURES = (
    Figure("policy loss", lambda net: net.tested.policy_loss),
    Figure("policy accuracy", lambda net: net.tested.policy_accuracy, True),
    Figure("value loss", lambda net: net.tested.report.log_loss),
    Figure("value accuracy", lambda net: net.tested.report.accuracy, True),
    Figure("Brier score", lambda net: net.tested.report.brier),
    Figure("calibration error", lambda net: net.tested.report.calibration_error),
    Figure("d1-RMSE", lambda net: net.tested.d1_rmse),
    Figure("drawn positions", _of_draw("base_rate"), True),
    Figure("Brier score of the draw", _of_draw("brier")),
    Figure("Brier score of the base rate", _of_draw("base_brier")),
    Figure("log loss of the draw", _of_draw("log_loss")),
    Figure("log loss of the base rate", _of_draw("base_log_loss")),
    Figure("draw accuracy", _of_draw("accuracy"), True),
    Figure("accuracy of never a draw", _of_draw("base_accuracy"), True),
    Figure("precision at 0.5", _of_draw("precision"), True),
    Figure("recall at 0.5", _of_draw("recall"), True),
    Figure("precision of the surest, as many as drawn", _of_draw("precision_at_positives"), True),
    Figure("average precision", _of_draw("average_precision"), True),
)


def mean_of(values: Sequence[float | None]) -> Mean:
    """Return the mean of the values that there are, and its standard error."""
    present = [value for value in values if value is not None]
    if not present:
        return Mean(None, None)
    error = statistics.stdev(present) / len(present) ** 0.5 if len(present) > 1 else None
    return Mean(statistics.fmean(present), error)


def compare(groups: Mapping[str, Sequence[NetResult]], of: Callable[[NetResult], float | None]) -> dict[str, Compared]:
    """Return a figure of each network. Differences are taken seed by seed: trainings of one seed see the data in the
    same order."""
    first = next(iter(groups))
    base = {net.seed: of(net) for net in groups[first]}
    found = {}
    for name, nets in groups.items():
        values = {net.seed: of(net) for net in nets}
        apart = [
            value - other
            for seed, value in values.items()
            if value is not None and (other := base.get(seed)) is not None
        ]
        found[name] = Compared(mean_of(list(values.values())), None if name == first else mean_of(apart))
    return found


def by_label(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the networks of all seeds of each point."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.label, []).append(row)
    return groups


def seeds_as_markdown(rows: Sequence[Row]) -> str:
    """Return a table with a column per network and a line per figure, and the accuracies by ply and score."""
    groups = by_label(rows)
    nets = {label: [row.net for row in found] for label, found in groups.items()}
    firsts = [found[0] for found in groups.values()]
    lines = [["", *groups]]
    for figure in FIGURES:
        found = compare(nets, figure.of)
        if any(one.value.mean is not None for one in found.values()):
            lines.append([figure.heading, *map(figure.write, found.values())])
    for heading, show in _ONCE:
        cells = [show(row, firsts[0]) for row in firsts]
        if any(cells):
            lines.append([heading, *(cell or "-" for cell in cells)])
    text = markdown_lines(lines)
    if bands := firsts[0].net.tested.report.by_ply + firsts[0].net.tested.report.by_score:
        lines = [["value accuracy", *groups]]
        for number, band in enumerate(bands):
            of = [(row.net.tested.report.by_ply + row.net.tested.report.by_score)[number].accuracy for row in firsts]
            lines.append([band.band, *("-" if one is None else f"{100 * one:.2f} %" for one in of)])
        text += "\n" + markdown_lines(lines)
    return text


def _games(by: str) -> Callable[[Row, Row], str]:
    def show(row: Row, _: Row) -> str:
        standing: Standing | None = row.games.get(by)
        if standing is None:
            return ""
        elo = elo_text(standing.elo, standing.elo_low, standing.elo_high)
        return f"{standing.wins} - {standing.draws} - {standing.losses}, {elo}"

    return show


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _ratio(row: Row, first: Row) -> str:
    return f"{row.step_us / first.step_us:.3f}" if row.step_us and first.step_us else ""


_ONCE: tuple[tuple[str, Callable[[Row, Row], str]], ...] = (
    ("parameters", lambda row, _: _count(row.net.trained.parameters if row.net.trained else None)),
    ("training, positions/s of one core", lambda row, _: f"{1e6 / row.step_us:,.0f}" if row.step_us else ""),
    ("training time, ratio", _ratio),
    ("evaluation, µs of one core", lambda row, _: f"{row.net.timed.evaluation_ns / 1e3:,.3f}" if row.net.timed else ""),
    ("multiply-adds of an evaluation", lambda row, _: _count(row.net.size.multiply_adds if row.net.size else None)),
    ("bytes of weights", lambda row, _: _count(row.net.size.bytes if row.net.size else None)),
    ("nodes/s, playouts/s of a residual network", lambda row, _: f"{row.net.timed.nps:,}" if row.net.timed else ""),
    ("games at equal nodes, won - drawn - lost", _games("nodes")),
    ("games at equal time", _games("time")),
    ("games by the clock", _games("clock")),
    ("targets with positives", lambda row, _: ", ".join(row.net.tested.targets)),
)
"""The results of each network's first seed."""
