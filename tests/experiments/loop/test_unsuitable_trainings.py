"""Trainings that do not suit a loop are refused before its first game."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from experiments.loop.loop import run_loop
from experiments.loop.options import Loop
from lite.training.options import ValueTraining
from search.system.options import OptionError


@pytest.mark.parametrize(
    "changes",
    [{"max_steps": 3}, {"overwrite": True}, {"correct": Path("squared-64-16")}, {"net_cp_per_logit": 300.0}],
)
def test_a_training_that_does_not_suit_a_loop_is_refused(tmp_path: Path, changes: dict[str, object]) -> None:
    with pytest.raises(OptionError, match="leave it out in a loop") as caught:
        run_loop(Loop(output=tmp_path / "loop"), replace(ValueTraining(data=()), **changes))  # type: ignore[arg-type]
    assert caught.value.fields == tuple(changes)
    assert not (tmp_path / "loop").exists()
