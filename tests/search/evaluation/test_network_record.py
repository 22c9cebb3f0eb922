"""Reordered lanes: the same integers, with the zeros of the first layer in groups."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from search.evaluation.evaluation_speed import random_games, random_network
from search.evaluation.network import EvalNetwork, Shards, evaluate_reference
from search.evaluation.network_file import load_network, save_network
from search.evaluation.network_record import network_record, order_lanes
from search.evaluation.shipped import network_file
from search.rules.position import do_move
from search.rules.sfen import position_from_sfen
from tests.yaneuraou_networks import network_bytes


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


def zero_groups(net: EvalNetwork, boards: np.ndarray, hands: np.ndarray) -> float:
    """Return the share of aligned groups of four inputs of the first layer that are all zero."""
    table = np.concatenate((net.rows, np.zeros((1, net.width), np.int16)))
    sums = [table[net.feature_set.active_rows(boards, hands, view)].sum(1, dtype=np.int16) for view in range(2)]
    inputs = np.clip((np.concatenate(sums, 1) + np.tile(net.bias, 2)) >> net.input_shift, 0, 127)
    return float((inputs.reshape(len(boards), -1, 4) == 0).all(2).mean())


def test_ordered_lanes_give_the_same_outputs() -> None:
    boards, hands = black_positions()
    checks = np.arange(len(boards)) % 3 == 0
    pairs = ("half_ka_hm2", 64, (8,), 2, ("value",), "pairwise_clipped_relu")
    others = (("k_p", 64, (20, 9), 2, ("value", "draw")), ("half_kp", 32, (), 2), pairs)
    for spec in (("piece_square", 96, (32,), 1), *others):
        net = random_network(*spec)
        for case in (net, dataclasses.replace(net, rows=net.rows * np.int16(700), input_shift=4)):
            ordered = order_lanes(case)
            assert not np.array_equal(ordered.rows, case.rows)
            found, expected = (evaluate_reference(one, boards, hands, checks) for one in (ordered, case))
            assert np.array_equal(found, expected), spec


@pytest.mark.parametrize("activation", ["clipped_relu", "dual_clipped_relu", "pairwise_clipped_relu"])
def test_lanes_of_a_network_with_shards_keep_their_places(activation: str) -> None:
    boards, hands = black_positions()
    inputs = {"clipped_relu": 128, "dual_clipped_relu": 256, "pairwise_clipped_relu": 64}[activation]
    net = random_network("k_p", 64, (8, 32), 2, activation=activation, shards=Shards(0, inputs // 8, 8))
    checks = np.zeros(len(boards), np.bool_)
    found, expected = (evaluate_reference(one, boards, hands, checks) for one in (order_lanes(net), net))
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("name", ["SFNN_ka2_64_7_32_k3k3", "SFNN_kp_64_7_32_k3k3", "halfkahm1_32x2_8_32"])
def test_a_large_table_is_not_copied(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if it is read from a file of this format; only K+A2 needs additional rows."""
    monkeypatch.setattr("search.evaluation.network_record.LARGE_TABLE", 0)
    (tmp_path / "nn.bin").write_bytes(network_bytes(name))
    read = load_network(tmp_path / "nn.bin")
    save_network(read, tmp_path / "net.safetensors")
    saved = load_network(tmp_path / "net.safetensors")
    assert saved.rows.dtype == read.rows.dtype == np.int8
    for net in (read, saved):
        assert (int(network_record(net)["rows"]) == net.rows.ctypes.data) == (name != "SFNN_ka2_64_7_32_k3k3")


def test_ordered_lanes_gather_zeros() -> None:
    boards, hands = black_positions()
    net = load_network(network_file("default"))
    stored, ordered = (zero_groups(one, boards, hands) for one in (net, order_lanes(net)))
    assert ordered > 1.3 * stored > 0
