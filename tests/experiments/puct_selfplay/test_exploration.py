"""Exploration: noise on the priors, and moves drawn in proportion to their visits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.puct_selfplay.exploration import Exploration


@given(
    logits=st.lists(st.floats(-20, 20), min_size=1, max_size=593),
    share=st.floats(0, 1),
    alpha=st.floats(1e-3, 10),
    seed=st.integers(0, 1 << 32),
)
def test_priors_with_noise_are_a_distribution(logits: list[float], share: float, alpha: float, seed: int) -> None:
    priors = np.exp(np.array(logits) - max(logits))
    priors = (priors / priors.sum()).astype(np.float32)
    stirred = Exploration(noise_share=share, noise_alpha=alpha).stir(priors, np.random.default_rng(seed))
    assert stirred.dtype == np.float32
    assert stirred.sum() == pytest.approx(1, abs=1e-4)
    assert (stirred >= (1 - share) * priors - 1e-6).all()


def test_noise_is_fair_and_rare_when_alpha_is_small() -> None:
    random, few = np.random.default_rng(1), Exploration(noise_share=1.0, noise_alpha=0.15)
    drawn = np.array([few.stir(np.full(20, 0.05, np.float32), random) for _ in range(4000)])
    assert drawn.mean(0) == pytest.approx(np.full(20, 0.05), abs=0.01)
    # The variance of a symmetric Dirichlet distribution: (1 / n) (1 - 1 / n) / (n alpha + 1).
    assert drawn.var(0).mean() == pytest.approx(0.05 * 0.95 / (20 * 0.15 + 1), rel=0.1)


def test_moves_are_drawn_in_proportion_to_their_visits() -> None:
    random, visits = np.random.default_rng(2), np.array([1, 0, 3, 4])
    for temperature, expected in ((1.0, [0.125, 0, 0.375, 0.5]), (0.5, [1 / 26, 0, 9 / 26, 16 / 26])):
        soft = Exploration(soft_plies=10, soft_temperature=temperature)
        drawn = [soft.choose(visits, 9, random) for _ in range(8000)]
        assert np.bincount(drawn, minlength=4) / 8000 == pytest.approx(expected, abs=0.02)
        assert {soft.choose(visits, 10, random) for _ in range(50)} == {3}


def test_invalid_numbers_are_refused() -> None:
    for wrong, words in (
        ({"noise_share": 1.5}, "`noise_share` 1.5"),
        ({"noise_alpha": 0.0}, "`noise_alpha` 0.0"),
        ({"soft_temperature": 0.0}, "`soft_temperature` 0.0"),
        ({"soft_plies": -1}, "`soft_plies` -1"),
        ({"soft_plies": 0, "soft_temperature": 2.0}, "`soft_temperature` 2.0: has no effect without `soft_plies`"),
        ({"noise_share": 0.0, "noise_alpha": 0.3}, "`noise_alpha` 0.3: has no effect without `noise_share`"),
    ):
        with pytest.raises(ValueError, match=words):
            Exploration(**wrong).check()  # type: ignore[arg-type]
