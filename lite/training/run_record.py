"""The contents of a training run's `run.json`: options, data and networks with their digests."""

from __future__ import annotations

from pathlib import Path

from lite.datasets.plan import source_of
from lite.datasets.provenance import sha256_of
from lite.run_folder import Net, RunPlan
from lite.training.folder import network_file
from lite.training.options import FREE_OPTIONS, TrainingOptions, ValueTraining
from lite.training.state import InitialNetwork
from search.evaluation.shipped import is_shipped


def plan_training(options: TrainingOptions, init_from: InitialNetwork | None) -> RunPlan:
    """Return everything that decides the results of a run. Raises OSError, ValueError.

    Held-out records and the number of epochs may change from call to call, and so may the places of all files.
    """
    data = [source_of(path, "data") for path in options.data]
    held_out = [source_of(path, "valid") for path in options.valid]
    configuration = options.configuration()
    free = {name for name in configuration if name in FREE_OPTIONS}
    nets = [] if init_from is None else [Net("init_from", init_from.file, init_from.sha256)]
    places = [] if options.init_from is None else [options.init_from]
    if (correct := corrected_by(options)) is not None:
        corrected = network_file(correct)
        nets.append(Net("correct", corrected.name, sha256_of(corrected)))
        places.append(correct)
    return RunPlan(
        verb=verb_of(options.kind),
        options={name: value for name, value in configuration.items() if name not in free},
        goal={name: value for name, value in configuration.items() if name in free},
        sources=tuple(data),
        nets=tuple(nets),
        files={
            str(path.absolute()): source.sha256
            for path, source in zip((*options.data, *options.valid), (*data, *held_out), strict=True)
        }
        | {
            str(path) if is_shipped(path) else str(network_file(path).absolute()): net.sha256
            for path, net in zip(places, nets, strict=True)
        },
    )


def corrected_by(options: TrainingOptions) -> Path | None:
    """Return the network that the trained one corrects; None if it stands alone."""
    return options.correct if isinstance(options, ValueTraining) else None


def verb_of(kind: str) -> str:
    """Return the verb of the training of a kind of network."""
    return f"train {kind}"
