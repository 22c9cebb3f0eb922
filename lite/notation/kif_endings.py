"""Endings of KIF and KI2 games: the word in place of a last move, and the verdict below the moves."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lite.notation.game import (
    BLACK_WON,
    DRAWN,
    ILLEGAL_BEFORE,
    ILLEGAL_MOVE,
    MOVER_DECLARES,
    MOVER_LOSES,
    MOVER_WINS,
    MOVES_USED_UP,
    REPETITION,
    WHITE_WON,
)
from lite.records.formats import BLACK_WINS, WHITE_WINS

ENDINGS = {
    "投了": MOVER_LOSES,
    "詰み": MOVER_LOSES,
    "詰": MOVER_LOSES,
    "切れ負け": MOVER_LOSES,
    "時間切れ": MOVER_LOSES,
    "Time-up": MOVER_LOSES,
    "不戦敗": MOVER_LOSES,
    "不戦勝": MOVER_WINS,
    "反則負け": ILLEGAL_MOVE,
    "先手 反則負け": WHITE_WON,
    "後手 反則負け": BLACK_WON,
    "反則勝ち": ILLEGAL_BEFORE,
    "入玉勝ち": MOVER_DECLARES,
    "入玉宣言": MOVER_DECLARES,
    "勝ち宣言": MOVER_DECLARES,
    "トライ": MOVER_LOSES,
    "王手連続千日手": MOVER_WINS,
    "千日手": REPETITION,
    "持将棋": DRAWN,
    "引き分け": DRAWN,
    "最大手数": MOVES_USED_UP,
    "中断": None,
    "封じ手": None,
    "不詰": None,
}
"""Outcomes of the words for an ending. A line that begins with such a word is an ending.

ShogiHome writes トライ if the opponent of the side to move has reached the square. MyShogi writes 勝ち宣言 for that as
well, with a verdict that distinguishes the two, and 王手連続千日手 only if the side to move has been checked.
"""
_OF_MOVES = re.compile(r"[同打0-9０-９一二三四五六七八九]")
_ORIGIN = re.compile(r"[(（][0-9０-９]{1,2}[)）]")
_REMARKS = {"*時間切れにて終局": MOVER_LOSES, "*接続切れにて終局": MOVER_LOSES, "*反則手にて終局": ILLEGAL_BEFORE}
"""Comments below the last move by which 81Dojo ends a game without resignation."""
_VERDICT = re.compile(r"\s*まで、?\s*(\d{1,6})手(?:で、?)?\s*(.*)")
_WINNER = re.compile("([先下後上])手の?(反則負け|反則勝ち|入玉勝ち|(?:(?![先下後上]手).){0,20}勝ち)")
"""The last side named before 勝ち: 後手の時間切れにより先手の勝ち names the loser first."""


@dataclass(frozen=True)
class Verdict:
    """The line below the moves, such as `まで112手で後手の勝ち`."""

    line: str
    """The whole line."""
    plies: int
    """Number of moves that it states."""
    text: str
    """Text after the number of moves."""

    @property
    def winner(self) -> int | None:
        """BLACK_WINS or WHITE_WINS if the line names a winner or loser, otherwise None."""
        match = _WINNER.search(self.text)
        if match is None:
            return None
        return BLACK_WINS if (match[1] in "先下") != (match[2] == "反則負け") else WHITE_WINS

    @property
    def outcome(self) -> int | None:
        """Outcome of the game as far as the line states it, otherwise None."""
        match = _WINNER.search(self.text)
        if match is None:
            return next((outcome for name, outcome in ENDINGS.items() if self.text.startswith(name)), None)
        if "反則" in self.text:
            return BLACK_WON if self.winner == BLACK_WINS else WHITE_WON
        return MOVER_DECLARES if match[2] == "入玉勝ち" else MOVER_LOSES

    @property
    def known(self) -> bool:
        """Whether the text begins with a word for an ending, so that it is no mere remark."""
        return any(self.text.startswith(name) for name in ENDINGS)


def unknown_ending(text: str) -> str:
    """Return the word of a numbered line that is neither a move nor a known ending; empty if it may be a damaged move.
    ShogiHome writes such words for endings of other notations (ERROR, MATTA)."""
    word = text.partition("(")[0].strip(" 　")
    return "" if _OF_MOVES.search(word) or _ORIGIN.search(text) else word


def read_verdict(line: str) -> Verdict | None:
    """Return the verdict of a line, or None if the line is none."""
    match = _VERDICT.match(line)
    return Verdict(line.strip(" 　"), int(match.group(1)), match.group(2)) if match else None


def read_remarks(comments: list[str]) -> tuple[int | None, str]:
    """Return outcome and text of a comment below the last move that ends the game, or `(None, "")`."""
    return next(((_REMARKS[line], line[1:]) for line in comments if line in _REMARKS), (None, ""))
