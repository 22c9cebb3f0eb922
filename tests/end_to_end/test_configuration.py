"""`--config`: options read from a file equal the written ones, and single options override them."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.resnet.network import ResnetConfig
from experiments.resnet.train import ResnetTraining
from lite.networks.dense import DenseConfig
from lite.networks.lite_value import LiteConfig
from lite.networks.nnue import HalfKpConfig, KpConfig
from lite.networks.untied import UntiedConfig
from lite.training.checkpoint import load_model
from lite.training.optimiser import OptimiserConfig
from lite.training.options import TrainingOptions, ValueTraining
from liteshogi.__main__ import main
from liteshogi.commands.arguments import part
from liteshogi.commands.loop import read_training
from liteshogi.commands.train.configuration import configured, read_configuration
from tests.lite.training.conftest import random_games

SIZES = st.integers(1, 64)
HIDDEN = st.lists(SIZES, max_size=3).map(tuple)
SHARES = st.floats(0, 1)
RATES = st.floats(1e-9, 1e9)
NETWORKS = st.one_of(
    st.builds(LiteConfig, st.tuples(SIZES, SIZES, SIZES), st.sampled_from(["board", "blog"]), st.sampled_from([1, 2])),
    st.builds(UntiedConfig, st.tuples(SIZES, SIZES, SIZES)),
    st.builds(DenseConfig, SIZES, HIDDEN, st.sampled_from([1, 2])),
    st.builds(HalfKpConfig, SIZES, HIDDEN),
    st.builds(KpConfig, SIZES, HIDDEN),
)
OPTIMISERS = st.builds(
    OptimiserConfig,
    optimiser=st.sampled_from(["adamw", "sgd"]),
    learning_rate=st.none() | RATES,
    schedule=st.sampled_from([None, "cosine", "one_cycle", "steps"]),
    warm_up=st.none() | SHARES,
    weight_decay=st.none() | RATES,
    average=st.sampled_from(["ema", "swa", "none"]),
    ema_decay=SHARES,
)
PATHS = st.text("abc é日.'\"", min_size=1).map(lambda name: Path("in a folder", "x" + name))
COMMON: dict[str, Any] = {
    "data": st.lists(PATHS, min_size=1, max_size=3).map(tuple),
    "output": PATHS,
    "valid": st.lists(PATHS, max_size=3).map(tuple),
    "optimiser": OPTIMISERS,
    "epochs": SIZES,
    "lambda_": SHARES,
    "lambda_end": st.none() | SHARES,
    "cp_per_logit": RATES,
    "net_cp_per_logit": st.none() | RATES,
    "init_from": st.none() | PATHS,
    "fit_scale": st.booleans(),
    "mirror": st.booleans(),
}
OPTIONS = st.one_of(
    st.builds(
        ValueTraining, network=NETWORKS, captures=st.booleans(), error_exponent=st.none() | st.floats(1, 10), **COMMON
    ),
    st.builds(
        ResnetTraining,
        network=st.builds(
            ResnetConfig,
            blocks=SIZES,
            activation=st.sampled_from(["relu", "swish"]),
            auxiliary=st.sampled_from([(), ("entered",), ("sennichite", "entered")]),
        ),
        precision=st.sampled_from(["auto", "float32"]),
        auxiliary_weight=SHARES,
        **COMMON,
    ),
)


def command_of(kind: str) -> type:
    command: type = importlib.import_module(f"liteshogi.commands.train.{kind}").Command
    return command


@given(options=OPTIONS)
def test_options_are_read_back_from_their_file(tmp_path: Path, options: TrainingOptions) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(options.configuration()), encoding="utf-8")
    command = configured(command_of(options.kind), ["--epochs", "3", f"--config={path}"], options.kind)
    assert part(type(options), command) == options


@given(options=OPTIONS)
def test_a_loop_accepts_the_options_of_any_value_network(tmp_path: Path, options: TrainingOptions) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(options.configuration()), encoding="utf-8")
    if isinstance(options, ValueTraining):
        assert read_training(path) == options
    else:
        with pytest.raises(ValueError, match=r"config.json: a loop trains networks of a .*, not resnet"):
            read_training(path)


def test_a_loops_file_need_not_hold_all_options_but_the_kind(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"kind": "half_kp", "lambda": 0.5}')
    training = read_training(path)
    assert (training.network, training.lambda_, training.data) == (HalfKpConfig(), 0.5, ())
    path.write_text('{"lambda": 0.5}')
    with pytest.raises(ValueError, match=r'a loop trains networks of a "kind" among lite, .*, not None'):
        read_training(path)


def liteshogi(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["liteshogi", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        main()
    code = end.value.code
    assert isinstance(code, int)
    return code


def test_a_run_is_repeated_from_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The repeated run has the same weights, and an overridden option is the only difference."""
    records = random_games(tmp_path / "train.hcpe", 8, 1)
    sizes = ("--dims", 4, 2, 8, "--batch-size", 64, "--epochs", 2, "--lambda", 0.9, "--seed", 3)
    assert not liteshogi(monkeypatch, "train", "untied", records, "-o", tmp_path / "a", *sizes)
    config = tmp_path / "a" / "run.json"
    assert not liteshogi(monkeypatch, "train", "untied", "--config", config, "-o", tmp_path / "b")
    first, second = ((tmp_path / name / "network.safetensors").read_bytes() for name in "ab")
    assert first == second
    assert not liteshogi(monkeypatch, "train", "untied", "--config", config, "--lambda", 0.1, "-o", tmp_path / "c")
    a, c = (read_configuration(tmp_path / name / "run.json") for name in "ac")
    assert {name for name in a if a[name] != c[name]} == {"lambda", "output"}
    assert load_model(tmp_path / "c")[1].provenance["options"]["lambda_"] == 0.1
    # The run that wrote the file is resumed.
    assert not liteshogi(monkeypatch, "train", "untied", "--config", config, "--resume", "--epochs", 3)
    steps, before = (load_model(tmp_path / name)[1].provenance["steps"] for name in "ab")
    assert steps == 3 * before // 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "config.json: not a JSON file: "),
        ("[1]", "config.json: not the options of a run: a JSON object is required"),
        ('{"kind": "dense"}', "config.json: options of `liteshogi train dense`, not of `liteshogi train lite`"),
        ('{"mirror": true, "epoch": 3}', "config.json: epoch: 3 is no value of it, or there is no such option"),
        ('{"seed": 1, "epochs": "many"}', 'config.json: epochs: "many" is no value of it'),
        ('{"epochs": [1, 2], "data": ["a"]}', "config.json: epochs: [1, 2] is no value of it"),
        ('{"config": "other.json"}', "config.json: config: a file of options cannot name another; put all options"),
        ("{}", "DATA: no file is named"),
        (None, "config.json: there is no such file"),
    ],
)
def test_files_that_hold_no_options_are_refused(tmp_path, monkeypatch, capfd, content, words) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "config.json"
    if content is not None:
        path.write_text(content)
    assert liteshogi(monkeypatch, "train", "lite", "--config", path) == 1
    (line,) = capfd.readouterr().err.splitlines()
    assert words in line
    assert set(tmp_path.iterdir()) <= {path}


def test_a_file_written_by_hand_may_be_short(tmp_path: Path) -> None:
    """Options may be omitted, and editors of Windows write a byte order mark."""
    path = tmp_path / "mine.json"
    path.write_text('{"learning-rate": 0.01, "data": ["a b.hcpe"], "dims": [8, 4, 16]}', encoding="utf-8-sig")
    command = configured(command_of("lite"), ["--config", str(path)], "lite")
    expected = ValueTraining(
        data=(Path("a b.hcpe"),), network=LiteConfig((8, 4, 16)), optimiser=OptimiserConfig(learning_rate=0.01)
    )
    assert part(ValueTraining, command) == expected
