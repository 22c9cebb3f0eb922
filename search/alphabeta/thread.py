"""Memory of one search thread: its position, its accumulators, and its record of counters, tables and scratch.

The record holds scratch fields per ply and the learnt statistics, see history.py and correction.py.
"""

from __future__ import annotations

import numpy as np

from search.alphabeta.parameters import EVERY_STEP, make_numbers, numbers_dtype, parameters_dtype
from search.alphabeta.sampling import NEVER, PLACEMENT_WORDS, SAMPLES
from search.alphabeta.transposition import TranspositionTable, table_dtype
from search.compiling.jit import jit
from search.evaluation.accumulator import Accumulators
from search.evaluation.network import EvalNetwork
from search.primitives.memory import new_record, record_dtype
from search.primitives.ticks import is_past
from search.rules.declaration import RULE_27
from search.rules.movegen import MAX_MOVES
from search.rules.position import new_position
from search.rules.shogi import KINDS, SQUARES
from search.score import MAX_PLY

PIECE_SQUARES = 2 * KINDS * SQUARES
NO_CONTINUATION = PIECE_SQUARES
"""Row of the continuation table for "no move before" (root, null move)."""
LIKENESSES, CORRECTION_BITS = 7, 14
"""Number of similarity classes, and bits of the index of each class's table; see correction.py."""
PAWN_STRUCTURES = 512
"""Rows of the pawn history; structures share them by hash."""
LOW_PLIES = 5
"""Plies from the root whose moves have a history of their own."""
NODES_A_LOOK = 256
"""Nodes between two looks at the clock: about a third of a millisecond."""
PLIES = MAX_PLY + 4

found_dtype = np.dtype(
    [
        ("nodes", np.int64),  # of all depths so far
        ("score", np.int32),
        ("seldepth", np.int32),
        ("line_length", np.int32),
        ("line", np.uint16, PLIES),
    ],
    align=True,
)
"""Result of one depth of the search."""

thread_dtype = record_dtype(
    [
        ("nodes", np.int64),  # do_move calls in the tree, null moves included
        ("node_limit", np.int64),  # 0: none
        ("deadline", np.int64),  # clock ticks at which the search ends, see search/primitives/ticks.py; 0: none
        ("grow_until", np.int64),  # limit of `nodes` for searching late moves deeper than others, see deepening.py
        ("search", np.int64),  # address of the compiled search, see single_search.py; 0: not set
        ("stop", np.uint8),  # set by any thread; the search ends soon after
        ("seldepth", np.int32),
        ("root_depth", np.int32),
        ("draw_value", np.int32, 2),  # centipawns of a draw to each colour
        ("max_moves", np.int32),  # number of the last move before the game is drawn; 0: no limit
        ("declaration_rule", np.int32),
        ("analysis", np.uint8),  # whether earlier positions of the game count as repeated only by the rule
        ("null_until", np.int32),  # no null move before this ply (verification search), see search.py
        ("table", table_dtype),
        ("steps", np.int64),  # one bit per search step that is used, see parameters.py
        ("numbers", numbers_dtype),
        ("parameters", parameters_dtype),  # the parameters in use, one of the two in `numbers`
        # the root
        ("root_moves", np.uint16, MAX_MOVES),
        ("root_count", np.int32),
        ("root_partial", np.uint8),  # some legal moves are excluded: the best of the rest is not the position's score
        ("root_nodes", np.int32, 1 << 15),  # nodes of each move in the last iteration
        ("root_first", np.int32),  # root moves before this index are excluded (MultiPV)
        ("root_window", np.int32),  # width of the iteration's window
        ("pv", np.uint16, (PLIES, PLIES)),
        ("pv_length", np.int32, PLIES),
        ("pv_score", np.int32),  # score of the root line; a lower bound where it exceeded the window
        # the last finished depth, see deepening.py
        ("depth", np.int32),
        ("score", np.int32),
        ("line", np.uint16, PLIES),
        ("line_length", np.int32),
        ("found", found_dtype, MAX_PLY),  # by depth
        ("pause", np.int64),  # nodes after which `deepen` returns at the next finished depth; 0: never
        # per ply
        ("evaluation", np.int32, PLIES),  # corrected static evaluation; in check that of two plies before
        ("correction_index", np.int32, (PLIES, LIKENESSES)),
        ("correction_value", np.int32, PLIES),  # in 131072ths of a centipawn
        ("excluded", np.uint16, PLIES),  # move left out by a singular search
        ("continuation", np.int32, PLIES),  # piece and square of the move leading there
        ("played", np.uint16, PLIES),  # move played at the ply, 0: none or a null move
        ("taken", np.uint8, PLIES),  # captured kind plus one, 0: none
        ("checked", np.uint8, PLIES),
        ("table_pv", np.uint8, PLIES),  # whether the node is or was on a principal variation
        ("table_hit", np.uint8, PLIES),
        ("move_count", np.int32, PLIES),
        ("statistic", np.int32, PLIES),  # histories of the move being searched
        ("reduction", np.int32, PLIES),  # plies by which the move being searched is reduced
        ("cut_count", np.int32, PLIES),  # fail-highs at the ply since its grandparent was entered
        ("moves", np.uint16, (PLIES, MAX_MOVES)),
        ("keys", np.int32, (PLIES, MAX_MOVES + 24)),  # ordering keys of `moves`, see picker.py
        ("drop_scores", np.int32, 96),
        ("bad_moves", np.uint16, (PLIES, MAX_MOVES)),  # captures postponed because they lose material
        ("pick_stage", np.uint8, PLIES),  # see picker.py
        ("pick_table_move", np.uint16, PLIES),
        ("pick_cursor", np.int32, PLIES),
        ("pick_count", np.int32, PLIES),
        ("pick_bad", np.int32, PLIES),
        ("pick_skip", np.uint8, PLIES),  # no further quiet moves are wanted
        ("checks", np.uint16, (PLIES, MAX_MOVES)),  # checking moves of a node, see search/mate/in_one.py
        ("check_count", np.int32, PLIES),
        ("check_squares", np.uint64, (KINDS, 2)),  # squares from which each kind would check, see picker.py
        ("tried_quiet", np.uint16, (PLIES, 64)),  # moves that did not cut
        ("tried_tactical", np.uint16, (PLIES, 64)),
        # move ordering
        ("history", np.int16, (2, 88, SQUARES)),  # [colour, origin or drop, target]
        ("capture_history", np.int16, (2 * KINDS, SQUARES, KINDS + 1)),  # [piece, target, taken kind]
        ("low_ply_history", np.int16, (LOW_PLIES, 88, SQUARES)),  # [ply, origin or drop, target]
        ("pawn_history", np.int16, (PAWN_STRUCTURES, PIECE_SQUARES)),
        ("table_move_history", np.int32),
        ("continuation_history", np.int16, (PIECE_SQUARES + 1, PIECE_SQUARES)),
        ("correction", np.int16, (LIKENESSES, 2, 1 << CORRECTION_BITS)),
        # sampled positions, see sampling.py
        ("sample_at", np.int64),  # node count at which the next sample is taken; NEVER: none
        ("sample_gap", np.int64),  # average number of nodes between samples
        ("sample_state", np.uint64),
        ("sample_count", np.int32),
        ("sample_kinds", np.uint8, SAMPLES),  # MAIN or QUIESCENCE
        ("samples", np.uint64, (SAMPLES, PLACEMENT_WORDS)),  # the head of the position's record
    ]
)


