"""Labels and samples of many positions in compiled code: static values, quiescence, searches, and what searches met.

Positions are hcp codes of 32 bytes each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.jobs.protocol import Stopped
from search.alphabeta.sampling import NEVER, PLACEMENT_WORDS, SAMPLES, begin_sampling
from search.alphabeta.single_search import begin_search, search_on, search_once, share_search
from search.alphabeta.thread import SearchThread
from search.alphabeta.transposition import TranspositionTable
from search.compiling.jit import jit, program
from search.evaluation.accumulator import evaluate
from search.evaluation.network import EvalNetwork
from search.primitives.random import first_state
from search.rules.huffman import HCP, decode_position, encode_position
from search.rules.play import play_line
from search.rules.position import NO_KING, in_check, new_position, undo_move
from search.rules.set_up import set_board
from search.rules.shogi import HAND_KINDS, MIRRORED_SQUARE, SQUARES

STATIC, QUIESCENCE, SEARCH = range(3)
"""Ways to study a position."""
UNLABELLED = -32768
"""Score of a position without a label: invalid, or in check where a static value is requested."""
CODE = 32
"""Bytes per position."""
_ROOM = 1 << 14
"""Samples kept before compiled code returns to Python for more room."""

sample_dtype = np.dtype(
    [
        ("placement", np.uint64, PLACEMENT_WORDS),  # board, hands and turn, as at the head of a position's record
        ("source", np.int64),  # index of the searched position
        ("where", np.uint8),  # MAIN or QUIESCENCE, see search.alphabeta.sampling
    ],
    align=True,
)
study_dtype = np.dtype(
    [
        ("how", np.int64),  # STATIC, QUIESCENCE or SEARCH
        ("nodes", np.int64),  # nodes per search, 0: no limit
        ("depth", np.int64),  # depth per search, 0: no limit
        ("leaves", np.uint8),  # whether to write the ends of principal variations
        ("sample_gap", np.int64),  # nodes between two samples, 0: no samples
        ("state", np.uint64),  # random state, not 0
        ("searched", np.int64),  # total nodes
        ("cancelled", np.uint8),  # set from another thread to stop
        ("board", np.uint8, SQUARES),
        ("hands", np.uint8, (2, HAND_KINDS)),
    ],
    align=True,
)


@jit
def place_code(code, pos, study):
    """Set up the position of an hcp code; False if the code is invalid or a king is missing."""
    turn = decode_position(code, np.int64(HCP), study.board, study.hands)
    if turn < 0 or set_board(pos, study.board, study.hands, np.int64(turn), np.int64(1)) != 0:
        return False
    return pos.king[0] != NO_KING and pos.king[1] != NO_KING


@jit
def _write_code(pos, code):
    return encode_position(pos.board, pos.hands, np.int64(pos.turn), np.int64(HCP), code) == 0


@jit
def _mirror_codes(codes, study, images):
    """Write the mirror images of hcp codes u1 (n, 32) to `images`, which holds a copy of them; invalid codes stay."""
    for index in range(codes.shape[0]):
        turn = np.int64(decode_position(codes[index], np.int64(HCP), study.board, study.hands))
        if turn < 0:
            continue
        for square in range(SQUARES):
            image = MIRRORED_SQUARE[square]
            if image > square:
                piece = study.board[square]
                study.board[square] = study.board[image]
                study.board[image] = piece
        encode_position(study.board, study.hands, turn, np.int64(HCP), images[index])


def mirrored_codes(codes: np.ndarray) -> np.ndarray:
    """Return the hcp codes uint8 (n, 32) of positions' left-right mirror images; invalid codes stay as they are."""
    codes = np.require(codes, requirements=["C", "W"])
    images = codes.copy()
    _mirror_codes(codes, np.zeros(1, study_dtype)[0], images)
    return images


@jit
def _write_leaf(pos, thread, code):
    """Write the position at the end of the principal variation; False if it is in check."""
    done = play_line(pos, thread.pv[0][: np.int64(thread.pv_length[0])])
    good = not in_check(pos) and _write_code(pos, code)
    for place in range(done - 1, -1, -1):
        undo_move(pos, np.int64(thread.pv[0, place]))
    return good


