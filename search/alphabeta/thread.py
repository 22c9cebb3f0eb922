"""What one search thread owns: its position, its accumulators and its record of counters, tables and scratch.

The record holds per-ply scratch and what was learnt, see history.py and correction.py.
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
"""In how many ways positions are alike, and the size of the table of each; see correction.py."""
PAWN_STRUCTURES = 512
"""Rows of the history by pawns; structures share them by hash."""
LOW_PLIES = 5
"""Plies from the root whose moves have a history of their own."""
NODES_A_LOOK = 256
"""Nodes from one look at the clock to the next, a third of a millisecond or so."""
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
"""What one depth of the search has found."""

thread_dtype = record_dtype(
    [
        ("nodes", np.int64),  # do_move calls in the tree, null moves included
        ("node_limit", np.int64),  # 0: none
        ("deadline", np.int64),  # ticks of the clock at which the search ends, see search/primitives/ticks.py; 0: none
        ("grow_until", np.int64),  # nodes up to which late moves may be searched deeper than others, see deepening.py
        ("search", np.int64),  # address of the compiled search; 0: nobody calls it by that, see single_search.py
        ("stop", np.uint8),  # set by anyone; the search returns soon after
        ("seldepth", np.int32),
        ("root_depth", np.int32),
        ("draw_value", np.int32, 2),  # centipawns of a draw to each colour
        ("max_moves", np.int32),  # number of the last move before the game is drawn; 0: never
        ("declaration_rule", np.int32),
        ("analysis", np.uint8),  # whether nothing before the root recurs but by the rule
        ("null_until", np.int32),  # verification search: no null move before this ply, see search.py
        ("table", table_dtype),
        ("steps", np.int64),  # a bit for each step of the search that is taken, see parameters.py
        ("numbers", numbers_dtype),
        ("parameters", parameters_dtype),  # those of `numbers` that the search under way has
        # the root
        ("root_moves", np.uint16, MAX_MOVES),
        ("root_count", np.int32),
        ("root_partial", np.uint8),  # some of the position's moves are not among them: their best is not its score
        ("root_nodes", np.int32, 1 << 15),  # of each move in the last iteration
        ("root_first", np.int32),  # earlier root moves are taken (MultiPV)
        ("root_window", np.int32),  # width of the window that the iteration searches
        ("pv", np.uint16, (PLIES, PLIES)),
        ("pv_length", np.int32, PLIES),
        ("pv_score", np.int32),  # of the line at the root; the least that it is worth where it left the window above
        # the last depth that was finished, see deepening.py
        ("depth", np.int32),
        ("score", np.int32),
        ("line", np.uint16, PLIES),
        ("line_length", np.int32),
        ("found", found_dtype, MAX_PLY),  # by depth
        ("pause", np.int64),  # nodes after which `deepen` comes back with the next depth that is finished; 0: none
        # per ply
        ("evaluation", np.int32, PLIES),  # corrected static evaluation; in check that of two plies before
        ("correction_index", np.int32, (PLIES, LIKENESSES)),
        ("correction_value", np.int32, PLIES),  # in 131072ths of a centipawn
        ("excluded", np.uint16, PLIES),  # move left out by a singular search
        ("continuation", np.int32, PLIES),  # piece-and-square of the move leading there
        ("played", np.uint16, PLIES),  # move made from the ply, 0: none or a null move
        ("taken", np.uint8, PLIES),  # kind that it took and one more, 0: none
        ("checked", np.uint8, PLIES),
        ("table_pv", np.uint8, PLIES),  # whether the node is or was on a principal variation
        ("table_hit", np.uint8, PLIES),
        ("move_count", np.int32, PLIES),
        ("statistic", np.int32, PLIES),  # histories of the move under way
        ("reduction", np.int32, PLIES),  # plies that the move under way is searched less deeply
        ("cut_count", np.int32, PLIES),  # fail-highs among the nodes of the ply
        ("moves", np.uint16, (PLIES, MAX_MOVES)),
        ("keys", np.int32, (PLIES, MAX_MOVES + 24)),  # ordering keys of `moves`, see picker.py
        ("drop_scores", np.int32, 96),
        ("bad_moves", np.uint16, (PLIES, MAX_MOVES)),  # captures put off because they lose material
        ("pick_stage", np.uint8, PLIES),  # see picker.py
        ("pick_table_move", np.uint16, PLIES),
        ("pick_cursor", np.int32, PLIES),
        ("pick_count", np.int32, PLIES),
        ("pick_bad", np.int32, PLIES),
        ("pick_skip", np.uint8, PLIES),  # no further quiet moves are wanted
        ("checks", np.uint16, (PLIES, MAX_MOVES)),  # checking moves of a node, see search/mate/in_one.py
        ("check_count", np.int32, PLIES),
        ("check_squares", np.uint64, (KINDS, 2)),  # from where each kind of the mover's would check, see picker.py
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
        # positions that are kept, see sampling.py
        ("sample_at", np.int64),  # count of nodes from which the next one is; NEVER: none
        ("sample_gap", np.int64),  # nodes from one to the next, on average
        ("sample_state", np.uint64),
        ("sample_count", np.int32),
        ("sample_kinds", np.uint8, SAMPLES),  # MAIN or QUIESCENCE
        ("samples", np.uint64, (SAMPLES, PLACEMENT_WORDS)),  # the head of the position's record
    ]
)


LOW_PLY_HISTORY = "low_ply_history"
"""That of the plies next to the root, which every search begins anew: another root's plies are other nodes."""
HISTORIES = {
    "history": 0,
    "capture_history": -600,
    "continuation_history": -500,
    "pawn_history": -1200,
    LOW_PLY_HISTORY: 100,
    "correction": 0,
    "table_move_history": 0,
}
"""What is learnt, of moves' order but for the corrections, and how it begins: a move that was never tried is a little
worse than others."""


class SearchThread:
    """A thread's memory (about 12 MB); the table and the network are shared."""

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
        """Search with another table."""
        self.table = table
        self.record["table"] = table.record

    def set_draw_value(self, draw_value: tuple[int, int]) -> None:
        """Search with these centipawns of a draw to black and to white; the table holds scores of one pair only, and so
        do the corrections."""
        self.record["draw_value"] = draw_value
        self.accumulators.set_draw_value(draw_value)

    def clear_corrections(self) -> None:
        """Forget how far the evaluations were off from scores, for scores of another kind."""
        self.record["correction"] = HISTORIES["correction"]

    def forget(self) -> None:
        """Forget what was learnt and what the table holds: what is searched next depends on nothing before it.

        The table's record is copied anew, for that counts its searches from its beginning again.
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
    """Count a move of the tree; the last one that there are nodes or time for ends the search."""
    thread.nodes += 1
    if thread.node_limit and thread.nodes >= thread.node_limit:
        thread.stop = 1
    if thread.nodes % NODES_A_LOOK == 0 and thread.deadline and is_past(thread.deadline):
        thread.stop = 1


@jit
def copy_pv(thread, ply, move):
    """The line of the child behind a move becomes the node's."""
    thread.pv[ply, 0] = move
    length = np.int64(thread.pv_length[ply + 1])
    for index in range(length):
        thread.pv[ply, index + 1] = thread.pv[ply + 1, index]
    thread.pv_length[ply] = length + 1
