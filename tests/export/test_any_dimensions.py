"""Networks of any dimensions, from training to incremental evaluation, without compiling anything for them."""

from __future__ import annotations

import pytest
import torch

from export.folded import fold
from export.positions import Sample
from export.quantise import quantise
from lite.networks.dense import DensePieceSquareNetwork
from lite.networks.lite_value import LiteValueNetwork
from lite.networks.untied import UntiedNetwork
from lite.networks.value_network import ValueNetwork
from search.evaluation import accumulator
from search.evaluation.accumulator import Accumulators, evaluate, evaluate_output
from search.evaluation.network_file import load_network, save_network
from search.evaluation.network_record import network_record
from search.rules.sfen import position_from_sfen

ODD = {
    "board": lambda: LiteValueNetwork((3, 5, 13)),
    "blog": lambda: LiteValueNetwork((7, 3, 50), layout="blog"),
    "untied, two views": lambda: UntiedNetwork((2, 4, 9), perspectives=2),
    "dense": lambda: DensePieceSquareNetwork(41, (19, 6), perspectives=2),
}


def train(net: ValueNetwork, sample: Sample, steps: int = 5) -> ValueNetwork:
    optimiser = torch.optim.AdamW(net.parameters(), lr=0.01)
    for step in range(steps):
        part = sample.part(500 * step, 500 * (step + 1))
        logits = net.train().logits(part.pieces, part.hands, part.in_check)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, torch.from_numpy(part.result))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return net.eval()


@pytest.mark.parametrize("name", ODD)
def test_networks_of_odd_dimensions_compile_nothing(name: str, positions: Sample, tmp_path, compare_along_game) -> None:
    functions = (accumulator.update, accumulator.refresh, accumulator.forward, evaluate_output, evaluate)
    shipped = quantise(fold(LiteValueNetwork((16, 4, 32)).eval()), positions.part(0, 100))
    evaluate(position_from_sfen("startpos"), Accumulators(shipped).record, network_record(shipped))
    compare_along_game(shipped, 0, 20)
    before = [len(function.overloads) for function in functions]
    torch.manual_seed(2)
    trained = train(ODD[name](), positions)
    save_network(quantise(fold(trained), positions.part(0, 2000)), tmp_path / "net.safetensors")
    net = load_network(tmp_path / "net.safetensors")
    for seed in range(3):
        compare_along_game(net, seed)
    assert [len(function.overloads) for function in functions] == before
    assert max(before) == 1
