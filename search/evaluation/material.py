"""What pieces are worth, and a network that knows nothing else."""

from __future__ import annotations

import numpy as np

from search.evaluation.feature_sets import HAND_ROW_LIMIT, HAND_ROW_START, HAND_ROWS, feature_set
from search.evaluation.network import LANES, EvalNetwork, Layer
from search.rules.shogi import HAND_CODES, HAND_KINDS, KINDS, SQUARES

PIECE_VALUE = np.array([90, 315, 405, 495, 855, 990, 540, 0, 540, 540, 540, 540, 945, 1395], np.int64)
"""Centipawns of each kind (Bonanza's, as in YaneuraOu's evaluate.h); a king is worth nothing, since both have one."""


def material_network() -> EvalNetwork:
    """A network that counts material in steps of ten centipawns, in hand a tenth more, for an engine without a file.

    Two lanes, one for each sign, and an output that subtracts them.
    """
    features = feature_set("piece_square")
    rows = np.zeros((features.rows, LANES), np.int16)
    for side, sign in enumerate((1, -1)):
        for kind, value in enumerate(PIECE_VALUE.tolist()):
            piece = side * KINDS + kind
            rows[piece * SQUARES : (piece + 1) * SQUARES, :2] = np.array((sign, -sign)) * (value // 10)
        for kind in range(HAND_KINDS):
            first = HAND_CODES + side * HAND_ROWS + int(HAND_ROW_START[kind])
            worth = int(PIECE_VALUE[kind]) * 11 // 100
            rows[first : first + int(HAND_ROW_LIMIT[kind]), :2] = np.array((sign, -sign)) * worth
    hidden = np.zeros((2, LANES), np.int8)
    hidden[0, 0] = hidden[1, 1] = 64
    output = np.array([[100, -100]], np.int8)
    layers = (Layer(hidden, np.zeros(2, np.int32), 6), Layer(output, np.zeros(1, np.int32)))
    return EvalNetwork(features, rows, np.zeros(LANES, np.int16), layers, logit_per_output=1 / 6000)
