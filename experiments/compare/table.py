"""The figures of a comparison, and the table that shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from experiments.elo.strength import in_words
from lite.amounts import amount


@dataclass(frozen=True)
class Column:
    """A figure of the tables: its heading, where it stands in a run's figures, and how it is written."""

    heading: str
    path: tuple[str, ...]
    percent: bool = False

    @property
    def key(self) -> str:
        return "_".join(self.path)

    @property
    def unit(self) -> int:
        """What a figure is multiplied with to be read."""
        return 100 if self.percent else 1

    def figure(self, figures: dict[str, Any]) -> float | None:
        """The figure of one run; None where it has none."""
        value: Any = figures
        for name in self.path:
            value = value.get(name) if isinstance(value, dict) else None
        return None if value is None else float(value)


POLICY_ACCURACY = Column("policy accuracy", ("policy_accuracy",), True)
POLICY_LOSS = Column("policy loss", ("policy_loss",))
VALUE_ACCURACY = Column("value accuracy", ("accuracy",), True)
VALUE_LOSS = Column("value loss", ("log_loss",))
BRIER = Column("Brier score", ("brier",))
CALIBRATION = Column("calibration error", ("calibration_error",))
D1 = Column("d1-RMSE", ("d1_rmse",))
DRAW_COLUMNS = (
    Column("drawn positions", ("draw", "base_rate"), True),
    Column("Brier score of the draw", ("draw", "brier")),
    Column("Brier score of the base rate", ("draw", "base_brier")),
    Column("log loss of the draw", ("draw", "log_loss")),
    Column("log loss of the base rate", ("draw", "base_log_loss")),
    Column("draw accuracy", ("draw", "accuracy"), True),
    Column("accuracy of never a draw", ("draw", "base_accuracy"), True),
    Column("precision at 0.5", ("draw", "precision"), True),
    Column("recall at 0.5", ("draw", "recall"), True),
    Column("precision of the surest, as many as drawn", ("draw", "precision_at_positives"), True),
    Column("average precision", ("draw", "average_precision"), True),
)

COLUMNS = {
    column.key: column for column in (POLICY_ACCURACY, POLICY_LOSS, VALUE_ACCURACY, VALUE_LOSS, BRIER, CALIBRATION, D1)
}
COLUMNS |= {column.key: column for column in DRAW_COLUMNS}


GAMES = {"games at equal nodes, won - drawn - lost": "games", "games at equal time": "timed_games"}
"""Rows of games by their headings; a residual network's nodes are playouts, and its opponent has a fixed depth."""


def as_markdown(report: dict[str, Any]) -> str:
    """The report as a table, with what must be known to read it."""
    options, rows = report["options"], report["rows"]
    keys = list(rows[0]["figures"])
    lines = [
        f"# {report['preset']}: {', '.join(row['variant'] for row in rows)}",
        "",
        f"Learnt from {report['data']}, judged on the {report['valid_positions']:,} positions of {report['valid']}; "
        f"seeds {', '.join(map(str, report['seeds']))}; residual networks {amount(options['epochs'], 'epoch')}, "
        f"value networks {options['value_epochs']}. ± is the standard error over the seeds; Δ is "
        "the difference to the first row, seed by seed.",
        "",
        "| | " + " | ".join(row["variant"] for row in rows) + " |",
        "|---|" + "---|" * len(rows),
        "| parameters | " + " | ".join(f"{row['parameters']:,}" for row in rows) + " |",
    ]
    for key in keys:
        column = COLUMNS[key]
        lines.append(
            f"| {column.heading} | " + " | ".join(_cell(row["figures"][key], column.percent) for row in rows) + " |"
        )
    for heading, name, form in (
        ("training, positions/s of one core", "training_positions_per_s", ",.0f"),
        ("training time, ratio", "training_time_ratio", ".3f"),
        ("evaluation, µs of one core", "evaluation_us", ",.3f"),
        ("multiply-adds of an evaluation", "multiply_adds", ",d"),
        ("bytes of weights", "bytes", ",d"),
        ("nodes/s of one core (playouts/s of a residual network)", "nodes_per_s", ",d"),
    ):
        if any(name in row for row in rows):
            cells = (format(row[name], form) if name in row else "-" for row in rows)
            lines.append(f"| {heading} | " + " | ".join(cells) + " |")
    for heading, name in GAMES.items():
        if any(row.get(name) for row in rows):
            lines.append(f"| {heading} | " + " | ".join(_games_cell(row.get(name)) for row in rows) + " |")
    if report["preset"] == "auxiliary":
        targets = (", ".join(row["targets"]) or "none" for row in rows)
        lines.append("| targets with positives | " + " | ".join(targets) + " |")
    return "\n".join(lines) + "\n"


def bands_as_markdown(report: dict[str, Any]) -> str:
    """Accuracy by ply and by size of the score, of the first seed; empty where the report has none."""
    rows = [row for row in report["rows"] if row.get("bands")]
    if not rows:
        return ""
    lines = ["| value accuracy | " + " | ".join(row["variant"] for row in rows) + " |", "|---|" + "---|" * len(rows)]
    for number, band in enumerate(rows[0]["bands"]):
        cells = ("-" if (share := row["bands"][number]["accuracy"]) is None else f"{100 * share:.2f} %" for row in rows)
        lines.append(f"| {band['band']} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _games_cell(report: dict[str, Any] | None) -> str:
    """40 - 2 - 158, Elo -235 ± 59."""
    if report is None:
        return "-"
    elo = in_words(report["elo"], report["elo_low"], report["elo_high"]).replace("+-", "±")
    return f"{report['wins']} - {report['draws']} - {report['losses']}, {elo}"


def _cell(figure: dict[str, Any], percent: bool) -> str:
    """0.1234 ± 0.0005 (Δ +0.0010 ± 0.0003); percents with two digits."""

    def write(value: float, sign: str = "") -> str:
        return f"{100 * value:{sign}.2f} %" if percent else f"{value:{sign}.5f}"

    if figure["mean"] is None:
        return "-"
    text = write(figure["mean"]) + (f" ± {write(figure['error'])}" if figure["error"] is not None else "")
    if figure.get("difference") is not None:
        error = figure["difference_error"]
        text += f" (Δ {write(figure['difference'], '+')}" + (f" ± {write(error)})" if error is not None else ")")
    return text
