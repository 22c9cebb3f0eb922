"""The tables of the articles that this project builds on, made again on one's own data.

nets       value accuracy and cost of a lite net, of HalfKP, and of a residual network
squeeze    residual blocks without and with squeeze-and-excitation: losses, accuracies, the ratio of training times
auxiliary  auxiliary targets off and on: policy and value accuracy after weight averaging
draw       a draw head: calibration, Brier score, precision and recall, its accuracy beside the base rate

Every variant is trained once a seed on the same games. The output directory holds a table (`PRESET.md`), all figures
(`PRESET.json`), a picture, and the runs, which the presets share: called again, a comparison that was cut goes on.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch

from experiments.arena.strength import in_words
from experiments.compare.comparison import (
    choose_games,
    finish_run,
    measure_steps,
    summarise_runs,
)
from experiments.compare.games import GameOptions, play_games
from experiments.compare.variants import ResnetVariant, ValueVariant, Variant
from experiments.pictures import draw_comparison
from experiments.resnet.network import TARGET_BITS, Auxiliary, ResnetConfig
from experiments.resnet.train import ResnetTraining
from lite.networks.nnue import HalfKpConfig
from lite.training.optimiser import OptimiserConfig
from lite.training.options import ValueTraining
from search.machine.files import write_atomically

SAMPLE = Path(__file__).parents[1] / "sample"

Preset = Literal["nets", "squeeze", "auxiliary", "draw"]


@dataclass(frozen=True)
class Column:
    """A figure of the tables: its heading, where it stands in a run's figures, and how it is written."""

    heading: str
    path: tuple[str, ...]
    percent: bool = False

    @property
    def key(self) -> str:
        return "_".join(self.path)

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


