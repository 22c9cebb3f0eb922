"""ONNX files of dlshogi's format: they give the outputs of the network, and other files are refused with an error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper

from experiments.network_kinds.exporting import export
from experiments.resnet.network import PolicyValueNetwork, ResnetConfig, save_resnet
from export.positions import random_sample
from search.puct.onnx_network import OnnxNetwork
from search.puct.planes import make_planes

pytestmark = pytest.mark.usefixtures("one_torchlib")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[PolicyValueNetwork, Path]:
    """A network with every head and with statistics that differ from the initial ones."""
    torch.manual_seed(3)
    config = ResnetConfig(2, 16, "swish", squeeze=8, value_hidden=32, draw=True, auxiliary=("sennichite", "entered"))
    net = PolicyValueNetwork(config)
    sample = random_sample(64)
    x1, x2 = make_planes(sample.pieces, sample.hands, sample.in_check)
    with torch.no_grad():
        for _ in range(3):
            net.train().heads(torch.from_numpy(x1), torch.from_numpy(x2))
    path = tmp_path_factory.mktemp("net") / "network.safetensors"
    save_resnet(path, net.eval(), {})
    return net, path


@pytest.mark.parametrize("draw", [True, False])
def test_the_file_gives_the_outputs_of_the_network(
    trained: tuple[PolicyValueNetwork, Path], draw: bool, tmp_path: Path
) -> None:
    net, path = trained
    figures = export(str(path), tmp_path / "net.onnx", draw=draw)
    assert figures.max_error < 1e-4
    session = onnxruntime.InferenceSession(str(tmp_path / "net.onnx"), providers=["CPUExecutionProvider"])
    assert [(one.name, one.type, one.shape[1:]) for one in session.get_inputs()] == [
        ("input1", "tensor(float)", [62, 9, 9]),
        ("input2", "tensor(float)", [57, 9, 9]),
    ]
    outputs = [(one.name, one.shape[1:]) for one in session.get_outputs()]
    assert outputs[:2] == [("output_policy", [2187]), ("output_value", [1])]
    assert [name for name, _ in outputs[2:]] == (["output_draw"] if draw else [])
    loaded = OnnxNetwork(tmp_path / "net.onnx")
    assert loaded.has_draw == draw
    for count in (1, 3, 100):
        sample = random_sample(count, seed=count)
        x1, x2 = make_planes(sample.pieces, sample.hands, sample.in_check)
        policy, win_rate, drawn = loaded(x1, x2)
        with torch.no_grad():
            heads = net.heads(torch.from_numpy(x1), torch.from_numpy(x2))
        np.testing.assert_allclose(policy, heads.policy, atol=1e-4)
        np.testing.assert_allclose(win_rate, torch.sigmoid(heads.value), atol=1e-5)
        assert (drawn is not None) == draw
        if drawn is not None:
            np.testing.assert_allclose(drawn, torch.sigmoid(heads.draw), atol=1e-5)


def constant_model(
    path: Path,
    inputs: dict[str, list[object]] | None = None,
    outputs: dict[str, tuple[int, float]] | None = None,
    kind: int = TensorProto.FLOAT,
    nan_on_pieces: bool = False,
) -> Path:
    """Return a model with constant outputs {name: (width, number)}, one row per position. With `nan_on_pieces` the
    outputs are not numbers unless the board is empty."""
    inputs = inputs or {"input1": ["n", 62, 9, 9], "input2": ["n", 57, 9, 9]}
    outputs = outputs or {"output_policy": (2187, 0.0), "output_value": (1, 0.5)}
    nodes = [helper.make_node("ReduceMean", [next(iter(inputs))], ["mean"], axes=[1, 2, 3], keepdims=0)]
    if nan_on_pieces:
        nodes += [helper.make_node("Neg", ["mean"], ["negative"]), helper.make_node("Sqrt", ["negative"], ["zero"])]
    else:
        nodes.append(helper.make_node("Sub", ["mean", "mean"], ["zero"]))
    nodes.append(helper.make_node("Unsqueeze", ["zero"], ["column"], axes=[1]))
    constants = []
    for name, (width, number) in outputs.items():
        row = helper.make_tensor(f"{name}_row", kind, [1, width], [number] * width)
        constants.append(row)
        nodes.append(helper.make_node("Add", ["column", f"{name}_row"], [name]))
    graph = helper.make_graph(
        nodes,
        "constant",
        [helper.make_tensor_value_info(name, kind, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, kind, ["n", width]) for name, (width, _) in outputs.items()],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)])
    model.ir_version = 8
    onnx.save(model, str(path))
    return path


def test_a_file_of_another_program_is_loaded(tmp_path: Path) -> None:
    policy, win_rate, draw = OnnxNetwork(constant_model(tmp_path / "good.onnx"))(
        np.zeros((3, 62, 9, 9), np.float32), np.zeros((3, 57, 9, 9), np.float32)
    )
    assert (policy.shape, win_rate.tolist(), draw) == ((3, 2187), [0.5] * 3, None)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"inputs": {"x1": ["n", 62, 9, 9], "input2": ["n", 57, 9, 9]}}, "no input input1, it has x1, input2"),
        ({"inputs": {"x\n1": ["n", 62, 9, 9], "input2": ["n", 57, 9, 9]}}, "no input input1, it has x 1, input2;"),
        ({"inputs": {"input1": ["n", 62, 9, 9]}}, "no input input2"),
        ({"inputs": {"input1": ["n", 119, 9, 9], "input2": ["n", 57, 9, 9]}}, r"must be \(positions, 62, 9, 9\)"),
        ({"inputs": {"input1": [1, 62, 9, 9], "input2": [1, 57, 9, 9]}}, "dynamic batch axis"),
        ({"inputs": {"input1": ["n", 62, 9, 9], "input2": ["n", 57, 9, 9], "more": ["n"]}}, "requires an input more"),
        ({"inputs": {"input1": ["n", 62, 9, 9], "input2": ["n", 57, 9, 9], "x\n": ["n"]}}, "requires an input x that"),
        ({"inputs": {"input1": ["n\n", 9, 9, 9], "input2": ["n", 57, 9, 9]}}, r"not \(n, 9, 9, 9\)"),
        ({"outputs": {"output_policy": (2187, 0.0)}}, "no output output_value"),
        ({"outputs": {"output_policy": (1496, 0.0), "output_value": (1, 0.5)}}, r"not \(n, 1496\)"),
        ({"outputs": {"output_policy": (2187, 0.0), "output_value": (1, 3.0)}}, "must be a rate from 0 to 1, not 3"),
        ({"outputs": {"output_policy": (2187, float("nan")), "output_value": (1, 0.5)}}, "output_policy is not finite"),
        ({"nan_on_pieces": True}, "output_value must be a rate from 0 to 1, not nan"),
        ({"kind": TensorProto.DOUBLE}, r"must be float32, not tensor\(double\)"),
    ],
)
def test_other_onnx_files_are_refused(changes: dict, words: str, tmp_path: Path) -> None:
    path = constant_model(tmp_path / "other.onnx", **changes)
    with pytest.raises(ValueError, match=words) as refused:
        OnnxNetwork(path)
    assert str(refused.value).startswith(str(path))
    assert "\n" not in str(refused.value)


def test_broken_files_are_refused(trained: tuple[PolicyValueNetwork, Path], tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such file"):
        OnnxNetwork(tmp_path / "none.onnx")
    (tmp_path / "text.onnx").write_bytes(b"not a model")
    whole = constant_model(tmp_path / "whole.onnx").read_bytes()
    (tmp_path / "cut.onnx").write_bytes(whole[: len(whole) // 2])
    for name in ("text.onnx", "cut.onnx"):
        with pytest.raises(ValueError, match="not an ONNX file"):
            OnnxNetwork(tmp_path / name)
    with pytest.raises(ValueError, match="not an ONNX file"):
        export(str(tmp_path / "text.onnx"), tmp_path / "net.onnx")


def test_an_export_that_differs_leaves_no_file(
    trained: tuple[PolicyValueNetwork, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.resnet.onnx.TOLERANCE", -1.0)
    with pytest.raises(ValueError, match="would differ from the trained one"):
        export(str(trained[1]), tmp_path / "folder" / "net.onnx")
    assert not list((tmp_path / "folder").iterdir())
