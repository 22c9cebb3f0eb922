"""Figures of networks as tables show them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from experiments.drawing.markdown import markdown_table
from experiments.elo.strength import elo_text
from experiments.sweep.labels import single_values, varied_options
from experiments.sweep.plan import Plan, Point
from experiments.sweep.results import EVEN, Failed, Games, NetResult, Results, Standing, StepTimes, games_key, titled
from experiments.sweep.space import option_label
from experiments.sweep.timing import ALIKE
from experiments.sweep.training import KINDS, default_options

Column = tuple[str, Callable[["Row"], str]]
WAYS = ("nodes", "time", "clock")
"""Ways in which a plan's games are played."""
_DIGEST = re.compile(rf"(?:{'|'.join(KINDS)})-[0-9a-f]{{10}}(?:-after-(.+))?")
"""Name of a point that was given none; see `Point.name`."""


@dataclass(frozen=True)
class Row:
    """A network that is done, its games, and its point."""

    net: NetResult
    point: Point | None
    """The network's point; None if the plan does not name it, for instance if a sampler chose it."""
    games: dict[str, Standing]
    """Games by the way in which they were played."""
    step_us: float | None = None
    """CPU microseconds per position of a training step."""
    given_label: str = ""
    """Label beside networks of an earlier plan; empty means the plan's label."""
    is_earlier: bool = False
    """Whether the network is of an earlier plan in the same folder, and of no point of this one."""

    @property
    def label(self) -> str:
        """Name in tables, without the seed."""
        return self.given_label or (self.point.label if self.point else self.net.label)

    @property
    def title(self) -> str:
        """Name in tables and charts."""
        return titled(self.label, self.net.seed)

    @property
    def after(self) -> str:
        """Name of the point from whose network the training began; empty means none, or not known."""
        named = _DIGEST.fullmatch(self.net.name)
        return self.point.after if self.point else (named and named[1]) or ""

    @property
    def elo(self) -> float | None:
        """Elo at equal nodes; None without games, or where it is infinite."""
        return self.games["nodes"].elo if "nodes" in self.games else None

    @property
    def elo_error(self) -> float | None:
        """Half of the 95 % interval of `elo`; of an interval with one end, the distance to it."""
        standing = self.games.get("nodes")
        if standing is None or standing.elo is None:
            return None
        ends = [end for end in (standing.elo_low, standing.elo_high) if end is not None]
        return sum(abs(end - standing.elo) for end in ends) / len(ends) if ends else None

    @property
    def million_positions(self) -> float:
        """Millions of positions in its training data; 0 if the network was made elsewhere."""
        trained = self.net.trained
        return trained.samples / trained.epochs / 1e6 if trained else 0.0

    @property
    def result_share(self) -> float:
        """Percentage of the game's result in its training targets; the score has the rest."""
        return 100 - 100 * float(self.net.options.get("lambda", 0.7))


def rows_of(plan: Plan, results: Results) -> list[Row]:
    """Return the networks that are done in the order of the plan, those that it does not name last."""
    points = {point.key: point for point in plan.known_points()}
    opponents = {str(games.play.get("opponent")) for games in results.all(Games)}
    played = {games.by for games in results.all(Games)}
    steps = results.find(StepTimes, "steps")
    firsts: dict[str, int] = {}  # training steps are timed with the first seed of a point
    for point in points.values():
        if results.find(NetResult, *point.key):
            firsts.setdefault(point.name, point.seed)
    rows = []
    for net in results.all(NetResult):
        found = {by: games.standing for by in WAYS if (games := results.games(net, by))}
        if net.net in opponents:
            found |= dict.fromkeys(played, EVEN)
        step = steps.microseconds.get(net.name) if steps and net.seed == firsts.get(net.name) else None
        is_earlier = net.key not in points and (plan.search == "grid" or not net.options)
        rows.append(Row(net, points.get(net.key), found, step, is_earlier=is_earlier))
    if any(row.is_earlier and row.net.options for row in rows):
        rows = _labelled(rows, points.values())
    order = {key: number for number, key in enumerate(points)}
    return sorted(rows, key=lambda row: order.get(row.net.key, len(order)))


def _labelled(rows: Sequence[Row], points: Iterable[Point]) -> list[Row]:
    """Return rows whose labels show the options that differ among the points of this plan and the networks of earlier
    ones; those that were given a name keep it."""
    given = [*((one.name, one.options) for one in points), *((row.net.name, row.net.options) for row in rows)]
    varied = varied_options(single_values(options) for name, options in given if _DIGEST.fullmatch(name))

    def label(row: Row) -> str:
        if not _DIGEST.fullmatch(row.net.name):
            return ""
        kind = str(row.net.options["kind"])
        whole = {**default_options(kind), **row.net.options}
        words = [option_label(name, whole[name], shared) for name, shared in varied[kind].items() if name in whole]
        return " ".join([kind, *words, *(("after", row.after) if row.after else ())])

    return [replace(row, given_label=label(row)) for row in rows]


def failures(plan: Plan, rows: Sequence[Row], results: Results) -> list[Failed]:
    """Return the failures of the plan's points and games that have not been done since."""
    ways = plan.playing.by if plan.playing else ()
    of_games = {games_key(row.net, by): by in ways and not row.is_earlier for row in rows for by in WAYS}
    points = {point.key for point in plan.known_points()}
    return [
        one
        for one in results.all(Failed)
        if results.find(NetResult, *one.key) is None
        and results.find(Games, *one.key) is None
        and of_games.get(one.key, plan.search != "grid" or one.key in points)
    ]


