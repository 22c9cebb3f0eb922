"""Merging labels, and counting distinct positions."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lite.datasets.duplicates import DistinctHashes, HashCounts, HashSet

LABELS = st.tuples(
    st.integers(1, 3), st.sampled_from([0.0, 0.5, 1.0]), st.booleans(), st.booleans(), st.integers(-32000, 32000)
)
"""Rows of: hash, result, whether the result is of a game, whether there is a score, score."""


@given(st.lists(LABELS, min_size=1, max_size=40), st.integers(1, 4))
def test_a_merged_label_is_the_most_frequent_result_and_the_nearest_mean_score(labels, parts):
    counts = HashCounts()
    for part in np.array_split(np.arange(len(labels)), parts):
        rows = [labels[place] for place in part]
        types = (np.uint64, np.float32, bool, bool)
        columns = [np.array([row[column] for row in rows], kind) for column, kind in enumerate(types)]
        counts.add(*columns, np.array([row[4] if row[3] else 0 for row in rows], np.int16))
    keys = sorted({row[0] for row in labels})
    assert len(counts) == len(keys)
    merged = counts.merged(np.array(keys * 2, np.uint64))
    assert merged.first.tolist() == [True] * len(keys) + [False] * len(keys)
    for place, key in enumerate(keys):
        games = Counter(row[1] for row in labels if row[0] == key and row[2])
        (most, times), *others = games.most_common() or [(0.5, 0)]
        tied = any(count == times for _, count in others)
        assert merged.results[place] == (0.5 if tied else most)
        assert merged.played[place] == bool(games)
        known = [row[4] for row in labels if row[0] == key and row[3]]
        assert merged.scored[place] == bool(known)
        assert merged.scores[place] == (math.floor(Fraction(sum(known), len(known)) + Fraction(1, 2)) if known else 0)


def test_sums_fit_their_table_and_their_numbers():
    """A chunk of different hashes is followed by a chunk of equal ones."""
    counts, size = HashCounts(), 70_000
    for hashes in (np.arange(1, size + 1, dtype=np.uint64), np.ones(size, np.uint64)):
        known = np.ones(size, bool)
        counts.add(hashes, np.ones(size, np.float32), known, known, np.full(size, 32000, np.int16))
    assert len(counts) == size
    assert counts.merged(np.array([1, size], np.uint64)).scores.tolist() == [32000, 32000]


def test_distinct_hashes_are_counted_in_bounded_memory() -> None:
    hashes = np.random.default_rng(4).integers(1, 1 << 64, 60_000, np.uint64)
    known, distinct, few = HashSet(), DistinctHashes(), DistinctHashes(limit=2000)
    for part in np.array_split(np.concatenate([hashes, hashes[:20_000]]), 17):
        known.add(part)
        distinct.add(part)
        few.add(part)
    assert len(known) == distinct.count() == 60_000
    assert distinct.exact
    assert np.array_equal(np.sort(known.hashes()), np.sort(hashes))
    assert not known.add(hashes).any()
    assert not few.exact
    assert len(few) <= 2000
    assert abs(few.count() / 60_000 - 1) < 0.15
