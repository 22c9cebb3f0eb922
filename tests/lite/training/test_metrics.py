"""Targets and figures by hand, and their properties for any values."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lite.records.formats import NO_GAME
from lite.training.metrics import (
    Metrics,
    Summary,
    calibrate,
    clustered_error,
    games_of,
    log_losses,
    material,
    summarise,
)
from lite.training.targets import blend, fit_cp_per_logit, score_win_rates
from liteshogi.commands.test import as_text


def test_win_rates_of_known_scores():
    rates = score_win_rates(np.array([0, 600, -600, 32000, -32000, 30000]), 600)
    expected = [0.5, 1 / (1 + math.exp(-1)), 1 / (1 + math.exp(1)), 1, 0, 1]
    np.testing.assert_allclose(rates, expected, rtol=1e-15)
    far = score_win_rates(np.array([29999, 30000, -30000, -32768], np.int16), 5000)
    np.testing.assert_allclose(far, [1 / (1 + math.exp(-29999 / 5000)), 1, 0, 0], rtol=1e-15)


def test_blend_weighs_score_and_result():
    result, score = np.array([1, 0.5, 0], np.float32), np.array([0, 600, -32000], np.int16)
    scored = np.ones(3, bool)
    np.testing.assert_allclose(blend(result, score, scored, 0, 600), result)
    np.testing.assert_allclose(blend(result, score, scored, 1, 600), [0.5, 0.7310586, 0], rtol=1e-6)
    np.testing.assert_allclose(blend(result, score, scored, 0.5, 600), [0.75, 0.6155293, 0], rtol=1e-6)


@given(st.floats(0, 1), st.floats(1, 5000))
def test_missing_scores_do_not_affect_targets(lambda_, scale):
    result, scored = np.array([1, 0.5, 0, 1], np.float32), np.array([False, False, False, True])
    target = blend(result, np.zeros(4, np.int16), scored, lambda_, scale)
    assert target[:3].tolist() == [1, 0.5, 0]
    assert target[3] == pytest.approx(1 - lambda_ / 2)


@pytest.mark.parametrize("scale", [150.0, 600.0, 2500.0])
def test_the_scale_of_simulated_results_is_found(scale):
    rng = np.random.default_rng(1)
    score = rng.normal(0, scale, 40000).astype(np.int16)
    result = (rng.random(40000) < score_win_rates(score, scale)).astype(np.float32)
    score[:50], score[50:100], result[:100] = 32000, 30000, 0  # scores of mates do not count
    assert fit_cp_per_logit(score, result) == pytest.approx(scale, rel=0.05)


def test_uninformative_scores_are_refused():
    with pytest.raises(ValueError, match="no scores"):
        fit_cp_per_logit(np.zeros(10, np.int16), np.ones(10, np.float32))
    with pytest.raises(ValueError, match="the mover's"):
        fit_cp_per_logit(np.array([500, -500] * 9, np.int16), np.array([0, 1] * 9, np.float32))
    rng = np.random.default_rng(1)
    with pytest.raises(ValueError, match="from 20 to 5000 cp per logit"):
        fit_cp_per_logit(rng.normal(0, 600, 40000).astype(np.int16), rng.integers(0, 2, 40000).astype(np.float32))


@pytest.mark.parametrize("size", [1, 300, 3000])
def test_scores_that_predict_every_result_are_refused(size):
    """The likelihood has no maximum: with scores of 3,000 the curvature vanishes while the slope does not."""
    score = np.array([size, -size] * 9, np.int16)
    with pytest.raises(ValueError, match="every score predicts its result"):
        fit_cp_per_logit(score, (score > 0).astype(np.float32))


def test_a_scale_beyond_those_of_searches_is_refused():
    """One result in a thousand contradicts its score."""
    score = np.array([10, -10] * 1000, np.int16)
    result = (score > 0).astype(np.float32)
    result[:2] = 0, 1
    with pytest.raises(ValueError, match="no scale from 20 to 5000 cp per logit"):
        fit_cp_per_logit(score, result)


def test_figures_by_hand():
    logits = np.array([2.0, -1.0, 0.0, -3.0, 0.0], np.float32)
    result = np.array([1.0, 1.0, 0.5, 0.0, 1.0], np.float32)
    figures = summarise(logits, result)
    assert figures.positions == 5
    assert figures.accuracy == pytest.approx(3 / 4)  # the draw is excluded: right, wrong, right, right
    assert figures.accuracy_draw_as_win == pytest.approx(4 / 5)  # a draw counts as a win, and logit 0 predicts a win
    losses = [math.log(1 + math.exp(-2)), math.log(1 + math.exp(1)), math.log(2), math.log(1 + math.exp(-3))]
    losses.append(math.log(2))
    assert figures.log_loss == pytest.approx(sum(losses) / 5)
    rates = [1 / (1 + math.exp(-x)) for x in logits.tolist()]
    assert figures.brier == pytest.approx(((rates[0] - 1) ** 2 + (rates[1] - 1) ** 2 + 0 + rates[3] ** 2 + 0.25) / 5)
    assert figures.accuracy_error is figures.log_loss_error is figures.brier_error is None
    alone = summarise(logits, result, np.arange(5))
    assert alone.accuracy_error == pytest.approx(np.std([1, 0, 1, 1], ddof=1) / 2)  # without the draw
    assert alone.accuracy_draw_as_win_error == pytest.approx(np.std([1, 0, 1, 1, 1], ddof=1) / 5**0.5)
    assert alone.log_loss_error == pytest.approx(np.std(losses, ddof=1) / 5**0.5)
    assert replace(alone, **dict.fromkeys(one.name for one in fields(Summary) if one.kw_only)) == figures


def test_no_positions_have_no_figures():
    assert summarise(np.zeros(0), np.zeros(0)).accuracy is None
    assert summarise(np.ones(2), np.full(2, 0.5)).accuracy is None
    with pytest.raises(ValueError, match="no positions"):
        Metrics().report()


@given(st.floats(-500, 500), st.floats(0, 1))
@settings(max_examples=100)
def test_log_loss_is_finite_and_never_below_the_entropy(logit, target):
    loss = log_losses(np.array([logit]), np.array([target]))[0]
    entropy = sum(-p * math.log(p) for p in (target, 1 - target) if p > 0)
    assert math.isfinite(loss)
    assert loss >= entropy - 1e-9


def test_calibration_bins_by_hand():
    logits = np.log(np.array([0.05, 0.05, 0.95, 0.95]) / np.array([0.95, 0.95, 0.05, 0.05]))
    logits = np.append(logits, 50)  # a rate of exactly 1
    bins = calibrate(logits, np.array([0, 1, 1, 1.0, 0]))
    assert [b.positions for b in bins] == [2, 3]
    assert [b.actual for b in bins] == [0.5, pytest.approx(2 / 3)]
    assert [round(b.predicted, 6) for b in bins] == [0.05, round(2.9 / 3, 6)]


def test_material_of_board_and_hand_by_hand():
    pieces = np.full((2, 81), 28, np.uint8)
    hands = np.zeros((2, 14), np.uint8)
    pieces[0, 10], pieces[0, 20] = 5, 14 + 4  # own rook, enemy bishop
    hands[1, 0], hands[1, 7 + 6] = 3, 1  # three own pawns, an enemy gold
    assert material(pieces, hands).tolist() == [990 - 855, 3 * 90 - 540]


def test_report_puts_every_position_into_one_band_of_each_kind():
    rng = np.random.default_rng(0)
    n = 500
    pieces = np.full((n, 81), 28, np.uint8)
    counts = rng.integers(2, 40, n)
    for board, count in zip(pieces, counts, strict=True):
        board[:count] = 0
        board[0] = 14  # an enemy pawn
    pieces[:, 80] = 5  # the mover is always ahead
    batch = SimpleNamespace(
        pieces=pieces,
        hands=np.zeros((n, 14), np.uint8),
        score=rng.integers(-32000, 32001, n).astype(np.int16),
        scored=rng.random(n) < 0.8,
        kind_of_result=np.zeros(n, np.uint8),
        turn=np.zeros(n, np.uint8),
        result=rng.choice([0, 0.5, 1], n).astype(np.float32),
        ply=rng.integers(-1, 300, n).astype(np.int16),
    )
    batch.score[:9], batch.scored[:9], batch.ply[9:18], batch.ply[18:120] = -32768, True, 0, -1
    metrics = Metrics()
    metrics.add(rng.normal(size=n), batch)
    metrics.add(rng.normal(size=n), batch)
    report = metrics.report()
    assert report.positions == 2 * n
    held = {band.band: band.positions for band in report.by_ply + report.by_score}
    size = np.abs(batch.score.astype(int))
    for name, inside in {
        "ply 0-19": (batch.ply >= 0) & (batch.ply < 20),
        "pieces on board 24-27": (batch.ply < 0) & (counts >= 23) & (counts < 27),
        "|score| 0-99": batch.scored & (size < 100),
        "|score| 30000+": batch.scored & (size >= 30000),
        "no score": ~batch.scored,
    }.items():
        assert held.get(name, 0) == 2 * inside.sum(), name
    off = [b.positions * abs(b.predicted - b.actual) for b in report.calibration]
    assert report.calibration_error == pytest.approx(sum(off) / (2 * n))
    assert sum(band.positions for band in report.by_ply) == 2 * n
    assert sum(band.positions for band in report.by_score) == 2 * n
    assert sum(b.positions for b in report.calibration) == 2 * n
    unknown = sum(band.positions for band in report.by_ply if band.band.startswith("pieces"))
    assert unknown == 2 * int((batch.ply < 0).sum())
    assert report.material_accuracy == pytest.approx((batch.result == 1).sum() / (batch.result != 0.5).sum())
    figures, _, bands = as_text(report).partition("band ")
    assert 0 < figures.index("log loss") < figures.index("accuracy")  # log loss selects the best
    assert 0 < bands.index("log loss") < bands.index("accuracy")


def test_even_material_counts_as_half_right():
    batch = SimpleNamespace(
        pieces=np.full((2, 81), 28, np.uint8),
        hands=np.zeros((2, 14), np.uint8),
        score=np.zeros(2, np.int16),
        scored=np.ones(2, bool),
        kind_of_result=np.zeros(2, np.uint8),
        turn=np.zeros(2, np.uint8),
        result=np.ones(2, np.float32),
        ply=np.zeros(2, np.int16),
    )
    batch.pieces[0, 0] = 5  # ahead in one
    metrics = Metrics()
    metrics.add(np.zeros(2), batch)
    assert metrics.report().material_accuracy == 0.75


def test_positions_without_a_game_are_ignored():
    batch = SimpleNamespace(
        pieces=np.full((3, 81), 28, np.uint8),
        hands=np.zeros((3, 14), np.uint8),
        result=np.array([1, 0.5, 0], np.float32),
        score=np.zeros(3, np.int16),
        scored=np.ones(3, bool),
        kind_of_result=np.array([0, NO_GAME, 0], np.uint8),
        turn=np.zeros(3, np.uint8),
        ply=np.zeros(3, np.int16),
    )
    metrics = Metrics()
    metrics.add(np.array([1, 1, 1.0]), batch)
    assert metrics.report().positions == 2
    batch.kind_of_result[:] = NO_GAME
    metrics = Metrics()
    metrics.add(np.array([1, 1, 1.0]), batch)
    report = metrics.report()
    assert report.positions == 0
    assert report.accuracy is report.log_loss is report.calibration_error is None
    assert report.games is report.accuracy_error is report.log_loss_error is report.material_accuracy_error is None


def test_without_a_game_the_target_is_the_score():
    target = blend(np.full(2, 0.5), np.full(2, 600, np.int16), np.ones(2, bool), 0.25, 600, np.array([True, False]))
    alone = 1 / (1 + math.exp(-1))
    np.testing.assert_allclose(target, [0.75 * 0.5 + 0.25 * alone, alone], rtol=1e-6)


def test_games_begin_at_a_smaller_ply_or_another_result():
    ply = np.array([0, 1, 2, 0, 1, 5, 6, 8])
    black_result = np.array([1, 1, 1, 1, 1, 0, 0, 0.5])
    assert games_of(ply, black_result).tolist() == [0, 0, 0, 1, 1, 2, 2, 3]
    assert games_of(np.array([0, -1]), np.ones(2)) is None
    assert games_of(np.zeros(0), np.zeros(0)) is None


def test_positions_in_random_order_or_few_of_each_game_have_no_games():
    rng = np.random.default_rng(0)
    lengths = rng.integers(40, 160, 300)
    ply = np.concatenate([np.arange(length) for length in lengths])
    black_result = np.repeat(rng.integers(0, 2, 300), lengths)
    whole = games_of(ply, black_result)
    assert whole is not None
    assert whole[-1] == 299
    seen = np.delete(np.arange(len(ply)), rng.integers(0, len(ply), 300))  # refused positions leave gaps
    kept = games_of(ply[seen], black_result[seen])
    assert kept is not None
    assert kept[-1] == 299
    shuffled = rng.permutation(len(ply))
    assert games_of(ply[shuffled], black_result[shuffled]) is None
    begins = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    few = np.sort(np.concatenate((begins + rng.integers(0, lengths - 2), begins + lengths - 1)))
    assert games_of(ply[few], black_result[few]) is None
    pairs = (begins + rng.integers(0, lengths - 1))[:, None] + np.arange(2)
    assert games_of(ply[pairs.ravel()], black_result[pairs.ravel()]) is None


def test_the_error_of_the_accuracy_counts_games():
    """If all positions of a game are right or wrong together, the game is one observation."""
    rng = np.random.default_rng(0)
    hits = rng.random(400) < 0.6
    alone = clustered_error(hits, np.arange(400))
    assert alone == pytest.approx(hits.std(ddof=1) / 20)
    together = clustered_error(np.repeat(hits, 25), np.repeat(np.arange(400), 25))
    assert together == pytest.approx(alone)
    assert clustered_error(hits, np.zeros(400, int)) is None
    sizes = rng.integers(1, 60, 400)
    games = np.repeat(np.arange(400), sizes)
    rates = rng.random(400)
    means = [(rng.random(len(games)) < rates[games]).mean() for _ in range(200)]
    found = clustered_error(rng.random(len(games)) < rates[games], games)
    assert found is not None
    assert np.std(means) < found < 0.05  # the rates of games also vary
