"""Scores limited to the range in which a game is open, and means of judged figures with their errors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

CLIP = 1500
"""Limit of the scores, centipawns."""


def clipped(score: int) -> int:
    """Return a score limited to CLIP on either side."""
    return max(-CLIP, min(CLIP, score))


def mean_and_error(values: Sequence[float] | np.ndarray) -> tuple[float, float | None]:
    """Return the mean and its standard error, rounded to a tenth; a single value has no known error."""
    found = np.asarray(values, float)
    error = round(float(found.std(ddof=1) / math.sqrt(len(found))), 1) if len(found) > 1 else None
    return round(float(found.mean()), 1), error


def error_text(error: float | None, form: str) -> str:
    """Return an error behind its sign, `+- 1.2`, in a format; blanks of that width for an unknown one."""
    text = f"+- {error or 0.0:{form}}"
    return " " * len(text) if error is None else text
