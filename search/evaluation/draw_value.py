"""The effect of a likely draw on the evaluation, for a network that predicts draws.

With p the win rate of the evaluation, d the probability of a draw and D the mover's value of a draw, the win rate
becomes p' = (1 - d) p + d D, as in nshogi-engine. In an alpha-beta search D is the value for the root's colour and
1 - D the other side's, so that black's score is still white's with its sign changed. In logits x of p and y of d

    logit p' = ln(e^x + D e^y (1 + e^x)) - ln(1 + (1 - D) e^y (1 + e^x))

where ln(e^a + e^b) = max(a, b) + ln(1 + e^-|a - b|): one table of ln(1 + e^-t) is enough, and is exact where p is near
0 or 1. Logits are integers, STEPS to one, so that every machine computes the same score.
"""

from __future__ import annotations

import numpy as np
from numba import types

from search.compiling.jit import jit
from search.primitives.llvm import make_load
from search.score import MAX_EVALUATION

STEPS = 4096
"""Steps per unit of a logit."""
LOG_TABLE = np.rint(STEPS * np.log1p(np.exp(-np.arange(10 * STEPS) / STEPS))).astype(np.uint16)
"""ln(1 + e^-t) in steps, t in steps; zero beyond."""
_LENGTH = len(LOG_TABLE)
_LARGEST = 1 << 20
"""Logits are clipped to this many steps; rates that near to 0 or 1 are equal in practice."""

_load_uint16 = make_load(types.uint16, 16)


@jit
def _log_of_sum(first, second, net):
    """Return ln(e^first + e^second), all in steps, int64."""
    apart = abs(first - second)
    larger = max(first, second)
    return larger + np.int64(_load_uint16(net.log_table, apart)) if apart < _LENGTH else larger


@jit
def steps_of(number, steps_each):
    """Return the steps (int64) of a score or an output; `steps_each` (float64) is the steps per unit."""
    steps = min(max(np.float64(number) * steps_each, -float(_LARGEST)), float(_LARGEST))
    return np.int64(steps)


@jit
def log_of_rate(logit, net):
    """Return the logarithm of the rate of a logit, both in steps, int64."""
    return -_log_of_sum(np.int64(0), -logit, net)


@jit
def weigh_draw(score, draw, worth, rest, net):
    """Return the mover's score (int64, centipawns) with draws taken into account, within +-20000.

    `draw` is the logit of a draw; `worth` and `rest` are the logarithms of its value for the mover and for the other
    side. All three are in steps, int64.
    """
    logit = steps_of(score, net.steps_per_centipawn)
    odds = draw + _log_of_sum(np.int64(0), logit, net)
    weighed = _log_of_sum(logit, odds + worth, net) - _log_of_sum(np.int64(0), odds + rest, net)
    # Only the change is rounded to steps, so that a score without a likely draw stays exact.
    change = np.int64(np.float64(weighed - logit) / net.steps_per_centipawn)
    return min(max(score + change, np.int64(-MAX_EVALUATION)), np.int64(MAX_EVALUATION))
