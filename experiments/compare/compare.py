"""The tables of the articles that this project builds on, made again on one's own data.

nets       what lite, dense, HalfKP, K+P, residual and squeeze-and-excitation networks are worth, and what they cost
squeeze    residual blocks without and with squeeze-and-excitation: losses, accuracies, the ratio of training times
auxiliary  auxiliary targets off and on: policy and value accuracy after weight averaging
draw       a draw head: calibration, Brier score, precision and recall, its accuracy beside the base rate

Every variant is trained once a seed on the same games. The output directory holds a table (`PRESET.md`), all figures
(`PRESET.json`), a picture, and the runs, which the presets share: called again, a comparison that was cut goes on.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch

from experiments.compare.comparison import (
    choose_positions,
    finish_run,
    measure_steps,
    summarise_runs,
)
from experiments.compare.games import GameOptions, play_clock, play_nodes, play_playouts
from experiments.compare.table import (
    BRIER,
    CALIBRATION,
    D1,
    DRAW_COLUMNS,
    POLICY_ACCURACY,
    POLICY_LOSS,
    VALUE_ACCURACY,
    VALUE_LOSS,
    Column,
    as_markdown,
    bands_as_markdown,
)
from experiments.compare.variants import ResnetVariant, ValueVariant, Variant
from experiments.drawing.pictures import draw_comparison
from experiments.network_kinds import network_path
from experiments.resnet.network import TARGET_BITS, Auxiliary, ResnetConfig
from experiments.resnet.train import ResnetTraining
from lite.datasets.provenance import learnt_and_judged, sha256_of
from lite.networks.dense import DenseConfig
from lite.networks.lite_value import LiteConfig
from lite.networks.nnue import HalfKpConfig, KpConfig
from lite.networks.value_network import NetworkConfig
from lite.program import libraries, program
from lite.records.formats import record_files
from lite.training.optimiser import OptimiserConfig
from lite.training.options import ValueTraining
from lite.training.testing import check_games
from search.system.bounds import MOST_AT_ONCE, check_numbers
from search.system.files import write_atomically
from search.system.folder_lock import FolderLock
from search.system.interrupt import ends_as_interrupts

SAMPLE = Path(__file__).parents[1] / "sample"

Preset = Literal["nets", "squeeze", "auxiliary", "draw"]
Results = dict[str, list[dict[str, Any]]]
"""By variant what `finish_run` tells of each seed's run."""
_TOLD = (
    "blocks",
    "channels",
    "epochs",
    "value_epochs",
    "batch_size",
    "value_batch_size",
    "learning_rate",
    "lambda_",
)
"""Options that a report names."""


