"""Fixtures for export: networks with random weights and statistics, and positions to evaluate."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
import torch

from export.positions import Sample, random_sample
from lite.networks.dense import DensePieceSquareNetwork
from lite.networks.lite_value import LiteValueNetwork
from lite.networks.untied import UntiedNetwork
from lite.networks.value_network import ValueNetwork
from search.evaluation.accumulator import Accumulators, evaluate_output
from search.evaluation.network import EvalNetwork, evaluate_reference
from search.evaluation.network_record import network_record
from search.rules.movegen import list_moves
from search.rules.position import do_move, undo_move
from search.rules.sfen import position_from_sfen
from search.rules.view import view_position

# Each property occurs in at least one network; only some combinations are tested.
NETS: dict[str, Callable[[], ValueNetwork]] = {
    "board": lambda: LiteValueNetwork((16, 4, 32)),
    "odd": lambda: LiteValueNetwork((5, 3, 7), layout="blog"),
    "two views": lambda: LiteValueNetwork((6, 5, 11), perspectives=2, draw=True),
    "dense": lambda: DensePieceSquareNetwork(24, (8, 5), perspectives=2, draw=True),
    "clipped": lambda: DensePieceSquareNetwork(24, (8, 5), activation="clipped", king="zones"),
    "squared": lambda: LiteValueNetwork((6, 5, 11), perspectives=2, activation="squared"),
    "dual": lambda: UntiedNetwork((4, 2, 6), activation="dual", draw=True, buckets=8),
    "buckets": lambda: DensePieceSquareNetwork(33, (), buckets=3),
    "stacks": lambda: LiteValueNetwork(
        (6, 4, 7), activation="pairwise", hidden_squares=True, shortcut=True, stacks=("k3k3", "hand4")
    ),
}


@pytest.fixture(params=list(NETS))
def any_net(request: pytest.FixtureRequest, make_net) -> ValueNetwork:
    net: ValueNetwork = make_net(request.param)
    return net


@pytest.fixture(scope="session")
def make_net() -> Callable[[str], ValueNetwork]:
    """make_net(name): a network in evaluation mode with statistics of its normalisations, as after training."""

    def make(name: str) -> ValueNetwork:
        torch.manual_seed(1)
        net = NETS[name]()
        with torch.no_grad():
            if net.layer_stacks is not None:
                for part in net.layer_stacks.own_weight:
                    part.normal_(0, 0.1)
            for norm in net.norms():
                norm.running_mean.normal_(0, 0.5)  # type: ignore[operator, union-attr]
                norm.running_var.uniform_(0.5, 2)  # type: ignore[operator, union-attr]
                norm.weight.uniform_(0.5, 1.5)  # type: ignore[operator, union-attr]
                norm.bias.normal_(0.5, 0.5)  # type: ignore[operator, union-attr]
        return net.eval()

    return make


@pytest.fixture(scope="session")
def positions() -> Sample:
    """10,000 positions of random games with random results."""
    sample = random_sample(10_000)
    result = np.random.default_rng(0).choice(np.array([0, 0.5, 1], np.float32), len(sample), p=[0.45, 0.1, 0.45])
    return Sample(sample.pieces, sample.hands, sample.in_check, result, sample.source)


def _compare_along_game(net: EvalNetwork, seed: int, plies: int = 150) -> None:
    """Compare with the reference along a random game, with another move made and undone at every ply."""
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


@pytest.fixture(scope="session")
def compare_along_game() -> Callable[..., None]:
    """compare_along_game(network, seed, plies): assert that incremental evaluation equals the reference."""
    return _compare_along_game
