"""Reading and writing of SFEN positions and USI moves."""

from __future__ import annotations

import functools
import re

import numpy as np

from search.rules.position import new_position
from search.rules.set_up import BOARD_ERRORS, set_board
from search.rules.shogi import DROP_ORIGIN, EMPTY, HAND_KINDS, KIND_LETTERS, KINDS, PROMOTE, SQUARES, START_SFEN

_PIECE_OF = {letters: kind for kind, letters in enumerate(KIND_LETTERS)} | {
    letters.lower(): KINDS + kind for kind, letters in enumerate(KIND_LETTERS)
}
_LETTERS_OF = {piece: letters for letters, piece in _PIECE_OF.items()}
_HAND_ORDER = (5, 4, 6, 3, 2, 1, 0)  # R B G S N L P, the usual order of engines and GUIs
_MOVE = re.compile(r"(?:([1-9][a-i])([1-9][a-i])(\+?)|([PLNSBRG])\*([1-9][a-i]))")
_MAX_LENGTH = 200  # the longest SFEN has about 140 characters
_LAST_NUMBER = 999_999  # the largest move number that can be read


def _board_of(text: str) -> np.ndarray:
    board = np.full(SQUARES, EMPTY, np.uint8)
    rows = text.split("/")
    if len(rows) != 9:
        raise ValueError(f"{len(rows)} ranks instead of 9")
    for rank, row in enumerate(rows):
        file = 8
        for token in re.findall(r"[1-9]|\+?[A-Za-z]|.", row):
            if token in "123456789":
                file -= int(token)
                continue
            if token not in _PIECE_OF:
                raise ValueError(f"unknown piece {token!r} on rank {rank + 1}")
            if file < 0:
                break
            board[file * 9 + rank] = _PIECE_OF[token]
            file -= 1
        if file != -1:
            raise ValueError(f"rank {rank + 1} does not have 9 squares")
    return board


def _hands_of(text: str) -> np.ndarray:
    hands = np.zeros((2, HAND_KINDS), np.uint8)
    if text == "-":
        return hands
    if not re.fullmatch(r"(?:[0-9]{0,2}[PLNSBRGplnsbrg])+", text):
        raise ValueError(f"cannot read the hands {text[:40]!r}")
    for count, letter in re.findall(r"([0-9]{0,2})([A-Za-z])", text):
        colour, kind = divmod(_PIECE_OF[letter], KINDS)
        hands[colour, kind] = min(99, int(hands[colour, kind]) + int(count or 1))
    return hands


def set_sfen(pos: np.void, sfen: str) -> None:
    """Set the record up from an SFEN, with or without the leading word `sfen`, or from `startpos`.

    Raises ValueError if the text is not an SFEN or the position is impossible.
    """
    text = sfen.strip()
    if len(text) > _MAX_LENGTH:
        raise ValueError(f"SFEN of {len(text)} characters: must have at most {_MAX_LENGTH}")
    text = START_SFEN if text == "startpos" else text.removeprefix("sfen ").strip()
    fields = text.split()
    if not 3 <= len(fields) <= 4:
        raise ValueError(f"SFEN {text!r}: must have board, side to move, hands and move number")
    try:
        if fields[1] not in ("b", "w"):
            raise ValueError(f"side to move is {fields[1]!r}, not b or w")
        number = fields[3] if len(fields) == 4 else "1"
        if not re.fullmatch(r"[0-9]{1,6}", number):
            raise ValueError(f"move number {number!r} is not a number of at most 6 digits")
        board, hands = _board_of(fields[0]), _hands_of(fields[2])
        error = set_board(pos, board, hands, np.int64(fields[1] == "w"), np.int64(int(number)))
        if error:
            raise ValueError(BOARD_ERRORS[error])
    except ValueError as error:
        raise ValueError(f"SFEN {text!r}: {error}") from None


def position_from_sfen(sfen: str) -> np.void:
    """Return a position record set up from an SFEN."""
    pos = new_position()
    set_sfen(pos, sfen)
    return pos


def get_sfen(pos: np.void) -> str:
    """Return the SFEN of a record, with hands in the order R B G S N L P.

    A move number that is too large to be read is replaced by the largest.
    """
    rows = []
    for rank in range(9):
        row, empty = "", 0
        for file in range(8, -1, -1):
            piece = int(pos["board"][file * 9 + rank])
            if piece == EMPTY:
                empty += 1
                continue
            row += (str(empty) if empty else "") + _LETTERS_OF[piece]
            empty = 0
        rows.append(row + (str(empty) if empty else ""))
    hands = ""
    for colour in range(2):
        for kind in _HAND_ORDER:
            count = int(pos["hands"][colour, kind])
            if count:
                hands += (str(count) if count > 1 else "") + _LETTERS_OF[colour * KINDS + kind]
    side = "w" if pos["turn"] else "b"
    return f"{'/'.join(rows)} {side} {hands or '-'} {min(int(pos['game_ply']), _LAST_NUMBER)}"


def square_to_usi(square: int) -> str:
    """Return a square in USI notation: 0 is `1a`."""
    return "123456789"[square // 9] + "abcdefghi"[square % 9]


@functools.cache
def move_to_usi(move: int) -> str:
    """Return a 16-bit move in USI notation, such as `7g7f`, `8h2b+` or `P*5e`; 0 is `resign`."""
    if move == 0:
        return "resign"
    target, origin = move & 127, move >> 7 & 127
    if origin >= DROP_ORIGIN:
        return KIND_LETTERS[origin - DROP_ORIGIN] + "*" + square_to_usi(target)
    return square_to_usi(origin) + square_to_usi(target) + ("+" if move & PROMOTE else "")


def square_from_usi(text: str) -> int:
    """Return the square of its two characters in USI notation: `1a` is 0. Raises ValueError for other characters."""
    return "123456789".index(text[0]) * 9 + "abcdefghi".index(text[1])


@functools.cache
def move_from_usi(text: str) -> int:
    """Return the 16-bit move of a move in USI notation.

    Raises ValueError if it is not one. Whether the move is legal is not tested: see `movegen.is_legal`.
    """
    match = _MOVE.fullmatch(text)
    if not match:
        raise ValueError(f"{text[:20]!r} is not a USI move")
    origin, target, promotion, dropped, square = match.groups()
    if dropped:
        return (DROP_ORIGIN + KIND_LETTERS.index(dropped)) << 7 | square_from_usi(square)
    return square_from_usi(origin) << 7 | square_from_usi(target) | (PROMOTE if promotion else 0)
