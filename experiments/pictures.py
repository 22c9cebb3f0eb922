"""Pictures: what people would rather look at than read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

COLOURS = {"demo": "#1f6fb4", "default": "#c8553d", "material": "#7a7a7a"}


def draw_training(
    log: list[dict[str, Any]], reports: dict[str, dict[str, Any]], accuracy: dict[str, float], path: Path
) -> None:
    """A PNG of a training run: loss and held-out accuracy over the steps, calibration, accuracy by ply.

    `log` is a run's `log.jsonl`, `reports` those of `lite.metrics` by network name (the run's own is "demo").
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, ((curves, held_out), (calibration, by_ply)) = pyplot.subplots(2, 2, figsize=(11, 8))
    steps = [line for line in log if line["kind"] == "train"]
    curves.plot([line["step"] for line in steps], [line["loss"] for line in steps], color=COLOURS["demo"], lw=1)
    curves.set(title="Training loss", xlabel="step", ylabel="cross entropy with the blended target")

    tested = [line for line in log if line["kind"] == "valid"]
    held_out.plot(
        [line["step"] for line in tested],
        [100 * line["accuracy"] for line in tested],
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
        bins = report["calibration"]
        predicted, actual = [b["predicted"] for b in bins], [b["actual"] for b in bins]
        calibration.plot(predicted, actual, marker="o", color=COLOURS.get(name), label=name)
    calibration.set(title="Calibration", xlabel="predicted win rate", ylabel="actual result", xlim=(0, 1), ylim=(0, 1))
    calibration.legend(fontsize=8)

    for name, report in reports.items():
        bands = report["by_ply"]
        by_ply.plot(
            [band["band"].removeprefix("ply ") for band in bands],
            [100 * band["accuracy"] if band["accuracy"] is not None else float("nan") for band in bands],
            marker="o",
            color=COLOURS.get(name),
            label=name,
        )
    by_ply.set(title="Accuracy by ply", xlabel="ply", ylabel="% of decided positions")
    by_ply.tick_params(axis="x", rotation=45)
    by_ply.legend(fontsize=8)

    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    figure.savefig(partial, format="png", dpi=110)
    pyplot.close(figure)
    partial.replace(path)
