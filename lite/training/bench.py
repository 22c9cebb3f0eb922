"""Positions a second of a training step, by summed rows and by the module as listed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from lite.networks.lite_value import LiteValueNetwork
from lite.networks.value_network import listed_inputs
from lite.records.decode import Batch
from search.rules.shogi import EMPTY, GOLD, KINDS, KING, PIECES_IN_BOX, PROMOTION


def synthetic_batch(positions: int, seed: int = 0) -> Batch:
    """Random boards with the forty pieces of a set, a fifth of them in hand: a batch's arrays, not legal positions."""
    rng = np.random.default_rng(seed)
    box = np.repeat(np.arange(8), PIECES_IN_BOX)
    pieces = np.full((positions, 81), EMPTY, np.uint8)
    hands = np.zeros((positions, 14), np.uint8)
    for board, hand in zip(pieces, hands, strict=True):
        colour = rng.integers(0, 2, len(box))
        colour[box == KING] = 0, 1
        held = (rng.random(len(box)) < 0.2) & (box != KING)
        np.add.at(hand, (colour * 7 + box)[held], 1)
        promoted = (rng.random(len(box)) < 0.1) & (box < GOLD)
        squares = rng.permutation(81)[: int((~held).sum())]
        board[squares] = (colour * KINDS + box + PROMOTION * promoted)[~held]
    return Batch(
        pieces=pieces,
        hands=hands,
        in_check=rng.random(positions) < 0.1,
        turn=rng.integers(0, 2, positions).astype(np.uint8),
        kind_of_result=np.zeros(positions, np.uint8),
        scored=np.ones(positions, bool),
        score=rng.normal(0, 800, positions).astype(np.int16),
        result=rng.choice([0, 0.5, 1], positions, p=[0.49, 0.02, 0.49]).astype(np.float32),
        ply=rng.integers(1, 200, positions).astype(np.int16),
        move=np.zeros(positions, np.uint16),
    )


def _seconds_a_step(net: nn.Module, value: Callable[[], torch.Tensor], target: torch.Tensor, steps: int) -> float:
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-3)
    begun = time.perf_counter()
    for _ in range(steps):
        optimiser.zero_grad(set_to_none=True)
        nn.functional.binary_cross_entropy_with_logits(value(), target).backward()
        optimiser.step()
    return (time.perf_counter() - begun) / steps


def bench_training(
    dims: tuple[int, int, int] = (16, 4, 32), batch_size: int = 8192, rounds: int = 5
) -> dict[str, float]:
    """Medians over alternating rounds, one core: whole steps (forward, backward, AdamW) on the same decoded batch.

    The listed module gets its index tensors ready-made; the summed rows start from the batch's bytes.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        batch = synthetic_batch(batch_size)
        arrays = (batch.pieces, batch.hands, batch.in_check)
        target = torch.from_numpy(batch.result)
        inputs = listed_inputs(*arrays)
        listed, blog, board = (LiteValueNetwork(dims, layout) for layout in ("blog", "blog", "board"))  # type: ignore[arg-type]
        ways: dict[str, tuple[nn.Module, Callable[[], torch.Tensor], int]] = {
            "positions_per_s": (board, lambda: board.logits(*arrays), 10),
            "blog_positions_per_s": (blog, lambda: blog.logits(*arrays), 10),
            "listed_module_positions_per_s": (listed, lambda: listed.forward_listed(*inputs).squeeze(1), 1),
        }
        for net, value, _ in ways.values():
            _seconds_a_step(net, value, target, 1)
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(rounds):
            for name, (net, value, steps) in ways.items():
                seconds[name].append(_seconds_a_step(net, value, target, steps))
    finally:
        torch.set_num_threads(threads)
    figures = {name: round(batch_size / statistics.median(taken), 1) for name, taken in seconds.items()}
    return figures | {"ratio": round(figures["positions_per_s"] / figures["listed_module_positions_per_s"], 2)}
