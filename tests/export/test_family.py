"""The family of networks: with any options, training, fold and integers compute one function.

Each network is drawn with random weights and statistics. The plain module, the fused step, the gathered
rows and the folded rows agree. Its integers equal the reference, for single positions and along games, with every
kernel of this machine.
"""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from export.fold import TOLERANCE, Folding, fold_checked, fold_file
from export.folded import FoldedNetwork
from export.positions import random_sample
from export.quantise import quantise
from lite.networks.activation import ACTIVATIONS
from lite.networks.build import network_from_config
from lite.networks.dense import DenseConfig
from lite.networks.kings import KING_NAMES
from lite.networks.lite_value import LiteConfig
from lite.networks.untied import UntiedConfig
from lite.networks.value_network import NetworkConfig, ValueNetwork, listed_inputs
from lite.training.options import ValueTraining
from lite.training.train import train_value
from search.compiling.jit import KERNEL
from search.compiling.target import KERNELS
from search.evaluation.network import evaluate_reference
from search.evaluation.network_file import load_network, save_network
from search.evaluation.stacks import HANDS, KING_ZONES, PROGRESS

SAMPLE = random_sample(400, seed=5)
FEW = SAMPLE.part(0, 40)
GAMES = Path(__file__).parents[2] / "experiments" / "sample" / "valid_sample.hcpe3"
LARGE_AXES = ("hand256", "hand1024", "k13k13z", "k21k21", "k29k29")
PROGRESS_TABLE = np.random.default_rng(3).integers(-9_000, 9_000, (81, 1548)).astype(np.int32)


@st.composite
def stacks(draw: st.DrawFn) -> tuple[str, ...]:
    """Draw no axis in half of the cases, otherwise one or two axes of at most 81 values each."""
    axes = [[token for token in known if token not in LARGE_AXES] for known in (HANDS, KING_ZONES, PROGRESS)]
    chosen = draw(st.permutations(axes))[: draw(st.sampled_from([0, 0, 1, 2]))]
    return tuple(draw(st.sampled_from(names)) for names in chosen)


@st.composite
def configurations(draw: st.DrawFn, kings: tuple[str, ...] = KING_NAMES) -> NetworkConfig:
    chosen = {
        "perspectives": draw(st.sampled_from([1, 2])),
        "draw": draw(st.booleans()),
        "activation": draw(st.sampled_from(list(ACTIVATIONS))),
        "king": draw(st.sampled_from(kings)),
        "hidden_squares": draw(st.booleans()),
        "shortcut": draw(st.booleans()),
        "stacks": draw(stacks()),
    }
    if not chosen["shortcut"] and not chosen["stacks"]:
        chosen["buckets"] = draw(st.sampled_from([1, 5]))
    of_pairs = 2 if chosen["activation"] == "pairwise" else 1  # a product needs two lanes
    if draw(st.booleans()):
        needed = chosen["hidden_squares"] or chosen["shortcut"]
        hidden = draw(st.lists(st.integers(6, 9), min_size=int(needed), max_size=2))
        return DenseConfig(width=of_pairs * draw(st.integers(4, 9)), hidden=tuple(hidden), **chosen)
    kind = draw(st.sampled_from([LiteConfig, UntiedConfig]))
    lines = draw(st.permutations(["diagonals", "blocks"]))[: draw(st.integers(0, 2))]
    dims = (draw(st.integers(2, 4)), of_pairs * draw(st.integers(1, 5)), draw(st.integers(6, 9)))
    layout = draw(st.sampled_from(["board", "board", "blog"]))
    return kind(dims=dims, layout=layout, lines=tuple(lines), **chosen)


def made(config: NetworkConfig, seed: int) -> ValueNetwork:
    """Return a network with non-zero weights (also of the king buckets) and statistics as after training."""
    torch.manual_seed(seed)
    net = config.build()
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            if name.startswith(("king", "layer_stacks.own")):
                parameter.normal_(0, 0.1)
        for layer in net.hidden_layers()[:-1]:
            layer.bias.uniform_(0.1, 0.4)
        if net.layer_stacks is not None and net.layer_stacks.has_progress:
            net.layer_stacks.set_progress(PROGRESS_TABLE, -5_000)
        for norm in net.norms():
            norm.running_mean.normal_(0, 0.5)
            norm.running_var.uniform_(0.5, 2)
            norm.weight.uniform_(0.3, 0.6)
            norm.bias.uniform_(0, 0.6)
    return net.eval()


