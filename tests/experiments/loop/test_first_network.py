"""The network that a loop begins from: its folder, and a warning if it has learnt from the games of the yardstick."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.jobs.ledger import LandedJob
from experiments.loop.generation import Generation
from experiments.loop.loop import run_loop
from experiments.loop.options import Loop
from experiments.loop.stages import Stages
from lite.networks.dense import DenseConfig
from lite.run_folder import RunPlan, RunWriter
from lite.training.options import ValueTraining
from lite.training.train import train_value
from search.system.options import OptionError
from tests.lite.training.conftest import random_games


def test_a_first_network_that_has_learnt_from_the_yardstick_gives_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    learnt, others = random_games(tmp_path / "learnt.hcpe", 4, 1), random_games(tmp_path / "others.hcpe", 4, 2)
    run = tmp_path / "run"
    train_value(ValueTraining(data=(learnt,), output=run, network=DenseConfig(8, (8,), 2), batch_size=64, epochs=1))
    words = "of the yardstick's positions beyond the opening are in the data of the network that the loop begins from"
    for yardstick, warnings in ((learnt, 1), (others, 0)):
        loop = Loop(output=tmp_path / f"loop-{warnings}", first=str(run), yardstick=(yardstick,))
        capsys.readouterr()
        with RunWriter(loop.output, RunPlan("loop")) as writer:
            Generation(loop, Stages(loop.output, writer), 0).begin()
        assert capsys.readouterr().err.count(words) == warnings


def test_the_material_network_is_not_written_into_the_folder_of_another_run(tmp_path: Path) -> None:
    with RunWriter(tmp_path, RunPlan("match")) as writer:
        writer.append(LandedJob(job=0, shard=0, start=0, stop=0, counts={}))
    before = sorted(tmp_path.iterdir())
    with pytest.raises(OptionError, match=r"`output` .*: holds a run with the verb match, not loop"):
        run_loop(Loop(output=tmp_path), ValueTraining(data=(), network=DenseConfig(8, (8,), 2)))
    assert sorted(tmp_path.iterdir()) == before