@program
def study_codes(codes, start, study, pos, thread, accumulators, network, scores, moves, leaves, samples):
    """Study hcp codes uint8 (n, 32) from index `start` (int64) until all are done or the room for samples ends.

    Writes scores int16 (n,), centipawns for the mover or UNLABELLED; moves uint16 (n,), best moves or 0; leaves
    uint8 (n, 32), all 0 where there is none; samples (`sample_dtype`). Returns (codes done, samples written).
    """
    kept = np.int64(0)
    for index in range(start, codes.shape[0]):
        if study.cancelled or kept + SAMPLES > samples.size:
            return index, kept
        scores[index], moves[index] = UNLABELLED, 0
        if not place_code(codes[index], pos, study):
            continue
        if study.how == STATIC:
            if not in_check(pos):
                scores[index] = evaluate(pos, accumulators, network)
            continue
        thread.sample_at = NEVER
        thread.sample_count = 0
        if study.how == QUIESCENCE:
            if in_check(pos) or begin_search(pos, thread, np.int64(0)) == 0:
                continue
            search_on(pos, thread, accumulators, network, np.int64(0))
            score = np.int64(thread.score)
            move = np.int64(thread.pv[0, 0]) if thread.pv_length[0] else np.int64(0)
        else:
            if study.sample_gap:
                thread.nodes = 0
                begin_sampling(thread, study.sample_gap, study.state)
            move, score = search_once(pos, thread, accumulators, network, study.nodes, study.depth)
            if thread.depth == 0:  # no legal move, or stopped before the first move was searched
                continue
            if study.sample_gap:
                study.state = thread.sample_state
        study.searched += thread.nodes
        scores[index], moves[index] = score, move
        if study.leaves and not _write_leaf(pos, thread, leaves[index]):
            for byte in range(CODE):
                leaves[index, byte] = 0
        for number in range(np.int64(thread.sample_count)):
            samples[kept].source = index
            samples[kept].where = thread.sample_kinds[number]
            for word in range(PLACEMENT_WORDS):
                samples[kept].placement[word] = thread.samples[number, word]
            kept += 1
    return codes.shape[0], kept


class Studio:
    """Memory of one thread for studying positions with a network."""

    def __init__(self, network: EvalNetwork, hash_mb: int = 8) -> None:
        """Raise MemoryError if the table of `hash_mb` megabytes cannot be allocated."""
        self._thread = share_search(SearchThread(network, TranspositionTable(hash_mb)))
        self._position = new_position()
        self._study = np.zeros(1, study_dtype)[0]

    def forget(self) -> None:
        """Clear memory, so that later results do not depend on earlier searches."""
        self._thread.forget()

    def stop(self) -> None:
        """Stop the running study soon; may be called from any thread."""
        self._study["cancelled"] = 1
        self._thread.record["stop"] = 1

    @property
    def table(self) -> np.void:
        """The transposition table's record."""
        record: np.void = self._thread.table.record
        return record

    @property
    def searched(self) -> int:
        """Total nodes so far."""
        return int(self._study["searched"])

    def study(self, codes: np.ndarray, how: int, nodes: int = 0, depth: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores int16, best moves uint16) of hcp codes uint8 (n, 32), see `study_codes`. Raises Stopped."""
        scores, moves, _, _ = self._run(codes, how, nodes, depth, False, 0, 1)
        return scores, moves

    def leaves(self, codes: np.ndarray, how: int, nodes: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Return (codes uint8 (k, 32) at the ends of principal variations, index int64 (k,) of each one's root)."""
        scores, _, leaves, _ = self._run(codes, how, nodes, 0, True, 0, 1)
        found = np.flatnonzero(leaves.any(1) & (scores != UNLABELLED))
        return leaves[found], found

    def samples(self, codes: np.ndarray, nodes: int, per_position: int, seed: int) -> np.ndarray:
        """Return about `per_position` positions of each search that the network evaluated, `sample_dtype` (k,)."""
        gap = max(1, round(nodes / per_position))
        return self._run(codes, SEARCH, nodes, 0, False, gap, seed)[3]

    def _run(self, codes: np.ndarray, how: int, nodes: int, depth: int, leaves: bool, gap: int, seed: int) -> Any:
        codes = np.require(codes, requirements=["C", "W"])  # Numba has another type for read-only arrays
        study, thread, count = self._study, self._thread, len(codes)
        study["how"], study["nodes"], study["depth"], study["leaves"] = how, nodes, depth, leaves
        study["sample_gap"] = gap
        study["state"] = first_state(seed)
        scores, moves = np.zeros(count, np.int16), np.zeros(count, np.uint16)
        ends = np.zeros((count if leaves else 0, CODE), np.uint8)
        room = np.zeros(_ROOM if gap else SAMPLES, sample_dtype)
        sums, done, kept = thread.accumulators, 0, []
        while done < count:
            done, found = study_codes(
                codes, np.int64(done), study, self._position, thread.record, sums.record, sums.network,
                scores, moves, ends, room,
            )  # fmt: skip
            kept.append(room[:found].copy())
            if study["cancelled"]:
                raise Stopped
        return scores, moves, ends, np.concatenate(kept) if kept else room[:0]