@dataclass(frozen=True)
class Comparison:
    """What is compared, and on what."""

    preset: Preset
    """nets: lite, HalfKP and residual; squeeze: with and without squeeze-and-excitation; auxiliary: targets beside
    policy and value; draw: a draw head."""
    data: tuple[Path, ...] = (SAMPLE / "teacher_sample.hcpe3",)
    """Games to learn from (hcpe3); a packaged sample without them."""
    valid: tuple[Path, ...] = (SAMPLE / "valid_sample.hcpe3",)
    """Other games to judge on (hcpe3)."""
    output: Path = Path("out/compare")
    """Directory for tables, figures and runs."""
    positions: int | None = None
    """Positions to learn from, in whole games drawn from the data; all of them where not given."""
    valid_positions: int | None = None
    """Positions to judge on, likewise."""
    seeds: tuple[int, ...] = (0, 1)
    """A run of every variant with each."""
    blocks: int = 5
    """Residual blocks."""
    channels: int = 64
    """Channels of each."""
    epochs: int = 4
    """Times that a residual network sees every position."""
    value_epochs: int = 15
    """Times that a value network does: it learns a hundred times as fast."""
    batch_size: int = 256
    """Positions a step of a residual network."""
    learning_rate: float = 0.002
    """Of residual networks."""
    lambda_: float = 0.7
    """Weight of the search score in the value's target, the rest is the game's result."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Numbers that residual networks compute with; auto: what is faster here."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to train residual networks; auto: a GPU if there is one."""
    threads: int = 1
    """Cores to use."""
    time_rounds: int = 5
    """Steps of each variant that its training time is the median of."""
    play: GameOptions = field(default_factory=GameOptions)
    """Games of the networks."""

    def report(self) -> dict[str, Any]:
        """Trains what is not trained yet; everything that the table and the picture say."""
        suffix = "all" if self.positions is None else str(self.positions)
        data = choose_games(self.data, self.positions, 0, self.output / f"train-{suffix}.hcpe3")
        suffix = "all" if self.valid_positions is None else str(self.valid_positions)
        valid = choose_games(self.valid, self.valid_positions, 0, self.output / f"valid-{suffix}.hcpe3")
        if {path.resolve() for path in self.data} & {path.resolve() for path in self.valid}:
            raise ValueError(f"{self.valid[0]}: both to learn from and to judge on; a judgement would say nothing")
        variants = [one.with_options(data=(data,), valid=(valid,)) for one in self.variants()]
        results: dict[str, list[dict[str, Any]]] = {variant.name: [] for variant in variants}
        for seed in self.seeds:  # all variants of a seed first: a comparison that was cut can be looked at
            for variant in variants:
                seeded = variant.seeded(seed, self.output / "runs")
                print(f"{variant.name}, seed {seed} ({seeded.options.output})", file=sys.stderr, flush=True)
                results[variant.name].append(finish_run(seeded))
        players = [variant for variant in variants if variant.plays] if self.play.games else []
        played = {variant.name: self._games(variant) for variant in players}
        print("measuring times", file=sys.stderr, flush=True)
        variants = [variant.as_trained(results[variant.name][0]["figures"]) for variant in variants]
        steps = measure_steps(variants, self.time_rounds)
        baseline = steps[variants[0].name]
        rows = [
            {
                "variant": variant.name,
                "parameters": results[variant.name][0]["parameters"],
                "training_us": steps[variant.name],
                "training_positions_per_s": 1e6 / steps[variant.name],
                "training_time_ratio": steps[variant.name] / baseline,
                "evaluation_us": variant.evaluation_us(),
                "log": [run["log"] for run in results[variant.name]],
                "calibration": [run["figures"].get("draw", {}).get("calibration") for run in results[variant.name]],
                "games": played.get(variant.name),
                "targets": [name for name in TARGET_BITS if name in results[variant.name][0]["figures"]],
            }
            for variant in variants
        ]
        summary = summarise_runs(results, {column.key: column.figure for column in self.columns()})
        return {
            "preset": self.preset,
            "seeds": list(self.seeds),
            "data": data.name,
            "valid": valid.name,
            "valid_positions": next(iter(results.values()))[0]["figures"]["positions"],
            "options": {
                name: getattr(self, name)
                for name in ("blocks", "channels", "epochs", "value_epochs", "batch_size", "learning_rate", "lambda_")
            },
            "rows": [row | {"figures": summary[row["variant"]]} for row in rows],
        }

    def _games(self, variant: Variant) -> dict[str, Any]:
        """The games of a network's first seed."""
        print(f"{variant.name}: {self.play.games} games", file=sys.stderr, flush=True)
        run = variant.seeded(self.seeds[0], self.output / "runs").options.output
        folder = f"{variant.name}-{self.play.playouts}-against-depth-{self.play.opponent_depth}"
        return play_games(run, self.play, self.output / "games" / folder)

    def variants(self) -> list[Variant]:
        """The variants of the preset, the one that others are measured against first."""
        plain = self._resnet("")
        if self.preset == "nets":
            return [self._lite(), self._half_kp(), plain]
        if self.preset == "squeeze":
            return [plain, self._resnet("-se8", squeeze=8), self._resnet("-se8-bias", squeeze=8, squeeze_bias=True)]
        if self.preset == "draw":
            return [plain, self._resnet("-draw", draw=True)]
        source: tuple[Auxiliary, ...] = ("sennichite", "declaration")
        proposals: tuple[Auxiliary, ...] = ("move_limit", "entered")
        return [
            plain,
            self._resnet("-aux2", auxiliary=source),
            self._resnet("-aux4", auxiliary=source + proposals),
        ]

    def columns(self) -> tuple[Column, ...]:
        """What the preset's table shows."""
        if self.preset == "nets":
            return (VALUE_ACCURACY, VALUE_LOSS, BRIER)
        common = (POLICY_ACCURACY, POLICY_LOSS, VALUE_ACCURACY, VALUE_LOSS)
        return common + DRAW_COLUMNS if self.preset == "draw" else common

    def _resnet(self, suffix: str, **changes: Any) -> ResnetVariant:
        network = ResnetConfig(blocks=self.blocks, channels=self.channels, **changes)
        options = ResnetTraining(
            data=(),
            network=network,
            optimiser=OptimiserConfig(learning_rate=self.learning_rate),
            epochs=self.epochs,
            batch_size=self.batch_size,
            lambda_=self.lambda_,
            precision=self.precision,
            device=self.device,
            threads=self.threads,
        )
        return ResnetVariant(f"resnet-{self.blocks}x{self.channels}{suffix}", options)

    def _lite(self) -> ValueVariant:
        options = ValueTraining(data=(), epochs=self.value_epochs, lambda_=self.lambda_, threads=self.threads)
        return ValueVariant("lite-16-4-32", options)

    def _half_kp(self) -> ValueVariant:
        options = ValueTraining(
            data=(),
            network=HalfKpConfig(),
            optimiser=OptimiserConfig(learning_rate=0.001),
            epochs=self.value_epochs,
            lambda_=self.lambda_,
            threads=self.threads,
        )
        return ValueVariant("half-kp-256x2-32-32", options)


