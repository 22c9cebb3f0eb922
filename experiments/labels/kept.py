"""Positions that a long search leaves in its table with a backed-up score: labels as by-products (TreeStrap).

Veness, Silver, Uther and Blair, "Bootstrapping from Game Tree Search" (2009), learn from every interior node of a
search. Here the tree is walked from the root along entries of the table. Exact scores are labels. So are lower bounds
above the static evaluation where a quiet move cuts: a search has found that the position is better than it looks. Upper
bounds are not, because reductions and pruning miss replies. So only exact scores show that a position is worse than it
looks.
"""

from __future__ import annotations

import numpy as np

from experiments.labels.study import CODE, SEARCH, UNLABELLED, Studio, place_code, study_dtype
from search.alphabeta.moves import is_tactical
from search.alphabeta.transposition import (
    EXACT,
    LOWER,
    data_bound,
    data_depth,
    data_evaluation,
    data_move,
    data_score,
    probe,
)
from search.compiling.jit import jit, program
from search.evaluation.network import EvalNetwork
from search.rules.huffman import HCP, encode_position
from search.rules.movegen import MAX_MOVES, is_legal, legal_moves
from search.rules.position import do_move, in_check, key_after, new_position, undo_move
from search.score import MATE_BOUND

ROOM = 1 << 15
"""Most positions that are visited per search, labelled or not."""
_SLOTS = 4 * ROOM


@jit
def _is_new(seen, key):
    """Enter a key into an open hash table; False if it was there."""
    mask = np.uint64(seen.size - 1)
    slot = key & mask
    while seen[slot] != np.uint64(0):
        if seen[slot] == key:
            return False
        slot = (slot + np.uint64(1)) & mask
    seen[slot] = key
    return True


@jit
def _backed_up_score(pos, data):
    """Return the label (int64) of a position with these data in the table, UNLABELLED if they are none."""
    score, bound, move = data_score(data, np.int64(0)), data_bound(data), data_move(data)
    if in_check(pos) or abs(score) >= MATE_BOUND:
        return np.int64(UNLABELLED)
    if bound == EXACT:
        return score
    if bound == LOWER and score > data_evaluation(data) and move and is_legal(pos, move) and not is_tactical(pos, move):
        return score
    return np.int64(UNLABELLED)


@program
def walk_table(pos, study, table, least, buffer, seen, codes, scores, moves, bounds):
    """Visit the positions that entries of at least depth `least` (int64) lead to, nearest to codes[0] first.

    codes uint8 (ROOM, 32): the root's hcp code, then those visited; scores int16 and moves uint16 (ROOM,): their labels
    and best moves; bounds uint8 (ROOM,): EXACT, LOWER or UPPER. Returns the number of positions, the root included.
    """
    count, reached = np.int64(1), np.int64(0)
    while reached < count:
        place_code(codes[reached], pos, study)
        if reached == 0:
            _is_new(seen, pos.key)
        for number in range(legal_moves(pos, buffer)):
            move = np.int64(buffer[number])
            key = key_after(pos, move)
            data = probe(table, key)
            if data == np.uint64(0) or data_depth(data) < least or not _is_new(seen, key):
                continue
            if count == scores.size:
                return count
            do_move(pos, move)
            encode_position(pos.board, pos.hands, np.int64(pos.turn), np.int64(HCP), codes[count])
            scores[count] = _backed_up_score(pos, data)
            moves[count], bounds[count] = data_move(data), data_bound(data)
            undo_move(pos, move)
            count += 1
        reached += 1
    return count


class TreeKeeper:
    """Memory of one thread for searches whose tables are walked."""

    def __init__(self, network: EvalNetwork, hash_mb: int = 8) -> None:
        """Raise MemoryError if the table of `hash_mb` megabytes cannot be allocated."""
        self._studio = Studio(network, hash_mb)
        self._position, self._study = new_position(), np.zeros(1, study_dtype)[0]
        self._buffer, self._seen = np.zeros(MAX_MOVES, np.uint16), np.zeros(_SLOTS, np.uint64)
        self._codes = np.zeros((ROOM, CODE), np.uint8)
        self._scores, self._moves = np.zeros(ROOM, np.int16), np.zeros(ROOM, np.uint16)
        self._bounds = np.zeros(ROOM, np.uint8)

    @property
    def table(self) -> np.void:
        """The transposition table's record."""
        return self._studio.table

    def forget(self) -> None:
        """Clear memory, so that later results do not depend on earlier searches."""
        self._studio.forget()

    def stop(self) -> None:
        """Stop the running search soon; may be called from any thread."""
        self._studio.stop()

    def visit(self, code: np.ndarray, nodes: int, depth: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Search an hcp code uint8 (32,) with `nodes` nodes; return the positions that its table keeps.

        Returns (codes uint8 (n, 32), scores int16 (n,), moves uint16 (n,), bounds uint8 (n,)) of entries of at least
        `depth`, the root first. Scores are centipawns for the mover, UNLABELLED where an entry is no label. Raises
        Stopped.
        """
        self._seen[:] = 0
        self._codes[0] = code
        scores, moves = self._studio.study(self._codes[:1], SEARCH, nodes)
        self._scores[0], self._moves[0], self._bounds[0] = scores[0], moves[0], EXACT
        if scores[0] == UNLABELLED:
            count = 0
        else:
            count = walk_table(
                self._position, self._study, self._studio.table, np.int64(depth), self._buffer, self._seen,
                self._codes, self._scores, self._moves, self._bounds,
            )  # fmt: skip
        found = (self._codes, self._scores, self._moves, self._bounds)
        return tuple(one[:count].copy() for one in found)  # type: ignore[return-value]
