"""From a few steps of training to incremental evaluation: any dimensions, nothing compiled for them."""

from __future__ import annotations

import random

import numpy as np
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
from search.evaluation.network import EvalNetwork, evaluate_reference
from search.evaluation.network_file import load_network, save_network
from search.evaluation.network_record import network_record
from search.rules.movegen import list_moves
from search.rules.position import do_move, undo_move
from search.rules.sfen import position_from_sfen
from search.rules.view import view_position

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


def walk_and_compare(net: EvalNetwork, seed: int, plies: int = 150) -> None:
    """Along a random game, with a step aside and back at every ply, against the reference."""
    pos, accumulators = position_from_sfen("startpos"), Accumulators(net)
    generator, outputs = random.Random(seed), []
    pieces, hands, checks = np.zeros((plies, 81), np.uint8), np.zeros((plies, 14), np.uint8), np.zeros(plies, np.bool_)
    for ply in range(plies):
        moves = list_moves(pos)
        if not moves:
            break
        aside, move = (np.int64(generator.choice(moves)) for _ in range(2))
        do_move(pos, aside)
        evaluate_output(pos, accumulators.record, network_record(net))
        undo_move(pos, aside)
        do_move(pos, move)
        outputs.append(int(evaluate_output(pos, accumulators.record, network_record(net))))
        view_position(pos, pieces, hands, checks, np.int64(ply))
    played = len(outputs)
    assert (evaluate_reference(net, pieces[:played], hands[:played], checks[:played])[:, 0] == outputs).all()
    assert len(set(outputs)) > plies // 4


@pytest.mark.parametrize("name", ODD)
def test_trained_odd_dimensions_compile_nothing(name: str, positions: Sample, tmp_path) -> None:
    functions = (accumulator.update, accumulator.refresh, accumulator.forward, evaluate_output, evaluate)
    shipped = quantise(fold(LiteValueNetwork((16, 4, 32)).eval()), positions.part(0, 100))
    evaluate(position_from_sfen("startpos"), Accumulators(shipped).record, network_record(shipped))
    walk_and_compare(shipped, 0, 20)
    before = [len(function.overloads) for function in functions]
    torch.manual_seed(2)
    trained = train(ODD[name](), positions)
    save_network(quantise(fold(trained), positions.part(0, 2000)), tmp_path / "net.safetensors")
    net = load_network(tmp_path / "net.safetensors")
    for seed in range(3):
        walk_and_compare(net, seed)
    assert [len(function.overloads) for function in functions] == before
    assert max(before) == 1
