"""Layers in stacks: the index equals that of the search, and every position uses the layers of its stack."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lite.networks.layer_stacks import LayerStacks, positions_by_stack, stack_index, stacked_linear
from lite.networks.units import SQUARE_GAIN
from lite.training.training_speed import synthetic_batch
from search.evaluation.stacks import HANDS, KING_ZONES, PROGRESS, STACK_TOKENS, make_stacks
from search.rules.shogi import EMPTY, KINDS, KING

BATCH = synthetic_batch(300, seed=5)
TABLE = np.random.default_rng(3).integers(-60_000, 60_000, (81, 1548)).astype(np.int32)


def tensors(pieces: np.ndarray, hands: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.from_numpy(pieces), torch.from_numpy(hands)


@pytest.mark.parametrize("token", STACK_TOKENS)
def test_the_index_of_a_batch_equals_that_of_the_search(token: str) -> None:
    pieces, hands = BATCH.pieces.copy(), BATCH.hands.copy()
    pieces[0][pieces[0] == KING] = EMPTY  # without a king
    pieces[1][pieces[1] % KINDS != KING] = EMPTY  # a handicap game
    hands[1] = 0
    in_progress = token in PROGRESS
    stacks = make_stacks((token,), TABLE if in_progress else None, 700 if in_progress else 0)
    progress = (torch.from_numpy(TABLE), torch.tensor(700)) if in_progress else None
    found = stack_index((token,), *tensors(pieces, hands), progress).numpy()
    np.testing.assert_array_equal(found, stacks.index(pieces, hands))
    assert 0 <= found.min() <= found.max() < stacks.count
    assert len(np.unique(found)) > (1 if in_progress else 2)


@settings(max_examples=25)
@given(
    st.sampled_from(["", *HANDS]), st.sampled_from(["", *KING_ZONES]), st.sampled_from(["", *PROGRESS]), st.randoms()
)
def test_axes_are_combined_as_in_the_search(hand: str, king: str, progress: str, shuffled) -> None:
    tokens = [token for token in (hand, king, progress) if token]
    shuffled.shuffle(tokens)
    table, bias = (TABLE, shuffled.randrange(-(1 << 18), 1 << 18)) if progress else (None, 0)
    expected = make_stacks(tokens, table, bias).index(BATCH.pieces[:40], BATCH.hands[:40])
    given_table = (torch.from_numpy(TABLE), torch.tensor(bias)) if progress else None
    found = stack_index(tokens, *tensors(BATCH.pieces[:40], BATCH.hands[:40]), given_table)
    np.testing.assert_array_equal(found.numpy(), expected)


def test_a_stacked_layer_has_the_gradient_of_plain_operations() -> None:
    torch.manual_seed(1)
    stack = torch.randint(0, 7, (50,))
    stack[stack == 3] = 4  # a stack without positions
    shapes = ((50, 6), (7, 5, 6), (7, 5))
    x, weight, bias = (torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes)
    found = stacked_linear(x, weight, bias, positions_by_stack(stack))
    expected = torch.einsum("bi,boi->bo", x, weight[stack]) + bias[stack]
    torch.testing.assert_close(found, expected)
    factor = torch.randn_like(found)
    for ours, theirs in zip(
        torch.autograd.grad((found * factor).sum(), (x, weight, bias)),
        torch.autograd.grad((expected * factor).sum(), (x, weight, bias)),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs)


def made(tokens: tuple[str, ...], **options) -> LayerStacks:
    """Return layers without zero parts."""
    torch.manual_seed(2)
    layers = LayerStacks(12, (4, 6), 2, tokens, **options).double()
    with torch.no_grad():
        for part in layers.parameters():
            part.add_(0.4 * torch.randn_like(part))
    return layers


@pytest.mark.parametrize("shortcut", [False, True])
@pytest.mark.parametrize("hidden_squares", [False, True])
@pytest.mark.parametrize("tokens", [(), ("k3k3",), ("hand4", "k3k3")])
def test_each_position_uses_its_own_stack(tokens, hidden_squares: bool, shortcut: bool) -> None:
    layers = made(tokens, hidden_squares=hidden_squares, shortcut=shortcut)
    x = torch.rand(40, 12, dtype=torch.float64)
    stack = layers.index(*tensors(BATCH.pieces[:40], BATCH.hands[:40]))
    found = layers(x, stack).detach().numpy()
    for position in range(40):
        parts = [(w, b) if layers.count == 1 else (w[stack[position]], b[stack[position]]) for w, b in layers.layers()]
        (first, second, last), value = parts, x[position].numpy()
        sums, direct = first[0] @ value + first[1], 0.0
        if shortcut:
            sums, direct = sums[:-1], sums[-1]
        value = np.clip(sums, 0, 1)
        if hidden_squares:
            value = np.concatenate((np.minimum(SQUARE_GAIN * sums**2, 1), value))
        value = last[0] @ np.clip(second[0] @ value + second[1], 0, 1) + last[1]
        np.testing.assert_allclose(found[position], value + np.array([direct, 0.0]))


def test_weights_stay_within_their_limits() -> None:
    limits = ([0.5] * 4 + [0.25], [0.5] * 6, [0.1] * 2)
    layers = made(("k3k3",), shortcut=True, limits=limits)
    assert max(float(own.detach().abs().max()) for own in layers.own_weight) > 1
    outside = [weight for weight, _ in layers.layers()]
    for weight, limit in zip(outside, limits, strict=True):
        np.testing.assert_allclose(abs(weight).max((0, 2)), limit)
    layers.clip()
    for shared, own, weight in zip(layers.shared, layers.own_weight, outside, strict=True):
        np.testing.assert_allclose((shared.weight + own).detach().numpy(), weight, atol=1e-7)


def test_invalid_stacks_are_refused() -> None:
    with pytest.raises(ValueError, match="hidden layer"):
        LayerStacks(12, (), shortcut=True)
    with pytest.raises(ValueError, match="two king axes"):
        LayerStacks(12, (4,), 1, ("k3k3", "k9k9"))
