"""Random numbers for compiled code: a state of one word, and no lock."""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit


@jit
def next_state(state):
    """The state (uint64, never 0) after this one (xorshift; Marsaglia, "Xorshift RNGs", Journal of Statistical Software
    8, 2003)."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    return state


@jit
def below(state, count):
    """A number of a state from 0 to before `count` (int64, below 2 ** 31)."""
    return np.int64(state >> np.uint64(33)) % count


def first_state(seed: int) -> np.uint64:
    """A state to begin with; near seeds give far ones."""
    state: np.uint64 = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] | np.uint64(1)
    return state
