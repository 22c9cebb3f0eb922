"""The training of a network, as the network's file carries it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lite.run_folder import Provenance
from lite.training.state import Extension, InitialNetwork


@dataclass(frozen=True)
class NetworkOrigin:
    """Origin of a network: its training, data and versions."""

    kept: str
    """`last` or `best` of the epochs so far, or `epoch`."""
    epoch: float
    """Number of epochs that it was trained for."""
    options: Mapping[str, Any]
    """See `TrainingOptions.fixed_options`."""
    init_from: InitialNetwork | None
    """Network that the run started from."""
    extended: tuple[Extension, ...]
    """Steps at which the run was given more epochs."""
    data: tuple[str, ...]
    """Names of the record files."""
    data_digests: tuple[str, ...]
    """SHA-256 digests of all data behind the network: the record files and folders, those that these were made from,
    and those behind the networks that it started from or corrects."""
    descriptions: Mapping[str, Provenance]
    """Provenance of the data that this program has made, by their names."""
    step: int
    """Steps taken."""
    steps: int
    """Steps of the whole run."""
    cp_per_logit: float
    """Scale of the network's centipawns."""
    score_cp_per_logit: float
    """Scale of the scores that it has learnt."""
    valid: Mapping[str, Any]
    """Step, and figures on the held-out games; empty where the network was not tested."""
    versions: Mapping[str, str]
    """Versions of this program and PyTorch."""
