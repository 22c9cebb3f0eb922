"""The ONNX file gives the outputs of the module for any number of positions, or is not written."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

from export.onnx_export import export_onnx
from export.onnx_file import write_onnx
from export.positions import Sample
from lite.networks.dense import DenseConfig
from lite.networks.value_network import ValueNetwork, listed_inputs
from lite.training.checkpoint import save_model
from liteshogi.commands.export import Command as Export

pytestmark = pytest.mark.usefixtures("one_torchlib")

SAMPLE = Path(__file__).parents[2] / "experiments" / "sample" / "valid_sample.hcpe3"


def test_onnx_equals_the_module(any_net: ValueNetwork, positions: Sample, tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    assert export_onnx(any_net, path, positions) < 1e-5
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    assert [(given.name, given.type, given.shape[1]) for given in session.get_inputs()] == [
        ("x1", "tensor(int64)", 81),
        ("x2", "tensor(int64)", 57),
    ]
    assert [given.name for given in session.get_outputs()] == ["output"]
    for first, last in ((0, 1), (3, 10), (100, 357)):
        part = positions.part(first, last)
        x1, x2 = listed_inputs(part.pieces, part.hands, part.in_check)
        found = session.run(None, {"x1": x1.numpy(), "x2": x2.numpy()})[0]
        with torch.no_grad():
            assert np.abs(found - any_net(x1, x2).numpy()).max() < 1e-5
    assert [path.name for path in tmp_path.iterdir()] == ["net.onnx"]


def test_stacks_that_the_inputs_do_not_determine_are_refused(positions: Sample, tmp_path: Path) -> None:
    net = DenseConfig(8, (4,), stacks=("hand64z",)).build().eval()
    with pytest.raises(ValueError, match="no network with stacks by hand64z"):
        export_onnx(net, tmp_path / "net.onnx", positions)
    assert list(tmp_path.iterdir()) == []


def test_a_differing_export_leaves_no_file(
    make_net, positions: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def another(module, inputs, outputs):
        torch.nn.init.constant_(module.l4.bias, 9.0)
        content = serialised(module, inputs, outputs)
        torch.nn.init.constant_(module.l4.bias, 0.0)
        return content

    from export.onnx_file import _serialised as serialised

    monkeypatch.setattr("export.onnx_file._serialised", another)
    with pytest.raises(ValueError, match="differ from the trained"):
        export_onnx(make_net("odd"), tmp_path / "net.onnx", positions)
    assert list(tmp_path.iterdir()) == []


class _Branch(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1 if x.sum() > 0 else x


class _OneSize(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[torch.arange(len(x))]


@pytest.mark.parametrize(
    ("module", "message"),
    [(_Branch(), r"torch cannot export it: Could not guard"), (_OneSize(), r"onnxruntime cannot run it: .*dimensions")],
)
def test_networks_that_cannot_be_exported_are_refused_in_one_line(
    module: torch.nn.Module, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=rf"net\.onnx: not written: {message}") as raised:
        write_onnx(module, tmp_path / "net.onnx", {"x": torch.ones(5, 3)}, ("output",), 1e-5)
    assert len(str(raised.value).splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_the_verb_writes_an_onnx_file_and_its_figures(
    make_net, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_model(tmp_path / "network.safetensors", make_net("odd"), {})
    games, game = SAMPLE.read_bytes(), tmp_path / "game.hcpe3"
    plies = int.from_bytes(games[32:34], "little")
    game.write_bytes(games[: 36 + 6 * plies])
    Export(str(tmp_path / "network.safetensors"), tmp_path / "net.onnx", (game,), json=True).run()
    figures = json.loads(capsys.readouterr().out)
    assert figures["max_error"] < 1e-5
    assert figures["positions"] == plies  # all positions of the file; the limit is a thousand
    assert figures["bytes"] == (tmp_path / "net.onnx").stat().st_size
    with pytest.raises(ValueError, match="already exists; set `overwrite`"):
        Export(str(tmp_path / "network.safetensors"), tmp_path / "net.onnx").run()
    with pytest.raises(ValueError, match=r"which is written as \.onnx"):
        Export(str(tmp_path / "network.safetensors"), tmp_path / "nn.bin").run()
