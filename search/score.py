"""Scores in centipawns of the side to move, mate scores in plies, and their conversion to win rates."""

from __future__ import annotations

import math

MATE = 32000
"""A mate in n plies scores MATE - n; being mated in n plies scores -(MATE - n)."""
MAX_PLY = 128
"""Deepest ply that the search reaches."""
INFINITE = 32001
MATE_BOUND = MATE - 2 * MAX_PLY
"""Scores whose absolute value exceeds this are mates."""
MAX_EVALUATION = 20000
"""Limit of static evaluations, so that none looks like a mate."""
CP_PER_LOGIT = 600.0
"""Centipawns per logit when a network does not specify them: the scale of dlshogi's tools."""


def is_mate(score: int) -> bool:
    """Whether a score is a mate for either side."""
    return abs(score) > MATE_BOUND


def mate_plies(score: int) -> int:
    """Plies to the mate of a mate score; negative when the side to move is mated."""
    return MATE - score if score > 0 else -(MATE + score)


def win_rate(score: float, cp_per_logit: float = CP_PER_LOGIT) -> float:
    """Expected result (0 to 1) of a score in centipawns: the logistic function with this scale."""
    return 1.0 / (1.0 + math.exp(-max(-50.0, min(50.0, score / cp_per_logit))))


def draw_value(rate: float, colour: int, cp_per_logit: float = CP_PER_LOGIT) -> tuple[int, int]:
    """Return the centipawns of a draw to black and to white, if its value to the side `colour` is `rate` (0 to 1)."""
    score = score_of_rate(rate, cp_per_logit)
    return (-score, score) if colour else (score, -score)


def score_of_rate(rate: float, cp_per_logit: float = CP_PER_LOGIT) -> int:
    """Centipawns of an expected result (0 to 1): the inverse of `win_rate`, limited to the range of evaluations."""
    if rate <= 0 or rate >= 1:
        return MAX_EVALUATION if rate >= 1 else -MAX_EVALUATION
    return within_evaluations(round(cp_per_logit * math.log(rate / (1 - rate))))


def within_evaluations(score: int) -> int:
    """Limit a score to the range of evaluations."""
    return max(-MAX_EVALUATION, min(MAX_EVALUATION, score))
