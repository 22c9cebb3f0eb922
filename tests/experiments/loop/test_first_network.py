"""The network that a loop begins from: a warning if it has learnt from the games of the yardstick."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.loop.generation import Generation
from experiments.loop.options import Loop
from experiments.loop.stages import Stages
from lite.networks.dense import DenseConfig
from lite.run_folder import RunPlan, RunWriter
from lite.training.options import ValueTraining
from lite.training.train import train_value
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
