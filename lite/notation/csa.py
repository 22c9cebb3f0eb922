"""CSA game records (computer shogi association, versions 1 to 3), with floodgate's comments.

Read here rather than by cshogi, whose parser is the oracle of the tests: it is C++ that trusts its input, and a
damaged file (a comment before the first move, an unknown piece) makes it write outside its arrays.

Scores: `'** 123 ...` after a move, centipawns in black's view, of the search that chose it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from lite.notation.game import (
    BLACK_WON,
    DRAWN,
    ILLEGAL_MOVE,
    MOVER_DECLARES,
    MOVER_LOSES,
    MOVES_USED_UP,
    REPETITION,
    WHITE_WON,
    Game,
    GameBuilder,
    GameError,
    read_comment,
)
from search.rules.position import new_position
from search.rules.set_up import BOARD_ERRORS, set_board
from search.rules.sfen import get_sfen
from search.rules.shogi import (
    DROP_ORIGIN,
    EMPTY,
    HAND_KINDS,
    KINDS,
    PIECES_IN_BOX,
    PRO_PAWN,
    PROMOTE,
    SQUARES,
)

_KINDS = ("FU", "KY", "KE", "GI", "KA", "HI", "KI", "OU", "TO", "NY", "NK", "NG", "UM", "RY")
_KIND_OF = {name: kind for kind, name in enumerate(_KINDS)}
_START_ROWS = (
    "P1-KY-KE-GI-KI-OU-KI-GI-KE-KY",
    "P2 * -HI *  *  *  *  * -KA * ",
    "P3-FU-FU-FU-FU-FU-FU-FU-FU-FU",
    "P4" + " * " * 9,
    "P5" + " * " * 9,
    "P6" + " * " * 9,
    "P7+FU+FU+FU+FU+FU+FU+FU+FU+FU",
    "P8 * +KA *  *  *  *  * +HI * ",
    "P9+KY+KE+GI+KI+OU+KI+GI+KE+KY",
)
_MOVE = re.compile(r"([+-])([0-9]{2})([1-9]{2})([A-Z]{2})(?:,.*)?")
_ENDINGS = {
    "TORYO": MOVER_LOSES,
    "TIME_UP": MOVER_LOSES,
    "TSUMI": MOVER_LOSES,
    "ILLEGAL_MOVE": ILLEGAL_MOVE,
    "+ILLEGAL_ACTION": WHITE_WON,
    "-ILLEGAL_ACTION": BLACK_WON,
    "KACHI": MOVER_DECLARES,
    "SENNICHITE": REPETITION,
    "HIKIWAKE": DRAWN,
    "JISHOGI": DRAWN,
    "MAX_MOVES": MOVES_USED_UP,
}
"""Others (CHUDAN, ERROR, MATTA, FUZUMI, ...) give no result."""


def read_csa(text: str, name: str, unfinished: bool = False) -> Iterator[Game | GameError]:
    """The games of a CSA text, each a Game or, if it cannot be used, the GameError that says why."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    number, first = 1, 0
    for index in range(len(lines) + 1):
        if index == len(lines) or lines[index] == "/":
            part = lines[first:index]
            first = index + 1
            if not any(line.strip() for line in part):
                continue
            place = f"{name} game {number}"
            number += 1
            try:
                yield _read_game(part, place, unfinished)
            except GameError as error:
                yield GameError(f"{place}: {error}", error.reason)


def _square(digits: str) -> int:
    return (int(digits[0]) - 1) * 9 + int(digits[1]) - 1


def _read_game(lines: list[str], place: str, unfinished: bool) -> Game:
    setup: list[str] = []
    names, ratings = ["", ""], [None, None]  # type: list[str], list[float | None]
    builder: GameBuilder | None = None
    ending, outcome = "", None
    for line in lines:
        mark = line[:1]
        if not line.strip():
            continue
        if mark == "'":
            _read_remark(line, builder, ratings)
            summary = _summary(line)
            if summary is not None:
                ending, outcome = summary
        elif line.startswith(("N+", "N-")):
            names["+-".index(line[1])] = line[2:]
        elif mark in "V$T" or line.startswith("N"):
            continue
        elif mark == "P" or line in ("+", "-"):
            if builder is not None:
                raise GameError(f"a position in the middle of it: {line[:30]!r}")
            setup.append(line)
            if mark != "P":
                builder = GameBuilder(place, _start(setup))
        elif mark in "+-":
            for part in line.split(","):  # several statements may share a line
                if part[:1] in ("+", "-"):
                    _play(part, builder)
                elif part[:1] == "'":
                    _read_remark(part, builder, ratings)
        elif mark == "%":
            if builder is None:
                raise GameError("an ending before the first position")
            ending = line[1:].split(",")[0].strip()
            outcome = _ENDINGS.get(ending)
        else:
            raise GameError(f"cannot read the line {line[:30]!r}")
    if builder is None:
        raise GameError("no first position (a line + or -)")
    builder.names, builder.ratings = names, ratings
    return builder.finish(ending, outcome, unfinished)


def _read_remark(line: str, builder: GameBuilder | None, ratings: list[float | None]) -> None:
    """A comment: floodgate's ratings and scores."""
    if match := re.match(r"'(black|white)_rate:.*:([0-9]+(?:\.[0-9]+)?)\s*$", line):
        ratings[("black", "white").index(match.group(1))] = float(match.group(2))
    elif builder is not None and line.startswith("'*"):
        read_comment(line[2:] if line.startswith("'*#") else line[1:].replace("**", "*", 1), builder)


