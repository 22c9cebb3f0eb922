"""The state of a training run between steps, as its file keeps it, and whether given options can resume it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch

from lite.datasets.provenance import sha256_of
from lite.records.place import ReaderPlace
from lite.training.checkpoint import json_safe, load_state, named_errors, save_state
from lite.training.folder import network_file
from lite.training.learnt_data import digests_behind_network
from lite.training.log import EpochTest
from lite.training.options import TrainingOptions, difference, rated
from lite.typed import typed

AnyOptions = TypeVar("AnyOptions", bound=TrainingOptions)


@dataclass(frozen=True)
class InitialNetwork:
    """The network that a run started from."""

    file: str
    sha256: str
    data_digests: tuple[str, ...] = ()
    """Digests of the data behind it, see `NetworkOrigin.data_digests`."""

    @classmethod
    def at(cls, path: Path) -> InitialNetwork:
        """Return the initial network of a file. Raises OSError."""
        return cls(path.name, sha256_of(path), tuple(sorted(digests_behind_network(path))))


@dataclass(frozen=True)
class Extension:
    """A step at which a run was given more epochs."""

    step: int
    epochs: int
    """Epochs of the run until then."""


@dataclass(frozen=True)
class BestEpoch:
    """The epoch whose network had the lowest held-out loss."""

    epoch: int
    step: int
    loss: float
    loss_version: int
    """See `Task.loss_version`."""


@dataclass(frozen=True)
class RunState:
    """The state of a run, apart from its tensors."""

    options: Mapping[str, Any]
    """`TrainingOptions.fixed_options` of the run."""
    step: int
    """Steps taken."""
    steps_per_epoch: int
    learnt: int
    """Training positions so far, each counted as often as it was used."""
    cp_per_logit: float
    """Scale of the scores."""
    average_count: int
    """Number of weights in the average."""
    reader: ReaderPlace
    """Place in the data."""
    init_from: InitialNetwork | None
    extended: tuple[Extension, ...]
    tested: EpochTest | None
    """Last test on the held-out games."""
    best: BestEpoch | None
    held_out: tuple[str, ...]
    """Digests of the held-out files that `best` is chosen by."""


@dataclass(frozen=True)
class SavedRun:
    """A run as its file keeps it."""

    path: Path
    tensors: dict[str, dict[str, torch.Tensor]]
    state: RunState

    @classmethod
    def read(cls, path: Path) -> SavedRun:
        """Return the run in a state file. Raises OSError, or ValueError that names the file."""
        tensors, data = load_state(path)
        with named_errors(path, CANNOT_RESUME):
            state = typed(RunState, data, "the state")
        return cls(path, tensors, state)

    @contextmanager
    def named_errors(self) -> Iterator[None]:
        """Within the block, errors that wrong contents lead to are ValueErrors that name the file."""
        with named_errors(self.path, CANNOT_RESUME):
            yield

    def resumed_options(self, options: AnyOptions) -> AnyOptions:
        """Return the options with the learning rate of this run, where they leave it open."""
        with self.named_errors():
            rate = self.state.options["optimiser"]["learning_rate"]
            options = options.with_rate(None if rate is None else float(rate))
            options.optimiser.check()
        return options

    def extended_by(self, options: TrainingOptions) -> tuple[Extension, ...]:
        """Return the extensions of this run, with a last one if the options have more epochs.

        Raises ValueError unless the run was begun with these options, or with fewer epochs.
        """
        extended = self.state.extended
        with self.named_errors():
            before = rated(self.state.options)
            for name, value in rated(options.fixed_options()).items():
                had = before.get(name)  # None of an option that the version that began the run did not have
                if name == "epochs" and had < value:
                    extended = (*extended, Extension(self.state.step, int(before[name])))
                elif had != value and not (name == "init_from" and self._began_from(options.init_from)):
                    how = "extended to" if name == "epochs" and self.state.extended else "begun with"
                    raise ValueError(f"it was {how} {difference(name, had, value)}; resume it with that")
            if not 0 <= self.state.step <= self.state.steps_per_epoch * options.epochs:
                raise ValueError(f"its step {self.state.step} lies behind its end")
        return extended

    def _began_from(self, path: Path | None) -> bool:
        """Return whether a file, wherever it may have been moved, is the network that this run started from."""
        initial = self.state.init_from
        return path is not None and initial is not None and initial.sha256 == sha256_of(network_file(path))


CANNOT_RESUME = "this run cannot be resumed"


def write_state(path: Path, tensors: dict[str, dict[str, torch.Tensor]], state: RunState) -> None:
    """Write what `SavedRun.read` reads, atomically."""
    save_state(path, tensors, json_safe(asdict(state)))
