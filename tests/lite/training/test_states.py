"""The saved state of a training run: states that are forged, incomplete or not finite are refused."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lite.training.checkpoint import STATE, read_tensors, write_tensors
from lite.training.train import train_value
from tests.lite.training.conftest import JSON, change_state, value_run


def test_averages_that_are_not_finite_are_refused(options, records, tmp_path):
    run = options(records, tmp_path / "run", max_steps=4)
    train_value(run)
    change_state(run.output, {"average/l3.bias": torch.full((8,), float("nan"))})
    with pytest.raises(ValueError, match=r"state\.safetensors: average/l3\.bias holds numbers that are not finite"):
        train_value(dataclasses.replace(run, resume=True))


@pytest.fixture(scope="module")
def cut(options, records, tmp_path_factory):
    """A run interrupted at step 4, the path of its state, and the content of the state."""
    run = options(records, tmp_path_factory.mktemp("runs") / "cut", max_steps=4)
    train_value(run)
    path = run.output / "state.safetensors"
    return dataclasses.replace(run, resume=True, max_steps=1), path, read_tensors(path, STATE)


@settings(max_examples=60)
@given(st.data())
def test_forged_states_are_refused_in_one_line_or_resumed(cut, data: st.DataObject):
    """Remove or replace any part; the state is refused in a line that names the file, or the run resumes."""
    run, path, (tensors, described) = cut
    described, tensors = json.loads(json.dumps(described)), dict(tensors)
    if data.draw(st.booleans()):
        name = data.draw(st.sampled_from(sorted(tensors)))
        taken = tensors.pop(name)
        if data.draw(st.booleans()):
            tensors[data.draw(st.sampled_from([name, name + "x", "optimiser/99/step", "model", "optimiser/x"]))] = (
                data.draw(st.sampled_from([torch.zeros(3), torch.zeros(2, 2, dtype=torch.int64), taken[..., None]]))
            )
    else:
        here: Any = described
        while data.draw(st.booleans()) and any(isinstance(value, dict) and value for value in here.values()):
            inner = [key for key, value in here.items() if isinstance(value, dict) and value]
            here = here[data.draw(st.sampled_from(inner))]
        key = data.draw(st.sampled_from(sorted(here)))
        if data.draw(st.booleans()):
            here[key] = data.draw(JSON)
        else:
            here.pop(key)
    write_tensors(path, STATE, tensors, described)
    message = f"{path}: read"
    try:
        value_run(run)
    except ValueError as error:
        message = str(error)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message


@pytest.mark.parametrize(
    "name", ["optimiser", "reader", "step", "options", "average_count", "best", "extended", "tested", "learnt"]
)
def test_incomplete_states_are_refused(cut, name):
    run, path, (tensors, described) = cut
    kept = {key: value for key, value in tensors.items() if not key.startswith(f"{name}/")}
    write_tensors(path, STATE, kept, {key: value for key, value in described.items() if key != name})
    with pytest.raises(ValueError, match=rf"state\.safetensors: this run cannot be resumed: .*{name}"):
        value_run(run)
