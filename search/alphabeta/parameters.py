"""What can be changed about the search without compiling: the numbers that games tune, and steps to leave out.

The numbers are tuned by SPSA (`liteshogi tune`); `bench steps` leaves out one step at a time and counts what it
saved. Both lie in the thread's record, so one compiled search serves all values.
"""

from __future__ import annotations

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
    Parameter("reverse_futility_margin", 76, 30, 200, 6, "centipawns a ply above beta"),
    Parameter("reverse_futility_depth", 14, 3, 20, 1, "deepest node"),
    Parameter("razor_base", 502, 100, 1200, 40, "centipawns below alpha"),
    Parameter("razor_margin", 306, 80, 800, 25, "centipawns more a squared ply"),
    Parameter("null_move_base", 7, 2, 10, 1, "reduction of depth"),
    Parameter("null_move_divisor", 3, 2, 6, 1, "plies of depth for one more of reduction"),
    Parameter("null_move_margin", 378, 0, 900, 25, "centipawns above beta, at depth 0"),
    Parameter("probcut_margin", 224, 80, 500, 15, "centipawns above beta"),
    Parameter("probcut_improving", 61, 0, 200, 8, "centipawns less where the mover's prospects improve"),
    Parameter("hindsight_margin", 173, 0, 500, 15, "centipawns between two evaluations that bear a reduction out"),
    Parameter("late_move_base", 3, 1, 12, 1, "moves tried at least"),
    Parameter("late_move_growth", 8, 2, 24, 1, "eighths of a move more a squared ply"),
    Parameter("late_move_iteration", 9, 1, 64, 1, "first iteration that skips moves also at depth 1"),
    Parameter("history_pruning", 4097, 800, 9000, 250, "history points below zero a ply"),
    Parameter("futility_base", 42, 0, 300, 10, "centipawns below alpha"),
    Parameter("futility_margin", 120, 30, 300, 8, "centipawns more a ply left"),
    Parameter("futility_unreached", 151, 0, 400, 12, "centipawns more while no move has reached alpha"),
    Parameter("futility_history", 3220, 800, 9000, 250, "history points for one more ply left"),
    Parameter("capture_futility_base", 218, 40, 600, 20, "centipawns below alpha that a capture may promise"),
    Parameter("capture_futility_margin", 223, 40, 600, 20, "centipawns more a ply left"),
    Parameter("quiet_exchange_margin", 25, 5, 90, 3, "centipawns a squared ply left that an exchange may lose"),
    Parameter("capture_exchange_margin", 167, 30, 400, 12, "centipawns a ply that an exchange may lose"),
    Parameter("singular_margin", 60, 10, 200, 6, "55ths of a centipawn a ply"),
    Parameter("singular_was_pv", 66, 0, 300, 12, "55ths of a centipawn a ply more where a principal variation went"),
    Parameter("singular_double", -4, -300, 300, 12, "centipawns below singular that are worth a second ply"),
    Parameter("singular_double_pv", 212, 0, 600, 25, "centipawns more in a principal variation"),
    Parameter("singular_double_quiet", 182, 0, 600, 20, "centipawns less for a quiet move"),
    Parameter("singular_triple", 73, -300, 400, 15, "centipawns below singular that are worth a third ply"),
    Parameter("singular_triple_pv", 320, 0, 800, 30, "centipawns more in a principal variation"),
    Parameter("singular_triple_quiet", 218, 0, 600, 20, "centipawns less for a quiet move"),
    Parameter("singular_triple_was_pv", 92, 0, 400, 15, "centipawns more where a principal variation went"),
    Parameter("reduction_base", 1133, -500, 3000, 60, "1024ths of a ply"),
    Parameter("reduction_factor", 455, 200, 800, 15, "1024ths of a ply; of log(depth) * log(move number)"),
    Parameter("reduction_cut_node", 3611, 0, 7000, 150, "1024ths of a ply more where a cut is expected"),
    Parameter("reduction_history", 428, 100, 1200, 25, "1024ths of a ply for 4096 history points"),
    Parameter("reduction_not_improving", 206, 0, 600, 20, "512ths more where the mover's prospects do not improve"),
    Parameter("reduction_window", 585, 0, 1500, 40, "1024ths of a ply less in a window as wide as the root's"),
    Parameter("reduction_number", 65, 0, 200, 8, "1024ths of a ply less a move before it"),
    Parameter("reduction_counted", 32, 8, 600, 4, "moves at most that count so: shogi's hundreds would be extended"),
    Parameter("reduction_was_pv", 2819, 0, 6000, 150, "1024ths of a ply less where a principal variation went"),
    Parameter("reduction_on_pv", 1013, 0, 3000, 80, "1024ths of a ply more there before moves are pruned by it"),
    Parameter("reduction_pv", 973, 0, 3000, 80, "1024ths of a ply less in a principal variation"),
    Parameter("reduction_table_above", 905, 0, 3000, 80, "1024ths less where it went and the table is above alpha"),
    Parameter("reduction_table_deep", 935, 0, 3000, 80, "1024ths less where it went and the table is as deep"),
    Parameter("reduction_table_move", 2239, 0, 5000, 150, "1024ths of a ply less for the table's move"),
    Parameter("reduction_many_cuts", 1042, 0, 3000, 80, "1024ths more where most replies cut and no cut is expected"),
    Parameter("one_ply_less", 4628, 2000, 8000, 150, "1024ths of a ply from which a first move is reduced"),
    Parameter("two_plies_less", 5772, 2000, 10000, 150, "1024ths of a ply from which it is by two plies"),
    Parameter("reduction_no_table_move", 985, 0, 3000, 80, "1024ths of a ply more where a cut is expected"),
    Parameter("reduction_table_tactical", 1054, 0, 3000, 80, "1024ths of a ply more behind a tactical table move"),
    Parameter("reduction_cuts", 1124, 0, 3000, 80, "1024ths of a ply more where most of the replies cut"),
    Parameter("reduction_all_node", 273, 0, 800, 25, "256ths more at depth 0 where no cut is expected"),
    Parameter("deeper_margin", 48, 0, 200, 6, "centipawns above the best by which a reduced move gets a ply more"),
    Parameter("shallower_margin", 9, 0, 60, 3, "centipawns above the best up to which it gets one less"),
    Parameter("check_premium", 16384, 0, 40000, 1000, "history points of a quiet check that loses nothing"),
    Parameter("bad_quiet", 14000, 2000, 30000, 800, "history points below zero of a move behind losing captures"),
    Parameter("history_bonus", 806, 200, 2400, 50, "1024ths of what a best quiet move gains"),
    Parameter("history_malus", 1113, 200, 3000, 70, "1024ths of what those before it lose"),
    Parameter("correction_worth", 1024, 0, 2400, 60, "1024ths of an evaluation's correction"),
    Parameter("delta_margin", 328, 30, 800, 25, "centipawns that a capture may gain by position"),
    Parameter("quiescence_exchange", 73, 0, 300, 10, "centipawns that an exchange in quiescence may lose"),
    Parameter("aspiration_margin", 22, 5, 100, 3, "centipawns to each side of the last score"),
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
    "late move reduction",
    "hindsight",
    "correction history",
    "evaluation history",
    "quiet checks",
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
    LATE_MOVE_REDUCTION,
    HINDSIGHT,
    CORRECTION,
    EVALUATION_HISTORY,
    QUIET_CHECKS,
    DELTA_PRUNING,
    ASPIRATION,
) = (1 << bit for bit in range(len(STEPS)))
EVERY_STEP = (1 << len(STEPS)) - 1

_LONGEST = 64
parameters_dtype = np.dtype(
    [
        *((parameter.name, np.int32) for parameter in PARAMETERS),
        ("reductions", np.int32, (_LONGEST, _LONGEST)),  # [depth, move number], 1024ths of a ply
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
    logarithms = np.log(np.maximum(np.arange(_LONGEST), 1))
    record["reductions"] = record["reduction_factor"] * np.outer(logarithms, logarithms)
    return record
