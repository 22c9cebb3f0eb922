"""Piece values, and a network that evaluates material alone."""

from __future__ import annotations

import numpy as np

from search.evaluation.feature_sets import HAND_ROW_LIMIT, HAND_ROW_START, HAND_ROWS, feature_set
from search.evaluation.network import ACTIVATION_LIMIT, LANES, EvalNetwork, Layer
from search.rules.shogi import HAND_CODES, HAND_KINDS, KINDS, SQUARES

PIECE_VALUE = np.array([90, 315, 405, 495, 855, 990, 540, 0, 540, 540, 540, 540, 945, 1395], np.int64)
"""Centipawns of each kind (Bonanza's, as in YaneuraOu's evaluate.h); a king counts 0, since both sides have one."""
STAIRS = LANES // 2
"""Lanes for the advantage of one side, up to 20,320 centipawns: more than any game reaches."""


def material_network() -> EvalNetwork:
    """Return a network that counts material in steps of ten centipawns, 10 % more in hand: it needs no file.

    A lane holds at most 127 steps, so one side's advantage fills STAIRS lanes in turn, the other side's as many
    others, and the output subtracts the second from the first.
    """
    features = feature_set("piece_square")
    rows = np.zeros((features.rows, LANES), np.int16)
    signs = np.repeat(np.array((1, -1)), STAIRS)
    for side, sign in enumerate((1, -1)):
        for kind, value in enumerate(PIECE_VALUE.tolist()):
            piece = side * KINDS + kind
            rows[piece * SQUARES : (piece + 1) * SQUARES] = sign * signs * (value // 10)
        for kind in range(HAND_KINDS):
            first = HAND_CODES + side * HAND_ROWS + int(HAND_ROW_START[kind])
            worth = int(PIECE_VALUE[kind]) * 11 // 100
            rows[first : first + int(HAND_ROW_LIMIT[kind])] = sign * signs * worth
    bias = np.tile(-ACTIVATION_LIMIT * np.arange(STAIRS), 2).astype(np.int16)
    hidden = 64 * np.eye(LANES, dtype=np.int8)
    output = (100 * signs[np.newaxis]).astype(np.int8)
    layers = (Layer(hidden, np.zeros(LANES, np.int32), 6), Layer(output, np.zeros(1, np.int32)))
    return EvalNetwork(features, rows, bias, layers, logit_per_output=1 / 6000)
