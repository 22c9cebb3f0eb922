"""What a network says of positions, in compiled code: static, after quiescence, or after a search, and what was met.

Positions come and go as hcp codes, 32 bytes each.
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
from search.rules.shogi import HAND_KINDS, SQUARES

STATIC, QUIESCENCE, SEARCH = range(3)
"""How a position is studied."""
UNLABELLED = -32768
"""The score of a position that cannot be studied so: none, or in check where the network itself is asked."""
CODE = 32
"""Bytes of a position."""
_ROOM = 1 << 14
"""Samples that are kept before Python is asked for more room."""

sample_dtype = np.dtype(
    [
        ("placement", np.uint64, PLACEMENT_WORDS),  # board, hands and turn, as at the head of a position's record
        ("source", np.int64),  # place among the positions that were searched
        ("where", np.uint8),  # MAIN or QUIESCENCE, see search.alphabeta.sampling
    ],
    align=True,
)
study_dtype = np.dtype(
    [
        ("how", np.int64),  # STATIC, QUIESCENCE or SEARCH
        ("nodes", np.int64),  # of a search, 0: no limit
        ("depth", np.int64),  # likewise
        ("leaves", np.uint8),  # whether the ends of principal variations are wanted
        ("sample_gap", np.int64),  # nodes from one sample to the next, 0: none are wanted
        ("state", np.uint64),  # of random numbers, not 0
        ("searched", np.int64),  # nodes in all
        ("cancelled", np.uint8),  # set by anyone
        ("board", np.uint8, SQUARES),
        ("hands", np.uint8, (2, HAND_KINDS)),
    ],
    align=True,
)


@jit
def place_code(code, pos, study):
    """Set the position of an hcp code up; False where it is none, or has not both kings."""
    turn = decode_position(code, np.int64(HCP), study.board, study.hands)
    if turn < 0 or set_board(pos, study.board, study.hands, np.int64(turn), np.int64(1)) != 0:
        return False
    return pos.king[0] != NO_KING and pos.king[1] != NO_KING


@jit
def _write_code(pos, code):
    return encode_position(pos.board, pos.hands, np.int64(pos.turn), np.int64(HCP), code) == 0


@jit
def _write_leaf(pos, thread, code):
    """The position at the end of the principal variation; False where it is in check, or none."""
    done = play_line(pos, thread.pv[0][: np.int64(thread.pv_length[0])])
    good = not in_check(pos) and _write_code(pos, code)
    for place in range(done - 1, -1, -1):
        undo_move(pos, np.int64(thread.pv[0, place]))
    return good


@program
def study_codes(codes, start, study, pos, thread, accumulators, network, scores, moves, leaves, samples):
    """Study hcp codes u1 (n, 32) from `start` (int64) on, until all are done or the room for samples ends.

    scores i2 (n,): centipawns of the mover, UNLABELLED where there is none; moves u2 (n,): the best one, 0 where none
    is known; leaves u1 (n, 32): where they are wanted, 0 in the first byte and last where there is none; samples
    (`sample_dtype`): what was kept of the searches. Returns (codes done, samples written).
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
            if thread.depth == 0:  # no move, or cut before it had looked at one
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
    """One thread's memory for studying positions with a network."""

    def __init__(self, network: EvalNetwork, hash_mb: int = 8) -> None:
        """MemoryError if there is no room."""
        self._thread = share_search(SearchThread(network, TranspositionTable(hash_mb)))
        self._position = new_position()
        self._study = np.zeros(1, study_dtype)[0]

    def forget(self) -> None:
        """Forget what earlier searches have learnt: what follows depends on what is asked alone."""
        self._thread.forget()

    def stop(self) -> None:
        """End the study under way soon, from any thread."""
        self._study["cancelled"] = 1
        self._thread.record["stop"] = 1

    @property
    def searched(self) -> int:
        """Nodes so far."""
        return int(self._study["searched"])

    def study(self, codes: np.ndarray, how: int, nodes: int = 0, depth: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """(Scores i2, best moves u2) of hcp codes u1 (n, 32), see `study_codes`. Raises Stopped."""
        scores, moves, _, _ = self._run(codes, how, nodes, depth, False, 0, 1)
        return scores, moves

    def leaves(self, codes: np.ndarray, how: int, nodes: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """(Codes u1 (k, 32) at the ends of principal variations, place i8 (k,) of what each was found from)."""
        scores, _, leaves, _ = self._run(codes, how, nodes, 0, True, 0, 1)
        found = np.flatnonzero(leaves.any(1) & (scores != UNLABELLED))
        return leaves[found], found

    def samples(self, codes: np.ndarray, nodes: int, a_position: int, seed: int) -> np.ndarray:
        """`sample_dtype` (k,): about so many positions of each one's search that the network was asked about."""
        gap = max(1, round(nodes / a_position))
        return self._run(codes, SEARCH, nodes, 0, False, gap, seed)[3]

    def _run(self, codes: np.ndarray, how: int, nodes: int, depth: int, leaves: bool, gap: int, seed: int) -> Any:
        codes = np.require(codes, requirements=["C", "W"])  # one that may not be written to is another type to Numba
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
