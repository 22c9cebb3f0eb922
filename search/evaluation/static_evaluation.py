"""Static evaluation of positions, without a search: one by one for people, in batches for testing a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from search.compiling.jit import jit
from search.evaluation.accumulator import Accumulators, centipawns, evaluate_output, forward, keep_progress, refresh
from search.evaluation.network import EvalNetwork
from search.evaluation.network_file import load_network
from search.evaluation.stacks import whole_progress
from search.rules.play import set_game, split_moves
from search.rules.position import NO_KING, new_position
from search.rules.shogi import EMPTY, HAND_KINDS, KINDS, KING, PIECES_IN_BOX, SQUARES
from search.score import win_rate
from search.system.paths import PathLike

MEN = 40
"""Pieces of a full set."""


@dataclass(frozen=True)
class Evaluation:
    """Evaluation of one position by a network, from the mover's view."""

    sfen: str
    output: int
    """Raw integer of the output layer."""
    score_cp: int
    """Centipawns."""
    win_rate: float
    """Expected result, 0 to 1; a draw counts one half."""
    draw: float | None = None
    """Probability of a draw; None if the network has no such output."""


def set_game_with_kings(pos: np.void, sfen: str) -> None:
    """Set the record up from a position of `evaluate_sfens`. Raises ValueError as it does."""
    set_game(pos, *split_moves(sfen))
    if missing := [name for name, king in zip(("black", "white"), pos["king"], strict=True) if king == NO_KING]:
        raise ValueError(
            f"{sfen!r}: no {' and no '.join(missing)} king: a network evaluates only positions with both kings"
        )


def evaluate_sfens(net: EvalNetwork | PathLike, sfens: Sequence[str]) -> list[Evaluation]:
    """Return the static evaluation of each position: `startpos` or an SFEN, optionally with `moves 7g7f ...`.

    `net` is a loaded network, a path, or `default`. Raises OSError or ValueError if it cannot be read, ValueError for
    an invalid position and for a board without both kings, on which no network was trained, and TypeError for a single
    string in place of a list.
    """
    if isinstance(sfens, str):
        raise TypeError(f"{sfens!r} is one position: pass a list of positions")
    net = net if isinstance(net, EvalNetwork) else load_network(net)
    accumulators, pos = Accumulators(net), new_position()
    record, weights = accumulators.record, accumulators.network
    found = []
    for sfen in sfens:
        set_game_with_kings(pos, sfen)
        output = int(evaluate_output(pos, record, weights))
        score = int(centipawns(np.int64(output), weights))
        draw = None
        if len(net.outputs) == 2:
            draw = win_rate(net.logit(int(record["draw_output"])), 1.0)
        rate = win_rate(net.logit(output) * net.cp_per_logit, net.cp_per_logit)
        found.append(Evaluation(sfen, output, score, rate, draw))
    return found


@jit
def _evaluate_batch(pos, accumulators, net, pieces, hands, in_check, outputs):
    """Evaluate positions set up as black's, as the mover's view is; only what an evaluation reads is filled in."""
    pos.turn = 0
    for index in range(len(pieces)):
        pos.king[0], pos.king[1] = SQUARES, SQUARES
        for square in range(SQUARES):
            piece = pieces[index, square]
            pos.board[square] = piece
            if piece != EMPTY and piece % KINDS == KING:
                pos.king[piece // KINDS] = square
        for kind in range(HAND_KINDS):
            pos.hands[0, kind] = hands[index, kind]
            pos.hands[1, kind] = hands[index, HAND_KINDS + kind]
        pos.checkers[0] = np.uint64(1) if in_check[index] else np.uint64(0)
        for perspective in range(net.perspectives):
            refresh(pos, accumulators, net, np.int64(perspective))
        if net.progress_parts != 1:
            keep_progress(pos, accumulators, whole_progress(pos, net))
        outputs[index, 0] = forward(pos, accumulators, net)
        if net.has_draw != 0:
            outputs[index, 1] = accumulators.draw_output


def evaluate_batch(net: EvalNetwork, pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> np.ndarray:
    """Return raw outputs int32 (B, outputs) computed by this machine's kernel: those of `evaluate_reference`.

    The arguments are those of `evaluate_reference`. A lite network evaluates several million positions per second.
    Raises ValueError for positions that no board can hold.
    """
    if pieces.shape[1:] != (SQUARES,) or hands.shape != (len(pieces), 2 * HAND_KINDS) or len(in_check) != len(pieces):
        raise ValueError(f"pieces {pieces.shape}, hands {hands.shape}: (B, 81), (B, 14) and in_check (B,) are needed")
    if len(pieces) and int(pieces.max()) > EMPTY:
        raise ValueError(f"pieces must be 0..{EMPTY}, found {int(pieces.max())}")
    men = (pieces != EMPTY).sum(1) + hands.sum(1, dtype=np.int64)
    if len(pieces) and int(men.max()) > MEN:
        raise ValueError(f"{int(men.max())} men in a position: a set has {MEN}")
    if len(pieces) and (held := (hands.reshape(-1, 2, HAND_KINDS) > PIECES_IN_BOX[:HAND_KINDS]).any((1, 2))).any():
        raise ValueError(f"position {int(held.argmax())}: more men of a kind in a hand than a set has")
    outputs = np.zeros((len(pieces), len(net.outputs)), np.int32)
    pos, accumulators = new_position(), Accumulators(net)
    pieces, hands, in_check = (np.ascontiguousarray(array, np.uint8) for array in (pieces, hands, in_check))
    _evaluate_batch(pos, accumulators.record, accumulators.network, pieces, hands, in_check, outputs)
    return outputs


def static_logits(net: EvalNetwork, pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> np.ndarray:
    """Return the logits f8 (B,) of the mover's win that the search computes; the arguments are `evaluate_batch`'s."""
    outputs = evaluate_batch(net, pieces, hands, in_check)[:, 0]
    return np.trunc(outputs / net.output_divisor) * net.logit_per_output
