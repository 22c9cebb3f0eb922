"""The lite value network equals the article's listing; all paths through a network compute the same function."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest
import torch
from torch import nn

from lite.networks.build import network_from_config
from lite.networks.dense import DenseConfig, DensePieceSquareNetwork
from lite.networks.lite_value import LiteConfig, LiteValueNetwork
from lite.networks.nnue import HalfKpConfig, KpConfig
from lite.networks.untied import UntiedConfig, UntiedNetwork
from lite.networks.value_network import ValueNetwork, listed_inputs
from lite.training.training_speed import synthetic_batch


class Listing(nn.Module):
    """The article's module (TadaoYamaoka, "軽量価値ネットワーク"), unchanged, including the views."""

    def __init__(self, dims: tuple[int, int, int]) -> None:
        super().__init__()
        self.dims = dims
        self.l1_1 = nn.Embedding(29, dims[0], padding_idx=28)
        self.l1_2 = nn.EmbeddingBag(58, dims[0], mode="sum", padding_idx=57)
        self.l2_1 = nn.Conv2d(dims[0], dims[1], kernel_size=(9, 1), bias=False)
        self.l2_2 = nn.Conv2d(dims[0], dims[1], kernel_size=(1, 9), bias=False)
        self.bn2_1 = nn.BatchNorm2d(dims[1])
        self.bn2_2 = nn.BatchNorm2d(dims[1])
        self.l3 = nn.Linear(dims[1] * 18, dims[2])
        self.l4 = nn.Linear(dims[2], 1)

    def forward(self, x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
        h1 = self.l1_1(x1).view(-1, self.dims[0], 9, 9) + self.l1_2(x2).view(-1, self.dims[0], 1, 1)
        h2_1 = self.bn2_1(self.l2_1(h1)).view(-1, self.dims[1] * 9)
        h2_2 = self.bn2_2(self.l2_2(h1)).view(-1, self.dims[1] * 9)
        return self.l4(torch.relu(self.l3(torch.relu(torch.cat((h2_1, h2_2), 1)))))


NETS = {
    "board": lambda: LiteValueNetwork((5, 3, 7)),
    "blog": lambda: LiteValueNetwork((16, 4, 32), layout="blog"),
    "blog odd": lambda: LiteValueNetwork((5, 3, 7), layout="blog"),
    "untied": lambda: UntiedNetwork((4, 2, 6)),
    "two views": lambda: LiteValueNetwork((4, 2, 6), perspectives=2),
    "untied blog two views": lambda: UntiedNetwork((4, 2, 6), layout="blog", perspectives=2),
    "dense": lambda: DensePieceSquareNetwork(24, (8,)),
    "dense two views": lambda: DensePieceSquareNetwork(16, (8, 4), perspectives=2),
}


@pytest.fixture(params=list(NETS))
def net(request: pytest.FixtureRequest) -> ValueNetwork:
    torch.manual_seed(1)
    made = NETS[request.param]().double()
    for parameter in made.parameters():
        nn.init.normal_(parameter, 0.1, 0.4)  # padding rows too, because those of a loaded network may not be zero
    for norm in made.norms():
        norm.running_mean.normal_(0, 3)
        norm.running_var.uniform_(0.5, 4)
    return made


def largest(a: torch.Tensor, b: torch.Tensor) -> float:
    return float((a - b).detach().abs().max())


@pytest.mark.parametrize("training", [False, True])
def test_the_blog_layout_equals_the_listing(training):
    torch.manual_seed(0)
    listing = Listing((16, 4, 32)).double()
    for parameter in listing.parameters():
        nn.init.normal_(parameter, 0, 0.4)
    listing.bn2_1.running_mean.normal_()
    net = LiteValueNetwork((16, 4, 32), layout="blog").double()
    net.load_state_dict(listing.state_dict())
    listing.train(training)
    net.train(training)
    batch = synthetic_batch(64)
    inputs = listed_inputs(batch.pieces, batch.hands, batch.in_check)
    fast = copy.deepcopy(net)
    expected = listing(*inputs)
    assert largest(net(*inputs), expected) < 1e-12
    assert largest(fast.logits(batch.pieces, batch.hands, batch.in_check), expected[:, 0]) < 1e-12


def test_the_board_layout_keeps_each_square_in_its_lines():
    """A piece on file 2 (from 0), rank 5 affects only the outputs of this rank and this file."""
    net = LiteValueNetwork((16, 4, 32)).double().eval()
    rows, _ = net.first_layer()
    reached = np.abs(rows[3 * 81 + 2 * 9 + 5]).reshape(8, 9) > 0
    assert reached[:4].nonzero()[1].tolist() == [5] * 4
    assert reached[4:].nonzero()[1].tolist() == [2] * 4


def test_summed_rows_equal_the_listed_path_with_gradients_and_statistics(net):
    batch = synthetic_batch(40)
    inputs = listed_inputs(batch.pieces, batch.hands, batch.in_check)
    listed, summed = copy.deepcopy(net), copy.deepcopy(net)
    weight = torch.linspace(-1, 2, 40, dtype=torch.float64)
    for _ in range(2):
        a = listed(*inputs).squeeze(1)
        b = summed.logits(batch.pieces, batch.hands, batch.in_check)
        assert largest(a, b) < 1e-11
        (a * weight).sum().backward()
        (b * weight).sum().backward()
    for (name, p), q in zip(listed.named_parameters(), summed.parameters(), strict=True):
        assert largest(p.grad, q.grad) < 1e-10 * max(1, float(p.grad.abs().max())), name
    for (name, p), q in zip(listed.named_buffers(), summed.buffers(), strict=True):
        assert largest(p.double(), q.double()) < 1e-11, name
    a, b = listed.eval()(*inputs).squeeze(1), summed.eval().logits(batch.pieces, batch.hands, batch.in_check)
    assert largest(a, b) < 1e-11


def test_first_layer_and_layers_equal_the_network_in_evaluation_mode(net):
    batch = synthetic_batch(30)
    net.eval()
    x1, x2 = listed_inputs(batch.pieces, batch.hands, batch.in_check)
    rows, bias = net.first_layer()
    assert rows.dtype == np.float64
    assert rows.shape == (2325, len(bias))
    table = np.concatenate((rows, np.zeros((1, len(bias)))))

    def accumulate(x1: np.ndarray, x2: np.ndarray) -> np.ndarray:
        board = np.where(x1 == 28, 2325, x1 * 81 + np.arange(81))
        hand = np.where(x2 == 57, 2325, x2 + 2268)
        return bias + table[board].sum(1) + table[hand].sum(1)

    views = [accumulate(x1.numpy(), x2.numpy())]
    if net.perspectives == 2:
        swapped = np.where(x1 == 28, 28, (x1 + 14) % 28)[:, ::-1]
        other_hand = np.where(x2[:, :56] == 57, 57, (x2[:, :56] + 28) % 56)
        views.append(accumulate(swapped, other_hand))
    values = np.maximum(np.concatenate(views, 1), 0)
    *hidden, (last_weight, last_bias) = net.layers()
    for weight, layer_bias in hidden:
        values = np.maximum(values @ weight.T + layer_bias, 0)
    with torch.no_grad():
        expected = net(x1, x2).numpy()
    np.testing.assert_allclose(values @ last_weight.T + last_bias, expected, rtol=0, atol=1e-9)


def test_the_configuration_builds_the_same_network(net):
    again = network_from_config(net.config)
    again.double().load_state_dict(net.state_dict())
    assert type(again) is type(net)
    assert again.config == net.config


def test_mistakes_are_explained_in_errors():
    with pytest.raises(ValueError, match="board, blog"):
        LiteValueNetwork(layout="square")
    with pytest.raises(ValueError, match="dims: channels 0: choose a whole number from 1"):
        LiteConfig(dims=(16, 0, 32)).build()
    for config in (DenseConfig, HalfKpConfig):
        with pytest.raises(ValueError, match="hidden 16: must be a tuple of at most 3 sizes"):
            config(hidden=16).build()
    with pytest.raises(ValueError, match="network None: choose one of lite, untied"):
        network_from_config({"width": 3})
    with pytest.raises(ValueError, match="configuration: 'colour' is not one of its fields"):
        network_from_config({"network": "lite", "colour": 1})


@pytest.mark.parametrize(
    ("config", "field"),
    [
        (DenseConfig(33, activation="pairwise"), "width 33"),
        (LiteConfig((4, 3, 8), activation="pairwise"), "channels 3"),
        (DenseConfig(32, (), shortcut=True), "shortcut"),
        (DenseConfig(32, (), hidden_squares=True), "hidden_squares"),
        (DenseConfig(32, (1024,), shortcut=True), "hidden with a shortcut 1024"),
        (LiteConfig(stacks=("k3k3", "k9k9")), "stacks: two king axes"),
        (LiteConfig(stacks=("k3",)), "stacks: unknown stack axis 'k3'"),
        (LiteConfig(stacks="k3k3"), "stacks 'k3k3'"),
        (LiteConfig(stacks=("hand4",), buckets=2), "buckets 2"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(config, field):
    with pytest.raises(ValueError, match=field):
        config.build()


def test_stacks_that_count_more_pawns_than_the_listing_have_no_listed_form():
    batch = synthetic_batch(4)
    for stacks, listed in ((("hand64", "k3k3"), True), (("hand64z",), False), (("k3k3", "progress8"), False)):
        net = DenseConfig(8, (4,), stacks=stacks).build()
        assert net.listed is listed
        if not listed:
            with pytest.raises(ValueError, match=f"stacks {stacks[0] if len(stacks) == 1 else 'k3k3, progress8'}"):
                net(*listed_inputs(batch.pieces, batch.hands, batch.in_check))


@pytest.mark.parametrize("config", [DenseConfig(32, (8,)), LiteConfig((4, 4, 8)), UntiedConfig((4, 4, 8))])
def test_products_initially_pass_gradients(config):
    """With plain normalisation both factors would be above 0 in only a quarter of all positions."""
    torch.manual_seed(1)
    plain, products = (dataclasses.replace(config, activation=name).build() for name in ("clipped", "pairwise"))
    assert all((norm.weight == 1).all() and (norm.bias == 0).all() for norm in plain.norms())
    batch = synthetic_batch(200)
    inputs = products.train()._outputs(*listed_inputs(batch.pieces, batch.hands, batch.in_check))
    assert inputs.shape[1] == products.hidden_layers()[0].in_features
    assert 0.5 < float((inputs > 0).float().mean()) < 0.9


def test_lists_are_accepted_as_tuples():
    assert LiteConfig(dims=[4, 2, 8], lines=["blocks"]) == LiteConfig(dims=(4, 2, 8), lines=("blocks",))
    assert KpConfig(width=32, hidden=[8]).build().config["hidden"] == (8,)
