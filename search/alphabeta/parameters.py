"""Settings of the search that need no compiling: numbers tuned by games, and steps that can be left out.

SPSA and a judge tune the numbers (`experiments/tuning`, `experiments/judge`); a bench leaves out one step at a time and
counts what the step saves. Both are in the thread's record, so that one compiled search serves all values.

The best values differ between short and long searches, so a search limited to few nodes has its own values where these
were found to be better (docs/archive/search_numbers.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Parameter:
    """A whole number used by the search: centipawns, depths, moves or history points, as its meaning says."""

    name: str
    default: int
    low: int
    high: int
    step: int
    """Size of SPSA's step at the end of a tuning: a change that games can just detect."""
    meaning: str


PARAMETERS = (
    # Reverse futility pruning: a node is cut if its estimate is above beta by a margin of units, one per ply of depth.
    Parameter("reverse_futility_margin", 76, 30, 200, 6, "centipawns of a unit"),
    Parameter("reverse_futility_depth", 14, 3, 20, 1, "deepest node that is cut"),
    Parameter("reverse_futility_unknown", 21, 0, 60, 4, "centipawns off a unit if the table lacks the position"),
    Parameter("reverse_futility_improving", 2686, 0, 6000, 250, "1024ths of a unit off if the mover's prospects rise"),
    Parameter("reverse_futility_worsening", 362, 0, 3000, 120, "1024ths of a unit off if the opponent's have fallen"),
    Parameter("reverse_futility_correction", 57, 0, 300, 20, "centipawns more per 78.5 centipawns of correction"),
    # Razoring: a node whose estimate is below alpha by more than this is searched by quiescence alone.
    Parameter("razor_base", 502, 100, 1200, 40, "centipawns below alpha"),
    Parameter("razor_margin", 306, 80, 800, 25, "centipawns more per squared ply of depth"),
    # Null move: passing is tried if the evaluation is at least beta plus a margin.
    Parameter("null_move_base", 7, 2, 10, 1, "plies by which the search after the pass is shallower"),
    Parameter("null_move_divisor", 3, 2, 6, 1, "plies of depth for one more ply of that reduction"),
    Parameter("null_move_margin", 378, 0, 900, 25, "centipawns of the margin, at depth 0"),
    Parameter("null_move_depth", 16, 0, 50, 3, "centipawns off the margin per ply of depth"),
    Parameter("null_move_improving", 53, 0, 200, 15, "centipawns off the margin if the mover's prospects improve"),
    # Probcut: a node is cut by a capture that exceeds beta by a margin at reduced depth.
    Parameter("probcut_depth", 3, 2, 6, 1, "least depth of a node"),
    Parameter("probcut_margin", 224, 80, 500, 15, "centipawns of the margin"),
    Parameter("probcut_improving", 61, 0, 200, 8, "centipawns off the margin if the mover's prospects improve"),
    # Internal reduction, cuts by the table, and the search for mates.
    Parameter("internal_depth", 6, 2, 10, 1, "least depth of a node that is searched less deeply without a table move"),
    Parameter("table_cut_depth", 5, 2, 10, 1, "deepest node whose table cut must fit the node's kind"),
    Parameter("table_cut_margin", 416, 100, 900, 40, "centipawns above beta for a cut by a slightly too shallow entry"),
    Parameter("mate_three_depth", 6, 4, 9, 1, "least depth of a node where a mate in three is looked for"),
    # Late move pruning: a node tries so many quiet moves, and half as many if the mover's prospects do not improve.
    Parameter("late_move_base", 3, 1, 12, 1, "moves at depth 0"),
    Parameter("late_move_growth", 8, 2, 24, 1, "eighths of a move more per squared ply of depth"),
    Parameter("late_move_iteration", 9, 1, 64, 1, "first iteration that skips moves also at depth 1"),
    Parameter("history_pruning", 4097, 800, 9000, 250, "points below zero, per ply of depth, that prune a quiet move"),
    # Futility pruning: a quiet move is pruned if the evaluation plus a promise does not exceed alpha. Plies left are
    # those after reductions.
    Parameter("futility_base", 42, 0, 300, 10, "centipawns of the promise, with no ply left"),
    Parameter("futility_margin", 120, 30, 300, 8, "centipawns more per ply left"),
    Parameter("futility_depth", 13, 6, 20, 1, "plies left from which quiet moves are kept"),
    Parameter("futility_unreached", 151, 0, 400, 12, "centipawns more while no move has reached alpha"),
    Parameter("futility_above", 86, 0, 300, 15, "centipawns more if the evaluation is above alpha"),
    Parameter("futility_history", 3220, 800, 9000, 250, "history points that count as one more ply left"),
    Parameter("futility_main_history", 71, 0, 200, 10, "32nds of the history of a move's squares beside the others"),
    # Futility pruning of captures, whose promise includes the taken piece.
    Parameter("capture_futility_base", 218, 40, 600, 20, "centipawns of the promise, with no ply left"),
    Parameter("capture_futility_margin", 223, 40, 600, 20, "centipawns more per ply left"),
    Parameter("capture_futility_depth", 7, 3, 12, 1, "plies left from which captures are kept"),
    Parameter("capture_futility_history", 131, 0, 500, 25, "1024ths of a capture's history that count as centipawns"),
    # Exchange pruning: a move is pruned if the exchange on its square loses more than this.
    Parameter("quiet_exchange_margin", 25, 5, 90, 3, "centipawns per squared ply left, for a quiet move"),
    Parameter("capture_exchange_margin", 167, 30, 400, 12, "centipawns per ply of depth, for a capture or a check"),
    Parameter("capture_exchange_history", 34, 0, 150, 8, "1024ths of a capture's history that count as centipawns"),
    # Singular extension: the table move is searched deeper if all others, at less depth, stay below a bound under the
    # table's score. The distance below the bound decides the plies.
    Parameter("singular_depth", 6, 4, 9, 1, "least depth of a node"),
    Parameter("singular_search", 8, 5, 12, 1, "sixteenths of a move's depth to which the others are searched"),
    Parameter("singular_margin", 60, 10, 200, 6, "55ths of a centipawn, per ply of depth, down to the bound"),
    Parameter("singular_was_pv", 66, 0, 300, 12, "55ths of a centipawn more per ply where a principal variation went"),
    Parameter("singular_double", -4, -300, 300, 12, "centipawns below the bound for a second ply"),
    Parameter("singular_double_pv", 212, 0, 600, 25, "centipawns more in a principal variation"),
    Parameter("singular_double_quiet", 182, 0, 600, 20, "centipawns less for a quiet move"),
    Parameter("singular_triple", 73, -300, 400, 15, "centipawns below the bound for a third ply"),
    Parameter("singular_triple_pv", 320, 0, 800, 30, "centipawns more in a principal variation"),
    Parameter("singular_triple_quiet", 218, 0, 600, 20, "centipawns less for a quiet move"),
    Parameter("singular_triple_was_pv", 92, 0, 400, 15, "centipawns more where a principal variation went"),
    Parameter("singular_table_history", 906, 0, 3000, 150, "116517ths of table moves' history off `singular_double`"),
    Parameter("singular_far", 44, 0, 150, 10, "centipawns less where the line is longer than the iteration is deep"),
    Parameter("singular_above", 3, 1, 5, 1, "plies less if another move reaches the bound, the table above beta"),
    Parameter("singular_cut_node", 2, 0, 4, 1, "plies less if another move reaches the bound and a cut is expected"),
    # Late move reductions, in 1024ths of a ply.
    Parameter("reduction_base", 1133, -500, 3000, 60, "1024ths of a ply"),
    Parameter("reduction_factor", 455, 200, 800, 15, "1024ths of a ply times log(depth) * log(move number)"),
    Parameter("reduction_cut_node", 3611, 0, 7000, 150, "1024ths of a ply more where a cut is expected"),
    Parameter("reduction_history", 428, 100, 1200, 25, "1024ths of a ply less per 4096 history points"),
    Parameter("statistic_taken", 863, 0, 3000, 120, "128ths of a taken piece's value in a capture's history points"),
    Parameter("reduction_not_improving", 206, 0, 600, 20, "512ths more of the logarithms unless prospects improve"),
    Parameter("reduction_window", 585, 0, 1500, 40, "1024ths of a ply less in a window as wide as the root's"),
    Parameter("reduction_number", 65, 0, 200, 8, "1024ths of a ply less per earlier move"),
    Parameter("reduction_counted", 32, 8, 600, 4, "most earlier moves that count so: hundreds would be an extension"),
    Parameter("reduction_correction", 40, 0, 120, 6, "1024ths of a ply less per 7.8 centipawns of correction"),
    Parameter("reduction_was_pv", 2819, 0, 6000, 150, "1024ths of a ply less where a principal variation went"),
    Parameter("reduction_on_pv", 1013, 0, 3000, 80, "1024ths of a ply more there, also when moves are pruned"),
    Parameter("reduction_pv", 973, 0, 3000, 80, "1024ths of a ply less in a principal variation"),
    Parameter("reduction_table_above", 905, 0, 3000, 80, "1024ths less where it went and the table is above alpha"),
    Parameter("reduction_table_deep", 935, 0, 3000, 80, "1024ths less where it went and the table is as deep"),
    Parameter("reduction_table_deep_cut", 959, 0, 3000, 120, "1024ths less in addition where a cut is expected"),
    Parameter("reduction_table_move", 2239, 0, 5000, 150, "1024ths of a ply less for the table move"),
    Parameter("reduction_no_table_move", 985, 0, 3000, 80, "1024ths more where a cut is expected without a table move"),
    Parameter("reduction_table_tactical", 1054, 0, 3000, 80, "1024ths of a ply more if the table move is tactical"),
    Parameter("reduction_some_cuts", 251, 0, 1500, 80, "1024ths of a ply more after two fail-highs one ply deeper"),
    Parameter("reduction_cuts", 1124, 0, 3000, 80, "1024ths of a ply more after three of them"),
    Parameter("reduction_many_cuts", 1042, 0, 3000, 80, "1024ths more after two where all moves should fail"),
    Parameter("reduction_all_node", 273, 0, 800, 25, "256ths of it more, at depth 0, where no cut is expected"),
    Parameter("reduction_first", 1057, 0, 3000, 120, "1024ths of a ply more for a first move that is not the table's"),
    Parameter("one_ply_less", 4628, 2000, 8000, 150, "1024ths of a ply that take one ply off a first move"),
    Parameter("two_plies_less", 5772, 2000, 10000, 150, "1024ths of a ply that take two plies off it"),
    Parameter("deeper_margin", 48, 0, 200, 6, "centipawns above the best from which a reduced move gets one ply more"),
    Parameter("shallower_margin", 9, 0, 60, 3, "centipawns above the best below which it gets one ply less"),
    Parameter("better_reduction", 2, 0, 4, 1, "plies less for the moves after a better one"),
    Parameter("better_depth", 14, 6, 30, 2, "depth from which they stay as deep"),
    # The order of moves.
    Parameter("check_premium", 16384, 0, 40000, 1000, "history points more for a quiet check that loses little"),
    Parameter("check_loss", 75, 0, 400, 20, "centipawns that such a check may lose"),
    Parameter("bad_quiet", 14000, 2000, 30000, 800, "history points below zero to come after losing captures"),
    Parameter("low_ply_weight", 8, 0, 30, 1, "weight of the history by ply at the root"),
    Parameter("capture_value", 28, 8, 80, 3, "quarters of a taken piece's value, beside a capture's history"),
    Parameter("promotion_value", 300, 0, 1200, 50, "centipawns that a promotion adds to that value"),
    Parameter("good_capture", 18, 4, 60, 3, "points in the order of captures for each centipawn that one may lose"),
    # Updates of the histories. The bonus is a best move's, the malus that of a move tried in vain.
    Parameter("best_slope", 128, 30, 300, 12, "history points of the bonus per ply of depth"),
    Parameter("best_most", 1530, 400, 4000, 150, "history points of the bonus at most"),
    Parameter("best_table_move", 353, 0, 1200, 60, "history points more if the best move is the table's"),
    Parameter("history_bonus", 806, 200, 2400, 50, "1024ths of the bonus that a quiet move gets"),
    Parameter("malus_slope", 882, 200, 2000, 90, "history points of the malus per ply of depth"),
    Parameter("malus_most", 2122, 500, 5000, 220, "history points of the malus at most"),
    Parameter("malus_fade", 977, 700, 1024, 15, "1024ths of its predecessor's malus that each quiet move gets"),
    Parameter("history_malus", 1113, 200, 3000, 70, "1024ths of the malus that quiet moves begin with"),
    Parameter("capture_gain_share", 1286, 200, 3000, 120, "1024ths of the bonus that a capture gets"),
    Parameter("capture_loss_share", 1559, 200, 3500, 150, "1024ths of the malus that a capture gets"),
    Parameter("refuted_first", 616, 0, 2000, 80, "1024ths of the malus that the opponent's first quiet move gets"),
    Parameter("surprise_bonus", 1426, 0, 4000, 150, "history points of a reduced move that exceeds alpha"),
    Parameter("table_cut_bonus", 130, 20, 400, 15, "history points per ply of depth of a move by which the table cuts"),
    Parameter("table_cut_malus", 2142, 0, 5000, 220, "history points that the opponent's move before it loses"),
    Parameter("unanswered_base", 232, 0, 600, 40, "weight that a quiet move without a good answer needs to gain"),
    Parameter("unanswered_continuation", 221, 0, 800, 30, "16384ths of its gain in the history after the move before"),
    Parameter("unanswered_main", 235, 0, 800, 30, "32768ths of its gain in the history of its squares"),
    Parameter("unanswered_pawn", 290, 0, 1000, 40, "8192nds of its gain in the history by pawns"),
    Parameter("unanswered_capture", 1018, 0, 3000, 120, "history points of a capture without a good answer"),
    Parameter("low_ply_share", 768, 100, 2400, 80, "1024ths of a bonus or malus in the history by ply"),
    Parameter("pawn_share_gain", 850, 0, 2400, 90, "1024ths of a bonus in the history by pawns"),
    Parameter("pawn_share_loss", 550, 0, 2400, 70, "1024ths of a malus in the history by pawns"),
    Parameter("continuation_share", 955, 200, 2400, 80, "1024ths of a bonus or malus in the continuation histories"),
    Parameter("continuation_share_1", 1157, 0, 2400, 144, "1024ths of that after the move 1 ply before"),
    Parameter("continuation_share_2", 648, 0, 2400, 81, "1024ths of that after the move 2 plies before"),
    Parameter("continuation_share_3", 288, 0, 2400, 60, "1024ths of that after the move 3 plies before"),
    Parameter("continuation_share_4", 576, 0, 2400, 72, "1024ths of that after the move 4 plies before"),
    Parameter("continuation_share_5", 140, 0, 2400, 60, "1024ths of that after the move 5 plies before"),
    Parameter("continuation_share_6", 441, 0, 2400, 60, "1024ths of that after the move 6 plies before"),
    Parameter("continuation_always", 88, 0, 400, 20, "history points of any searched move after the move 1 ply before"),
    # Correction history. Points are the learnt errors of similar positions, by class of similarity.
    Parameter("correction_worth", 1024, 0, 2400, 60, "1024ths of the correction that count"),
    Parameter("correction_found", 48, 5, 150, 5, "512ths of an error learnt per ply of depth if a move reached alpha"),
    Parameter("correction_unreached", 68, 5, 200, 7, "512ths of an error learnt per ply of depth if none did"),
    Parameter("correction_weight_pawns", 12153, 0, 30000, 1000, "131072ths of a centipawn per point, by pawns"),
    Parameter("correction_weight_small", 8620, 0, 30000, 1000, "131072ths of a centipawn per point, by small pieces"),
    Parameter(
        "correction_weight_pieces",
        12355,
        0,
        30000,
        1000,
        "131072ths of a centipawn per point, by either side's pieces without pawns",
    ),
    Parameter("correction_weight_hands", 8000, 0, 30000, 1000, "131072ths of a centipawn per point, by hands"),
    Parameter(
        "correction_weight_two",
        7982,
        0,
        30000,
        1000,
        "131072ths of a centipawn per point, by the moves 1 and 2 plies before",
    ),
    Parameter(
        "correction_weight_four",
        7982,
        0,
        30000,
        1000,
        "131072ths of a centipawn per point, by the moves 1 and 4 plies before",
    ),
    # Quiescence.
    Parameter("delta_margin", 328, 30, 800, 25, "centipawns that a capture may gain beside the taken piece"),
    Parameter("quiescence_exchange", 73, 0, 300, 10, "centipawns that an exchange may lose"),
    Parameter("quiescence_captures", 2, 1, 6, 1, "moves that are tried whatever they take"),
    Parameter("quiescence_evasions", 3, 1, 8, 1, "evasions after which quiet ones are skipped"),
    # The window of an iteration.
    Parameter("aspiration_margin", 22, 5, 100, 3, "centipawns to each side of the last score"),
    Parameter("aspiration_growth", 12, 5, 40, 2, "quarters of the margin to which it grows when the window fails"),
)
SHORT_NODES = 40_000
"""A search limited to at most this many nodes uses the short search's parameters. A search by the clock never does."""
SHORT = {
    "reverse_futility_margin": 57,
    "reverse_futility_depth": 15,
    "reverse_futility_unknown": 32,
    "reverse_futility_improving": 2972,
    "reverse_futility_correction": 28,
    "razor_margin": 281,
    "null_move_margin": 327,
    "null_move_depth": 19,
    "null_move_improving": 79,
    "table_cut_margin": 382,
    "late_move_growth": 12,
    "late_move_iteration": 10,
    "futility_base": 31,
    "futility_margin": 78,
    "futility_unreached": 135,
    "futility_above": 99,
    "futility_history": 4176,
    "futility_main_history": 12,
    "capture_futility_margin": 262,
    "capture_futility_history": 48,
    "capture_exchange_history": 42,
    "singular_margin": 68,
    "singular_double": 32,
    "singular_double_quiet": 163,
    "singular_triple_pv": 359,
    "singular_triple_quiet": 201,
    "singular_triple_was_pv": 117,
    "singular_far": 59,
    "reduction_base": 1189,
    "reduction_cut_node": 3916,
    "reduction_history": 340,
    "reduction_number": 55,
    "reduction_correction": 16,
    "reduction_was_pv": 2578,
    "reduction_on_pv": 852,
    "reduction_table_move": 1923,
    "reduction_some_cuts": 333,
    "reduction_many_cuts": 1261,
    "reduction_first": 1179,
    "one_ply_less": 4176,
    "deeper_margin": 59,
    "shallower_margin": 23,
    "better_depth": 16,
    "promotion_value": 254,
    "good_capture": 21,
    "best_most": 1712,
    "best_table_move": 282,
    "malus_slope": 687,
    "malus_most": 1282,
    "malus_fade": 995,
    "history_malus": 1089,
    "capture_gain_share": 1192,
    "capture_loss_share": 1425,
    "surprise_bonus": 1592,
    "unanswered_base": 192,
    "low_ply_share": 688,
    "pawn_share_loss": 483,
    "continuation_share_1": 1268,
    "continuation_share_4": 508,
    "continuation_share_5": 221,
    "correction_worth": 830,
    "correction_unreached": 61,
    "correction_weight_two": 8776,
    "delta_margin": 302,
    "aspiration_margin": 25,
    "aspiration_growth": 14,
}
"""Defaults of short searches where they differ."""

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
    "correction history",
    "quiet checks",
    "delta pruning",
    "aspiration",
)
"""Steps that can be left out; their order gives the bits of the thread's `steps`."""
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
    CORRECTION,
    QUIET_CHECKS,
    DELTA_PRUNING,
    ASPIRATION,
) = (1 << bit for bit in range(len(STEPS)))
EVERY_STEP = (1 << len(STEPS)) - 1

