"""`liteshogi test`: losses, accuracy and calibration of a network on held-out games."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from experiments.jobs.progress import CountedProgress
from experiments.network_kinds.kind import Kind, UnplayableNetwork, kind_of
from experiments.network_kinds.testing import NetworkReport, Precision, measure_network
from experiments.resnet.heads import RARE_HEADS, RareHead
from lite.amounts import amount
from lite.records.file import Refusals
from lite.training.metrics import Report, percent
from lite.training.testing import leakage_warning
from liteshogi.commands.arguments import Json, Net
from liteshogi.json_output import json_text

if TYPE_CHECKING:
    from experiments.labels.yardstick import YardstickFigures


@dataclass(frozen=True)
class Command:
    """Measure log loss, accuracy and calibration on held-out games."""

    net: Net
    """Network of any kind: trained (a file or the folder of its run), folded, ONNX, nn.bin, or the name of a shipped
    one, such as `default`."""
    data: tyro.conf.Positional[tuple[Path, ...]]
    """Held-out records: hcpe, hcpe3, psv and pack files or folders of them, in any mixture."""
    positions: int | None = None
    """Number of positions from the start of the data; None means all."""
    batch_size: int | None = None
    """Positions evaluated at a time; None means 8192 for a value network and 512 for a policy-value network."""
    precision: Precision = "float32"
    """Numbers that a policy-value network computes with. bfloat16 is faster on CPUs that have it, and changes the third
    digit of a logit; auto means bfloat16 on GPUs and on CPUs with instructions for it."""
    threads: int = 1
    """Number of cores to use."""
    yardstick: tuple[Path, ...] = ()
    """Records as `liteshogi yardstick` makes them, with the scores of long searches or with results. On scores d1-RMSE
    is measured, too: the error of the win rate after one ply and quiescence against those searches. On results the log
    loss and the accuracy of that win rate are measured. A trained network is folded for it, with the default
    options."""
    json: Json = False

    def run(self) -> None:
        measured = measure(self.net, self.yardstick) if self.yardstick else None
        with CountedProgress("positions tested") as watch:
            report = measure_network(
                self.net, self.data, self.positions, self.batch_size, self.precision, self.threads, watch
            )
        for data, name in ((self.data, "held-out positions"), (self.yardstick, "yardstick's positions")):
            with CountedProgress(f"positions of the training compared with {name}") as watch:
                warning = leakage_warning(self.net, data, held_out=name, watch=watch) if data else ""
            if warning:
                print(warning, file=sys.stderr)
        if self.json:
            print(json_text(report, *([] if measured is None else measured.figures())))
            return
        print(as_text(report, measured))
        for line in left_out(report, measured):
            print(line, file=sys.stderr)


def measure(network_path: str, yardstick: Sequence[Path]) -> YardstickFigures:
    """Measure a folded network on a yardstick, or a trained one, which is folded into a temporary file for it."""
    from experiments.labels.yardstick import measure_yardstick

    kind = kind_of(network_path)
    if kind is Kind.FOLDED:
        with CountedProgress("positions of the yardstick searched") as watch:
            return measure_yardstick(network_path, yardstick, watch)
    if kind is not Kind.VALUE:
        raise UnplayableNetwork(network_path, kind)
    from export.fold import Folding, fold_file

    with tempfile.TemporaryDirectory() as folder:
        folded = Path(folder) / "network.safetensors"
        fold_file(Folding(Path(network_path), folded))
        return measure(str(folded), yardstick)


def as_text(report: Report, measured: YardstickFigures | None = None) -> str:
    """Return the figures as text, with those of policy and further heads if the report has them."""
    lines = []
    if isinstance(report, NetworkReport) and report.policy_accuracy is not None:
        lines.append(f"policy accuracy       {_share(report.policy_accuracy)}, loss {report.policy_loss:.4f}")
    if measured is not None and (d1 := measured.d1) is not None:
        lines.append(
            f"d1-RMSE               {d1.rmse:.4f} +- {d1.error:.4f} "
            f"({_over(None)}; at {d1.scale} cp per logit, {d1.positions:,} positions)"
        )
    if measured is not None and (results := measured.results) is not None:
        of = "" if results.result_games is None else f" of {amount(results.result_games, 'game')}"
        lines.append(
            f"results after 1 ply   log loss {_figure(results.result_log_loss, results.result_log_loss_error)} "
            f"({_over(results.result_games)}; at {results.result_scale} cp per logit, "
            f"{results.result_positions:,} positions{of})"
        )
        accuracy = _share(results.result_accuracy, results.result_accuracy_error)
        lines.append(f"                      accuracy {accuracy} (without draws)")
    heads = {name: getattr(report, name, None) for name in RARE_HEADS}
    lines += [rare_as_text(name, head) for name, head in heads.items() if head is not None]
    lines += [
        f"positions             {report.positions:,} ({report.draws:,} drawn{_errors(report)})",
        f"log loss              {_figure(report.log_loss, report.log_loss_error)}",
        f"accuracy              {_share(report.accuracy, report.accuracy_error)} (without draws)",
        f"accuracy              {_share(report.accuracy_draw_as_win, report.accuracy_draw_as_win_error)} "
        "(a draw counts as a win)",
        f"accuracy of material  {_share(report.material_accuracy, report.material_accuracy_error)}",
        f"Brier score           {_figure(report.brier, report.brier_error)}",
        f"calibration error     {report.calibration_error:.4f}",
        "predicted  actual  positions",
    ]
    lines += [f"  {one.predicted:7.3f} {one.actual:7.3f} {one.positions:10,}" for one in report.calibration]
    lines += [f"band                     positions  {'log loss':16}  accuracy"]
    lines += [
        f"  {band.band:22} {band.positions:9,}  {_figure(band.log_loss, band.log_loss_error):16}  "
        f"{_share(band.accuracy, band.accuracy_error)}"
        for band in report.by_ply + report.by_score
    ]
    return "\n".join(lines)


def left_out(report: NetworkReport, measured: YardstickFigures | None = None) -> Iterator[str]:
    """Yield one line about the refused records of the data and one about those of the yardstick, if there are any."""
    if report.refused:
        yield f"left out: {Refusals(report.records_read, Counter(report.refused), list(report.first_refused))}"
    if measured is not None and measured.refusals.refused:
        yield f"left out: {measured.refusals}"


def rare_as_text(name: str, head: RareHead) -> str:
    """Return the figures of one head in one line."""
    return (
        f"{name}: {_share(head.base_rate)} of positions; Brier score {head.brier:.5f} "
        f"(of the base rate {head.base_brier:.5f}), accuracy {_share(head.accuracy)} "
        f"(base {_share(head.base_accuracy)}), precision {_share(head.precision)}, "
        f"recall {_share(head.recall)}, average precision {_share(head.average_precision)}"
    )


def _over(games: int | None) -> str:
    """Return what an error of a yardstick's figure is."""
    return "standard error, as if all positions were independent" if games is None else "standard error over the games"


def _errors(report: Report) -> str:
    """Return the number of games, and what the errors beside the figures are; empty where there are none."""
    return "" if report.games is None else f", of {amount(report.games, 'game')}; +- is a standard error over the games"


def _share(value: float | None, error: float | None = None) -> str:
    return percent(value, error) or "-"


def _figure(value: float | None, error: float | None) -> str:
    return "-" if value is None else f"{value:.4f}" + ("" if error is None else f" +- {error:.4f}")