LOW_PLY_HISTORY = "low_ply_history"
"""History of the plies next to the root. Every search clears it, because its plies are other positions."""
HISTORIES = {
    "history": 0,
    "capture_history": -600,
    "continuation_history": -500,
    "pawn_history": -1200,
    LOW_PLY_HISTORY: 100,
    "correction": 0,
    "table_move_history": 0,
}
"""Learnt statistics and their initial values. A move that was never tried starts slightly below average."""


class SearchThread:
    """The memory of one thread (about 14 MB); the table and the network are shared."""

    def __init__(self, network: EvalNetwork, table: TranspositionTable) -> None:
        self.record = new_record(thread_dtype)
        self.record["sample_at"] = NEVER
        self.record["steps"], self.record["numbers"] = EVERY_STEP, make_numbers()
        self.record["parameters"] = self.record["numbers"]["long"]
        self.record["declaration_rule"] = RULE_27
        self.position = new_position()
        self.use_table(table)
        self.accumulators = Accumulators(network)
        self.clear()

    def use_table(self, table: TranspositionTable) -> None:
        """Use another table."""
        self.table = table
        self.record["table"] = table.record

    def set_draw_value(self, draw_value: tuple[int, int]) -> None:
        """Use these centipawns of a draw for black and for white; the table and the corrections are valid for one pair
        only."""
        self.record["draw_value"] = draw_value
        self.accumulators.set_draw_value(draw_value)

    def clear_corrections(self) -> None:
        """Forget the errors of the evaluation, because they refer to scores of another kind."""
        self.record["correction"] = HISTORIES["correction"]

    def forget(self) -> None:
        """Forget what was learnt and clear the table: later searches then depend on nothing before.

        The table's record is copied again because its age restarts.
        """
        self.table.clear()
        self.use_table(self.table)
        self.clear()

    def clear(self) -> None:
        """Forget what was learnt, for a new game."""
        for name, value in HISTORIES.items():
            self.record[name] = value


@jit
def count_node(thread):
    """Count a move of the tree; stop the search when the nodes or the time are used up."""
    thread.nodes += 1
    if thread.node_limit and thread.nodes >= thread.node_limit:
        thread.stop = 1
    if thread.nodes % NODES_A_LOOK == 0 and thread.deadline and is_past(thread.deadline):
        thread.stop = 1


@jit
def copy_pv(thread, ply, move):
    """Make the child's line, preceded by the move, the node's line."""
    thread.pv[ply, 0] = move
    length = np.int64(thread.pv_length[ply + 1])
    for index in range(length):
        thread.pv[ply, index + 1] = thread.pv[ply + 1, index]
    thread.pv_length[ply] = length + 1
