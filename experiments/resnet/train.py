"""Training of policy-value networks."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch.nn import functional

from experiments.resnet.heads import HeadFigures
from experiments.resnet.network import TARGET_BITS, PolicyValueNetwork, ResnetConfig, load_resnet, save_resnet
from experiments.resnet.policy_target import policy_target
from experiments.resnet.testing import PolicyMetrics, Precision, module_predictor, plane_tensors, uses_bfloat16
from lite.records.batch import Batch
from lite.records.formats import NO_GAME
from lite.records.reader import Reader
from lite.training.checkpoint import json_safe
from lite.training.metrics import log_losses
from lite.training.network_origin import NetworkOrigin
from lite.training.options import TrainingOptions
from lite.training.run import Outcome, Run
from lite.training.targets import drawn_games
from lite.training.task import HeldOutFigures, Task
from lite.workers import ALONE, Workers
from search.puct.planes import PLANES1
from search.rules.shogi import MIRRORED_SQUARE, SQUARES
from search.system.options import OptionError

KIND = "resnet"
"""Name of this kind of training."""


@dataclass(frozen=True)
class ResnetTraining(TrainingOptions):
    """Options of the training of a residual policy-value network."""

    output: Path = Path("runs/resnet")
    """Folder of the run."""
    network: ResnetConfig = field(default_factory=ResnetConfig)
    epochs: int = 4
    """Number of times that every position is seen."""
    batch_size: int = 256
    """Positions per step."""
    auxiliary_weight: float = 0.1
    """Weight of the mean loss of the auxiliary targets; policy, value and draw have weight 1."""
    positive_weight_cap: float = 100.0
    """Largest weight of an auxiliary target's positives, which is otherwise the inverse of their share."""
    precision: Precision = "auto"
    """Numbers of the computation: float32, or bfloat16 for the trunk with float32 losses; auto means bfloat16 on GPUs
    and on CPUs with instructions for it."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Device that trains; auto means a GPU if there is one."""

    def check(self) -> None:
        super().check()
        self.network.check()
        if self.device == "cuda" and not torch.cuda.is_available():
            raise OptionError(
                "`device` cuda: PyTorch finds no GPU here; leave the option out, or install its CUDA build", "device"
            )
        for name, least in (("auxiliary_weight", 0), ("positive_weight_cap", 1)):
            if not least <= getattr(self, name) < float("inf"):
                raise OptionError(f"`{name}` {getattr(self, name)}: must be a number of at least {least}", name)

    @property
    def kind(self) -> str:
        return KIND

    @property
    def suited_rate(self) -> float | None:
        return self.network.learning_rate

    def chosen_device(self) -> str:
        return ("cuda" if torch.cuda.is_available() else "cpu") if self.device == "auto" else self.device


def count_positives(files: tuple[Path, ...], targets: tuple[str, ...]) -> tuple[int, dict[str, int]]:
    """Return the number of positions of games, and the number of positives of each auxiliary target."""
    positions, positives = 0, dict.fromkeys(targets, 0)
    for batch in Reader(files, 8192, shuffle=False, mark_entered="entered" in targets):
        played = batch.kind_of_result & NO_GAME == 0
        positions += int(played.sum())
        for name in targets:
            positives[name] += int((played & (batch.kind_of_result & TARGET_BITS[name] != 0)).sum())
    return positions, positives


def positive_weights(positions: int, positives: Mapping[str, int], cap: float) -> dict[str, float]:
    """Return the weight of each target's positives: positions / positives, at most `cap`.

    Targets without positives are omitted.
    """
    return {name: min(positions / count, cap) for name, count in positives.items() if count}


def train_resnet(options: ResnetTraining) -> Outcome:
    """Train a policy-value network. Raises OSError or ValueError for options and files that cannot be used."""
    options.check()
    return Run(options, ResnetTask).train()


@dataclass(frozen=True)
class PolicyFigures(HeldOutFigures):
    """Figures of a policy-value network on held-out records."""

    heads: HeadFigures
    """Figures of the heads besides the value; `parts` has them as JSON."""


