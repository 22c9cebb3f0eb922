"""The tables of squares and pieces: each is its own inverse, or agrees with the letters."""

from __future__ import annotations

import numpy as np

from search.rules.shogi import EMPTY, KIND_LETTERS, KINDS, MIRRORED_SQUARE, OTHER_COLOUR, PROMOTION, UNPROMOTED


def test_the_mirror_changes_files_only() -> None:
    assert MIRRORED_SQUARE[0] == 72  # 11 and 91
    assert (MIRRORED_SQUARE[MIRRORED_SQUARE] == np.arange(81)).all()
    assert (np.arange(81) % 9 == MIRRORED_SQUARE % 9).all()


def test_colours_and_promotions() -> None:
    assert OTHER_COLOUR[EMPTY] == EMPTY
    for piece in range(EMPTY):
        assert OTHER_COLOUR[piece] % KINDS == piece % KINDS
        assert OTHER_COLOUR[piece] != piece == OTHER_COLOUR[OTHER_COLOUR[piece]]
    for kind, letters in enumerate(KIND_LETTERS):
        assert KIND_LETTERS[UNPROMOTED[kind]] == letters.removeprefix("+")
        if letters.startswith("+"):
            assert UNPROMOTED[kind] + PROMOTION == kind
