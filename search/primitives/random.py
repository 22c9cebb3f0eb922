"""Random numbers for compiled code, with a state of one word and no lock."""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit


@jit
def next_state(state):
    """Return the state (uint64, never 0) after this one.

    The generator is xorshift (Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8, 2003).
    """
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    return state


@jit
def below(state, count):
    """Return a number from 0 to `count` - 1 for a state; `count` is int64 and below 2 ** 31."""
    return np.int64(state >> np.uint64(33)) % count


def first_state(seed: int) -> np.uint64:
    """Return a first state; similar seeds give unrelated states."""
    state: np.uint64 = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] | np.uint64(1)
    return state