@given(config=configurations(), seed=st.integers(0, 1 << 20), training=st.booleans())
@settings(max_examples=15)
def test_every_path_gives_the_same_numbers(config: NetworkConfig, seed: int, training: bool) -> None:
    nets = [made(config, seed).double().train(training)]
    nets += [copy.deepcopy(nets[0]), copy.deepcopy(nets[0])]
    arrays = (FEW.pieces, FEW.hands, FEW.in_check)
    ways = [nets[1].outputs(*arrays), nets[2].gathered_outputs(*map(torch.from_numpy, arrays))]
    if nets[0].listed:
        ways.insert(0, nets[0](*listed_inputs(*arrays)))
    else:
        nets = nets[1:]
    for outputs in ways:
        (outputs * torch.linspace(-1, 2, outputs.numel()).view_as(outputs)).sum().backward()
    exact = {"rtol": 1e-9, "atol": 1e-9}
    for outputs, net in zip(ways[1:], nets[1:], strict=True):
        torch.testing.assert_close(outputs, ways[0], **exact)
        for own, other in zip(net.parameters(), nets[0].parameters(), strict=True):
            assert (own.grad is None) == (other.grad is None)
            if own.grad is not None:
                torch.testing.assert_close(own.grad, other.grad, **exact)
        for own, other in zip(net.buffers(), nets[0].buffers(), strict=True):
            torch.testing.assert_close(own, other, rtol=1e-6, atol=1e-6)
    _, error = fold_checked(nets[0].eval(), FEW)
    assert error < TOLERANCE
    again = network_from_config(nets[0].config)
    again.double().load_state_dict(nets[0].state_dict())
    assert again.config == nets[0].config


def folded(config: NetworkConfig, seed: int) -> FoldedNetwork:
    return fold_checked(made(config, seed), FEW)[0]


def integers(folded: FoldedNetwork, path: Path) -> np.ndarray:
    """Write the network's file; return the reference outputs on the sample, which are close to the folded logits."""
    save_network(quantise(folded, SAMPLE), path)
    net, exact = load_network(path), folded.logits(SAMPLE)
    outputs = evaluate_reference(net, SAMPLE.pieces, SAMPLE.hands, SAMPLE.in_check)
    assert np.abs(outputs[:, 0] * net.logit_per_output - exact).mean() < 0.2 * exact.std()
    return outputs


@given(config=configurations(("none", "mirrored", "zones")), seed=st.integers(0, 1 << 20))
@settings(max_examples=6)
def test_integers_are_the_reference_s_along_games(
    compare_along_game, tmp_path_factory: pytest.TempPathFactory, config: NetworkConfig, seed: int
) -> None:
    path, drawn = tmp_path_factory.mktemp("family") / "net.safetensors", folded(config, seed)
    assume(drawn.logits(SAMPLE).std() > 0.02)
    integers(drawn, path)
    compare_along_game(load_network(path), seed, 60)


@pytest.mark.slow
def test_a_progress_axis_is_trained_with_its_own_table(tmp_path: Path) -> None:
    network = DenseConfig(32, (7,), activation="pairwise", shortcut=True, stacks=("progress2",))
    train_value(ValueTraining((GAMES,), tmp_path / "run", network=network, max_steps=2, batch_size=512))
    fold_file(Folding(tmp_path / "run", tmp_path / "net.safetensors", positions=300))
    net = load_network(tmp_path / "net.safetensors")
    assert set(net.stacks.index(SAMPLE.pieces, SAMPLE.hands)) == {0, 1}


OF_EACH = (
    LiteConfig((3, 2, 8), perspectives=2, activation="dual", lines=("diagonals", "blocks")),
    UntiedConfig((2, 3, 7), activation="squared", lines=("blocks",), king="mirrored", draw=True, buckets=8),
    DenseConfig(9, (8, 6), perspectives=2, activation="clipped", king="zones"),
    DenseConfig(80, (15, 32), 2, activation="pairwise", shortcut=True, hidden_squares=True, stacks=("k3k3",)),
    UntiedConfig((3, 4, 9), activation="relu", shortcut=True, stacks=("hand16", "progress3")),
)
SCRIPT = """
import sys
import numpy as np
from search.evaluation.network_file import load_network
from search.evaluation.static_evaluation import evaluate_batch
from search.compiling.jit import KERNEL

expected = np.load(sys.argv[1])
for number in range(int(sys.argv[2])):
    net = load_network(f"{sys.argv[1]}.{number}.safetensors")
    found = evaluate_batch(net, expected["pieces"], expected["hands"], expected["in_check"])
    assert (found == expected[str(number)]).all(), net.activation
print("equal", KERNEL)
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the sample, the reference outputs of some networks, and their files; return the path."""
    path = tmp_path_factory.mktemp("each") / "expected.npz"
    files = [path.with_name(f"{path.name}.{number}.safetensors") for number in range(len(OF_EACH))]
    outputs = {str(number): integers(folded(config, 1), files[number]) for number, config in enumerate(OF_EACH)}
    np.savez(path, pieces=SAMPLE.pieces, hands=SAMPLE.hands, in_check=SAMPLE.in_check, **outputs)
    return path


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_gives_the_reference_s_integers(kernel: str, written: Path) -> None:
    if not os.environ.get("LITESHOGI_KERNEL") and KERNELS.index(kernel) < KERNELS.index(KERNEL):
        pytest.skip(f"this CPU has no {kernel}")
    environment = os.environ | {"LITESHOGI_KERNEL": kernel, "PYTHONPATH": str(Path(__file__).parents[2])}
    arguments = [sys.executable, "-c", SCRIPT, str(written), str(len(OF_EACH))]
    run = subprocess.run(arguments, capture_output=True, text=True, env=environment, timeout=250)
    if "this CPU cannot run it" in run.stderr:
        pytest.skip(f"this CPU has no {kernel}")
    assert run.returncode == 0, run.stderr[-2000:]
    assert run.stdout.strip() == f"equal {kernel}"