def warnings_as_markdown(rows: Sequence[Row]) -> str:
    """Return a table with a line per warning of trainings, and the networks that it is about; empty without any."""
    found: dict[str, list[str]] = {}
    for row in rows:
        for warning in row.net.trained.warnings if row.net.trained else ():
            found.setdefault(warning, []).append(row.title)
    columns: list[tuple[str, Callable[[tuple[str, list[str]]], str]]] = [
        ("warning", lambda one: one[0]),
        ("networks", lambda one: ", ".join(one[1])),
    ]
    return markdown_table(list(found.items()), columns) if found else ""


def by_cost(rows: list[Row]) -> list[Row]:
    """Return rows with the cheapest evaluation first."""

    def cost(row: Row) -> tuple[float, float]:
        timed, error = row.net.timed, row.net.tested.d1_rmse
        return timed.evaluation_ns if timed else float("inf"), float("inf") if error is None else error

    return sorted(rows, key=cost)


def nets_as_markdown(rows: list[Row], columns: list[Column]) -> str:
    """Return a table with a line per network."""
    return markdown_table(rows, columns) if rows else ""


def standing_text(standing: Standing | None) -> str:
    """Return an Elo with its interval; nothing where there are no games."""
    if standing is None:
        return ""
    if standing is EVEN:
        return "0, the opponent"
    return elo_text(standing.elo, standing.elo_low, standing.elo_high).removeprefix("Elo ").removesuffix(" for an Elo")


def with_error(value: float | None, error: float | None) -> str:
    """Return `0.1234 +- 0.0012`; nothing where there is no value."""
    if value is None:
        return ""
    return f"{value:.4f}" + (f" +- {error:.4f}" if error is not None else "")


def accuracy(row: Row) -> str:
    """Return a network's accuracy on held-out games with its standard error in percent."""
    return row.net.tested.report.accuracy_text()


def nanoseconds(row: Row) -> str:
    """Return the nanoseconds of an evaluation, with the spread of its runs if they do not agree."""
    timed = row.net.timed
    if timed is None:
        return ""
    spread = timed.evaluation_spread
    return f"{timed.evaluation_ns:.0f}" + (f" (spread {100 * spread:.0f} %)" if spread and spread > ALIKE else "")


def _millions(count: int) -> str:
    return f"{count / 1e6:.1f}" if count >= 1e5 else f"{count / 1e6:.2g}"


def _timed(show: Callable[[Row], str]) -> Callable[[Row], str]:
    return lambda row: show(row) if row.net.timed else ""


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _trained(row: Row, form: str, name: str, unit: float = 1.0) -> str:
    return format(getattr(row.net.trained, name) / unit, form) if row.net.trained else ""


def _reference(row: Row) -> str:
    timed = row.net.timed
    return f"{timed.evaluation_ns / timed.reference_ns:.2f}" if timed and timed.reference_ns else ""


def _shape(row: Row) -> str:
    size = row.net.size
    return f"{size.features} {'-'.join(map(str, size.shape))}" if size else ""


def _spread(row: Row, name: str) -> str:
    spread = getattr(row.net.timed, name)
    return "" if spread is None else f"{100 * spread:.0f} %"


NAME: Column = ("network", lambda row: row.title)
D1: Column = ("d1-RMSE", lambda row: with_error(row.net.tested.d1_rmse, row.net.tested.d1_rmse_error))
RESIDUAL: Column = ("residual", lambda row: _number(row.net.tested.residual, ".4f"))
ACCURACY: Column = ("accuracy", accuracy)
LOG_LOSS: Column = ("log loss", lambda row: _number(row.net.tested.report.log_loss, ".4f"))
ELO_NODES: Column = ("Elo at equal nodes", lambda row: standing_text(row.games.get("nodes")))
ELO_TIME: Column = ("Elo at equal time", lambda row: standing_text(row.games.get("time")))
ELO_CLOCK: Column = ("Elo by the clock", lambda row: standing_text(row.games.get("clock")))
SAMPLES: Column = ("million samples", lambda row: _millions(row.net.trained.samples) if row.net.trained else "")
SECONDS: Column = ("CPU seconds", lambda row: _trained(row, ".0f", "cpu_seconds"))
BYTES: Column = ("KB", lambda row: f"{row.net.size.bytes / 1000:,.0f}" if row.net.size else "")
NANOSECONDS: Column = ("ns per evaluation", nanoseconds)
ALL: list[Column] = [
    NAME,
    D1,
    ELO_TIME,
    NANOSECONDS,
    LOG_LOSS,
    ACCURACY,
    ELO_NODES,
    ELO_CLOCK,
    ("spread of ns", _timed(lambda row: _spread(row, "evaluation_spread"))),
    ("ns / HalfKP's", _reference),
    ("nodes/s", _timed(lambda row: f"{row.net.timed.nps:,}")),  # type: ignore[union-attr]
    ("spread of nodes/s", _timed(lambda row: _spread(row, "nps_spread"))),
    ("load", _timed(lambda row: _number(row.net.timed.load, ".1f"))),  # type: ignore[union-attr]
    ("multiply-adds", lambda row: f"{row.net.size.multiply_adds:,}" if row.net.size else ""),
    BYTES,
    RESIDUAL,
    ("rounding, logits", lambda row: f"{row.net.folded.rounding:.3f}" if row.net.folded else ""),
    ("shape", _shape),
    SAMPLES,
    SECONDS,
    ("machine", lambda row: row.net.machine),
]


def table_columns(kinds: dict[str, str]) -> list[Column]:
    """Return the columns of a plan's table: residuals by `kinds`, or else the work of training."""

    def of(kind: str) -> Column:
        return f"on {kind}", lambda row: _number(row.net.tested.residual_by_kind.get(kind), ".4f")

    figures = [NAME, RESIDUAL, D1, ACCURACY, ELO_NODES, ELO_TIME, ELO_CLOCK]
    return [*figures, *(map(of, kinds) if kinds else (SAMPLES, SECONDS))]
