"""Endings of KIF and KI2 games: the word in place of a last move, and the verdict below the moves."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from lite.notation.game import (
    BLACK_WON,
    DRAWN,
    FOULS,
    ILLEGAL_BEFORE,
    ILLEGAL_MOVE,
    MOVER_DECLARES,
    MOVER_LOSES,
    MOVER_WINS,
    MOVES_USED_UP,
    PERPETUAL_CHECK,
    REPETITION,
    WHITE_WON,
)
from lite.notation.numbers import NUMBER, half_width, number
from lite.records.formats import BLACK_WINS, WHITE_WINS

_FOULS = ("反則", "二歩", "二手指し", "打ち歩詰め", "王手放置")
"""Words for a broken rule: the side to move has broken it, and its move, if any was recorded, was not played."""
ENDINGS = {
    "投了": MOVER_LOSES,
    "詰み": MOVER_LOSES,
    "詰": MOVER_LOSES,
    "切れ負け": MOVER_LOSES,
    "時間切れ勝ち": MOVER_WINS,
    "時間切れ": MOVER_LOSES,
    "持ち時間切れ": MOVER_LOSES,
    "時間負け": MOVER_LOSES,
    "接続切れ勝ち": MOVER_WINS,
    "接続切れ": MOVER_LOSES,
    "切断勝ち": MOVER_WINS,
    "切断負け": MOVER_LOSES,
    "Time-up": MOVER_LOSES,
    "不戦敗": MOVER_LOSES,
    "不戦勝": MOVER_WINS,
    "反則負け": ILLEGAL_MOVE,
    **{f"{foul}勝ち": ILLEGAL_BEFORE for foul in _FOULS},
    **dict.fromkeys(_FOULS, ILLEGAL_MOVE),
    "入玉宣言負け": MOVER_LOSES,
    "宣言負け": MOVER_LOSES,
    "入玉勝ち": MOVER_DECLARES,
    "入玉宣言": MOVER_DECLARES,
    "勝ち宣言": MOVER_DECLARES,
    "宣言勝ち": MOVER_DECLARES,
    "トライ": MOVER_LOSES,
    "王手連続千日手": PERPETUAL_CHECK,
    "連続王手の千日手": PERPETUAL_CHECK,
    "千日手": REPETITION,
    "持将棋": DRAWN,
    "引き分け": DRAWN,
    "無勝負": DRAWN,
    "最大手数": MOVES_USED_UP,
    "中断": None,
    "打ち切り": None,
    "封じ手": None,
    "指し掛け": None,
    "指掛": None,
    "不詰": None,
}
"""Outcomes of the words for an ending. A line that begins with such a word is an ending; a word stands below the longer
ones that begin with it.

