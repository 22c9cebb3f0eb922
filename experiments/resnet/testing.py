"""Accuracy, losses and calibration of policy-value networks on held-out games."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch

from experiments.resnet.heads import HeadFigures, RareHead, measure_rare
from experiments.resnet.network import TARGET_BITS, PolicyValueNetwork, load_resnet
from lite.progress_line import Watch
from lite.records.batch import Batch
from lite.records.reader import Reader, first_positions
from lite.training.metrics import Metrics, Report, no_games, require_finite
from lite.training.targets import drawn_games
from lite.training.testing import NetworkTest
from search.puct.planes import (
    NO_LABEL,
    PLANES1,
    PLANES2,
    make_planes,
    move_labels,
    write_board_planes,
    write_held_features,
)
from search.rules.shogi import SQUARES

Precision = Literal["auto", "float32", "bfloat16"]


@dataclass(frozen=True)
class Predictions:
    """Logits of a network for a batch, float32 arrays."""

    policy: np.ndarray
    """Logits of move labels, (B, 2187)."""
    value: np.ndarray
    """Logit of a win for the mover, (B,)."""
    draw: np.ndarray | None = None
    """Logit of a draw, (B,)."""
    auxiliary: np.ndarray | None = None
    """Logits of auxiliary targets, (B, targets)."""


Predictor = Callable[[Batch], Predictions]


def uses_bfloat16(precision: Precision, device: str) -> bool:
    """Return whether to compute in bfloat16; "auto" means on GPUs and on CPUs with instructions for it."""
    if precision != "auto":
        return precision == "bfloat16"
    if device != "cpu":
        return True
    from search.compiling.target import cpu_flags

    return not cpu_flags().isdisjoint(("avx512bf16", "amx-bf16"))


def plane_tensors(
    pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray, bfloat16: bool, device: str = "cpu"
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return input1 (B, 62, 9, 9), channels last, and input2 (B, 57, 1, 1) of a batch, float32 or bfloat16."""
    out1: np.ndarray = np.empty(len(pieces) * PLANES1 * SQUARES, np.uint16 if bfloat16 else np.float32)
    features = np.empty((len(pieces), PLANES2), np.float32)
    write_board_planes(np.ascontiguousarray(pieces), out1)
    write_held_features(hands, in_check, features)
    x1 = torch.from_numpy(out1.view(np.int16)).view(torch.bfloat16) if bfloat16 else torch.from_numpy(out1)
    x1 = x1.view(-1, PLANES1, 9, 9).to(device).contiguous(memory_format=torch.channels_last)
    x2 = torch.from_numpy(features).view(-1, PLANES2, 1, 1).to(device, x1.dtype)
    return x1, x2


def load_predictor(network_path: Path | str, precision: Precision = "float32") -> Predictor:
    """Return a function from batches to logits, for a trained network, its run's folder or an ONNX file."""
    if Path(network_path).suffix.lower() == ".onnx":
        from search.puct.onnx_network import OnnxNetwork

        session = OnnxNetwork(Path(network_path))

        def by_onnx(batch: Batch) -> Predictions:
            policy, win_rate, draw = session(*make_planes(batch.pieces, batch.hands, batch.in_check))
            return Predictions(policy, _logit(win_rate), None if draw is None else _logit(draw))

        return by_onnx
    return module_predictor(load_resnet(network_path)[0], precision)


def module_predictor(model: PolicyValueNetwork, precision: Precision = "float32") -> Predictor:
    """Return a function from batches to logits for a module in evaluation mode, on the module's device."""
    device = next(model.parameters()).device.type
    bfloat16 = uses_bfloat16(precision, device)

    def predict(batch: Batch) -> Predictions:
        x1, x2 = plane_tensors(batch.pieces, batch.hands, batch.in_check, bfloat16, device)
        with torch.no_grad(), torch.autocast(device, torch.bfloat16, enabled=bfloat16):
            outputs = model.heads(x1, x2)
        return Predictions(*(None if part is None else part.float().cpu().numpy() for part in outputs))  # type: ignore[arg-type]

    return predict


