"""Scores: centipawns of the mover, mates counted in plies, and the one place that turns them into win rates."""

from __future__ import annotations

import math

MATE = 32000
"""Mate in n plies is MATE - n, being mated -(MATE - n)."""
MAX_PLY = 128
"""Deepest ply that the search reaches."""
INFINITE = 32001
MATE_BOUND = MATE - 2 * MAX_PLY
"""Scores beyond this are mates."""
MAX_EVALUATION = 20000
"""Static evaluations are clamped here, so that none looks like a mate."""
CP_PER_LOGIT = 600.0
"""Centipawns of one logit when a network does not name its own: the scale that dlshogi's tools use."""


def is_mate(score: int) -> bool:
    """Whether a score is a mate for either side."""
    return abs(score) > MATE_BOUND


def mate_plies(score: int) -> int:
    """Plies to the mate of a mate score, negative when the mover is mated."""
    return MATE - score if score > 0 else -(MATE + score)


def win_rate(score: float, cp_per_logit: float = CP_PER_LOGIT) -> float:
    """Expected result (0..1) of a score in centipawns: the logistic function with the named scale."""
    return 1.0 / (1.0 + math.exp(-max(-50.0, min(50.0, score / cp_per_logit))))


def draw_value(rate: float, colour: int, cp_per_logit: float = CP_PER_LOGIT) -> tuple[int, int]:
    """Centipawns of a draw to black and to white, where it is worth `rate` (0..1) to the side of this colour."""
    score = score_of_rate(rate, cp_per_logit)
    return (-score, score) if colour else (score, -score)


def score_of_rate(rate: float, cp_per_logit: float = CP_PER_LOGIT) -> int:
    """Centipawns of an expected result (0..1), the inverse of `win_rate`, kept inside the evaluations' range."""
    if rate <= 0 or rate >= 1:
        return MAX_EVALUATION if rate >= 1 else -MAX_EVALUATION
    return within_evaluations(round(cp_per_logit * math.log(rate / (1 - rate))))


def within_evaluations(score: int) -> int:
    """The nearest score that an evaluation may have."""
    return max(-MAX_EVALUATION, min(MAX_EVALUATION, score))
