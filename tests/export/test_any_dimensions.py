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
from search.rules.movegen import MAX_MOVES, legal_moves
from search.rules.position import do_move, undo_move
from search.rules.sfen import position_from_sfen
from search.rules.shogi import EMPTY, KINDS

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
    generator, buffer = random.Random(seed), np.zeros(MAX_MOVES, np.uint16)
    views, outputs = [], []
    for _ in range(plies):
        count = legal_moves(pos, buffer)
        if count == 0:
            break
        aside, move = (np.int64(buffer[generator.randrange(count)]) for _ in range(2))
        do_move(pos, aside)
        evaluate_output(pos, accumulators.record, network_record(net))
        undo_move(pos, aside)
        do_move(pos, move)
        outputs.append(int(evaluate_output(pos, accumulators.record, network_record(net))))
        board, hands = pos["board"].astype(np.int64), pos["hands"].reshape(-1).copy()
        if pos["turn"]:
            board, hands = np.where(board == EMPTY, EMPTY, (board + KINDS) % (2 * KINDS))[::-1], np.roll(hands, 7)
        views.append((board.astype(np.uint8), hands, bool(pos["checkers"].any())))
    pieces, hands, in_check = (np.array(column) for column in zip(*views, strict=True))
    assert (evaluate_reference(net, pieces, hands, in_check)[:, 0] == outputs).all()
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
