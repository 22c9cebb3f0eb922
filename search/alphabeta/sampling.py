"""Positions that the search asks its network about, a few of them kept: what such a network is to learn from.

Games show other positions than searches do: after a blunder, with a capture unanswered or a piece left hanging. A
sample is taken where the network is asked, in the main search and in quiescence, the nodes between two of them drawn at
random so that no depth or phase of a search is preferred.
"""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.evaluation.accumulator import PLACEMENT_BYTES
from search.primitives.memory import load_word
from search.primitives.random import below, next_state

SAMPLES = 256
"""Most positions that are kept of one search."""
PLACEMENT_WORDS = PLACEMENT_BYTES // 8
NEVER = 1 << 62
"""`thread.sample_at` of a search that keeps nothing."""
MAIN, QUIESCENCE = 0, 1
"""Where a sample was taken."""


@jit
def begin_sampling(thread, gap, state):
    """Keep about one in `gap` (int64, at least 1) nodes' positions of the search that begins, `state` a seed (uint64,
    not 0)."""
    thread.sample_count = 0
    thread.sample_gap = gap
    thread.sample_state = state
    thread.sample_at = 0
    _draw_next(thread)


@jit
def _draw_next(thread):
    """Draw the node from which on the next position is kept."""
    state = next_state(thread.sample_state)
    thread.sample_state = state
    thread.sample_at = thread.nodes + 1 + below(state, 2 * np.int64(thread.sample_gap))


@jit
def keep_sample(pos, thread, where):
    """Keep the position: `thread.sample_at` has been reached. `where` is MAIN or QUIESCENCE."""
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
