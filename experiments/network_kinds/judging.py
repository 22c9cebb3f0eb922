"""Test of a network of any kind on held-out games."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from experiments.network_kinds.kind import kind_of
from lite.training.metrics import CalibrationBin, Report
from lite.typed import typed
from search.system.bounds import MOST_AT_ONCE, check_number
from search.system.options import OptionError
from search.system.paths import PathLike, as_paths

Precision = Literal["auto", "float32", "bfloat16"]
RARE_HEADS = ("draw", "sennichite", "declaration", "move_limit", "entered")
"""Heads of policy-value networks that predict rare events."""


@dataclass(frozen=True)
class RareHead:
    """Figures of a head that predicts a rare event, beside those of always predicting the base rate."""

    positions: int
    """Number of positions."""
    positives: int
    """Number of positions where the event happened."""
    base_rate: float
    """Share of positions where the event happened."""
    accuracy: float
    """Share of correct predictions with a threshold of one half."""
    base_accuracy: float
    """Accuracy of always predicting the more frequent outcome."""
    brier: float
    """Mean squared error of the predicted probability."""
    base_brier: float
    """Brier score of always predicting the base rate."""
    log_loss: float
    """Mean binary cross-entropy, in nats."""
    base_log_loss: float
    """Log loss of always predicting the base rate."""
    precision: float | None
    """Share of predicted events that happened; None if none is predicted."""
    recall: float | None
    """Share of events that are predicted; None without events."""
    precision_at_positives: float | None
    """Precision among the likeliest positions, as many as there are events; None without events."""
    average_precision: float | None
    """Mean precision over the events, likeliest first; None without events."""
    calibration: tuple[CalibrationBin, ...]
    """Groups of positions, from the least likely ones to the likeliest hundredth."""


@dataclass(frozen=True)
class JudgeReport(Report):
    """Figures of a network on held-out games; None where no position has the figure."""

    net: str
    """The network."""
    data: tuple[str, ...]
    """The record files."""
    records_read: int
    """Number of records read."""
    refused: dict[str, int]
    """Number of refused records by reason."""
    first_refused: tuple[str, ...]
    """The first refused records, with file, place and reason."""
    policy_accuracy: float | None = None
    """Share of known moves that the policy holds likeliest; policy-value networks only."""
    policy_loss: float | None = None
    """Mean cross-entropy of the known moves, in nats; policy-value networks only."""
    draw: RareHead | None = None
    """Figures of the draw head; networks with that head only."""
    sennichite: RareHead | None = None
    """Figures of the head for sennichite; networks with that head only."""
    declaration: RareHead | None = None
    """Figures of the head for declarations; networks with that head only."""
    move_limit: RareHead | None = None
    """Figures of the head for games that reach the move limit; networks with that head only."""
    entered: RareHead | None = None
    """Figures of the head for entering kings; networks with that head only."""

    def as_json(self) -> dict[str, Any]:
        """Return the fields, without those of heads that the network does not have."""
        heads = ("policy_accuracy", "policy_loss", *RARE_HEADS)
        return {name: value for name, value in asdict(self).items() if value is not None or name not in heads}


def judge(
    net: PathLike,
    data: PathLike | Sequence[PathLike],
    positions: int | None = None,
    batch_size: int | None = None,
    precision: Precision = "float32",
    threads: int = 1,
) -> JudgeReport:
    """Measure how well a network of any kind predicts the results of held-out games.

    net: path, shipped name, or folder of a training run. data: hcpe, hcpe3 and psv files. positions: number of
    positions from the start of the data; None means all. batch_size: positions at a time; None means 8192 for a value
    network and 512 for a policy-value network. precision: numbers that a policy-value network computes with. threads:
    cores to use. Raises OSError, OptionError that names the field, or ValueError.
    """
    network_path, files = os.fspath(net), as_paths(data)
    if not files:
        raise OptionError("`data`: no file is named; name at least one hcpe, hcpe3 or psv file", "data")
    check_number("threads", threads, most=MOST_AT_ONCE)
    check_number("batch_size", batch_size)
    check_number("positions", positions)
    kind = kind_of(network_path)
    if precision != "float32" and not kind.has_policy:
        raise OptionError(
            f"`precision` {precision}: is for policy-value networks, and {network_path} is {kind.value}", "precision"
        )
    import torch

    torch.set_num_threads(threads)
    if kind.has_policy:
        from experiments.resnet.judge import judge_resnet

        found = judge_resnet(network_path, files, batch_size or 512, positions, precision)
    else:
        from lite.training.testing import judge_net

        found = judge_net(network_path, files, batch_size or 8192, positions)
    parts: dict[str, Any] = {
        name: typed(RareHead, value, f"{network_path}: {name}") if name in RARE_HEADS else value
        for name, value in found.parts.items()
    }
    return JudgeReport(
        **{one.name: getattr(found.report, one.name) for one in fields(found.report)},
        net=network_path,
        data=found.data,
        records_read=found.refusals.read,
        refused=dict(found.refusals.reasons.most_common()),
        first_refused=tuple(found.refusals.named),
        **parts,
    )
