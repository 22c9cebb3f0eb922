"""Several processes give the steps of a single one, and end together."""

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
from hypothesis import given
from hypothesis import strategies as st

from lite.training.checkpoint import load_model, load_state
from lite.training.log import Steps, lines_of, read_log
from lite.workers import Workers, join_workers
from liteshogi.__main__ import _run
from tests.lite.training.write_losses import RUNS, STEPS, TORCHRUN, held_out_losses

pytestmark = pytest.mark.timeout(900)  # a minute on free cores; processes that wait for each other need both
linux = pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")


def python(*words: object) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, *map(str, words)], stderr=subprocess.PIPE, text=True)


@given(st.integers(0, 100), st.integers(1, 9))
def test_shares_add_up_to_the_batch(count: int, size: int) -> None:
    parts = [list(range(count))[Workers(rank, size).share(count)] for rank in range(size)]
    assert [one for part in parts for one in part] == list(range(count))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("size", ["", "two", "-1", "2"])
def test_variables_that_torchrun_does_not_set_are_refused(monkeypatch: pytest.MonkeyPatch, size: str) -> None:
    monkeypatch.setenv("WORLD_SIZE", size)
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(ValueError, match=f"^WORLD_SIZE={size} .* unset it to train in one process$"):
        join_workers.__wrapped__()


@pytest.fixture(scope="module")
def figures(records: Path, held_out: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The folders of losses of one process and of two."""
    folders = [tmp_path_factory.mktemp(name) for name in ("one", "two")]
    if hasattr(os, "fork"):
        code = (
            "import sys; from pathlib import Path; from tests.lite.training.write_losses import one_and_two; "
            "one_and_two(*map(Path, sys.argv[1:])); "
            "assert 'torch._dynamo' not in sys.modules, 'it takes as long as the rest of PyTorch'"
        )
        programs = [("-c", code, records, held_out, *folders)]
    else:
        program = ("-m", "tests.lite.training.write_losses", records, held_out)
        programs = [(*program, folders[0]), (*TORCHRUN, *program, folders[1])]
    for program in programs:
        process = python(*program)
        said = process.communicate()[1]
        assert process.returncode == 0, said
    return folders


@pytest.mark.parametrize("name", RUNS)
def test_two_processes_give_the_steps_of_one(figures: list[Path], name: str) -> None:
    """Also if shares differ in size, if one is empty, and if filters exclude positions."""
    one, two = (json.loads((folder / f"{name}.json").read_text()) for folder in figures)
    steps = RUNS[name].get("max_steps", STEPS)
    assert len(one["losses"]) == steps
    np.testing.assert_allclose(two["losses"], one["losses"], rtol=0, atol=1e-9)
    for weight, values in one["weights"].items():
        np.testing.assert_allclose(two["weights"][weight], values, rtol=0, atol=1e-6, err_msg=weight)
    assert one["valid"]["step"] == two["valid"]["step"] == steps
    tested = [held_out_losses(folder / name) for folder in figures]
    assert tested[1] == pytest.approx(tested[0], abs=1e-9)
    logs = [[line.kind for line in read_log(folder / name)] for folder in figures]
    assert logs[0] == logs[1]


def test_an_interrupted_and_resumed_run_ends_with_the_same_bits(figures: list[Path]) -> None:
    for folder in figures:
        whole, cut = (load_state(folder / name / "state.safetensors")[0] for name in ("lite", "resumed"))
        for group, members in whole.items():
            assert all(torch.equal(tensor, cut[group][name]) for name, tensor in members.items())


def test_another_device_gives_the_same_steps(figures: list[Path]) -> None:
    """It uses plain PyTorch operations instead of the fused step."""
    fused, gathered = (json.loads((figures[0] / f"{name}.json").read_text()) for name in ("untied", "gathered"))
    assert gathered["losses"] != fused["losses"]
    np.testing.assert_allclose(gathered["losses"], fused["losses"], rtol=0, atol=1e-9)
    tested = [held_out_losses(figures[0] / name) for name in ("untied", "gathered")]
    assert len(tested[0]) > 1
    assert tested[1] == pytest.approx(tested[0], abs=1e-9)


@pytest.fixture
def endless(records: Path, tmp_path: Path):
    """Two processes during a run that would take hours, and its folder."""
    folder, words = tmp_path / "run", ("--batch-size", 128, "--epochs", 100000, "--save-minutes", 1e-4)
    process = python(*TORCHRUN, "-m", "liteshogi", "train", "dense", records, "-o", folder, *words)
    while not (folder / "state.safetensors").exists():
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.05)
    yield process, folder
    process.kill()
    process.wait()


def process_of_rank(launcher: int, rank: int) -> int:
    """Return the number of the process that torchrun started as this rank."""
    for process in Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split():
        if f"RANK={rank}".encode() in Path(f"/proc/{process}/environ").read_bytes().split(b"\0"):
            return int(process)
    raise AssertionError(f"no process of rank {rank}")


@linux
@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
def test_the_end_of_one_process_ends_all(endless, records: Path, rank: int) -> None:
    process, folder = endless
    os.kill(process_of_rank(process.pid, rank), signal.SIGKILL)
    said = process.communicate(timeout=120)[1]
    assert process.returncode != 0
    assert "exitcode  : -9 " in said
    step = load_state(folder / "state.safetensors")[1]["step"]
    # One process resumes the run of two, and the folder is not locked.
    assert _run(["train", "dense", "--config", str(folder / "run.json"), "--resume", "--max-steps", "3"]) == 0
    assert load_model(folder)[1].provenance["step"] == step + 3


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals to another process there")
@pytest.mark.parametrize("name", ["SIGINT", pytest.param("SIGTERM", marks=pytest.mark.slow)])
def test_a_signal_saves_the_state_once(endless, name: str) -> None:
    process, folder = endless
    process.send_signal(getattr(signal, name))
    said = process.communicate(timeout=120)[1]
    assert said.count("resume with: torchrun ... -m liteshogi train dense") == 1
    assert "terminate called" not in said
    steps = [line.step for line in lines_of(Steps, read_log(folder))]
    assert steps == sorted(set(steps))