ShogiHome writes トライ if the opponent of the side to move has reached the square. MyShogi writes 勝ち宣言 for that as
well, with a verdict that distinguishes the two.
"""
_SPELLINGS = (
    (re.compile("(?<=時間|接続)切(?!れ)"), "切れ"),
    (re.compile("打ち?歩詰め?"), "打ち歩詰め"),
    (re.compile("引き?分け?"), "引き分け"),
    (re.compile("打ち?切り?(?!れ)"), "打ち切り"),
)
"""Spellings of words for an ending, and the one that `ENDINGS` has."""
_OF_MOVES = re.compile(r"[同打0-9一二三四五六七八九]")
_BEGINS_MOVE = r"(?:[1-9１-９][1-9１-９一二三四五六七八九]|同)[\s　]*[歩香桂銀金角飛玉王と成杏圭全馬龍竜]"
_ORIGIN = re.compile(r"[(][0-9]{1,2}[)]")
_OF_PAWN = re.compile(rf"二歩\s*(?:打|不?成|{_ORIGIN.pattern})")
"""The rest of a move such as `２二歩打` that has lost its first character."""
_CLOCK = re.compile(r"[(]\s*(?:[0-9]|[/)])")
"""The start of a clock after an ending; a remark in brackets, as in `乙（六段）の勝ち`, is no clock."""
_REMARKS = {"*時間切れにて終局": MOVER_LOSES, "*接続切れにて終局": MOVER_LOSES, "*反則手にて終局": ILLEGAL_BEFORE}
"""Comments below the last move by which 81Dojo ends a game without resignation."""
_VERDICT = re.compile(rf"\s*(?:まで|迄|以上)、?\s*({NUMBER})\s*手(?:(?:で|にて|を(?:もっ|以っ?)て)、?)?\s*(.*)")
_SIDE = "[先下後上]手"
_BY = "(?:により|によって|のため|(?:(?<=切れ)|(?<=投了)|(?<=反則)|(?<=二歩))で)"
"""Words after the cause of an ending."""
_CAUSE = re.compile("(?:により|によって|による|のため|で)、?")
"""Words after the cause of a draw or an interruption."""
_DRAW = re.compile(r"(?:引き分け|持将棋|無勝負)(?=[\s。]*$)")
_STATED = re.compile(
    rf"({_SIDE})[のがは、]?\s*"
    rf"(?:((?:(?!{_SIDE}|{_BY}).){{0,20}}?)(?:(勝(?:ち|利)?|必勝)(?![率負敗勢])|[負敗](?:け|北)?)"
    rf"|(?:(?:持ち)?時間切れ|接続切れ|切れ|投了|(?:{FOULS})め?)(?=\s*$|{_BY}))"
)
"""A side and what it does: it wins, or it loses, exceeds its time, breaks a rule or resigns."""
_TITLE = "[初二三四五六七八九十]段|[0-9０-９]級|永世|名人|竜王|棋聖|王位|王座|棋王|王将|叡王|女流|アマ|さん|氏|様"
_RANK = rf"(?:[\s・(（]{{0,3}}(?:{_TITLE})[)）]{{0,2}}){{0,8}}+"
"""Ranks and titles after a player's name, as in `乙六段`, `乙 六段`, `乙（六段）` and `乙名人・竜王`. All numbers are
bounded, so that a long name takes a time in proportion to its length."""
_LONGEST_SHORT_NAME = 8
_MARKS = {"▲": "下手", "▼": "下手", "☗": "下手", "△": "上手", "▽": "上手", "☖": "上手"}
_MARK = f"[{''.join(_MARKS)}]"
_ACTS = f"\\s*(?:勝|負|敗|{FOULS}|(?:持ち)?時間切れ|接続切れ|切れ|入玉|宣言|投了|トライ)"
_DOES = f"の?{_ACTS}|[がは]"
_NAMED = rf"(^|より|よって|のため|で|[、。\s]|{_MARK}\s*)(NAMES){_RANK}\s*(?={_DOES})"
_OTHER_NAME = rf"(?:(?!{_MARK}|{_SIDE}|{_BY}|[をはが、。]).){{0,20}}?"
_MARKED = re.compile(
    rf"({_MARK})(?!\s*{_BEGINS_MOVE})(?:(?=\s*[のがは])|{_OTHER_NAME}(?=の{_ACTS})|{_OTHER_NAME}(?={_ACTS}))"
)
"""The sign of a side, which a name that the headers lack may follow."""


@dataclass(frozen=True)
class Statement:
    """The verdict of a sentence about the end of a game, such as `先手の勝ち` or `後手反則負け`."""

    winner: int
    """BLACK_WINS or WHITE_WINS."""
    outcome: int
    """The outcome if the winner is the side that follows from it; otherwise moves and sentence disagree."""


def stated(text: str) -> Statement | None:
    """Return the verdict of a sentence about a named side; None if it names no winner or loser.

    The last sentence counts: `後手の時間切れにより先手の勝ち` names the loser first."""
    matches = list(_STATED.finditer(text))
    if not matches:
        return None
    match = matches[-1]
    winner = BLACK_WINS if (match[1][0] in "先下") == (match[3] is not None) else WHITE_WINS
    if re.search(FOULS, text):  # by whichever side
        return Statement(winner, BLACK_WON if winner == BLACK_WINS else WHITE_WON)
    declares = match[3] is not None and ("入玉" in match[2] or "宣言" in match[2])
    return Statement(winner, MOVER_DECLARES if declares else MOVER_LOSES)


def with_sides(text: str, names: tuple[str, str]) -> str:
    """Return a sentence with the names or signs of black and white replaced by 下手 and 上手, for `stated`."""
    text = _with_sides_by_name(text, names)
    return _MARKED.sub(lambda match: _MARKS[match[1]], text)


def _with_sides_by_name(text: str, names: tuple[str, str]) -> str:
    """Return a sentence with the names of black and white, and signs before them, replaced by 下手 and 上手."""
    bare = [re.sub(_RANK + "$", "", name.strip(" 　")) for name in names]
    sides = dict(zip(bare, ("下手", "上手"), strict=True))
    if bare[0] == bare[1]:
        return text
    sides |= {short: sides[name] for name, other in (bare, bare[::-1]) for short in _short_names(name, other)}
    sides = {name: side for name, side in sides.items() if name and not re.fullmatch(_SIDE, name)}
    if not sides:
        return text
    pattern = _NAMED.replace("NAMES", "|".join(map(re.escape, sorted(sides, key=len, reverse=True))))
    return re.sub(pattern, lambda match: re.sub(_MARK, "", match[1]) + sides[match[2]], text)


def _short_names(name: str, other: str) -> list[str]:
    """Return beginnings of a Japanese name that may stand for it, such as 羽生 for 羽生善治, but not for `other`."""
    if name.isascii():
        return []
    beginnings = [name.split()[0], *(name[:end].rstrip() for end in range(2, min(len(name), _LONGEST_SHORT_NAME + 1)))]
    return [short for short in beginnings if not other.startswith(short)]


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
        statement = stated(self.text)
        return None if statement is None else statement.winner

    @property
    def outcome(self) -> int | None:
        """Outcome of the game as far as the line states it, otherwise None."""
        statement = stated(self.text)
        if statement is not None:
            return statement.outcome
        return None if self._word is None else ENDINGS[self._word]

    @property
    def names_winner_alone(self) -> bool:
        """Whether the text is a sentence such as `先手の勝ち`, which gives no cause."""
        return re.fullmatch(rf"{_SIDE}の?\s*勝(?:ち|利)?", self.text) is not None

    @property
    def known(self) -> bool:
        """Whether the text has a word for an ending in its place, so that it is no mere remark."""
        return self._word is not None

    @property
    def _word(self) -> str | None:
        return _word(self.text)

    def naming_sides(self, names: tuple[str, str]) -> Verdict:
        """Return the verdict with the players' names replaced by their sides."""
        return replace(self, text=with_sides(self.text, names))


