"""The fused step compared with plain PyTorch: values, gradients, running statistics, and a hundred steps."""

from __future__ import annotations

import copy
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lite.networks import fused_step
from lite.networks.activation import ACTIVATIONS
from lite.networks.build import CONFIGS
from lite.networks.dense import DenseConfig
from lite.networks.fused_step import fused_outputs
from lite.networks.lite_value import LiteConfig
from lite.networks.parts import part_bounds
from lite.networks.row_sums import BLOCK, TableSums
from lite.networks.untied import UntiedConfig
from lite.networks.value_network import listed_inputs
from lite.training.training_speed import synthetic_batch
from search.rules.shogi import MIRRORED_SQUARE


class Layers:
    """A first layer with zero to two batch normalisations, and hidden layers, fused and in plain operations."""

    def __init__(
        self,
        features=9,
        width=6,
        hidden=(5, 3),
        views=1,
        norms=1,
        activation="relu",
        dtype=torch.float64,
        outputs=1,
        pair_block=None,
    ):
        """Without `outputs` there are no hidden layers."""
        self.activation, self.views = ACTIVATIONS[activation], views
        self.table = torch.randn(features, width, dtype=dtype).requires_grad_()
        self.base = torch.randn(width, dtype=dtype).requires_grad_()
        self.norms = [torch.nn.BatchNorm1d(width // norms // 2).to(dtype) for _ in range(norms)]
        for norm in self.norms:
            norm.weight.data.uniform_(0.5, 2)
            norm.bias.data.uniform_(-0.5, 0.5)
        self.pair_block = pair_block
        sizes = [self.activation.input_count(width) * views, *hidden, outputs]
        self.linear = [torch.nn.Linear(a, b).to(dtype) for a, b in pairwise(sizes if outputs else [])]

    def parameters(self):
        modules = [*self.norms, *self.linear]
        return [self.table, self.base, *(p for module in modules for p in module.parameters())]

    def fused(self, lists, training=True, threads=1):
        def part(first, last):
            chosen = lists[first * self.views : last * self.views]
            start = np.cumsum([0, *map(len, chosen)])
            return np.array([row for rows in chosen for row in rows], np.uint16), start

        linear = [(layer.weight, layer.bias) for layer in self.linear]
        first_layer = TableSums(self.table, self.base, self.pair_block)
        arguments = (first_layer, self.norms, training, linear, self.activation, threads)
        return fused_outputs(len(lists) // self.views, part, *arguments)

    def plain(self, lists, training=True):
        sums = torch.stack([self.base + self.table[rows].sum(0) for rows in map(list, lists)])
        if self.norms:
            width = sums.shape[1] // len(self.norms)
            views = []
            for number, norm in enumerate(self.norms):
                # Two columns per channel; the lite network has nine.
                grouped = sums[:, number * width : (number + 1) * width].reshape(len(sums), -1, 2)
                views.append(norm.train(training)(grouped).flatten(1))
            sums = torch.cat(views, 1)
        cut = sums.clamp(0, self.activation.ceiling)
        if self.activation.pairwise:
            blocks = cut.view(len(cut), -1, 2, (self.pair_block or cut.shape[1]) // 2)
            outputs = (blocks[:, :, 0] * blocks[:, :, 1]).flatten(1)
        else:
            outputs = torch.cat([cut] * self.activation.clipped + [cut**2] * self.activation.squared, 1)
        outputs = outputs.reshape(len(lists) // self.views, -1)
        if not self.linear:
            return outputs
        for layer in self.linear[:-1]:
            outputs = layer(outputs).clamp(0, self.activation.ceiling)
        return self.linear[-1](outputs)


def draw_lists(rng, samples, features=9):
    return [rng.integers(0, features, rng.integers(0, 7)).tolist() for _ in range(samples)]


@given(
    seed=st.integers(0, 2**32 - 1),
    positions=st.integers(2, 9),
    views=st.sampled_from([1, 2]),
    width=st.sampled_from([4, 12, 140]),
    norms=st.sampled_from([0, 1, 2]),
    hidden=st.sampled_from([(), (5,), (5, 3)]),
    activation=st.sampled_from(list(ACTIVATIONS)),
    training=st.booleans(),
    outputs=st.sampled_from([0, 1, 2]),
    pair_block=st.sampled_from([None, 2, 4]),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    threads=st.sampled_from([1, 2, 4]),
)
@settings(max_examples=80)
def test_values_gradients_and_statistics_equal_those_of_autograd(
    seed, positions, views, width, norms, hidden, activation, training, outputs, pair_block, dtype, threads
):
    """Some samples have no rows, repeated rows, or equal other samples."""
    torch.manual_seed(seed)
    lists = draw_lists(np.random.default_rng(seed), positions * views)
    ours = Layers(9, width, hidden, views, norms, activation, dtype, outputs, pair_block)
    theirs = copy.deepcopy(ours)
    tolerance = {"rtol": 1e-9, "atol": 1e-9} if dtype == torch.float64 else {"rtol": 1e-3, "atol": 1e-3}
    results = [ours.fused(lists, training, threads), theirs.plain(lists, training)]
    torch.testing.assert_close(*results, **tolerance)
    weight = torch.linspace(-1, 2, results[0].numel(), dtype=dtype).view_as(results[0])
    for logits in results:
        (logits * weight).sum().backward()
    for own, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        expected = torch.zeros_like(other) if other.grad is None else other.grad
        torch.testing.assert_close(own.grad, expected, **tolerance)
    for own, other in zip(ours.norms, theirs.norms, strict=True):
        torch.testing.assert_close(own.state_dict(), other.state_dict(), **tolerance)


def test_gradients_by_finite_differences():
    torch.manual_seed(1)
    net = Layers(features=4, width=4, hidden=(3,), views=2)
    lists = draw_lists(np.random.default_rng(0), 6, features=4)

    def value(*parameters):
        return net.fused(lists)

    assert torch.autograd.gradcheck(value, tuple(net.parameters()))


def test_several_blocks_parts_and_repeated_rows():
    """The batch exceeds the blocks of samples and of activations, and one row occurs more often than a block has
    samples; on one thread and on three."""
    torch.manual_seed(0)
    lists = draw_lists(np.random.default_rng(0), 3000)
    lists[1] = [3] * (BLOCK + 5)
    first = Layers(width=160, views=2)
    nets = [first, copy.deepcopy(first), copy.deepcopy(first)]
    nets[2].plain(lists).square().sum().backward()
    for net, threads in zip(nets, (1, 3), strict=False):
        net.fused(lists, threads=threads).square().sum().backward()
    for one, three, plain in zip(*(net.parameters() for net in nets), strict=True):
        torch.testing.assert_close(one.grad, three.grad, rtol=1e-10, atol=1e-9)
        torch.testing.assert_close(one.grad, plain.grad, rtol=1e-9, atol=1e-8)


@given(st.integers(1, 300), st.integers(1, 64))
def test_parts_add_up_to_the_batch(count: int, threads: int) -> None:
    bounds = part_bounds(count, threads)
    assert [place for part in bounds for place in range(*part)] == list(range(count))
    assert len(bounds) == min(count, threads)


def test_parts_have_a_minimum_of_positions(monkeypatch):
    """More threads than such parts do not change the bits; one thread fewer does."""
    monkeypatch.setattr(fused_step, "PART_POSITIONS", 24)
    torch.manual_seed(0)
    net, batch = LiteConfig((4, 2, 8)).build(), synthetic_batch(100)
    gradients = {}
    for net.threads in (3, 4, 16):
        net.zero_grad()
        net.logits(batch.pieces, batch.hands, batch.in_check).square().sum().backward()
        gradients[net.threads] = torch.cat([part.grad.flatten() for part in net.parameters()])
    assert torch.equal(gradients[16], gradients[4])
    assert not torch.equal(gradients[16], gradients[3])


def test_large_tables_are_updated():
    torch.manual_seed(0)
    lists = draw_lists(np.random.default_rng(0), 700, features=9000)
    ours = Layers(features=9000, norms=0, activation="clipped")
    theirs = copy.deepcopy(ours)
    ours.fused(lists).square().sum().backward()
    theirs.plain(lists).square().sum().backward()
    torch.testing.assert_close(ours.table.grad, theirs.table.grad, rtol=1e-10, atol=1e-10)


def test_a_batch_of_one_position_cannot_be_normalised():
    net = Layers(width=2)
    net.norms[0] = torch.nn.BatchNorm1d(2).double()
    with pytest.raises(ValueError, match="more than one"):
        net.fused([[1]])


def test_a_nan_is_propagated():
    net = Layers(norms=0)
    with torch.no_grad():
        net.table[3, 1] = float("nan")
    assert torch.isnan(net.fused([[1], [3]])[:, 0]).tolist() == [False, True]


@pytest.mark.parametrize(
    "config",
    [DenseConfig(16, (8,), 2), LiteConfig((4, 2, 8)), UntiedConfig((4, 2, 8), perspectives=2)],
    ids=lambda config: config.name,
)
def test_a_hundred_steps_equal_those_of_the_plain_module(config):
    torch.manual_seed(0)
    fused = config.build().double()
    listed = copy.deepcopy(fused)
    batch = synthetic_batch(48)
    batch.pieces[7] = batch.pieces[3][MIRRORED_SQUARE]
    batch.pieces[8], batch.hands[8], batch.in_check[8] = batch.pieces[3], batch.hands[3], True
    arrays = (batch.pieces, batch.hands, batch.in_check)
    inputs, target = listed_inputs(*arrays), torch.from_numpy(batch.result).double()
    losses = []
    for net, value in ((fused, lambda: fused.logits(*arrays)), (listed, lambda: listed(*inputs).squeeze(1))):
        optimiser = torch.optim.AdamW(net.parameters(), lr=0.003)
        losses.append([])
        for _ in range(100):
            optimiser.zero_grad()
            loss = torch.nn.functional.binary_cross_entropy_with_logits(value(), target)
            loss.backward()
            optimiser.step()
            losses[-1].append(loss.item())
    assert losses[0][-1] < losses[0][0] / 2
    np.testing.assert_allclose(losses[0], losses[1], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_step_is_reproducible_to_the_bit(name):
    torch.manual_seed(0)
    net = CONFIGS[name]().build()
    batch = synthetic_batch(100)
    gradients = []
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        for _ in range(2):
            net.zero_grad()
            net.logits(batch.pieces, batch.hands, batch.in_check).square().sum().backward()
            gradients.append([p.grad.clone() for p in net.parameters() if p.grad is not None])
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(a, b) for a, b in zip(*gradients, strict=True))