def compare(comparison: Comparison) -> dict[str, Any]:
    """Train and measure what is not done yet, write table, figures and picture; the figures.

    Raises OSError or ValueError in words, KeyboardInterrupt if a training was stopped.
    """
    if not comparison.seeds or len(set(comparison.seeds)) < len(comparison.seeds):
        raise ValueError("--seeds: name at least one, and none twice")
    for name in ("positions", "valid_positions", "epochs", "value_epochs", "threads", "time_rounds"):
        if (value := getattr(comparison, name)) is not None and value < 1:
            raise ValueError(f"--{name.replace('_', '-')} {value}: must be at least 1")
    torch.set_num_threads(comparison.threads)
    report = comparison.report()
    place = comparison.output / comparison.preset
    place.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(place.with_suffix(".json"), json.dumps(report, indent=1).encode())
    write_atomically(place.with_suffix(".md"), as_markdown(report).encode())
    draw_comparison(report, place.with_suffix(".png"))
    return report


COLUMNS = {column.key: column for column in (POLICY_ACCURACY, POLICY_LOSS, VALUE_ACCURACY, VALUE_LOSS, BRIER)}
COLUMNS |= {column.key: column for column in DRAW_COLUMNS}


def as_markdown(report: dict[str, Any]) -> str:
    """The report as a table, with what must be known to read it."""
    options, rows = report["options"], report["rows"]
    keys = list(rows[0]["figures"])
    lines = [
        f"# {report['preset']}: {', '.join(row['variant'] for row in rows)}",
        "",
        f"Learnt from {report['data']}, judged on the {report['valid_positions']:,} positions of {report['valid']}; "
        f"seeds {', '.join(map(str, report['seeds']))}; residual networks {options['epochs']} epochs, value networks "
        f"{options['value_epochs']}. ± is the standard error over the seeds; Δ is the difference to the first row, "
        f"seed by seed.",
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
    ):
        lines.append(f"| {heading} | " + " | ".join(format(row[name], form) for row in rows) + " |")
    if any(row["games"] for row in rows):
        lines.append("| games, won - drawn - lost | " + " | ".join(_games_cell(row["games"]) for row in rows) + " |")
    if report["preset"] == "auxiliary":
        targets = (", ".join(row["targets"]) or "none" for row in rows)
        lines.append("| targets with positives | " + " | ".join(targets) + " |")
    return "\n".join(lines) + "\n"


def _games_cell(report: dict[str, Any] | None) -> str:
    """40 - 2 - 158 (Elo -235 ± 59)."""
    if report is None:
        return "-"
    elo = in_words(report["elo"], report["elo_low"], report["elo_high"]).replace("+-", "±")
    return f"{report['wins']} - {report['draws']} - {report['losses']} ({elo})"


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
