"""Train each kind of network a little in float64, in one process or in several, and write the losses:
`python -m tests.lite.training.write_losses RECORDS HELD_OUT FOLDER [DEVICE]`, by itself or started by torchrun."""

from __future__ import annotations

import json
import os
import socket
import sys
import traceback
from dataclasses import replace
from pathlib import Path

import torch

from lite.networks import fused_step
from lite.networks.dense import DenseConfig
from lite.networks.lite_value import LiteConfig
from lite.networks.nnue import HalfKpConfig, KpConfig
from lite.networks.untied import UntiedConfig
from lite.records.batch import Batch
from lite.training.log import EpochTest, lines_of, read_log
from lite.training.optimiser import OptimiserConfig
from lite.training.options import ValueTraining
from lite.training.run import Run
from lite.training.train import ValueTask
from liteshogi.commands.train.outcome import outcome_json

RUNS = {
    "lite": {"network": LiteConfig((4, 2, 8)), "mirror": True},
    "resumed": {"network": LiteConfig((4, 2, 8)), "mirror": True},
    "untied": {"network": UntiedConfig((4, 2, 8), perspectives=2), "captures": False, "threads": 2},
    "gathered": {"network": UntiedConfig((4, 2, 8), perspectives=2), "captures": False, "device": "cpu:0"},
    "dense": {"network": DenseConfig(8, (4,), 2), "error_exponent": 2.5},
    "half_kp": {"network": HalfKpConfig(32, (8,)), "batch_size": 13, "epochs": 1, "max_steps": 12},
    "k_p": {"network": KpConfig(32, (8, 4)), "mirror": True},
    "single": {"network": KpConfig(32, (8, 4)), "batch_size": 1, "epochs": 1},
}
STEPS, CUT = 30, 12
"""The resumed run is interrupted after CUT steps. The device cpu:0 is the CPU, treated as one without a fused step.
Odd batches give unequal shares, and batches of one position leave nothing for one of two processes. HalfKP takes fewer
steps, because each takes both processes a tenth of a second."""


TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


def held_out_losses(run: Path) -> list[float]:
    """Return the held-out loss after each epoch of the run in a directory."""
    return [line.loss for line in lines_of(EpochTest, read_log(run))]


class ObservedRun(Run):
    """A run that keeps the loss of every step."""

    def __init__(self, options: ValueTraining) -> None:
        super().__init__(options, ValueTask)
        self.taken: list[float] = []

    def take_step(self, batch: Batch) -> dict[str, float]:
        losses = super().take_step(batch)
        self.taken.append(losses["loss"])
        return losses


def main(records: Path, held_out: Path, folder: Path, device: str | None) -> None:
    torch.set_default_dtype(torch.float64)
    fused_step.PART_POSITIONS = 30  # otherwise such small batches would use one thread
    for name, changes in RUNS.items():
        common = {
            "batch_size": 127,
            "epochs": 10,
            "max_steps": STEPS,
            "optimiser": OptimiserConfig(learning_rate=0.003),
        }
        chosen = common | changes | ({"device": device} if device else {})
        options = ValueTraining((records,), folder / name, (held_out,), **chosen)
        losses: list[float] = []
        for part in ({"max_steps": CUT}, {"max_steps": STEPS - CUT, "resume": True}) if name == "resumed" else ({},):
            run = ObservedRun(replace(options, **part))
            figures = run.train()
            losses += run.taken
        weights = {
            name: value.flatten()[:50].tolist() for name, value in run.learner.average.model.state_dict().items()
        }
        if run.workers.first:
            valid = json.loads(outcome_json(figures))
            (folder / f"{name}.json").write_text(json.dumps({"losses": losses, "valid": valid, "weights": weights}))


def one_and_two(records: Path, held_out: Path, one: Path, two: Path) -> None:
    """Run `main` in two processes and then in this one.

    The variables of torchrun are set, but PyTorch is imported only once.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    children = []
    for rank in range(2):
        if child := os.fork():
            children.append(child)
            continue
        status = 1
        try:
            torch.set_num_threads(1)
            ranks = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2}
            place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
            os.environ |= {name: str(value) for name, value in (ranks | place).items()}
            main(records, held_out, two, None)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert statuses == [0, 0]
    main(records, held_out, one, None)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]), *(sys.argv[4:] or [None]))
