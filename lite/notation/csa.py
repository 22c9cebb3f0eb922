"""Read CSA game records (Computer Shogi Association, versions 1 to 3), with floodgate's comments.

cshogi's parser is not used because it trusts its input: a damaged file (a comment before the first move, an unknown
piece) makes its C++ code write outside its arrays. It is the oracle of the tests.

The format does not number its moves, so a missing last move is easily overlooked. Such a loss is detected where the
file allows it: by the times of moves, and by floodgate's last lines (the side to move, and a summary that also holds
what no other line says, such as an illegal move or a false declaration).

Scores: `'** 123 ...` after a move, centipawns in black's view, from the search that chose the move.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import numpy as np

from lite.amounts import amount
from lite.notation.csa_moves import KIND_OF, csa_square, read_csa_move
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
    quoted,
)
from lite.notation.scores import read_comment
from lite.records.formats import BLACK_WINS, DRAW, WHITE_WINS, WINNER_MASK
from search.rules.position import new_position
from search.rules.set_up import BOARD_ERRORS, set_board
from search.rules.sfen import get_sfen
from search.rules.shogi import (
    EMPTY,
    HAND_KINDS,
    KINDS,
    PIECES_IN_BOX,
    PRO_PAWN,
    SQUARES,
)

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
_READERS_NUMBER = re.compile(r"'\*\s*[+-]?[0-9]")
"""A comment for readers that begins with a number. It is no score: scores follow two stars."""
_VERSION = re.compile(r"V[0-9][0-9.]*\s*$")
_TIME = re.compile(r"T([0-9]{1,7}(?:\.[0-9]*)?)\s*$")
_SUMMARY = re.compile(r"'summary:([^:]*):(.{0,200}) (win|lose|draw):(.{0,200}) (win|lose|draw)\s*$")
"""Floodgate's summary. The length of names is bounded so that a line is scanned once."""
OUTCOMES = {
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
"""Outcomes of CSA's ending statements. Others (CHUDAN, ERROR, MATTA, FUZUMI, ...) give no result."""
_SUMMARIES = {
    "toryo": MOVER_LOSES,
    "time up": MOVER_LOSES,
    "kachi": MOVER_DECLARES,
    "illegal kachi": MOVER_LOSES,
    "illegal move": ILLEGAL_MOVE,
    "uchifuzume": ILLEGAL_MOVE,
    "oute_kaihimore": ILLEGAL_MOVE,
    "sennichite": REPETITION,
    "max_moves": MOVES_USED_UP,
}
"""Outcomes of shogi-server's reasons that follow from the side to move. Of others, such as `abnormal`, the summary
gives only the winner."""
_HEADERS = {
    "EVENT": "棋戦",
    "SITE": "場所",
    "START_TIME": "開始日時",
    "END_TIME": "終了日時",
    "TIME_LIMIT": "持ち時間",
    "TIME": "持ち時間",
    "TIME+": "先手持ち時間",
    "TIME-": "後手持ち時間",
    "OPENING": "戦型",
    "MAX_MOVES": "最大手数",
    "JISHOGI": "持将棋",
    "NOTE": "備考",
}
"""KIF's header for each header of the CSA standard."""

_NO_POSITION = "no first position (a line + or -)"


def read_csa(text: str, name: str, unfinished: bool = False) -> Iterator[Game | GameError]:
    """Yield each game of a CSA text as a Game, or as a GameError with the reason if it cannot be used."""
    for place, first, lines in _games(text, name):
        try:
            yield _read_game(lines, place, first, unfinished)
        except GameError as error:
            yield GameError(f"{place}: {error}", error.reason)


def read_starts(text: str, name: str) -> list[str]:
    """Return the SFENs of the first positions of a CSA text's games; moves are ignored, and a king may be missing.
    Raises GameError that names the game."""
    found = []
    for place, _, lines in _games(text, name):
        try:
            found.append(_start_of(lines))
        except GameError as error:
            raise GameError(f"{place}: {error}", error.reason) from None
    return found


def _start_of(lines: list[str]) -> str:
    """Return the SFEN of a game's position lines, which end with the side to move."""
    setup = []
    for line in lines:
        if line[:1] in ("P", "+", "-"):
            for statement in map(str.strip, line.split(",")):
                setup.append(statement)
                if statement in ("+", "-"):
                    return start_sfen(setup)
    raise GameError(_NO_POSITION)


def _games(text: str, name: str) -> Iterator[tuple[str, int, list[str]]]:
    """Yield place, number of the first line, and lines of each game of a text.

    A line `/` separates games; so does the version of the next one after moves, in files that were joined without the
    line. A part of comments and blank lines alone is no game, unless it is the whole text."""
    # Text copied from a page or a mail may be indented.
    lines = [line.lstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    number, first, has_moves = 1, 0, False
    for index in range(len(lines) + 1):
        separator = index == len(lines) or lines[index].rstrip() == "/"
        if separator or (has_moves and _VERSION.match(lines[index])):
            part = lines[first:index]
            if any(line.strip() and line.strip()[0] != "'" for line in part):
                yield f"{name} game {number}", first + 1, part
                number += 1
            first, has_moves = index + separator, False
        elif lines[index][:1] in "+-%" and len(lines[index].rstrip()) > 1:
            has_moves = True
    if number == 1 and text.strip():
        yield f"{name} game 1", 1, lines


class _Reader:
    """Builds a game from its lines, which are given in order."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.builder: GameBuilder | None = None
        self.setup: list[str] = []
        self.names, self.ratings = ["", ""], [None, None]  # type: list[str], list[float | None]
        self.headers: dict[str, str] = {}
        self.early_comments: list[str] = []
        self.ending, self.outcome = "", None  # type: str, int | None
        self.endings = 0
        """Number of ending statements; only the first one counts."""
        self.winner: int | None = None
        """Winner according to floodgate's summary."""
        self.number = 0
        """Number of the current line in the file."""
        self.timed = 0
        """Number of moves up to the last one with a time."""

    def line(self, line: str) -> None:
        """Read a line: one statement, or several separated by commas. A comment is the last and may hold commas."""
        if "," not in line or line[:1] not in "+-PT%":
            self._statement(line)
            return
        statements, _, remark = line.partition(",'")
        for statement in filter(None, map(str.strip, statements.split(","))):
            self._statement(statement)
        if remark:
            self._remark("'" + remark)

    def _statement(self, line: str) -> None:
        mark = line[:1]
        if mark in "+-" and len(line.rstrip()) > 1:
            if self.endings:
                raise self._error(f"a move after the ending: {quoted(line)}")
            self._move(line)
        elif mark == "T":
            self._time(line)
        elif mark == "'":
            self._remark(line)
        elif line.startswith(("N+", "N-")):
            self.names["+-".index(line[1])] = line[2:].strip()
        elif mark == "$":
            self._header(line)
        elif mark == "V" or line.startswith("N"):
            pass
        elif mark in "P+-":
            if self.builder is not None:
                raise self._error(f"a position in the middle of it: {quoted(line)}")
            self.setup.append(line if mark == "P" else line.rstrip())
            if mark != "P":
                self.builder = GameBuilder(self.place, start_sfen(self.setup))
        elif mark == "%":
            if self.builder is None:
                raise self._error("an ending before the first position")
            self.endings += 1
            if self.endings == 1:
                self.ending, self.builder.ended = line[1:].strip(), True
                self.outcome = OUTCOMES.get(self.ending)
        else:
            raise self._error(f"cannot read the line {quoted(line)}")

    def _move(self, line: str) -> None:
        if self.builder is None:
            raise self._error("a move before the first position")
        self.builder.refuse_more()
        try:
            self.builder.play(read_csa_move(line, self.builder), line.rstrip(), self.number)
        except GameError as error:
            raise self._error(str(error)) from None

    def _error(self, message: str) -> GameError:
        """Return an error that names the current line."""
        return GameError(f"{message} (line {self.number})")

    def _header(self, line: str) -> None:
        key, _, value = line[1:].partition(":")
        if key in _HEADERS:
            self.headers[_HEADERS[key]] = value.strip()

    def _time(self, line: str) -> None:
        """Read `T12`, the seconds of the move or ending above it."""
        match, builder = _TIME.match(line), self.builder
        if builder is None or match is None:
            return
        milliseconds, plies = round(1000 * float(match.group(1))), builder.plies_recorded
        if self.endings:
            if self.endings == 1:
                builder.time_of_ending(milliseconds)
        elif self.timed < plies:
            self.timed = plies
            builder.time_of_last(milliseconds)
        else:
            raise _disagreement(f"after move {self.timed} a time {quoted(line.strip(), 12)} has no move")

    def _remark(self, line: str) -> None:
        """Read a comment: floodgate's ratings, side to move and summary, a score, or text for readers."""
        if line.startswith("'*"):
            if self.builder is None:
                self.early_comments.append(line[1:])
                return
            self.builder.comment(line[1:])
            if not _READERS_NUMBER.match(line):
                read_comment(line[2:] if line.startswith("'*#") else line[1:].replace("**", "*", 1), self.builder)
        elif match := re.match(r"'(black|white)_rate:.*:([0-9]+(?:\.[0-9]+)?)\s*$", line):
            self.ratings[("black", "white").index(match.group(1))] = float(match.group(2))
        elif line.startswith("'$"):
            self._header(line[1:])
        elif line.rstrip() in ("'+", "'-") and self.builder is not None:
            if self.builder.plies_recorded == len(self.builder.moves) and "+-".index(line[1]) != self.builder.turn:
                raise _disagreement(
                    f"after {amount(len(self.builder.moves), 'move')} {quoted(line.rstrip())} names the wrong side"
                )
        elif match := _SUMMARY.match(line):
            reason, black = match.group(1), match.group(3)
            self.winner = {"win": BLACK_WINS, "lose": WHITE_WINS, "draw": DRAW}[black]
            if reason in _SUMMARIES:
                # A false declaration is a plain declaration in the line above.
                self.ending = reason if reason.startswith("illegal") else self.ending or reason
                self.outcome = _SUMMARIES[reason]
            elif black != "draw":
                self.ending, self.outcome = reason, BLACK_WON if black == "win" else WHITE_WON

    def finish(self, unfinished: bool) -> Game:
        if self.builder is None:
            raise GameError(_NO_POSITION)
        builder = self.builder
        builder.names, builder.ratings, builder.headers = self.names, self.ratings, self.headers
        if self.early_comments:
            builder.comments[0] = self.early_comments + builder.comments.get(0, [])
        game = builder.finish(self.ending, self.outcome, unfinished)
        if self.winner is not None and game.result & WINNER_MASK != self.winner:
            raise _disagreement(
                f"the summary and {quoted(self.ending)} after {amount(len(game.moves), 'move')} name different winners"
            )
        return game


def _disagreement(what: str) -> GameError:
    """Return an error for a game whose lines contradict each other."""
    return GameError(
        f"{what}: a line is missing or added; copy the game from its source again", "moves and ending that disagree"
    )


def _read_game(lines: list[str], place: str, first: int, unfinished: bool) -> Game:
    reader = _Reader(place)
    for reader.number, line in enumerate(lines, first):
        if line.strip():
            reader.line(line)
    return reader.finish(unfinished)


def start_sfen(setup: list[str]) -> str:
    """Return the SFEN of the position lines. The side to move alone means the start position: shogi-extend exports
    games of Shogi Wars and Shogi Quest so."""
    if len(setup) == 1:
        setup = ["PI", *setup]
    board = np.full(SQUARES, EMPTY, np.uint8)
    hands = np.zeros((2, HAND_KINDS), np.uint8)
    for line in setup:
        if line.startswith("PI"):
            board[:] = _start_board()
            _take_away(line[2:], board)
        elif re.match("P[1-9]", line):
            _put_row(line, board)
        elif line.startswith(("P+", "P-")):
            _put_pieces(line, board, hands)
        elif line not in ("+", "-"):
            raise GameError(f"cannot read the position line {quoted(line)}")
    pos = new_position()
    error = set_board(pos, board, hands, np.int64(setup[-1] == "-"), np.int64(1))
    if error:
        raise GameError(f"its first position: {BOARD_ERRORS[error]}")
    return get_sfen(pos)


@cache
def _start_board() -> np.ndarray:
    board = np.full(SQUARES, EMPTY, np.uint8)
    for row in _START_ROWS:
        _put_row(row, board)
    return board


def _piece(text: str) -> int:
    """Return the piece of `+FU`."""
    if text[:1] not in ("+", "-") or text[1:] not in KIND_OF:
        raise GameError(f"unknown piece {quoted(text)}")
    return "+-".index(text[0]) * KINDS + KIND_OF[text[1:]]


def _put_row(line: str, board: np.ndarray) -> None:
    """Read a rank, `P2 * -HI *  *  *  *  * -KA * `. Mail programs and web pages may have removed blanks."""
    rank = int(line[1]) - 1
    cells = re.findall(r"\*|[+-][A-Z]{2}", line[2:])
    if len(cells) != 9:  # blanks alone may stand for an empty square
        row = line[2:].ljust(27)
        cells = [row[place : place + 3].strip() for place in range(0, 27, 3)]
    for column, cell in enumerate(cells):
        board[(8 - column) * 9 + rank] = EMPTY if cell in ("*", "") else _piece(cell)


def _take_away(text: str, board: np.ndarray) -> None:
    """Read a handicap, `PI82HI22KA`: remove pieces from the start position."""
    if not re.fullmatch(r"([1-9]{2}[A-Z]{2})*\s*", text):
        raise GameError(f"cannot read the position line {quoted('PI' + text, 28)}")
    for square, name in re.findall(r"([1-9]{2})([A-Z]{2})", text):
        kind = KIND_OF.get(name)
        if kind is None or board[csa_square(square)] not in (kind, kind + KINDS):
            raise GameError(f"no {name} on {square} to take away")
        board[csa_square(square)] = EMPTY


def _put_pieces(line: str, board: np.ndarray, hands: np.ndarray) -> None:
    """Read `P+27FU00KI`: pieces on squares, in hand (00), or all remaining pieces in hand (00AL)."""
    colour = "+-".index(line[1])
    if not re.fullmatch(r"([0-9]{2}[A-Z]{2})*\s*", line[2:]):
        raise GameError(f"cannot read the position line {quoted(line)}")
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
            board[csa_square(square)] = piece
