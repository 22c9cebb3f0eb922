"""Quantisation: small errors, correct cost figures, and refused overflow."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from export.folded import FoldedNetwork, fold
from export.output_fit import fit_output
from export.positions import Sample, read_sample
from export.quantise import INPUT_SHIFTS, ROUNDING, cost_of, largest_scales, quantise, quantised_logits
from lite.networks.value_network import ValueNetwork
from lite.records.encode import position_records
from lite.records.file import RecordFile, Refusals
from lite.records.formats import HCPE, NO_RESULT, hcpe_dtype
from search.evaluation.feature_sets import feature_set
from search.evaluation.network import EvalNetwork, evaluate_reference
from search.evaluation.static_evaluation import MEN

VALID = Path(__file__).parents[2] / "experiments" / "sample" / "valid_sample.hcpe3"


def test_integers_are_close_to_the_float_network(any_net: ValueNetwork, positions: Sample) -> None:
    sample = positions.part(0, 4000)
    folded = fold(any_net)
    net = quantise(folded, sample)
    exact = folded.logits(sample)
    cost = cost_of(exact, quantised_logits(net, sample), sample)
    assert cost.mean_error < 0.1 * exact.std()
    assert cost.sign_flips < 0.02
    assert net.width % 32 == 0
    assert net.rows.shape == (any_net.feature_set.rows, net.width)
    outputs = evaluate_reference(net, sample.pieces, sample.hands, sample.in_check)
    assert (outputs[:, 0] * net.logit_per_output == quantised_logits(net, sample)).all()


def test_the_cost_of_quantisation_is_counted_correctly(make_net, positions: Sample) -> None:
    """Compared with a network of opposite outputs, every sign changes and the accuracy is reversed."""
    sample = positions.part(0, 2000)
    folded = fold(make_net("odd"))
    *hidden, (weight, bias) = folded.layers
    opposite = dataclasses.replace(folded, layers=(*hidden, (-weight, -bias)))
    net = quantise(folded, sample)
    exact, found = opposite.logits(sample), quantised_logits(net, sample)
    cost = cost_of(exact, found, sample)
    decided = sample.result != 0.5
    accuracy = ((found >= 0) == (sample.result > 0.5))[decided].mean()
    assert cost.sign_flips > 0.97
    assert cost.largest_error == pytest.approx(2 * np.abs(exact).max(), rel=0.05)
    assert cost.accuracy_change == pytest.approx(accuracy - (1 - accuracy), abs=0.02)
    assert cost_of(exact, found, dataclasses.replace(sample, result=None)).log_loss_change is None
    # Positions without a game do not count.
    result = sample.result.copy()
    result[::2] = np.nan
    half = cost_of(exact, found, dataclasses.replace(sample, result=result))
    odd = Sample(*(array[1::2] for array in (sample.pieces, sample.hands, sample.in_check, sample.result)), "odd")
    alone = cost_of(exact[1::2], found[1::2], odd)
    assert (half.accuracy_change, half.log_loss_change) == (alone.accuracy_change, alone.log_loss_change)
    nothing = dataclasses.replace(sample, result=np.full_like(result, np.nan))
    assert cost_of(exact, found, nothing).log_loss_change is None


def test_rounding_keeps_sums_within_their_bound() -> None:
    rows_and_bias, half_a_shift = (MEN + 1) / 2, (1 << max(INPUT_SHIFTS)) / 2
    assert rows_and_bias + half_a_shift <= ROUNDING


def test_positions_without_a_game_have_no_result(tmp_path: Path) -> None:
    file = RecordFile(VALID, block_positions=200)
    records = position_records(file.read_block(file.blocks[0], Refusals()), HCPE, 0).view(hcpe_dtype).ravel()
    records["padding"][::2], records["result"][::2] = NO_RESULT, 0
    records.tofile(tmp_path / "some.hcpe")
    sample = read_sample((tmp_path / "some.hcpe",), len(records))
    assert int(np.isnan(sample.result).sum()) == len(records[::2])


def made_up(size: float, layers: tuple | None = None) -> FoldedNetwork:
    features = feature_set("piece_square")
    rows = np.random.default_rng(1).uniform(-size, size, (features.rows, 8))
    output = (np.full((1, 8), 0.1), np.zeros(1))
    return FoldedNetwork(features, rows, np.zeros(8), layers or (output,), 1)


def test_rows_take_the_scale_that_the_worst_position_allows() -> None:
    for size in (1.0, 8.0):
        folded = made_up(size)
        scales, bound = largest_scales(folded)
        assert scales.shape == (8,)
        assert (folded.largest_sums() * scales + 64 <= 32767 + 1e-6).all()
        assert bound == folded.largest_sums().max()
    assert scales.min() > 64
    assert (largest_scales(made_up(0.01))[0] <= 2048).all()
    with pytest.raises(ValueError, match="overflow: a position's sum can reach"):
        largest_scales(made_up(80.0))


def test_no_position_leaves_int16(make_net, positions: Sample) -> None:
    """A network so large that only the bound determines the scale of the rows."""
    folded = fold(make_net("board"))
    factor = 0.99 * 32767 / 16 / folded.largest_sums().max()
    folded = dataclasses.replace(folded, rows=folded.rows * factor, bias=folded.bias * factor)
    net = quantise(folded, positions.part(0, 500))
    table = np.concatenate((net.rows.astype(np.int64), np.zeros((1, net.width), np.int64)))
    sums = table[net.feature_set.active_rows(positions.pieces[:3000], positions.hands[:3000])].sum(1) + net.bias
    assert np.abs(sums).max() < 2**15
    integers = dataclasses.replace(folded, rows=net.rows.astype(float), bias=net.bias.astype(float))
    assert integers.largest_sums().max() < 2**15


def test_dimensions_that_the_search_cannot_evaluate_are_refused(positions: Sample) -> None:
    sample = positions.part(0, 10)
    square = (np.eye(8), np.zeros(8))
    with pytest.raises(ValueError, match="5 layers"):
        quantise(made_up(1.0, (square,) * 4 + ((np.ones((1, 8)), np.zeros(1)),)), sample)
    with pytest.raises(ValueError, match="a layer of 1025 outputs"):
        quantise(made_up(1.0, ((np.ones((1025, 8)), np.zeros(1025)), (np.ones((1, 1025)), np.zeros(1)))), sample)
    with pytest.raises(ValueError, match="the sums of layer 1 can reach"):
        quantise(made_up(1.0, ((np.full((1, 8), 1e-3), np.array([1e7])),)), sample)


def test_neurons_that_are_always_zero_do_not_affect_the_shift(positions: Sample) -> None:
    sample, generator = positions.part(0, 500), np.random.default_rng(3)
    bias = np.where(np.arange(16) < 5, 0.1, -1000.0)
    layers = ((generator.normal(0, 0.3, (16, 8)), bias), (generator.normal(0, 1, (1, 16)), np.zeros(1)))
    folded = made_up(1.0, layers)
    exact = folded.logits(sample)
    assert np.abs(quantised_logits(quantise(folded, sample), sample) - exact).mean() < 0.06 * exact.std()


def test_one_large_weight_does_not_coarsen_all_others(positions: Sample) -> None:
    """With activations clipped at 1, the shift of a layer determines the unit of all its weights."""
    sample, generator = positions.part(0, 500), np.random.default_rng(4)
    weight = generator.normal(0, 0.3, (16, 8))
    weight[0, 0] = 12.0  # nearly a step function, clipped or not, wherever the lane is not zero
    layers = ((weight, np.full(16, 0.1)), (generator.normal(0, 1, (1, 16)), np.zeros(1)))
    folded = dataclasses.replace(made_up(0.1, layers), activation="squared")
    exact = folded.logits(sample)
    net = quantise(folded, sample)
    assert net.layers[0].weight[0, 0] == 127
    assert np.abs(quantised_logits(net, sample) - exact).mean() < 0.05 * exact.std()


@pytest.mark.parametrize("seed", range(3))
def test_shifts_that_round_down_cause_no_bias(positions: Sample, seed: int) -> None:
    """With positive weights only, half a step lost in each lane and neuron adds up."""
    sample, generator = positions.part(0, 2000), np.random.default_rng(seed)
    layers = ((generator.uniform(0, 0.3, (16, 8)), np.full(16, 0.05)), (generator.uniform(0, 1, (1, 16)), np.zeros(1)))
    folded = made_up(1.0, layers)
    error = quantised_logits(quantise(folded, sample), sample) - folded.logits(sample)
    assert abs(error.mean()) < 0.5 * error.std()


def test_a_draw_output_is_kept(positions: Sample) -> None:
    sample = positions.part(0, 300)
    folded = made_up(1.0, ((np.random.default_rng(2).normal(0, 0.3, (2, 8)), np.array([0.1, -0.2])),))
    net = quantise(folded, sample, cp_per_logit=400.0)
    assert net.outputs == ("value", "draw")
    outputs = evaluate_reference(net, sample.pieces, sample.hands, sample.in_check) * net.logit_per_output
    assert np.abs(outputs - folded.activations(sample)[-1]).max() < 0.2
    assert net.cp_per_logit == 400.0


def of_values_and_draws(sizes: tuple[float, float], sample: Sample, slope: float) -> tuple[EvalNetwork, Sample]:
    """Return a network of two outputs with weights of these sizes, and results that follow its values by a slope."""
    weight = np.random.default_rng(2).normal(0, np.array(sizes)[:, None], (2, 8))
    net = quantise(made_up(1.0, ((weight, np.array([0.1, -2.0])),)), sample)
    rate = 1 / (1 + np.exp(-slope * quantised_logits(net, sample)))
    won = (np.random.default_rng(3).random(len(rate)) < rate).astype(np.float32)
    return net, dataclasses.replace(sample, result=won)


@pytest.mark.parametrize("slope", [0.6, 1.7])
def test_a_fitted_value_leaves_the_draws(positions: Sample, slope: float) -> None:
    net, sample = of_values_and_draws((0.3, 0.1), positions.part(0, 3000), slope)
    fitted, fit = fit_output(net, sample)
    assert fit.slope == pytest.approx(slope, rel=0.3)
    before, after = (
        evaluate_reference(one, sample.pieces, sample.hands, sample.in_check)[:, 1] * one.logit_per_output
        for one in (net, fitted)
    )
    assert np.abs(after - before).max() < 0.1


def test_a_value_whose_draws_would_leave_int8_is_not_fitted(positions: Sample) -> None:
    net, sample = of_values_and_draws((0.1, 0.3), positions.part(0, 3000), 0.6)
    with pytest.raises(ValueError, match="the weights of the draw output do not fit into int8"):
        fit_output(net, sample)