def _logit(probability: np.ndarray) -> np.ndarray:
    inside = np.clip(probability.astype(np.float64), 1e-7, 1 - 1e-7)
    return np.asarray(np.log(inside / (1 - inside)), np.float32)


class PolicyMetrics:
    """Collects predictions batch by batch; `report` returns the measures of value and policy."""

    def __init__(self, auxiliary: tuple[str, ...] = ()) -> None:
        self._value = Metrics()
        self._auxiliary = auxiliary
        self._hits = self._known = 0
        self._policy_loss = 0.0
        self._rare: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}

    def add(self, found: Predictions, batch: Batch) -> None:
        """Add a batch and a network's logits for it."""
        self._value.add(found.value, batch)
        labels = move_labels(batch.move, batch.turn)
        known = labels != NO_LABEL
        logits, labels = found.policy[known].astype(np.float64), labels[known]
        self._known += len(labels)
        self._hits += int((logits.argmax(1) == labels).sum())
        highest = logits.max(1, keepdims=True, initial=0)
        totals = np.log(np.exp(logits - highest).sum(1)) + highest[:, 0]
        self._policy_loss += float((totals - logits[np.arange(len(labels)), labels]).sum())
        drawn, played = drawn_games(batch)
        if found.draw is not None:
            self._rare.setdefault("draw", []).append((found.draw[played], drawn[played] > 0))
        if found.auxiliary is not None:
            for name, column in zip(self._auxiliary, found.auxiliary.T, strict=True):
                happened = (batch.kind_of_result & TARGET_BITS[name]) != 0
                self._rare.setdefault(name, []).append((column[played], happened[played]))

    def heads(self) -> HeadFigures:
        """Return the figures of policy, draw and auxiliary heads."""
        rare: dict[str, RareHead] = {}
        for name, parts in self._rare.items():
            logits, happened = (np.concatenate(column) for column in zip(*parts, strict=True))
            if len(logits):  # positions without a game have no result
                rare[name] = measure_rare(logits, happened)
        return HeadFigures(
            self._hits / self._known if self._known else None,
            self._policy_loss / self._known if self._known else None,
            **rare,
        )

    def value_report(self) -> Report:
        """Return the figures of the value head."""
        return self._value.report()


@dataclass(frozen=True)
class PolicyTest:
    """The test of a policy-value network on held-out records."""

    value: NetworkTest
    """Test of the value head."""
    heads: HeadFigures
    """Figures of the other heads."""


def measure_resnet(
    network_path: str,
    data: tuple[Path, ...],
    batch_size: int = 512,
    positions: int | None = None,
    precision: Precision = "float32",
    watch: Watch | None = None,
) -> PolicyTest:
    """Test a policy-value network on record files or their first `positions`.

    watch: takes the number of positions that are done, and of all, after each batch.
    Raises OSError, or ValueError for files that cannot be used and for records without games.
    """
    auxiliary: tuple[str, ...] = ()
    if Path(network_path).suffix.lower() != ".onnx":
        auxiliary = load_resnet(network_path)[0].network_config.auxiliary
    predictor = load_predictor(network_path, precision)
    metrics, done = PolicyMetrics(auxiliary), 0
    reader = Reader(data, batch_size, shuffle=False, mark_entered="entered" in auxiliary)
    for batch in first_positions(reader, positions):
        found = predictor(batch)
        for outputs in (found.policy, found.value, found.draw, found.auxiliary):
            if outputs is not None:
                require_finite(network_path, outputs, done)
        metrics.add(found, batch)
        done += len(batch)
        if watch is not None:
            watch(done, min(reader.positions, positions or reader.positions))
    report = metrics.value_report()
    if not report.positions:
        raise no_games(data)
    return PolicyTest(NetworkTest(network_path, tuple(map(str, data)), report, reader.refusals), metrics.heads())
