"""What each piece is worth to a network: the value of the position with it less the value without it.

The piece leaves the board, or one of its kind a hand, and nothing else changes: whose move it is stays, and whether the
mover is in check is asked afresh. Kings stay. The differences do not add up to the value: what a piece is worth depends
on the others.
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
    """What can be taken away: a piece on its square, or one of those that a hand holds of a kind."""

    piece: int
    """colour * 14 + kind."""
    square: int | None
    """None: it is in hand."""
    held: int = 0
    """How many of the kind the hand holds; 0 on the board."""

    @property
    def letters(self) -> str:
        """As in an SFEN: `R`, `+p`."""
        letters = KIND_LETTERS[self.piece % KINDS]
        return letters if self.piece < KINDS else letters.lower()


@dataclass(frozen=True, eq=False)
class LeftOut:
    """A position (row 0), and it without each man in turn (row i + 1), in the mover's view, as networks take them."""

    men: tuple[Man, ...]
    pieces: np.ndarray
    """u1 (1 + men, 81)."""
    hands: np.ndarray
    """u1 (1 + men, 14)."""
    in_check: np.ndarray
    """bool (1 + men,)."""
    possible: np.ndarray
    """bool (1 + men,): whether a game can stand so. Without some men the side that has moved stands in check."""


def leave_one_out(pos: np.void) -> LeftOut:
    """A position, and it without each man but the kings: by square, then the hands."""
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
    # The mover is in check where the other side could not be on the move.
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
    """Black's view of what each man contributes, from the mover's scores of `LeftOut`'s rows."""
    sign = 1 if turn == BLACK else -1
    return [sign * (scores[0] - score) for score in scores[1:]]


def contributions(net: EvalNetwork, pos: np.void) -> tuple[LeftOut, list[int]]:
    """The men of a position and what each contributes, in centipawns of Black's."""
    left = leave_one_out(pos)
    # NumPy's arithmetic, the kernels' to the bit: there is nothing to compile for a question that a person asks.
    scores = centipawns_reference(net, evaluate_reference(net, left.pieces, left.hands, left.in_check)[:, 0])
    return left, black_contributions(scores, int(pos["turn"]))


def draw_contributions(pos: np.void, men: Sequence[Man], values: Sequence[int]) -> list[str]:
    """The board as lines of text, under each piece what it contributes; then each side's hand."""
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