def _summary(line: str) -> tuple[str, int | None] | None:
    """What floodgate's `'summary:` line adds to the ending: illegal moves, the move limit, perpetual check."""
    match = re.match(r"'summary:([^:]*):(.*) (win|lose|draw):(.*) (win|lose|draw)\s*$", line)
    if match is None:
        return None
    reason, black = match.group(1), match.group(3)
    if reason == "max_moves":
        return reason, MOVES_USED_UP
    if reason == "illegal move":
        return reason, ILLEGAL_MOVE
    if "sennichite" in reason and black != "draw":
        return reason, BLACK_WON if black == "win" else WHITE_WON
    return None


def _play(text: str, builder: GameBuilder | None) -> None:
    if builder is None:
        raise GameError("a move before the first position")
    match = _MOVE.fullmatch(text.rstrip())
    if match is None or match.group(4) not in _KIND_OF:
        raise GameError(f"cannot read the move {text[:20]!r}")
    colour, origin, target, name = match.groups()
    if "+-".index(colour) != builder.turn:
        raise GameError(f"move {len(builder.moves) + 1} ({text[:8]}) is the other side's")
    kind = _KIND_OF[name]
    move = _square(target)
    if origin == "00":
        # A kind that is in no hand must not become another number's square.
        builder.play(move | (DROP_ORIGIN + kind) << 7 if kind < HAND_KINDS else 0)
        return
    if "0" in origin:
        raise GameError(f"cannot read the move {text[:20]!r}")
    square = _square(origin)
    standing = int(builder.pos["board"][square])
    move |= square << 7
    if standing != EMPTY and standing % KINDS != kind:
        if standing % KINDS + PRO_PAWN != kind:
            raise GameError(f"move {len(builder.moves) + 1} ({text[:8]}): another piece stands there")
        move |= PROMOTE
    builder.play(move)


def _start(setup: list[str]) -> str:
    """The SFEN of the position lines."""
    board = np.full(SQUARES, EMPTY, np.uint8)
    hands = np.zeros((2, HAND_KINDS), np.uint8)
    for line in setup:
        if line.startswith("PI"):
            for row in _START_ROWS:
                _put_row(row, board)
            _take_away(line[2:], board)
        elif re.match("P[1-9]", line):
            _put_row(line, board)
        elif line.startswith(("P+", "P-")):
            _put_pieces(line, board, hands)
        elif line not in ("+", "-"):
            raise GameError(f"cannot read the position line {line[:30]!r}")
    pos = new_position()
    error = set_board(pos, board, hands, np.int64(setup[-1] == "-"), np.int64(1))
    if error:
        raise GameError(f"its first position: {BOARD_ERRORS[error]}")
    return get_sfen(pos)


def _piece(text: str) -> int:
    """`+FU` -> piece."""
    if text[:1] not in ("+", "-") or text[1:] not in _KIND_OF:
        raise GameError(f"unknown piece {text!r}")
    return "+-".index(text[0]) * KINDS + _KIND_OF[text[1:]]


def _put_row(line: str, board: np.ndarray) -> None:
    rank = int(line[1]) - 1
    cells = line[2:].ljust(27)
    for column in range(9):
        cell = cells[column * 3 : column * 3 + 3]
        board[(8 - column) * 9 + rank] = EMPTY if cell.strip() in ("*", "") else _piece(cell)


def _take_away(text: str, board: np.ndarray) -> None:
    """Handicaps: `PI82HI22KA` takes pieces off the start position."""
    if not re.fullmatch(r"([1-9]{2}[A-Z]{2})*\s*", text):
        raise GameError(f"cannot read the position line {'PI' + text[:28]!r}")
    for square, name in re.findall(r"([1-9]{2})([A-Z]{2})", text):
        if name not in _KIND_OF or int(board[_square(square)]) % KINDS != _KIND_OF[name]:
            raise GameError(f"no {name} on {square} to take away")
        board[_square(square)] = EMPTY


def _put_pieces(line: str, board: np.ndarray, hands: np.ndarray) -> None:
    """`P+27FU00KI`: pieces on squares, in the hand (00), or all that are left in the hand (00AL)."""
    colour = "+-".index(line[1])
    if not re.fullmatch(r"([0-9]{2}[A-Z]{2})*\s*", line[2:]):
        raise GameError(f"cannot read the position line {line[:30]!r}")
    for square, name in re.findall(r"([0-9]{2})([A-Z]{2})", line[2:]):
        if square == "00" and name == "AL":
            left = PIECES_IN_BOX[:HAND_KINDS].copy()
            for piece in board[board != EMPTY]:
                kind = int(piece) % KINDS
                kind = kind if kind < PRO_PAWN else kind - PRO_PAWN
                if kind < HAND_KINDS:
                    left[kind] -= 1
            hands[colour] = np.maximum(0, hands[colour] + left - hands.sum(0))
            continue
        piece = _piece(line[1] + name)
        if square == "00":
            if piece % KINDS >= HAND_KINDS or hands[colour, piece % KINDS] >= 18:
                raise GameError(f"no hand holds so many {name}")
            hands[colour, piece % KINDS] += 1
        elif "0" in square:
            raise GameError(f"no square {square}")
        else:
            board[_square(square)] = piece
