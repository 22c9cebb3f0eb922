"""What can be changed about the search without compiling: the numbers that games tune, and steps to leave out.

The numbers are tuned by SPSA (`liteshogi tune`); `bench steps` leaves out one step at a time and counts what it
saved. Both lie in the thread's record, so one compiled search serves all values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Parameter:
    """A whole number of the search: centipawns, depths, moves or history points as its meaning says."""

    name: str
    default: int
    low: int
    high: int
    step: int
    """How far SPSA moves it at the end of a tuning, a change that games can just about tell."""
    meaning: str


PARAMETERS = (
    Parameter("reverse_futility_margin", 85, 30, 200, 6, "centipawns a ply above beta"),
    Parameter("reverse_futility_depth", 8, 3, 14, 1, "deepest node"),
    Parameter("razor_margin", 220, 80, 500, 15, "centipawns a ply below alpha"),
    Parameter("null_move_base", 3, 1, 6, 1, "reduction of depth"),
    Parameter("null_move_divisor", 3, 2, 6, 1, "plies of depth for one more of reduction"),
    Parameter("null_move_gain", 180, 60, 400, 15, "centipawns above beta for one more of reduction"),
    Parameter("probcut_margin", 220, 80, 500, 15, "centipawns above beta"),
    Parameter("late_move_base", 3, 1, 12, 1, "quiet moves tried at least"),
    Parameter("history_pruning", 3600, 800, 9000, 250, "history points below zero a ply"),
    Parameter("futility_base", 110, 20, 300, 10, "centipawns below alpha"),
    Parameter("futility_margin", 95, 30, 250, 7, "centipawns more a ply left"),
    Parameter("quiet_exchange_margin", 28, 5, 90, 3, "centipawns a squared ply left that an exchange may lose"),
    Parameter("capture_exchange_margin", 110, 30, 300, 8, "centipawns a ply that an exchange may lose"),
    Parameter("singular_margin", 16, 4, 60, 2, "eighths of a centipawn a ply"),
    Parameter("double_extension", 25, 5, 100, 4, "centipawns below the singular bound"),
    Parameter("reduction_base", 55, -50, 150, 6, "hundredths of a ply"),
    Parameter("reduction_divisor", 210, 120, 400, 8, "hundredths; of log(depth) * log(move number)"),
    Parameter("reduction_history", 117, 40, 350, 8, "plies for 2 ** 20 history points"),
    Parameter("delta_margin", 150, 30, 500, 12, "centipawns that a capture may gain by position"),
    Parameter("correction_share", 16, 2, 64, 2, "largest share of an error learnt at once, 256ths"),
)

STEPS = (
    "table cut",
    "reverse futility",
    "mate in one",
    "mate in three",
    "razoring",
    "null move",
    "internal reduction",
    "probcut",
    "late move pruning",
    "history pruning",
    "futility",
    "exchange pruning",
    "singular extension",
    "multi-cut",
    "check extension",
    "late move reduction",
    "improving",
    "correction history",
    "refutations",
    "quiet history",
    "continuation history",
    "capture history",
    "delta pruning",
    "aspiration",
)
"""Steps that can be left out, each a bit of the thread's `steps` in this order."""
(
    TABLE_CUT,
    REVERSE_FUTILITY,
    MATE_IN_ONE,
    MATE_IN_THREE,
    RAZORING,
    NULL_MOVE,
    INTERNAL_REDUCTION,
    PROBCUT,
    LATE_MOVE_PRUNING,
    HISTORY_PRUNING,
    FUTILITY,
    EXCHANGE_PRUNING,
    SINGULAR,
    MULTI_CUT,
    CHECK_EXTENSION,
    LATE_MOVE_REDUCTION,
    IMPROVING,
    CORRECTION,
    REFUTATIONS,
    QUIET_HISTORY,
    CONTINUATION_HISTORY,
    CAPTURE_HISTORY,
    DELTA_PRUNING,
    ASPIRATION,
) = (1 << bit for bit in range(len(STEPS)))
EVERY_STEP = (1 << len(STEPS)) - 1

_LONGEST = 64
parameters_dtype = np.dtype(
    [
        *((parameter.name, np.int32) for parameter in PARAMETERS),
        ("reductions", np.int8, (_LONGEST, _LONGEST)),  # [depth, move number]
    ],
    align=True,
)


def read_parameter(name: str, value: int) -> Parameter:
    """The parameter of a name, ValueError in words if there is none or the value is outside its range."""
    for parameter in PARAMETERS:
        if parameter.name == name.lower():
            if not parameter.low <= value <= parameter.high:
                raise ValueError(f"{parameter.name} {value} is outside {parameter.low} to {parameter.high}")
            return parameter
    raise ValueError(f"no such parameter: {name[:60]!r}")


def make_parameters(changes: Mapping[str, int] | None = None) -> np.void:
    """A record of `parameters_dtype`: the defaults with some changed."""
    record = np.zeros(1, parameters_dtype)[0]
    for parameter in PARAMETERS:
        record[parameter.name] = parameter.default
    for name, value in (changes or {}).items():
        record[read_parameter(name, value).name] = value
    # Late-move reductions: logarithmic in depth and move number (Stockfish's form).
    base, divisor = record["reduction_base"] / 100, record["reduction_divisor"] / 100
    for depth in range(1, _LONGEST):
        for number in range(1, _LONGEST):
            record["reductions"][depth, number] = int(base + math.log(depth) * math.log(number) / divisor)
    return record
