"""What one search thread owns: its position, its accumulators and its record of counters, tables and scratch.

The record holds per-ply scratch and the move-ordering statistics. Statistics are int16 and move toward +-HISTORY_LIMIT
by a share of what is missing, so they never overflow and forget slowly (Stockfish's "history gravity").
"""

from __future__ import annotations

import numpy as np

from search.alphabeta.parameters import EVERY_STEP, make_parameters, parameters_dtype
from search.alphabeta.sampling import NEVER, PLACEMENT_WORDS, SAMPLES
from search.alphabeta.transposition import TranspositionTable, table_dtype
from search.evaluation.accumulator import Accumulators
from search.evaluation.network import EvalNetwork
from search.machine.jit import jit
from search.machine.memory import new_record, record_dtype
from search.rules.declaration import RULE_27
from search.rules.movegen import MAX_MOVES
from search.rules.position import new_position
from search.rules.shogi import KINDS, SQUARES
from search.score import MAX_PLY

HISTORY_LIMIT = 16384
PIECE_SQUARES = 2 * KINDS * SQUARES
NO_CONTINUATION = PIECE_SQUARES
"""Row of the continuation table for "no move before" (root, null move)."""
CORRECTION_SIZE = 16384
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
        ("stop", np.uint8),  # set by anyone; the search returns soon after
        ("seldepth", np.int32),
        ("root_depth", np.int32),
        ("root_ply", np.int32),  # position.ply at the root
        ("draw_value", np.int32, 2),  # centipawns of a repetition to each colour
        ("max_moves", np.int32),  # game_ply at which the game is drawn; 0: never
        ("declaration_rule", np.int32),
        ("null_until", np.int32),  # verification search: no null move before this ply, see alphabeta.py
        ("table", table_dtype),
        ("steps", np.int64),  # a bit for each step of the search that is taken, see parameters.py
        ("parameters", parameters_dtype),
        # the root
        ("root_moves", np.uint16, MAX_MOVES),
        ("root_count", np.int32),
        ("root_first", np.int32),  # earlier root moves are taken (MultiPV)
        ("root_current", np.int32),  # place of the one that is looked at
        ("pv", np.uint16, (PLIES, PLIES)),
        ("pv_length", np.int32, PLIES),
        # the last depth that was finished, see deepening.py
        ("depth", np.int32),
        ("score", np.int32),
        ("line", np.uint16, PLIES),
        ("line_length", np.int32),
        ("found", found_dtype, MAX_PLY),  # by depth
        ("pause", np.int64),  # nodes after which `deepen` comes back with the next depth that is finished; 0: none
        # per ply
        ("evaluation", np.int32, PLIES),  # corrected static evaluation, NO_EVALUATION in check
        ("excluded", np.uint16, PLIES),  # move left out by a singular search
        ("continuation", np.int32, PLIES),  # piece-and-square of the move leading there
        ("killers", np.uint16, (PLIES, 2)),
        ("moves", np.uint16, (PLIES, MAX_MOVES)),
        ("keys", np.int64, (PLIES, MAX_MOVES)),  # ordering keys of `moves`, see picker.py
        ("bad_moves", np.uint16, (PLIES, MAX_MOVES)),  # captures put off because they lose material
        ("pick_stage", np.uint8, PLIES),  # see picker.py
        ("pick_table_move", np.uint16, PLIES),
        ("pick_cursor", np.int32, PLIES),
        ("pick_count", np.int32, PLIES),
        ("pick_bad", np.int32, PLIES),
        ("checks", np.uint16, (PLIES, MAX_MOVES)),  # checking moves of a node, see mate_in_one.py
        ("check_count", np.int32, PLIES),
        ("tried_quiet", np.uint16, (PLIES, 64)),  # moves that did not cut
        ("tried_tactical", np.uint16, (PLIES, 64)),
        # move ordering
        ("history", np.int16, (2, 88, SQUARES)),  # [colour, origin or drop, target]
        ("capture_history", np.int16, (2 * KINDS, SQUARES, KINDS + 1)),  # [piece, target, taken kind]
        ("counter_moves", np.uint16, PIECE_SQUARES + 1),
        ("continuation_history", np.int16, (PIECE_SQUARES + 1, PIECE_SQUARES)),
        ("correction", np.int16, (2, CORRECTION_SIZE)),
        # positions that are kept, see sampling.py
        ("sample_at", np.int64),  # count of nodes from which the next one is; NEVER: none
        ("sample_gap", np.int64),  # nodes from one to the next, on average
        ("sample_state", np.uint64),
        ("sample_count", np.int32),
        ("sample_kinds", np.uint8, SAMPLES),  # MAIN or QUIESCENCE
        ("samples", np.uint64, (SAMPLES, PLACEMENT_WORDS)),  # the head of the position's record
    ]
)


class SearchThread:
    """A thread's memory (about 12 MB); the table and the network are shared."""

    def __init__(self, network: EvalNetwork, table: TranspositionTable) -> None:
        self.record = new_record(thread_dtype)
        self.record["sample_at"] = NEVER
        self.record["steps"], self.record["parameters"] = EVERY_STEP, make_parameters()
        self.record["declaration_rule"] = RULE_27
        self.position = new_position()
        self.use_table(table)
        self.use_network(network)
        self.clear()

    def use_table(self, table: TranspositionTable) -> None:
        """Search with another table."""
        self.table = table
        self.record["table"] = table.record

    def use_network(self, network: EvalNetwork) -> None:
        """Evaluate with another network."""
        self.accumulators = Accumulators(network)

    def clear(self) -> None:
        """Forget what was learnt about move ordering, for a new game."""
        for name in ("killers", "history", "capture_history", "counter_moves", "continuation_history", "correction"):
            self.record[name] = 0


@jit
def reward(value, bonus):
    """An int16 statistic after a bonus (or malus), drawn toward its limit."""
    bonus = min(max(bonus, np.int64(-HISTORY_LIMIT)), np.int64(HISTORY_LIMIT))
    return np.int64(value) + bonus - np.int64(value) * abs(bonus) // HISTORY_LIMIT


@jit
def copy_pv(thread, ply, move):
    """The line of the child behind a move becomes the node's."""
    thread.pv[ply, 0] = move
    length = np.int64(thread.pv_length[ply + 1])
    for index in range(length):
        thread.pv[ply, index + 1] = thread.pv[ply + 1, index]
    thread.pv_length[ply] = length + 1
