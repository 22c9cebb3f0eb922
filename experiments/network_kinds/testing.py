"""Test of a network of any kind on held-out games."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from experiments.network_kinds.kind import kind_of
from experiments.resnet.heads import RareHead
from lite.progress_line import Watch
from lite.training.metrics import Report
from search.system.bounds import MOST_AT_ONCE, check_number
from search.system.options import OptionError
from search.system.paths import PathLike, as_paths

Precision = Literal["auto", "float32", "bfloat16"]


@dataclass(frozen=True)
class NetworkReport(Report):
    """Figures of a network on held-out games; None where no position has the figure."""

    net: str
    """File, run folder or shipped name of the network that was measured."""
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
    """Figures of the draw output; networks with that output only."""
    sennichite: RareHead | None = None
    """Figures of the output for sennichite; networks with that output only."""
    declaration: RareHead | None = None
    """Figures of the output for declarations; networks with that output only."""
    move_limit: RareHead | None = None
    """Figures of the output for games that reach the move limit; networks with that output only."""
    entered: RareHead | None = None
    """Figures of the output for entering kings; networks with that output only."""


def measure_network(
    net: PathLike,
    data: PathLike | Sequence[PathLike],
    positions: int | None = None,
    batch_size: int | None = None,
    precision: Precision = "float32",
    threads: int = 1,
    watch: Watch | None = None,
) -> NetworkReport:
    """Measure how well a network of any kind predicts the results of held-out games.

    net: path, shipped name, or folder of a training run. data: hcpe, hcpe3, psv and pack files. positions: number of
    positions from the start of the data; None means all. batch_size: positions at a time; None means 8192 for a value
    network and 512 for a policy-value network. precision: numbers that a policy-value network computes with. threads:
    cores to use. watch: takes the number of positions that are done, and of all. Raises OSError, OptionError that names
    the field, or ValueError.
    """
    network_path, files = os.fspath(net), as_paths(data)
    if not files:
        raise OptionError("`data`: no file is named; name at least one hcpe, hcpe3, psv or pack file", "data")
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
        from experiments.resnet.testing import measure_resnet

        tested = measure_resnet(network_path, files, batch_size or 512, positions, precision, watch)
        found, heads = tested.value, vars(tested.heads)
    else:
        from lite.training.testing import measure_value_network

        found, heads = measure_value_network(network_path, files, batch_size or 8192, positions, watch), {}
    return NetworkReport(
        **vars(found.report), net=network_path, data=found.data, **vars(found.refusals.figures()), **heads
    )
