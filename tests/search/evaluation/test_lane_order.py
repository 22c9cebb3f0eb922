"""Lanes in another order: the same integers, and products of more groups in int16."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from search.evaluation.evaluation_speed import random_games, random_network
from search.evaluation.kernels import groups_together
from search.evaluation.lane_order import balance_lanes
from search.evaluation.network import EvalNetwork, Shards, evaluate_reference
from search.evaluation.network_file import load_network
from search.evaluation.shipped import network_file, shipped_names
from search.rules.position import do_move
from search.rules.sfen import position_from_sfen

COUNTS = (1, 2, 4)
"""Those of a CPU whose kernel adds groups."""


def together(net: EvalNetwork) -> int:
    weight = net.layers[0].weight
    return groups_together(weight, weight.shape[-1], COUNTS)


def with_weights(net: EvalNetwork, heavy: int) -> EvalNetwork:
    """Return a network whose first layer has large weights for the first `heavy` inputs and small ones for the rest."""
    generator = np.random.default_rng(5)
    weight = generator.integers(-9, 10, net.layers[0].weight.shape).astype(np.int8)
    weight[..., :heavy] = 90
    return dataclasses.replace(net, layers=(dataclasses.replace(net.layers[0], weight=weight), *net.layers[1:]))


def black_positions() -> tuple[np.ndarray, np.ndarray]:
    """Return boards u1 (B, 81) and hands u1 (B, 14) of random games from black's view."""
    games, boards, hands = random_games(6), [], []
    for first, end in zip(games.starts, games.starts[1:], strict=False):
        pos = position_from_sfen("startpos")
        for move in games.moves[first:end]:
            do_move(pos, np.int64(move))
            boards.append(pos["board"].copy())
            hands.append(pos["hands"].reshape(-1).copy())
    return np.array(boards, np.uint8), np.array(hands, np.uint8)


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        (("piece_square", 96, (32,), 1), {}),
        (("k_p", 64, (20, 9), 2, ("value", "draw")), {}),
        (("king_piece_square", 64, (8,), 2, ("value",), "dual_clipped_relu", 5), {}),
        (("half_ka_hm2", 64, (8, 32), 2, ("value",), "pairwise_clipped_relu"), {"stacks": ("k3k3",)}),
    ],
)
def test_balanced_lanes_give_the_same_outputs(spec: tuple, parts: dict) -> None:
    boards, hands = black_positions()
    checks = np.arange(len(boards)) % 3 == 0
    net = with_weights(random_network(*spec, **parts), 5)
    balanced = balance_lanes(net, COUNTS)
    assert together(net) == 1
    assert together(balanced) == 4
    found, expected = (evaluate_reference(one, boards, hands, checks) for one in (balanced, net))
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("name", shipped_names())
def test_shipped_networks_add_four_groups(name: str) -> None:
    assert together(balance_lanes(load_network(network_file(name)), COUNTS)) == 4


@pytest.mark.parametrize("heavy", [0, 192])
def test_lanes_keep_their_places_where_another_order_helps_nothing(heavy: int) -> None:
    net = with_weights(random_network("piece_square", 96, (32,), 2), heavy)
    assert balance_lanes(net, COUNTS) is net


@pytest.mark.parametrize("activation", ["clipped_relu", "dual_clipped_relu", "pairwise_clipped_relu"])
def test_lanes_of_a_network_with_shards_keep_their_places(activation: str) -> None:
    inputs = {"clipped_relu": 128, "dual_clipped_relu": 256, "pairwise_clipped_relu": 64}[activation]
    net = random_network("k_p", 64, (8, 32), 2, activation=activation, shards=Shards(0, inputs // 8, 8))
    net = with_weights(net, 5)
    assert balance_lanes(net, COUNTS) is net