@dataclass(frozen=True)
class Comparison:
    """What is compared, and on what."""

    preset: Preset
    """nets: lite, dense, HalfKP, K+P and residual ones; squeeze: with and without squeeze-and-excitation; auxiliary:
    targets beside policy and value; draw: a draw head."""
    data: tuple[Path, ...] = (SAMPLE / "teacher_sample.hcpe3",)
    """Games to learn from (hcpe3), or single positions (hcpe)."""
    valid: tuple[Path, ...] = (SAMPLE / "valid_sample.hcpe3",)
    """Other games to judge on (hcpe3)."""
    output: Path = Path("out/compare")
    """Directory for tables, figures and runs."""
    positions: int | None = None
    """Positions to learn from, in whole games drawn from the data, of hcpe evenly over it; all games where not
    given."""
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
    value_batch_size: int = 8192
    """Positions a step of a value network."""
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
    yardstick: tuple[Path, ...] = ()
    """Held-out positions with the scores of long searches: d1-RMSE of value networks."""
    time_rounds: int = 5
    """Steps of each variant that its training time is the median of."""
    play: GameOptions = field(default_factory=GameOptions)
    """Games of the networks."""

    def check(self) -> None:
        """Raises OSError or ValueError in words for options that make no sense."""
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise ValueError("--seeds: name at least one, and none twice")
        check_numbers(self, "seeds", least=0, most=None)
        check_numbers(self, "positions", "valid_positions", "epochs", "value_epochs")
        check_numbers(self, "batch_size", "value_batch_size", "time_rounds")
        check_numbers(self, "threads", most=MOST_AT_ONCE)
        if both := learnt_and_judged(record_files(self.data), record_files(self.valid)):
            raise ValueError(f"{both}: both to learn from and to judge on (or a copy); a judgement would say nothing")
        own = [(self, name) for name in ("value_epochs", "value_batch_size", "yardstick")]
        for options, name in (*own, (self.play, "nodes")):
            if getattr(options, name) != getattr(type(options), name) and self.preset != "nets":
                flag = name.replace("_", "-")
                raise ValueError(f"--{flag}: is for value networks, which are in the preset nets alone")
        if self.yardstick:
            record_files(self.yardstick)
        self.play.check()

    def report(self) -> dict[str, Any]:
        """Trains what is not trained yet; everything that the table and the picture say."""
        data = self._chosen("train", self.data, self.positions)
        valid = self._chosen("valid", self.valid, self.valid_positions)
        check_games((valid,))
        variants = [one.with_options(data=(data,), valid=(valid,)) for one in self.variants()]
        results = self._train(variants)
        rows = self._measure(variants, results)
        summary = summarise_runs(results, {column.key: column.figure for column in self.columns()})
        return {
            "preset": self.preset,
            "seeds": list(self.seeds),
            "positions": self.positions,
            "data": data.name,
            "valid": valid.name,
            "digests": {"data": sha256_of(data), "valid": sha256_of(valid)},
            "nets": {
                net.relative_to(self.output).as_posix(): sha256_of(net)
                for variant in variants
                for seed in self.seeds
                for net in [network_path(str(self._run(variant, seed).options.output))]
            },
            "made_by": program() | libraries(),
            "valid_positions": next(iter(results.values()))[0]["figures"]["positions"],
            "options": {name: getattr(self, name) for name in _TOLD},
            "rows": [row | {"figures": summary[row["variant"]]} for row in rows],
        }

    def _chosen(self, role: str, files: tuple[Path, ...], positions: int | None) -> Path:
        suffix = "all" if positions is None else str(positions)
        return choose_positions(files, positions, self.output / f"{role}-{suffix}")

    def _run(self, variant: Variant, seed: int) -> Variant:
        return variant.seeded(seed, self.output / "runs")

    def _train(self, variants: Sequence[Variant]) -> Results:
        """What came of each variant's runs, a seed each."""
        results: Results = {variant.name: [] for variant in variants}
        for seed in self.seeds:  # all variants of a seed first: a comparison that was cut can be looked at
            for variant in variants:
                seeded = self._run(variant, seed)
                print(f"{variant.name}, seed {seed} ({seeded.options.output})", file=sys.stderr, flush=True)
                results[variant.name].append(finish_run(seeded))
        for variant in variants if self.yardstick else ():
            for seed, result in zip(self.seeds, results[variant.name], strict=True):
                if isinstance(seeded := self._run(variant, seed), ValueVariant):
                    print(f"{variant.name}, seed {seed}: d1-RMSE", file=sys.stderr, flush=True)
                    result["figures"] |= seeded.distance(self.yardstick)
        return results

    def _measure(self, variants: Sequence[Variant], results: Results) -> list[dict[str, Any]]:
        """A row for each variant: its games, what it costs, and of its runs what is told beside the table's figures."""
        played = {variant.name: self._games(self._run(variant, self.seeds[0])) for variant in variants}
        print("times of training steps", file=sys.stderr, flush=True)
        variants = [variant.as_trained(results[variant.name][0]["figures"]) for variant in variants]
        steps = measure_steps(variants, self.time_rounds)
        baseline = steps[variants[0].name]
        rows = []
        for variant in variants:
            runs, step = results[variant.name], steps[variant.name]
            first = runs[0]["figures"]
            print(f"{variant.name}: times of evaluation and search", file=sys.stderr, flush=True)
            rows.append(
                {
                    "variant": variant.name,
                    "parameters": runs[0]["parameters"],
                    "training_us": step,
                    "training_positions_per_s": 1e6 / step,
                    "training_time_ratio": step / baseline,
                    **self._run(variant, self.seeds[0]).cost(searched=self.preset == "nets"),
                    "log": [run["log"] for run in runs],
                    "calibration": [run["figures"].get("draw", {}).get("calibration") for run in runs],
                    "value_calibration": first["calibration"],
                    **played[variant.name],
                    "bands": first["by_ply"] + first["by_score"],
                    "targets": [name for name in TARGET_BITS if name in first],
                }
            )
        return rows

    def _games(self, variant: Variant) -> dict[str, Any]:
        """{games, timed_games} of a network; None where there are none."""
        played: dict[str, Any] = {"games": None, "timed_games": None}
        if not self.play.games:
            return played
        print(f"{variant.name}: {self.play.games} games", file=sys.stderr, flush=True)
        net, place = variant.playable(), self.output / "games"
        kind, play = ("nodes", play_nodes) if isinstance(variant, ValueVariant) else ("playouts", play_playouts)
        played["games"] = play(net, self.play, place / self.play.folder(variant.name, kind))
        if self.play.byoyomi:
            played["timed_games"] = play_clock(net, self.play, place / self.play.folder(variant.name, "clock"))
        return played

    def variants(self) -> list[Variant]:
        """The variants of the preset, the one that others are measured against first."""
        plain = self._resnet("")
        if self.preset == "nets":
            value = [self._lite(), self._dense(), self._half_kp(), self._k_p()]
            return [*value, plain, self._resnet("-se8", squeeze=8)]
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
            return (VALUE_ACCURACY, VALUE_LOSS, BRIER, CALIBRATION, *([D1] if self.yardstick else []))
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
        return self._value("lite-16-4-32", LiteConfig())

    def _dense(self) -> ValueVariant:
        return self._value("dense-64-16", DenseConfig(64, (16,), 2), learning_rate=0.02)

    def _half_kp(self) -> ValueVariant:
        return self._value("half-kp-256x2-32-32", HalfKpConfig(), learning_rate=0.001)

    def _k_p(self) -> ValueVariant:
        return self._value("k-p-256x2-32-32", KpConfig(), learning_rate=KpConfig.learning_rate)

    def _value(self, name: str, network: NetworkConfig, **optimiser: Any) -> ValueVariant:
        options = ValueTraining(
            data=(),
            network=network,
            optimiser=OptimiserConfig(**optimiser),
            epochs=self.value_epochs,
            batch_size=self.value_batch_size,
            lambda_=self.lambda_,
            threads=self.threads,
        )
        return ValueVariant(name, options)


def compare(comparison: Comparison) -> dict[str, Any]:
    """Train and measure what is not done yet, write table, figures and picture; the figures.

    Raises OSError or ValueError in words, also where another run is at work in its directory; KeyboardInterrupt if it
    was stopped.
    """
    comparison.check()
    torch.set_num_threads(comparison.threads)
    with ends_as_interrupts(), FolderLock(comparison.output):
        report = comparison.report()
        place = comparison.output / comparison.preset
        write_atomically(place.with_suffix(".json"), json.dumps(report, indent=1).encode())
        write_atomically(place.with_suffix(".md"), (as_markdown(report) + "\n" + bands_as_markdown(report)).encode())
        draw_comparison(report, place.with_suffix(".png"))
    return report
