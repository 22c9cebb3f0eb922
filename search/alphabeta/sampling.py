"""Sampling of positions whose evaluation the search requests: training data for such a network.

Searches see other positions than games: after a blunder, with a capture unanswered or a piece en prise. Samples are
taken where the network is evaluated, in the main search and in quiescence. The number of nodes between two samples is
random, so that no depth or phase of a search is preferred.
"""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.evaluation.accumulator import PLACEMENT_BYTES
from search.primitives.memory import load_word
from search.primitives.random import below, next_state

SAMPLES = 256
"""Most samples per search."""
PLACEMENT_WORDS = PLACEMENT_BYTES // 8
NEVER = 1 << 62
"""Value of `thread.sample_at` for a search without sampling."""
MAIN, QUIESCENCE = 0, 1
"""Part of the search in which a sample was taken."""


@jit
def begin_sampling(thread, gap, state):
    """Start sampling for the next search: on average one position per `gap` nodes (int64, at least 1).

    `state` is a seed (uint64, not 0).
    """
    thread.sample_count = 0
    thread.sample_gap = gap
    thread.sample_state = state
    thread.sample_at = 0
    _draw_next(thread)


@jit
def _draw_next(thread):
    """Draw the node count of the next sample."""
    state = next_state(thread.sample_state)
    thread.sample_state = state
    thread.sample_at = thread.nodes + 1 + below(state, 2 * np.int64(thread.sample_gap))


@jit
def keep_sample(pos, thread, where):
    """Store the position as a sample, once `thread.sample_at` is reached. `where` is MAIN or QUIESCENCE."""
    count = np.int64(thread.sample_count)
    head = np.uint64(pos.board.ctypes.data)
    for word in range(PLACEMENT_WORDS):
        thread.samples[count, word] = load_word(head + np.uint64(8 * word))
    thread.sample_kinds[count] = where
    thread.sample_count = count + 1
    if count + 1 == SAMPLES:
        thread.sample_at = NEVER
    else:
        _draw_next(thread)
