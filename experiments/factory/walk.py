"""Positions a few random legal moves away from recorded ones, and the codes of a search's samples."""

from __future__ import annotations

import numpy as np

from experiments.labels.study import place_code, sample_dtype, study_dtype
from search.alphabeta.sampling import PLACEMENT_WORDS
from search.compiling.jit import jit
from search.primitives.random import below, first_state, next_state
from search.rules.huffman import HCP, encode_position
from search.rules.movegen import MAX_MOVES, legal_moves
from search.rules.position import do_move, in_check, new_position
from search.rules.shogi import HAND_KINDS, SQUARES


@jit
def _walk(codes, least, most, state, pos, study, moves, found, steps, sources):
    """Play from `least` to `most` random moves from each code; positions in check or without a move are left out.
    Returns the number of positions written."""
    count = np.int64(0)
    for index in range(codes.shape[0]):
        if not place_code(codes[index], pos, study):
            continue
        state = next_state(state)
        left, taken = least + below(state, most - least + 1), np.int64(0)
        while left:
            # The number of moves and the moves come from different states: from one, some moves would never follow some
            # numbers.
            state = next_state(state)
            legal = legal_moves(pos, moves)
            if legal == 0:
                break
            do_move(pos, np.int64(moves[below(state, legal)]))
            taken += 1
            left -= 1
        if left or in_check(pos):
            continue
        if encode_position(pos.board, pos.hands, np.int64(pos.turn), np.int64(HCP), found[count]) == 0:
            steps[count], sources[count] = taken, index
            count += 1
    return count


def walk(codes: np.ndarray, least: int, most: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Play `least` to `most` random legal moves from hcp codes u1 (n, 32); returns (codes u1 (k, 32), moves played i2
    (k,), index i8 (k,) of each one's source).

    Positions in check are left out: networks do not evaluate them."""
    codes = np.ascontiguousarray(codes)
    found, steps, sources = np.zeros_like(codes), np.zeros(len(codes), np.int16), np.zeros(len(codes), np.int64)
    state = first_state(seed)
    count = _walk(
        codes, np.int64(least), np.int64(most), state, new_position(), np.zeros(1, study_dtype)[0],
        np.zeros(MAX_MOVES, np.uint16), found, steps, sources,
    )  # fmt: skip
    return found[:count], steps[:count], sources[:count]


@jit
def _encode_samples(placements, codes):
    board, hands = np.zeros(SQUARES, np.uint8), np.zeros((2, HAND_KINDS), np.uint8)
    for index in range(placements.shape[0]):
        for square in range(SQUARES):
            board[square] = placements[index, square]
        for kind in range(HAND_KINDS):
            hands[0, kind] = placements[index, SQUARES + kind]
            hands[1, kind] = placements[index, SQUARES + HAND_KINDS + kind]
        turn = np.int64(placements[index, SQUARES + 2 * HAND_KINDS])
        encode_position(board, hands, turn, np.int64(HCP), codes[index])


def sample_codes(samples: np.ndarray) -> np.ndarray:
    """Return the hcp codes u1 (n, 32) of samples (`sample_dtype`)."""
    assert samples.dtype == sample_dtype
    placements = np.ascontiguousarray(samples["placement"]).view(np.uint8).reshape(len(samples), 8 * PLACEMENT_WORDS)
    codes = np.zeros((len(samples), 32), np.uint8)
    _encode_samples(placements, codes)
    return codes
