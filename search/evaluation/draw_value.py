"""What a likely draw does to an evaluation, where the network foretells draws.

With p the win rate of the evaluation, d the chance of a draw and D what a draw is worth to the mover, the win rate
becomes p' = (1 - d) p + d D, as nshogi-engine has it. To an alpha-beta search D is what a draw is worth to the root's
colour, and 1 - D to the other: so black's score stays white's with its sign changed. In logits x of p and y of d

    logit p' = ln(e^x + D e^y (1 + e^x)) - ln(1 + (1 - D) e^y (1 + e^x))

where ln(e^a + e^b) = max(a, b) + ln(1 + e^-|a - b|): one table of ln(1 + e^-t) does for all, and loses nothing where p
is near 0 or 1. Logits are counted in STEPS to one, so that every machine finds the same score.
"""

from __future__ import annotations

import numpy as np
from numba import types

from search.compiling.jit import jit
from search.primitives.llvm import make_load
from search.score import MAX_EVALUATION

STEPS = 4096
"""Of a logit."""
LOG_TABLE = np.rint(STEPS * np.log1p(np.exp(-np.arange(10 * STEPS) / STEPS))).astype(np.uint16)
"""ln(1 + e^-t) in steps, t in steps; zero beyond."""
_LENGTH = len(LOG_TABLE)
_LARGEST = 1 << 20
"""Steps of the largest logit that is told from larger ones; no rate so near to 0 or 1 is told from those."""

_load_uint16 = make_load(types.uint16, 16)


@jit
def _log_of_sum(first, second, net):
    """ln(e^first + e^second), all in steps, int64."""
    apart = abs(first - second)
    larger = max(first, second)
    return larger + np.int64(_load_uint16(net.log_table, apart)) if apart < _LENGTH else larger


@jit
def steps_of(number, steps_each):
    """Steps (int64) of a score or an output, of which each is so many (float64)."""
    steps = min(max(np.float64(number) * steps_each, -float(_LARGEST)), float(_LARGEST))
    return np.int64(steps)


@jit
def log_of_rate(logit, net):
    """The logarithm of the rate that a logit stands for, both in steps, int64."""
    return -_log_of_sum(np.int64(0), -logit, net)


@jit
def weigh_draw(score, draw, worth, rest, net):
    """The score (int64, centipawns) of a mover where a draw is likely, within +-20000.

    `draw` is the logit of a draw; `worth` and `rest` are the logarithms of what one is worth to the mover and to the
    other side. All three in steps, int64.
    """
    logit = steps_of(score, net.steps_per_centipawn)
    odds = draw + _log_of_sum(np.int64(0), logit, net)
    weighed = _log_of_sum(logit, odds + worth, net) - _log_of_sum(np.int64(0), odds + rest, net)
    # The change is what is added: without a draw in sight not a centipawn is lost by counting in steps.
    change = np.int64(np.float64(weighed - logit) / net.steps_per_centipawn)
    return min(max(score + change, np.int64(-MAX_EVALUATION)), np.int64(MAX_EVALUATION))
