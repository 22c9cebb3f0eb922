"""Pictures of trainings, tunings, comparisons and leagues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from experiments.drawing.figure import AS_TYPED, write_figure
from experiments.drawing.fonts import japanese_fonts
from lite.training.log import EpochTest, Steps, TrainingLine, lines_of
from lite.training.metrics import Report
from search.alphabeta.parameters import Parameter

COLOURS = {"demo": "#1f6fb4", "default": "#c8553d", "material": "#7a7a7a"}


def draw_training(
    log: Sequence[TrainingLine], reports: Mapping[str, Report], accuracy: dict[str, float], path: Path
) -> None:
    """Draw a training run: loss and held-out accuracy over the steps, calibration, accuracy by ply.

    `log` holds the run's lines; `reports` are those of `lite.training.metrics` by network name, the run's own being
    "demo".
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, ((curves, held_out), (calibration, by_ply)) = pyplot.subplots(2, 2, figsize=(11, 8))
    steps = lines_of(Steps, log)
    curves.plot([line.step for line in steps], [line.loss for line in steps], color=COLOURS["demo"], lw=1)
    curves.set(title="Training loss", xlabel="step", ylabel="cross entropy with the blended target")

    tested = lines_of(EpochTest, log)
    held_out.plot(
        [line.step for line in tested],
        [100 * (line.report.accuracy or 0) for line in tested],
        marker="o",
        color=COLOURS["demo"],
        label="while training",
    )
    for name, value in accuracy.items():
        held_out.axhline(
            100 * value, color=COLOURS.get(name, "black"), ls="--", lw=1, label=f"{name} {100 * value:.1f} %"
        )
    held_out.set(title="Accuracy on held-out games", xlabel="step", ylabel="% of decided positions")
    held_out.legend(fontsize=8)

    calibration.plot([0, 1], [0, 1], color="#bbbbbb", lw=1)
    for name, report in reports.items():
        bins = report.calibration
        predicted, actual = [b.predicted for b in bins], [b.actual for b in bins]
        calibration.plot(predicted, actual, marker="o", color=COLOURS.get(name), label=name)
    calibration.set(title="Calibration", xlabel="predicted win rate", ylabel="actual result", xlim=(0, 1), ylim=(0, 1))
    calibration.legend(fontsize=8)

    for name, report in reports.items():
        bands = report.by_ply
        by_ply.plot(
            [band.band.removeprefix("ply ") for band in bands],
            [100 * band.accuracy if band.accuracy is not None else float("nan") for band in bands],
            marker="o",
            color=COLOURS.get(name),
            label=name,
        )
    by_ply.set(title="Accuracy by ply", xlabel="ply", ylabel="% of decided positions")
    by_ply.tick_params(axis="x", rotation=45)
    by_ply.legend(fontsize=8)

    write_figure(figure, path)


NAMED_NUMBERS = 16
"""Number of lines of a tuning that get a colour and a name."""


def draw_tuning(history: list[dict[str, float]], games: int, parameters: Sequence[Parameter], path: Path) -> None:
    """Draw a tuning: the distance of each parameter from its default, in its own steps, over the games.

    `history` holds the values by name at every `games` games. The parameters that moved farthest are named, in the
    order of their last values.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(11, 6))
    over = [games * point for point in range(len(history) + 1)]
    gone = {one.name: [0.0, *((values[one.name] - one.default) / one.step for values in history)] for one in parameters}
    farthest = sorted(parameters, key=lambda one: -abs(gone[one.name][-1]))
    for number, one in enumerate(sorted(farthest[:NAMED_NUMBERS], key=lambda one: -gone[one.name][-1])):
        label = f"{one.name} {one.default} \u2192 {history[-1][one.name]:.1f}"
        axes.plot(over, gone[one.name], lw=1.2, color=f"C{number % 10}", ls="-" if number < 10 else "--", label=label)
    others = farthest[NAMED_NUMBERS:]
    for number, one in enumerate(others):
        group = None if number else f"{len(others)} others"
        axes.plot(over, gone[one.name], lw=0.6, color="#bbbbbb", zorder=0.5, label=group)
    axes.axhline(0, color="#888888", lw=1, zorder=0)
    axes.set(title="Tuned parameters of the search", xlabel="games", ylabel="steps from the default")
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    write_figure(figure, path)


class RatedPlayer(Protocol):
    """A player of a league with its rating."""

    @property
    def name(self) -> str: ...
    @property
    def elo(self) -> float: ...
    @property
    def error(self) -> float:
        """Half of the 95 % interval."""


def draw_ratings(players: Sequence[RatedPlayer], path: Path, axis: str) -> None:
    """Draw a league: every player's rating with its 95 % interval, the strongest on top. `axis`: title of the axis."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context({"font.family": ["DejaVu Sans", *japanese_fonts()], **AS_TYPED}):
        figure, axes = pyplot.subplots(figsize=(8, 1.2 + 0.4 * len(players)))
        places = range(len(players))
        elo, errors = [row.elo for row in players], [row.error for row in players]
        axes.axvline(0, color="#bbbbbb", lw=1)
        axes.errorbar(elo, places, xerr=errors, fmt="o", color=COLOURS["demo"], ecolor="#7a7a7a", capsize=4)
        for place, row in enumerate(players):
            axes.annotate(
                f"{row.elo:+.0f} \u00b1 {row.error:.0f}",
                (row.elo, place),
                xytext=(0, 8),
                textcoords="offset points",
                ha="center",
                fontsize=8,
            )
        axes.set(yticks=list(places), yticklabels=[row.name for row in players], xlabel=axis)
        axes.set_ylim(len(players) - 0.5, -0.7)
        axes.margins(x=0.12)
        axes.grid(axis="x", color="#dddddd", lw=0.5)
        write_figure(figure, path)