_LONGEST = 64
_LIKENESSES = ("pawns", "small", "pieces", "pieces", "hands", "two", "four")
"""Order of the similarity classes in correction.py."""
parameters_dtype = np.dtype(
    [
        *((parameter.name, np.int32) for parameter in PARAMETERS),
        ("continuation_shares", np.int64, 7),  # by plies back
        ("correction_weights", np.int64, len(_LIKENESSES)),  # by similarity class, see correction.py
        ("reductions", np.int32, (_LONGEST, _LONGEST)),  # [depth, move number], 1024ths of a ply
    ],
    align=True,
)
numbers_dtype = np.dtype([("short", parameters_dtype), ("long", parameters_dtype)], align=True)
"""The parameters of short and of long searches."""


def read_parameter(name: str, value: int) -> Parameter:
    """Return the parameter of this name. Raises ValueError if there is none or if the value is outside its range."""
    for parameter in PARAMETERS:
        if parameter.name == name.lower():
            if not parameter.low <= value <= parameter.high:
                raise ValueError(f"{parameter.name} {value} is outside {parameter.low} to {parameter.high}")
            return parameter
    raise ValueError(f"no such parameter: {name[:60]!r}")


def make_numbers(changes: Mapping[str, int] | None = None) -> np.void:
    """Return a record of `numbers_dtype`: the defaults, with changes applied to both kinds of search."""
    changed = {read_parameter(name, value).name: value for name, value in (changes or {}).items()}
    defaults = {parameter.name: parameter.default for parameter in PARAMETERS}
    record = np.zeros(1, numbers_dtype)[0]
    _fill(record["short"], defaults | SHORT | changed)
    _fill(record["long"], defaults | changed)
    return record


def parameters_for(nodes: int) -> tuple[Parameter, ...]:
    """Return the parameters with their defaults for a search of `nodes` nodes; 0 means no limit."""
    short = SHORT if 0 < nodes <= SHORT_NODES else {}
    return tuple(replace(one, default=short.get(one.name, one.default)) for one in PARAMETERS)


def _fill(record: np.void, values: Mapping[str, int]) -> None:
    """Set a record of `parameters_dtype` and the tables derived from its parameters."""
    for name, value in values.items():
        record[name] = value
    # Late-move reductions: logarithmic in depth and move number (Stockfish's form).
    logarithms = np.log(np.maximum(np.arange(_LONGEST), 1))
    record["reductions"] = record["reduction_factor"] * np.outer(logarithms, logarithms)
    for back in range(1, 7):
        record["continuation_shares"][back] = record[f"continuation_share_{back}"]
    for likeness, name in enumerate(_LIKENESSES):
        record["correction_weights"][likeness] = record[f"correction_weight_{name}"]