@dataclass(frozen=True)
class Ending:
    """The word in place of a last move."""

    word: str
    outcome: int | None
    """Outcome that the word states, or None."""
    winner: int | None = None
    """BLACK_WINS or WHITE_WINS if the word names a side, otherwise None."""


def read_ending(text: str, names: tuple[str, str]) -> Ending | None:
    """Return the ending at the start of a text, which a clock may follow; None if there is none.

    ShogiHome writes unknown words for endings of other notations (ERROR, MATTA); they have no outcome. A text that may
    be a damaged move is no ending. names: of black and white, for sentences that use them."""
    text = _in_common_spelling(text)
    narrow = half_width(text)
    if _OF_PAWN.match(narrow) or re.match(_BEGINS_MOVE, narrow):
        return None
    clock = _CLOCK.search(narrow)
    word = text[: clock.start() if clock else None].strip(" 　")
    sentence = with_sides(word, names)
    if re.match(_SIDE, sentence) and (statement := stated(sentence)):
        return Ending(word, statement.outcome, statement.winner)
    name = _word(word)
    if name is not None:
        return Ending(name, ENDINGS[name])
    if not word or _OF_MOVES.search(half_width(word)) or _ORIGIN.search(narrow):
        return None
    return Ending(word, None)


def read_bare_ending(text: str, names: tuple[str, str]) -> Ending | None:
    """Return the ending that a text without a number states: a word such as 投了 and nothing else, or a sentence such
    as 先手反則負け. None if it is neither. names: of black and white, for sentences that use them."""
    text = _in_common_spelling(text)
    sentence = with_sides(text, names)
    is_sentence = re.match(_SIDE, sentence) and re.search("[：:]", text) is None and stated(sentence)
    return read_ending(text, names) if is_sentence or is_ending(text) else None


def is_ending(text: str) -> bool:
    """Return whether a text is a word for an ending and nothing else, such as 投了 or 時間切れ負け."""
    word = _in_common_spelling(text)
    return any(word in (name, f"{name}負け", f"{name}勝ち", f"{name}引き分け") for name in ENDINGS)


def _in_common_spelling(text: str) -> str:
    """Return a text with words for endings as `ENDINGS` spells them."""
    for pattern, common in _SPELLINGS:
        text = pattern.sub(common, text)
    return text


def _word(text: str) -> str | None:
    """Return the word for an ending that a text begins with, or that follows a cause: 双方入玉により持将棋. A draw may
    follow its cause directly: 時間切れ引き分け."""
    parts, draw = (text, _CAUSE.split(text)[-1]), _DRAW.search(text)
    word = next((name for part in parts for name in ENDINGS if part.startswith(name)), None)
    return draw[0] if draw and (word is None or ENDINGS[word] not in (REPETITION, MOVES_USED_UP)) else word


def read_verdict(line: str) -> Verdict | None:
    """Return the verdict of a line, or None if the line is none."""
    match = _VERDICT.match(line)
    return Verdict(line.strip(" 　"), number(match[1]), _in_common_spelling(match[2])) if match else None


def read_remarks(comments: list[str]) -> tuple[int | None, str]:
    """Return outcome and text of a comment below the last move that ends the game, or `(None, "")`."""
    return next(((_REMARKS[line], line[1:]) for line in comments if line in _REMARKS), (None, ""))
