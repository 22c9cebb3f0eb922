"""Training on a GPU gives the steps of a CPU and files that need no GPU. All tests require a GPU."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from export.fold import Folding, fold_file
from lite.networks.nnue import HalfKpConfig, KpConfig
from lite.training.checkpoint import load_model, load_state
from lite.training.log import Steps, lines_of, read_log
from lite.training.train import train_value
from liteshogi.__main__ import _run
from tests.lite.training.write_losses import RUNS, TORCHRUN, held_out_losses

pytestmark = [pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"), pytest.mark.timeout(900)]
WAYS = {
    "cpu": ((), ()),
    "gpu": ((), ("cuda",)),
    "two processes": (TORCHRUN, ("cuda",)),
}
"""How to start the processes, and their device; two processes share a single GPU."""


@pytest.fixture(scope="module")
def figures(records: Path, held_out: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders of losses by the way of training."""
    folders, processes = {}, {}
    for way, (launcher, device) in WAYS.items():
        folders[way] = tmp_path_factory.mktemp("figures")
        words = (*launcher, "-m", "tests.lite.training.write_losses", records, held_out, folders[way], *device)
        processes[way] = subprocess.Popen([sys.executable, *map(str, words)], stderr=subprocess.PIPE, text=True)
    for way, process in processes.items():
        said = process.communicate()[1]
        assert process.returncode == 0, f"{way}: {said}"
    return folders


@pytest.mark.parametrize("way", list(WAYS)[1:])
@pytest.mark.parametrize("name", RUNS)
def test_steps_equal_those_of_the_cpu(figures: dict[str, Path], way: str, name: str) -> None:
    expected, found = (json.loads((figures[one] / f"{name}.json").read_text()) for one in ("cpu", way))
    assert found["losses"] != expected["losses"]  # by other operations
    np.testing.assert_allclose(found["losses"], expected["losses"], rtol=0, atol=1e-9)
    for weight, values in expected["weights"].items():
        np.testing.assert_allclose(found["weights"][weight], values, rtol=0, atol=1e-6, err_msg=weight)
    tested = [held_out_losses(figures[one] / name) for one in ("cpu", way)]
    assert tested[1] == pytest.approx(tested[0], abs=1e-9)


def test_an_interrupted_and_resumed_run_ends_with_the_same_bits(figures: dict[str, Path]) -> None:
    whole, cut = (load_state(figures["gpu"] / name / "state.safetensors")[0] for name in ("lite", "resumed"))
    for group, members in whole.items():
        assert all(torch.equal(tensor, cut[group][name]) for name, tensor in members.items())


def test_a_run_moves_between_gpu_and_cpu(options, records: Path, held_out: Path, tmp_path: Path) -> None:
    losses = {}
    for name, devices in {"moved": ("cuda", "cpu", "cuda"), "stayed": ("cpu", "cpu", "cpu")}.items():
        for part, device in enumerate(devices):
            chosen = options(records, tmp_path / name, valid=(held_out,), device=device, max_steps=11, resume=part > 0)
            tested = train_value(chosen).tested
            losses[name] = None if tested is None else tested.loss
    assert losses["moved"] == pytest.approx(losses["stayed"], abs=1e-3)
    assert load_model(tmp_path / "moved")[1].provenance["step"] == 33
    fold_file(Folding(tmp_path / "moved", tmp_path / "net.safetensors", (held_out,)))


def test_a_full_gpu_is_reported_in_one_line(options, records: Path, tmp_path: Path) -> None:
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(0.0005)
    try:
        for network in (HalfKpConfig(), KpConfig(1024, (8, 4))):  # its weights or a step exceed this memory
            chosen = options(records, tmp_path / network.name, network=network, device="cuda", batch_size=1000)
            with pytest.raises(MemoryError, match=r"^the GPU is full \(Tried to .*\): choose a batch size below 1000"):
                train_value(chosen)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


def test_ctrl_c_saves_and_the_command_resumes(records: Path, held_out: Path, tmp_path: Path) -> None:
    words = ("train", "dense", records, "--valid", held_out, "-o", tmp_path / "run", "--batch-size", 128)
    more = ("--epochs", 100000, "--save-minutes", 1e-4, "--device", "cuda")
    command = [sys.executable, "-m", "liteshogi", *map(str, (*words, *more))]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "run" / "state.safetensors").exists():
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    said = process.communicate(timeout=120)[1]
    assert ", saved\nresume with: " in said
    assert f", on {torch.cuda.get_device_name()}\n" in said
    step = load_state(tmp_path / "run" / "state.safetensors")[1]["step"]
    resumed = ["train", "dense", "--config", str(tmp_path / "run" / "run.json"), "--resume", "--max-steps", "3"]
    assert _run(resumed) == 0
    assert load_model(tmp_path / "run")[1].provenance["step"] == step + 3
    steps = [line.step for line in lines_of(Steps, read_log(tmp_path / "run"))]
    assert steps == sorted(set(steps))