class ResnetTask(Task):
    """The training of a policy-value network."""

    options: ResnetTraining
    loss_version = 2  # version 1 had only the losses of moves and results

    def __init__(self, options: ResnetTraining, workers: Workers = ALONE) -> None:
        self.device = options.chosen_device()
        self.bfloat16 = uses_bfloat16(options.precision, self.device)
        super().__init__(options, workers)

    def untrained(self) -> PolicyValueNetwork:
        return PolicyValueNetwork(self.options.network)

    def position_bytes(self, model: PolicyValueNetwork) -> int:
        # The planes, and of each convolution its sums and its normalised sums, which the gradient needs.
        config = model.network_config
        return (2 if self.bfloat16 else 4) * SQUARES * (PLANES1 + 4 * config.blocks * config.channels)

    def memory(self) -> int | None:
        if self.device == "cpu":
            return super().memory()
        return int(torch.cuda.get_device_properties(self.device).total_memory)

    @cached_property
    def target_weights(self) -> dict[str, float]:
        """Weight of the positives of each auxiliary target; targets without positives in the data are left out."""
        wanted = self.options.network.auxiliary
        if not wanted:
            return {}
        positions, positives = count_positives(self.options.data, wanted)
        weights = positive_weights(positions, positives, self.options.positive_weight_cap)
        for name in set(wanted) - set(weights):
            print(f"warning: no positions with {name} in the data: left out of the targets", file=sys.stderr)
        return {name: weights[name] for name in wanted if name in weights}

    @cached_property
    def positive_weight(self) -> torch.Tensor:
        """`target_weights` in the order of the outputs."""
        return torch.tensor(list(self.target_weights.values()), device=self.device)

    def build(self) -> PolicyValueNetwork:
        model = PolicyValueNetwork(
            replace(
                self.options.network,
                auxiliary=tuple(name for name in self.options.network.auxiliary if name in self.target_weights),
            )
        )
        return model.to(self.device, memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]

    def reader(self, files: tuple[Path, ...], shuffle: bool, **filters: Any) -> Reader:
        entered = "entered" in self.options.network.auxiliary
        return super().reader(files, shuffle, mark_entered=entered, read_visits=True, **filters)

    def losses(self, model: PolicyValueNetwork, batch: Batch, target: np.ndarray, step: int) -> dict[str, torch.Tensor]:
        pieces, policy = batch.pieces, policy_target(batch)
        if self.options.mirror:
            reverse = np.random.default_rng((self.options.seed, step)).random(len(pieces)) < 0.5
            pieces = np.where(reverse[:, None], pieces[:, MIRRORED_SQUARE], pieces)
            policy = policy.mirrored(reverse)
        x1, x2 = plane_tensors(pieces, batch.hands, batch.in_check, self.bfloat16, self.device)
        with torch.autocast(self.device, torch.bfloat16, enabled=self.bfloat16):
            outputs = model.heads(x1, x2)
        logs = functional.log_softmax(outputs.policy.float(), 1)
        chosen = logs[self._tensor(policy.position), self._tensor(policy.label)] * self._tensor(policy.share)
        losses = {
            "policy_loss": -chosen.sum() / max(policy.known, 1),
            "value_loss": functional.binary_cross_entropy_with_logits(outputs.value.float(), self._tensor(target)),
        }
        total = losses["policy_loss"] + losses["value_loss"]
        if outputs.draw is not None:
            drawn = self._tensor(drawn_games(batch)[0])
            losses["draw_loss"] = functional.binary_cross_entropy_with_logits(
                outputs.draw.float(), drawn, self._of_games(batch)
            )
            total = total + losses["draw_loss"]
        if outputs.auxiliary is not None:
            bits = np.array([TARGET_BITS[name] for name in model.network_config.auxiliary], np.uint8)
            happened = self._tensor(((batch.kind_of_result[:, None] & bits) != 0).astype(np.float32))
            losses["auxiliary_loss"] = functional.binary_cross_entropy_with_logits(
                outputs.auxiliary.float(), happened, self._of_games(batch)[:, None], pos_weight=self.positive_weight
            )
            total = total + self.options.auxiliary_weight * losses["auxiliary_loss"]
        return {"loss": total} | losses

    def _of_games(self, batch: Batch) -> torch.Tensor:
        """f4 (B,): 1 for positions that had a game, which alone says how it ended."""
        return self._tensor(drawn_games(batch)[1]).float()

    def _tensor(self, array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device)

    def test(self, model: PolicyValueNetwork, batches: Iterable[tuple[Batch, np.ndarray]]) -> HeldOutFigures:
        predict = module_predictor(model, "bfloat16" if self.bfloat16 else "float32")
        metrics = PolicyMetrics(model.network_config.auxiliary)
        value_losses: list[np.ndarray] = []
        policy_loss, known = 0.0, 0
        for batch, target in batches:
            found, policy = predict(batch), policy_target(batch)
            metrics.add(found, batch)
            logs = functional.log_softmax(torch.from_numpy(found.policy), 1).numpy()
            policy_loss -= float((logs[policy.position, policy.label] * policy.share).sum(dtype=np.float64))
            known += policy.known
            value_losses.append(log_losses(found.value, target))
        heads = metrics.heads()
        # Auxiliary targets help the others to learn, and are no aim themselves.
        loss = policy_loss / max(known, 1) + float(np.concatenate(value_losses).mean())
        if heads.draw is not None:
            loss += heads.draw.log_loss
        return PolicyFigures(loss, metrics.value_report(), asdict(heads), heads)

    def summary(self, figures: HeldOutFigures) -> str:
        assert isinstance(figures, PolicyFigures)
        report, heads = figures.report, figures.heads
        words = [f"valid loss {figures.loss:.4f}"]
        for head, accuracy, loss in (
            ("policy", heads.policy_accuracy, heads.policy_loss),
            ("value", report.accuracy, report.log_loss),
        ):
            if loss is not None:
                words.append(f"{head} loss {loss:.4f}")
            if accuracy is not None:
                words.append(f"{head} accuracy {100 * accuracy:.2f} %")
        return "  ".join(words)

    def load_network(self, path: Path) -> PolicyValueNetwork:
        return load_resnet(path)[0]

    def save_network(self, path: Path, model: Any, origin: NetworkOrigin) -> None:
        save_resnet(path, model, json_safe(asdict(origin)))
