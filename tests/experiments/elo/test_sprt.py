"""The sequential test compared with published figures of Fishtest and fastchess, and with simulated matches."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.elo.sprt import POINTS, Sprt
from search.system.options import OptionError

PUBLISHED = [
    # Pairs with 0, 0.5, 1, 1.5 and 2 points, the two Elo, and the log-likelihood ratio that others have published.
    ((59, 754, 2467, 865, 75), -0.5, 1.5, 2.95),  # Fishtest, in pull request 2951 of Stockfish
    ((33, 1185, 8378, 1302, 50), 0.25, 1.75, 2.95),
    ((17, 253, 1042, 337, 39), -0.5, 1.5, 2.96),  # 2971
    ((11, 407, 3238, 513, 11), 0.25, 1.75, 2.93),
    ((53, 2220, 21459, 2445, 47), 0.25, 1.25, 2.97),  # 3098
    ((253, 4282, 17604, 4431, 286), -0.25, 1.25, 2.94),  # 3209
    ((223, 9863, 21279, 10037, 246), 0.5, 2.5, -3.07),  # fastchess, its tests
    ((871, 26175, 55983, 26678, 821), 0, 2, -4.98),
]


@pytest.mark.parametrize(("counts", "elo0", "elo1", "ratio"), PUBLISHED)
def test_published_ratios_are_reproduced(counts, elo0, elo1, ratio):
    assert Sprt(elo0, elo1).ratio(counts) == pytest.approx(ratio, abs=0.0051)


def test_bounds_are_those_of_wald():
    test = Sprt(0, 5)
    assert (test.lower, test.upper) == pytest.approx((-2.944, 2.944), abs=0.001)
    assert Sprt(0, 5, 0.01, 0.2).lower == pytest.approx(math.log(0.2 / 0.99))
    assert Sprt(0, 5, 0.01, 0.2).upper == pytest.approx(math.log(0.8 / 0.01))
    test = Sprt(0, 80, 0.1, 0.01)
    seen = set()
    for wins in range(-60, 60):
        counts = [max(-wins, 0), 0, 20, 0, max(wins, 0)]
        ratio, verdict = test.ratio(counts), test.verdict(counts)
        assert verdict == ("elo1" if ratio >= math.log(0.99 / 0.1) else "elo0" if ratio <= math.log(0.01 / 0.9) else "")
        seen.add(verdict)
    assert len(seen) == 3


def distribution(elo: float) -> np.ndarray:
    """Return the shares of the five results for an Elo difference, by tilting those of equal players."""
    shares, mean = np.array([0.12, 0.2, 0.36, 0.2, 0.12]), 1 / (1 + 10 ** (-elo / 400))
    low, high = -20.0, 20.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        tilted = shares * np.exp(middle * np.array(POINTS))
        tilted /= tilted.sum()
        low, high = (middle, high) if tilted @ np.array(POINTS) < mean else (low, middle)
    return tilted


@pytest.mark.parametrize(("truth", "wrong", "risk"), [(0, "elo1", 0.1), (80, "elo0", 0.05)])
def test_error_rates_are_within_the_requested_ones(truth, wrong, risk):
    test, runs = Sprt(0, 80, alpha=0.1, beta=0.05), 200
    random, shares = np.random.default_rng(truth + 1), distribution(truth)
    assert shares @ np.array(POINTS) == pytest.approx(1 / (1 + 10 ** (-truth / 400)))
    errors, pairs = 0, 0
    for _ in range(runs):
        counts, verdict = [0] * 5, ""
        while not verdict:
            counts[random.choice(5, p=shares)] += 1
            verdict = test.verdict(counts)
        errors += verdict == wrong
        pairs += sum(counts)
    assert errors / runs < risk + 2.6 * math.sqrt(risk * (1 - risk) / runs)
    # ((1.28 + 1.64) deviation / difference) ** 2 pairs: a match of a fixed length with the same risks.
    assert pairs / runs < 0.75 * 57


@given(st.lists(st.integers(0, 300), min_size=5, max_size=5), st.floats(-50, 50), st.floats(0.5, 60))
def test_swapping_the_players_reverses_the_verdict(counts, elo0, gap):
    mine, theirs = Sprt(elo0, elo0 + gap), Sprt(-elo0 - gap, -elo0)
    assert mine.ratio(counts) == pytest.approx(-theirs.ratio(counts[::-1]), abs=1e-6)


@given(st.lists(st.integers(0, 300), min_size=5, max_size=5), st.integers(0, 3))
def test_a_better_pair_never_favours_the_lower_elo(counts, place):
    worse, better = list(counts), list(counts)
    worse[place] += 1
    better[place + 1] += 1
    test = Sprt(0, 30)
    # A result without a pair counts as a thousandth of a pair, which has a small effect.
    assert test.ratio(better) > test.ratio(worse) - 0.05


def test_few_or_equal_results_decide_nothing():
    assert Sprt(0, 30).ratio([0] * 5) == pytest.approx(0, abs=1e-2)
    for counts in ([0, 0, 0, 0, 8], [8, 0, 0, 0, 0], [0, 0, 8, 0, 0]):
        assert Sprt(0, 30).verdict(counts) == ""


@pytest.mark.parametrize(
    ("numbers", "fields"),
    [
        ((5, 0), ("sprt",)),
        ((5, 5), ("sprt",)),
        ((0, 1001), ("sprt",)),
        ((0, math.nan), ("sprt",)),
        ((0, 5, 0.5), ("alpha", "beta")),
        ((0, 5, 0.05, 0), ("alpha", "beta")),
        ((0, 5, 0.05, 0.5), ("alpha", "beta")),
    ],
)
def test_invalid_tests_are_refused(numbers, fields):
    with pytest.raises(OptionError) as refused:
        Sprt(*numbers)
    assert refused.value.fields == fields
