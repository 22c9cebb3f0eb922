"""The kernels of the first layer: listing rows, summing them, normalising, and their backward passes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lite.networks import first_layer
from lite.networks.first_layer import ROWS, list_active_rows, normalise_and_cut, sum_active_rows
from lite.training.bench import synthetic_batch


@given(
    arrays.arrays(np.uint8, (3, 81), elements=st.integers(0, 28)),
    arrays.arrays(np.uint8, (3, 14), elements=st.integers(0, 18)),
    arrays.arrays(np.bool_, 3),
    st.sampled_from([1, 2]),
)
@settings(max_examples=60, deadline=None)
def test_active_rows_by_a_plain_count(pieces, hands, in_check, perspectives):
    rows, start = list_active_rows(pieces, hands, in_check, perspectives)
    order = [(0, 0, 8), (1, 8, 4), (2, 12, 4), (3, 16, 4), (6, 20, 4), (4, 24, 2), (5, 26, 2)]
    for b in range(3):
        for view in range(perspectives):
            expected = []
            for square in range(81):
                piece = int(pieces[b, square])
                if piece != 28:
                    at = (piece, square) if view == 0 else ((piece + 14) % 28, 80 - square)
                    expected.append(at[0] * 81 + at[1])
            for side in range(2):
                for kind, first, limit in order:
                    held = min(int(hands[b, 7 * (side ^ view) + kind]), limit)
                    expected += [2268 + 28 * side + first + i for i in range(held)]
            if view == 0 and in_check[b]:
                expected.append(2324)
            sample = b * perspectives + view
            assert sorted(rows[start[sample] : start[sample + 1]].tolist()) == sorted(expected)
    assert start[-1] == len(rows)


def test_impossible_pieces_are_refused():
    pieces = np.full((1, 81), 29, np.uint8)
    with pytest.raises(ValueError, match=r"0\.\.28"):
        list_active_rows(pieces, np.zeros((1, 14), np.uint8), np.zeros(1, bool))


@pytest.fixture
def active():
    batch = synthetic_batch(6)
    return list_active_rows(batch.pieces, batch.hands, batch.in_check)


def test_gradients_by_finite_differences(active):
    torch.manual_seed(0)
    table = torch.randn(ROWS, 2, dtype=torch.float64)
    used = np.unique(active[0])[:20]
    part = table[used.astype(np.int64)].clone().requires_grad_()
    base = torch.randn(2, dtype=torch.float64, requires_grad=True)

    def sums(part, base):
        whole = table.index_put((torch.from_numpy(used.astype(np.int64)),), part)
        return sum_active_rows(whole, base, *active)

    assert torch.autograd.gradcheck(sums, (part, base))


@pytest.mark.parametrize("training", [False, True])
def test_normalisation_by_finite_differences(training):
    torch.manual_seed(0)
    sums = torch.randn(5, 6, dtype=torch.float64, requires_grad=True)
    norm = torch.nn.BatchNorm2d(2).double()
    norm.weight.data.uniform_(0.5, 2)
    norm.bias.data.uniform_(-0.5, 0.5)

    def cut(sums, weight, bias):
        return normalise_and_cut(sums, [norm], training)

    assert torch.autograd.gradcheck(cut, (sums, norm.weight, norm.bias))


def test_several_threads_give_the_same_within_rounding(active):
    before = torch.get_num_threads()
    table = torch.randn(ROWS, 8, dtype=torch.float64)
    results = []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            leaf = table.clone().requires_grad_()
            norm = torch.nn.BatchNorm1d(8).double()
            out = normalise_and_cut(sum_active_rows(leaf, torch.zeros(8, dtype=torch.float64), *active), [norm], True)
            (out * torch.arange(8)).sum().backward()
            results.append((out, leaf.grad))
    finally:
        torch.set_num_threads(before)
    for one, three in zip(*results, strict=True):
        torch.testing.assert_close(one, three, rtol=1e-12, atol=1e-12)


def test_a_batch_of_one_position_cannot_be_normalised():
    with pytest.raises(ValueError, match="more than one"):
        normalise_and_cut(torch.zeros(1, 4), [torch.nn.BatchNorm1d(4)], True)


def test_a_nan_is_passed_on():
    out = normalise_and_cut(torch.tensor([[1.0], [float("nan")]]), [torch.nn.BatchNorm1d(1)], False)
    assert torch.isnan(out[1, 0])


def test_tables_are_consistent():
    other = first_layer.OTHER_ROW
    assert other[first_layer.CHECK_ROW] == ROWS
    assert (other[other[:-1]] == np.arange(ROWS - 1)).all()
    ends = first_layer.HAND_START + first_layer.HAND_LIMIT
    assert sorted([*first_layer.HAND_START.tolist(), 56]) == sorted([*ends.tolist(), 0])
