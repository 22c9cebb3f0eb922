"""Elo and its interval compared with published figures of Fishtest and fastchess, and with simulated matches."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.elo.strength import Strength, elo_of, elo_text, measure_strength, student


def words_of(pairs):
    strength = measure_strength(pairs)
    return elo_text(strength.elo, strength.low, strength.high)


PUBLISHED = [
    # Pairs with 0, 0.5, 1, 1.5 and 2 points, Elo, and half the interval that others have published.
    ((39, 5335, 18992, 5622, 12), 1.35, 1.2),  # Fishtest, in pull request 4160 of Stockfish
    ((307, 619, 1202, 725, 353), 10.73, 6.70),  # the others: fastchess
    ((84, 124, 343, 125, 164), 33.40, 14.24),
    ((0, 1, 58, 3, 438), 474.93, 44.28),
    ((11, 1, 32, 8, 48), 149.26, 55.24),
    ((12, 6, 25, 8, 9), -11.59, 56.66),
]


def pairs_of(counts):
    """Return (points, games) of every pair, from the numbers of pairs with 0, 0.5, 1, 1.5 and 2 points."""
    return [(half_points / 2, 2) for half_points, count in enumerate(counts) for _ in range(count)]


@pytest.mark.parametrize(("counts", "elo", "error"), PUBLISHED)
def test_published_figures_are_reproduced(counts, elo, error):
    strength = measure_strength(pairs_of(counts))
    assert strength.elo == pytest.approx(elo, abs=0.01)
    # The published intervals use the normal distribution; Student's is wider for the few pairs of the last ones.
    freedom = sum(counts) - 1
    assert (strength.high - strength.low) / 2 == pytest.approx(error * (1 + 1.8 / freedom), rel=0.005, abs=0.05)


@pytest.mark.parametrize("shares", [(10, 15, 30, 25, 20), (2, 5, 86, 5, 2), (0, 1, 10, 20, 69), (30, 5, 30, 5, 30)])
@pytest.mark.parametrize("pairs", [4, 10, 30, 200])
def test_the_interval_contains_the_truth_in_95_percent_of_matches(shares, pairs):
    truth = elo_of(sum(half_points * share for half_points, share in enumerate(shares)) / 400)
    held = 0
    for counts in np.random.default_rng(pairs).multinomial(pairs, np.array(shares) / 100, 600):
        strength = measure_strength(pairs_of(counts))
        low, high = strength.low, strength.high
        held += (low is None or low <= truth) and (high is None or high >= truth)
    assert held / 600 > 0.95 - 3 * math.sqrt(0.05 * 0.95 / 600)


@pytest.mark.parametrize(("freedom", "t"), [(1, 12.7062), (2, 4.30265), (3, 3.18245), (9, 2.26216), (60, 2.0003)])
def test_students_t_equals_published_tables(freedom, t):
    assert student(freedom) == pytest.approx(t, rel=1e-5 if freedom < 3 else 0.01)


def test_the_interval_of_ten_pairs_has_nine_degrees_of_freedom():
    strength = measure_strength([(0.0, 2), (2.0, 2)] * 4 + [(1.0, 2)] * 2)
    half = 2.26216 * math.sqrt(8 * 0.25 / 9 / 10)
    assert (strength.low, strength.high) == pytest.approx((elo_of(0.5 - half), elo_of(0.5 + half)), rel=1e-3)


def test_few_or_equal_results_have_a_wide_interval():
    assert words_of([(1.0, 2)]) == "too few games for an Elo"
    assert words_of([(1.5, 2), (1.0, 2), (1.0, 2)]) == "too few games for an Elo"
    assert words_of([]) == "too few games for an Elo"
    assert measure_strength([(1.5, 2)]) == Strength(elo_of(0.75), None, None)
    drawn = measure_strength([(1.0, 2)] * 10)
    assert drawn.elo == 0
    # If 26 % of all pairs are won twice, one in twenty matches of ten pairs has none of them.
    assert drawn.high == pytest.approx(elo_of(0.5 + 0.26 / 2), abs=1)
    assert words_of([(2.0, 2)] * 10) == "Elo above +183"
    assert words_of([(0.0, 2)] * 10) == "Elo below -183"
    assert words_of([(2.0, 2)] * 9 + [(1.5, 2)]) == "Elo +636 (above +166)"


def test_an_asymmetric_interval_is_shown_by_its_ends():
    assert elo_text(12.0, -18.0, 42.0) == "Elo +12 +- 30"
    assert elo_text(100.0, 50.0, 159.0) == "Elo +100 +- 54"
    assert elo_text(100.0, 50.0, 161.0) == "Elo +100 (+50 to +161)"
    assert elo_text(-683.0, -1200.0, -410.0) == "Elo -683 (-1200 to -410)"
    assert words_of(pairs_of((0, 0, 2, 4, 34))) == "Elo +512 (+349 to +822)"


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from((1, 2))), max_size=60))
def test_swapping_the_players_reverses_elo_and_interval(results):
    pairs = [(min(half_points, 2 * games) / 2, games) for half_points, games in results]
    mine, theirs = measure_strength(pairs), measure_strength([(games - points, games) for points, games in pairs])

    def turned(elo):
        return None if elo is None else pytest.approx(-elo, abs=1e-6)

    assert (mine.elo, mine.low, mine.high) == (turned(theirs.elo), turned(theirs.high), turned(theirs.low))
    assert mine.low is None or mine.high is None or mine.low <= mine.elo <= mine.high


def test_elo_of_known_scores():
    assert elo_of(0.75) == pytest.approx(190.85, abs=0.01)  # 400 log10(3)
    assert elo_of(0.5) == 0
    assert elo_of(0.0) is None
    assert elo_of(1.0) is None


def test_equal_results_in_a_pair_widen_and_opposite_ones_narrow_the_interval():
    alike = measure_strength([(2.0, 2), (0.0, 2)] * 50)
    opposite = measure_strength([(1.0, 2)] * 99 + [(1.5, 2)])
    single = measure_strength([(1.0, 1), (0.0, 1)] * 100)
    assert alike.high > 1.4 * single.high * 0.99
    assert opposite.high < single.high / 2
