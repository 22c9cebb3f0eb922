"""Training speed in positions per second: by the fused step, by plain PyTorch, and on a GPU."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Literal

import numpy as np
import torch
from torch import nn

from lite.networks.dense import DenseConfig
from lite.networks.lite_value import LiteConfig
from lite.networks.nnue import KpConfig, NnueConfig
from lite.networks.sfnn import SfnnConfig
from lite.networks.shapes import shapes_alone
from lite.networks.untied import UntiedConfig
from lite.networks.value_network import NetworkConfig, listed_inputs
from lite.records.batch import Batch
from lite.training.memory import keep_freed_memory
from lite.training.optimiser import OptimiserConfig, WeightAverage, make_optimiser
from search.rules.shogi import EMPTY, GOLD, KINDS, KING, PIECES_IN_BOX, PROMOTION


def synthetic_batch(positions: int, seed: int = 0) -> Batch:
    """Return a batch of random boards with the 40 pieces of a set, a fifth of them in hand; not legal positions."""
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


MEASURED: dict[str, NetworkConfig] = {
    "lite_16_4_32": LiteConfig((16, 4, 32)),
    "untied_16_7_32": UntiedConfig((16, 7, 32)),
    "dense_128_two_views": DenseConfig(128, (32,), 2),
    "k_p_256_32_32": KpConfig(256, (32, 32)),
    "sfnn_halfka2_1024_7_64_k3k3": SfnnConfig("halfka2", 1024, (7, 64), ("k3k3",)),
    "sfnn_kp_128_7_32_k3k3": SfnnConfig("kp", 128, (7, 32), ("k3k3",)),
}
LARGE = 1 << 24
"""Number of parameters from which a round has few steps, because each of them moves all parameters."""


Way = Literal["fused", "module", "cuda"]


def _make_steps(config: NetworkConfig, batch: Batch, way: Way) -> Callable[[int, int], float]:
    """Return a function of a number of training steps and of threads that returns the seconds per step."""
    device = "cuda" if way == "cuda" else "cpu"
    net, options = config.build().to(device), OptimiserConfig()
    arrays = (batch.pieces, batch.hands, batch.in_check)
    inputs = listed_inputs(*arrays)
    outputs: dict[Way, Callable[[], torch.Tensor]] = {
        "fused": lambda: net.outputs(*arrays),
        "module": lambda: net(*inputs),
        "cuda": lambda: net.gathered_outputs(*(torch.from_numpy(array).to(device) for array in arrays)),
    }
    optimiser, average = make_optimiser(options, net), WeightAverage(options, net)

    def take(steps: int, threads: int) -> float:
        net.threads = threads
        begun = time.perf_counter()
        for _ in range(steps):
            optimiser.zero_grad()
            target = torch.from_numpy(batch.result).to(device)
            loss = nn.functional.binary_cross_entropy_with_logits(outputs[way]()[:, 0], target)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), options.clip)
            optimiser.step()
            average.update(net, 0.5)
            loss.item()  # waits for the GPU, as training does
        return (time.perf_counter() - begun) / steps

    return take


def bench_training(
    kinds: dict[str, NetworkConfig] = MEASURED, batch_size: int = 8192, rounds: int = 5
) -> dict[str, float]:
    """Return positions per second of whole steps on the same decoded batch, by kind of network: medians over rounds.

    The kinds alternate within a round. The fused step starts from the batch's bytes, on one thread and on two, and so
    does a GPU where there is one. The plain PyTorch module, on one thread, gets its index tensors ready-made; NNUE and
    SFNN have none.
    """
    keep_freed_memory()
    batch = synthetic_batch(batch_size)
    ways: dict[str, tuple[Callable[[int, int], float], int, int]] = {}
    for kind, config in kinds.items():
        with shapes_alone():
            parameters = sum(part.numel() for part in config.build().parameters())
        fused, steps = _make_steps(config, batch, "fused"), 10 if parameters < LARGE else 2
        ways[f"{kind}_positions_per_s"] = fused, 1, steps
        ways[f"{kind}_two_threads_positions_per_s"] = fused, 2, steps
        if not isinstance(config, NnueConfig | SfnnConfig):
            ways[f"{kind}_module_positions_per_s"] = _make_steps(config, batch, "module"), 1, 1
        if torch.cuda.is_available():
            ways[f"{kind}_gpu_positions_per_s"] = _make_steps(config, batch, "cuda"), 1, steps
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    try:
        for number in range(rounds + 1):
            for name, (take, threads, steps) in ways.items():
                taken = take(steps if number else 1, threads)
                if number:  # the first round warms up
                    seconds[name].append(taken)
    finally:
        torch.set_num_threads(before)
    figures = {name: round(batch_size / statistics.median(taken), 1) for name, taken in seconds.items()}
    ratios = {
        f"{kind}_ratio": round(figures[f"{kind}_positions_per_s"] / figures[f"{kind}_module_positions_per_s"], 2)
        for kind in kinds
        if f"{kind}_module_positions_per_s" in figures
    }
    return figures | ratios
