"""The effect of a likely draw on a score: limits, symmetry, direction, and the formula."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.evaluation.accumulator import Accumulators, centipawns, evaluate, evaluate_output
from search.evaluation.draw_value import STEPS, weigh_draw
from search.evaluation.evaluation_speed import random_network
from search.score import MAX_EVALUATION, draw_value, score_of_rate, win_rate

DRAW = ("piece_square", 64, (16,), 1, ("value", "draw"))
SCALE = 600.0
scores = st.integers(-MAX_EVALUATION, MAX_EVALUATION)
rates = st.one_of(st.sampled_from([0.0, 1.0]), st.integers(0, 1000).map(lambda thousandth: thousandth / 1000))
draw_logits = st.floats(-30, 30)


@pytest.fixture(scope="module")
def of_rate():
    """of_rate(score, logit of a draw, D, colour): the score of this mover; D is the draw value for black."""
    accumulators = Accumulators(dataclasses.replace(random_network(*DRAW), cp_per_logit=SCALE))

    def weighed(score: int, draw: float, rate: float, colour: int = 0) -> int:
        accumulators.set_draw_value(draw_value(rate, 0, SCALE))
        worth = accumulators.record["draw_worth"]
        sides = np.int64(worth[colour]), np.int64(worth[1 - colour])
        return int(weigh_draw(np.int64(score), np.int64(draw * STEPS), *sides, accumulators.network))

    return weighed


@given(score=st.integers(-4000, 4000), draw=st.floats(-8, 8), thousandths=st.integers(1, 999))
def test_scores_equal_the_formula(of_rate, score: int, draw: float, thousandths: int) -> None:
    p, d, worth = win_rate(score, SCALE), 1 / (1 + math.exp(-draw)), thousandths / 1000
    wins, losses = (1 - d) * p + d * worth, (1 - d) * win_rate(-score, SCALE) + d * (1 - worth)
    assert of_rate(score, draw, worth) == pytest.approx(SCALE * math.log(wins / losses), abs=2)


@given(score=scores, draw=draw_logits, rate=rates)
def test_scores_of_black_and_white_are_opposite(of_rate, score: int, draw: float, rate: float) -> None:
    found = of_rate(score, draw, rate)
    assert of_rate(-score, draw, rate, colour=1) == -found
    assert of_rate(-score, draw, 1 - rate) == -found
    assert abs(found) <= MAX_EVALUATION


@given(score=scores, rate=rates)
def test_without_a_likely_draw_the_score_is_unchanged(of_rate, score: int, rate: float) -> None:
    assert of_rate(score, -256.0, rate) == score


@given(score=scores, rate=rates)
def test_a_certain_draw_has_the_value_of_a_repetition(of_rate, score: int, rate: float) -> None:
    assert of_rate(score, 256.0, rate) == pytest.approx(score_of_rate(rate, SCALE), abs=1)


@given(score=scores, draw=draw_logits, one=rates, other=rates)
def test_a_higher_draw_value_increases_the_score(of_rate, score: int, draw: float, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert of_rate(score, draw, low) <= of_rate(score, draw, high)


@given(score=scores, one=draw_logits, other=draw_logits, rate=rates)
def test_a_likelier_draw_moves_the_score_toward_its_value(
    of_rate, score: int, one: float, other: float, rate: float
) -> None:
    worth = score_of_rate(rate, SCALE)
    far, near = (of_rate(score, draw, rate) for draw in sorted((one, other)))
    low, high = sorted((score, worth))
    assert low - 1 <= far <= high + 1
    assert min(far, worth) - 1 <= near <= max(far, worth) + 1


def test_predicted_draws_of_a_network_change_its_scores(play_random) -> None:
    net = dataclasses.replace(random_network(*DRAW), logit_per_output=1e-3)
    last = net.layers[-1]
    plain = dataclasses.replace(
        net,
        outputs=("value",),
        layers=(*net.layers[:-1], dataclasses.replace(last, weight=last.weight[:1], bias=last.bias[:1])),
    )
    weighing, leaving = Accumulators(net), Accumulators(plain)
    moved = 0
    for accumulators in (weighing, leaving):
        accumulators.set_draw_value(draw_value(0.3, 0, net.cp_per_logit))
    for pos, _ in play_random("startpos", 3, 60):
        found = int(evaluate(pos, weighing.record, weighing.network))
        output = int(evaluate_output(pos, weighing.record, weighing.network))
        score = int(centipawns(np.int64(output), weighing.network))
        p, d = (win_rate(net.logit(value), 1.0) for value in (output, int(weighing.record["draw_output"])))
        worth = 0.7 if pos["turn"] else 0.3
        rate = (1 - d) * p + d * worth
        assert found == pytest.approx(net.cp_per_logit * math.log(rate / (1 - rate)), abs=3)
        assert int(evaluate(pos, leaving.record, leaving.network)) == score
        moved += found != score
    assert moved > 30
