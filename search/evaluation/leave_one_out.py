"""Contribution of each piece: the evaluation of the position minus the evaluation without the piece.

The piece is removed from the board, or one of its kind from a hand. The side to move stays, and check is determined
anew. Kings stay. The contributions do not add up to the evaluation, because the value of a piece depends on the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from search.evaluation.network import EvalNetwork, centipawns_reference, evaluate_reference
from search.rules.position import new_position
from search.rules.set_up import BOARD_OK, OPPONENT_IN_CHECK, set_board
from search.rules.shogi import BLACK, EMPTY, HAND_KINDS, KIND_LETTERS, KINDS, KING, OTHER_COLOUR


@dataclass(frozen=True)
class Man:
    """A piece that can be removed: on its square, or one of its kind in a hand."""

    piece: int
    """colour * 14 + kind."""
    square: int | None
    """Square of the piece; None if it is in hand."""
    held: int = 0
    """Pieces of the kind in the hand; 0 for a piece on the board."""

    @property
    def letters(self) -> str:
        """The piece as in an SFEN: `R`, `+p`."""
        letters = KIND_LETTERS[self.piece % KINDS]
        return letters if self.piece < KINDS else letters.lower()


@dataclass(frozen=True, eq=False)
class LeftOut:
    """A position (row 0), and the position without each man in turn (row i + 1), in the mover's view."""

    men: tuple[Man, ...]
    pieces: np.ndarray
    """u1 (1 + men, 81)."""
    hands: np.ndarray
    """u1 (1 + men, 14)."""
    in_check: np.ndarray
    """bool (1 + men,)."""
    possible: np.ndarray
    """bool (1 + men,): whether the position is legal. Without some men the side that has moved would be in check."""


def leave_one_out(pos: np.void) -> LeftOut:
    """Return a position, and the position without each man but the kings: by square, then the hands."""
    board, hands, turn = pos["board"], pos["hands"], int(pos["turn"])
    men = [
        Man(int(piece), square) for square, piece in enumerate(board) if piece != EMPTY and int(piece) % KINDS != KING
    ]
    men += [
        Man(colour * KINDS + kind, None, int(hands[colour, kind]))
        for colour in range(2)
        for kind in range(HAND_KINDS)
        if hands[colour, kind]
    ]
    boards, held = np.repeat(board[None], 1 + len(men), 0), np.repeat(hands[None], 1 + len(men), 0)
    for row, man in enumerate(men, 1):
        if man.square is not None:
            boards[row, man.square] = EMPTY
        else:
            held[row, man.piece // KINDS, man.piece % KINDS] -= 1
    # The mover is in check where the position would be illegal with the other side to move.
    as_is, passed = (_set_up_errors(boards, held, side) for side in (turn, 1 - turn))
    pieces = boards if turn == BLACK else OTHER_COLOUR[boards[:, ::-1]]
    counts = held[:, [turn, 1 - turn]].reshape(-1, 2 * HAND_KINDS)
    return LeftOut(tuple(men), pieces, counts, passed == OPPONENT_IN_CHECK, as_is == BOARD_OK)


def _set_up_errors(boards: np.ndarray, hands: np.ndarray, turn: int) -> np.ndarray:
    pos = new_position()
    return np.array(
        [set_board(pos, board, hand, np.int64(turn), np.int64(1)) for board, hand in zip(boards, hands, strict=True)]
    )


def black_contributions(scores: Sequence[int], turn: int) -> list[int]:
    """Return each man's contribution in black's view, from the mover's scores of the rows of `LeftOut`."""
    sign = 1 if turn == BLACK else -1
    return [sign * (scores[0] - score) for score in scores[1:]]


def contributions(net: EvalNetwork, pos: np.void) -> tuple[LeftOut, list[int]]:
    """Return the men of a position and the contribution of each, in centipawns from black's view."""
    left = leave_one_out(pos)
    # NumPy gives the same integers as the kernels, and nothing needs to be compiled for a single question.
    scores = centipawns_reference(net, evaluate_reference(net, left.pieces, left.hands, left.in_check)[:, 0])
    return left, black_contributions(scores, int(pos["turn"]))


def draw_contributions(pos: np.void, men: Sequence[Man], values: Sequence[int]) -> list[str]:
    """Return the board as lines of text with the contribution under each piece, then each side's hand."""
    worth = {man.square: f"{value:+d}" for man, value in zip(men, values, strict=True)}
    lines = ["   " + "".join(f"{file:7d}" for file in range(9, 0, -1))]
    for rank in range(9):
        squares = [file * 9 + rank for file in range(8, -1, -1)]
        found = [int(pos["board"][square]) for square in squares]
        letters = ["." if piece == EMPTY else Man(piece, None).letters for piece in found]
        lines.append(f" {'abcdefghi'[rank]} " + "".join(f"{one:>7s}" for one in letters))
        lines.append("   " + "".join(f"{worth.get(square, ''):>7s}" for square in squares))
    for colour, name in enumerate(("black", "white")):
        held = [
            f"{man.letters} x{man.held} {value:+d}"
            for man, value in zip(men, values, strict=True)
            if man.square is None and man.piece // KINDS == colour
        ]
        lines.append(f"{name} in hand: {', '.join(held) or 'nothing'}")
    return [line.rstrip() for line in lines]
