"""KIF and KI2 game records, with the scores that ShogiGUI and ShogiHome write into comments.

Read here, with cshogi as the oracle of the tests: its KIF parser passes over lines that it cannot read and plays on (a
shorter or another game comes out) and knows no board diagrams, and its KI2 parser takes a drop for 左, 右 and 引.

Scores are centipawns in black's view. A player's (`**対局 ... 評価値 n`, `**評価値=n`) are of the search that chose the
move above them, an analysis's (`**解析 ... 候補1 ...`, `*#評価値=n`) of the position after it.
"""

from __future__ import annotations

import re

import numpy as np
from cshogi import KIF

from lite.notation.game import (
    BLACK_DECLARED,
    BLACK_WON,
    DRAWN,
    ILLEGAL_BEFORE,
    ILLEGAL_MOVE,
    MOVER_DECLARES,
    MOVER_LOSES,
    MOVES_USED_UP,
    REPETITION,
    WHITE_DECLARED,
    WHITE_WON,
    Game,
    GameBuilder,
    GameError,
    read_comment,
)
from search.rules.movegen import legal_moves
from search.rules.position import new_position
from search.rules.set_up import BOARD_ERRORS, set_board
from search.rules.sfen import get_sfen
from search.rules.shogi import (
    BLACK,
    DROP_ORIGIN,
    EMPTY,
    HAND_KINDS,
    KINDS,
    NO_MOVE,
    PIECES_IN_BOX,
    PROMOTE,
    SQUARES,
    START_SFEN,
)

_ENDINGS = {
    "投了": MOVER_LOSES,
    "詰み": MOVER_LOSES,
    "切れ負け": MOVER_LOSES,
    "時間切れ": MOVER_LOSES,
    "反則負け": ILLEGAL_MOVE,
    "反則勝ち": ILLEGAL_BEFORE,
    "入玉勝ち": MOVER_DECLARES,
    "入玉宣言": MOVER_DECLARES,
    "千日手": REPETITION,
    "持将棋": DRAWN,
    "引き分け": DRAWN,
    "最大手数": MOVES_USED_UP,
    "中断": None,
    "封じ手": None,
    "不詰": None,
}
_MOVE_LINE = re.compile(r"\s*([0-9]{1,6})\s+(\S.*)")
_PIECE_SIGNS = "[歩香桂銀金角飛玉と杏圭全馬龍]"
_KIF_MOVE = re.compile(rf"([１-９1-9][一二三四五六七八九]|同)\s*({_PIECE_SIGNS})(?:打|(成?)\(([1-9])([1-9])\))")
_KI2_MOVE = re.compile(rf"([１-９1-9][一二三四五六七八九]|同)\s*({_PIECE_SIGNS})([左直右]?)([上行寄引]?)(打|成|不成)?")
_VERDICT = re.compile(r"\s*まで、?\s*([0-9]{1,6})手で(.*)")

_PIECES = {sign: kind for kind, sign in enumerate("歩香桂銀角飛金玉と杏圭全馬龍")}
_PIECES |= {"王": _PIECES["玉"], "竜": _PIECES["龍"]}
_NUMBERS = {sign: number for number, sign in enumerate("〇一二三四五六七八九")} | {"十": 10}
_ABBREVIATIONS = (("王", "玉"), ("竜", "龍"), ("成銀", "全"), ("成桂", "圭"), ("成香", "杏"))
_MARK = re.compile("[▲△▼▽☗☖]")


class _Reader:
    """What KIF and KI2 share: headers, board diagrams, comments, the verdict."""

    def __init__(self, place: str, unfinished: bool) -> None:
        self.place = place
        self._unfinished = unfinished
        self.headers: dict[str, str] = {}
        self.rows: list[str] = []
        self.white_moves = False
        self.builder: GameBuilder | None = None
        self.ending = ""
        self.outcome: int | None = None
        self.said_plies: int | None = None

    def start(self) -> GameBuilder:
        """The builder, set up from what the headers said when the first move comes."""
        if self.builder is None:
            self.builder = GameBuilder(self.place, self._start_sfen())
            for colour, keys in enumerate((("先手", "下手"), ("後手", "上手"))):
                self.builder.names[colour] = next((self.headers[key] for key in keys if key in self.headers), "")
        return self.builder

    def _start_sfen(self) -> str:
        handicap = self.headers.get("手合割", "").strip(" 　")
        if self.rows:
            return self._diagram()
        if handicap in ("", "平手"):
            return START_SFEN
        sfen = KIF.Parser.HANDYCAP_SFENS.get(handicap)
        if sfen is None:
            raise GameError(f"the handicap {handicap!r} without a board diagram")
        return str(sfen)

    def _diagram(self) -> str:
        board, hands = np.full(SQUARES, EMPTY, np.uint8), np.zeros((2, HAND_KINDS), np.uint8)
        if len(self.rows) != 9:
            raise GameError(f"a board diagram of {len(self.rows)} ranks")
        for rank, row in enumerate(self.rows):
            cells = re.findall(r"([ v^])(.)", row.split("|")[1])
            if len(cells) != 9:
                raise GameError(f"a board diagram with {len(cells)} squares on rank {rank + 1}")
            for column, (colour, sign) in enumerate(cells):
                if sign == "・":
                    continue
                if sign not in _PIECES:
                    raise GameError(f"unknown piece {sign!r} in the board diagram")
                board[(8 - column) * 9 + rank] = _PIECES[sign] + (KINDS if colour == "v" else 0)
        for colour, keys in enumerate((("先手の持駒", "下手の持駒"), ("後手の持駒", "上手の持駒"))):
            for key in keys:
                self._hand(self.headers.get(key, "なし"), hands[colour])
        pos = new_position()
        error = set_board(pos, board, hands, np.int64(self.white_moves), np.int64(1))
        if error:
            raise GameError(f"its board diagram: {BOARD_ERRORS[error]}")
        return get_sfen(pos)

    def _hand(self, text: str, hand: np.ndarray) -> None:
        for item in re.split(r"[\s　]+", text.strip()):
            if item in ("", "なし"):
                continue
            kind = _PIECES.get(item[0], HAND_KINDS)
            digits = item[1:]
            if kind < HAND_KINDS and re.fullmatch("[0-9]{1,2}", digits):  # rsshogi's writer: 歩11
                count = int(digits)
            elif kind < HAND_KINDS and len(digits) <= 2 and all(sign in _NUMBERS for sign in digits):
                count = sum(_NUMBERS[sign] for sign in digits) if digits else 1
            else:
                raise GameError(f"cannot read the pieces in hand {item!r}")
            if int(hand[kind]) + count > PIECES_IN_BOX[kind]:
                raise GameError(f"no hand holds so many pieces: {text[:40]!r}")
            hand[kind] += count

    def other_line(self, line: str) -> bool:
        """Headers, diagrams, comments and the verdict; False if the line is none of these."""
        if line[0] in "*＊":
            if self.builder is not None:
                for part in line[1:].split("\n"):
                    read_comment(part, self.builder)
        elif line.startswith("手数--"):
            self.start()  # the headers are over: a comment from here on belongs to the first position
        elif line[0] in "#&" or line.startswith(("手数", "+-", "  ９", " ９")):
            pass
        elif line[0] == "|":
            self.rows.append(line)
        elif line.strip() in ("後手番", "上手番"):
            self.white_moves = True
        elif line.strip() in ("先手番", "下手番"):
            self.white_moves = False
        elif match := _VERDICT.match(line):
            self.said_plies = int(match.group(1))
            self._verdict(match.group(2).strip(" 　"))
        elif "：" in line or ":" in line.split("(")[0]:
            key, _, value = line.replace(":", "：", 1).partition("：")
            self.headers[key.strip()] = value.strip()
        else:
            return False
        return True

    def _verdict(self, text: str) -> None:
        """`まで112手で後手の勝ち`: what the line of the ending did not say already."""
        if self.outcome is not None:
            return
        self.ending = text
        if match := re.match("(先|下|後|上)手の(反則負け|入玉勝ち|.*勝ち)", text):
            black = match.group(1) in "先下"
            if match.group(2) == "反則負け":
                self.outcome = WHITE_WON if black else BLACK_WON
            elif match.group(2) == "入玉勝ち":
                self.outcome = BLACK_DECLARED if black else WHITE_DECLARED
            else:
                self.outcome = BLACK_WON if black else WHITE_WON
        else:
            self.outcome = next((value for name, value in _ENDINGS.items() if text.startswith(name)), None)

    def target(self, text: str) -> int:
        """`７六` or `同` -> square."""
        moves = self.start().moves
        if text == "同":
            if not moves:
                raise GameError("同 as the first move")
            return moves[-1] & 127
        return (int(text[0]) - 1) * 9 + _NUMBERS[text[1]] - 1

    def finish(self) -> Game:
        builder = self.start()
        plies = len(builder.moves)
        # Programs count the ending's line or not; but a game with moves missing must not be read as a shorter one.
        if self.said_plies is not None and plies < self.said_plies - 2:
            raise GameError(f"it says {self.said_plies} moves and has {plies}")
        return builder.finish(self.ending, self.outcome, self._unfinished)


def _plain(text: str) -> list[str]:
    return [line.rstrip() for line in text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")]


def _abbreviate(text: str) -> str:
    """One character a piece."""
    for long, short in _ABBREVIATIONS:
        text = text.replace(long, short)
    return text


def read_kif(text: str, place: str, unfinished: bool = False) -> Game:
    """The main line of a KIF text. Raises GameError."""
    reader = _Reader(place, unfinished)
    ended = False
    for line in _plain(text):
        if not line:
            continue
        if line.startswith("変化"):
            break  # variations follow the whole main line
        if match := _MOVE_LINE.fullmatch(line):
            if ended:
                raise GameError(f"a move after the ending: {line[:30]!r}")
            ended = _kif_line(reader, int(match.group(1)), match.group(2))
        elif not reader.other_line(line):
            raise GameError(f"cannot read the line {line[:30]!r}")
    return reader.finish()


def _kif_line(reader: _Reader, number: int, text: str) -> bool:
    """One numbered line; True if it ends the game."""
    builder = reader.start()
    for name, outcome in _ENDINGS.items():
        if text.startswith(name):
            reader.ending, reader.outcome = name, outcome
            return True
    builder.refuse_more()
    if number != len(builder.moves) + 1:
        raise GameError(f"line {number} stands where move {len(builder.moves) + 1} should")
    match = _KIF_MOVE.match(_abbreviate(text))
    if match is None:
        raise GameError(f"cannot read move {number} {text[:20]!r}")
    where, sign, promotion, file, rank = match.groups()
    kind, move = _PIECES[sign], reader.target(where)
    if file is None:
        # A kind that is in no hand is no move at all.
        builder.play(move | (DROP_ORIGIN + kind) << 7 if kind < HAND_KINDS else NO_MOVE)
        return False
    origin = (int(file) - 1) * 9 + int(rank) - 1
    if int(builder.pos["board"][origin]) != builder.turn * KINDS + kind:
        raise GameError(f"move {number} ({text.split()[0][:12]}): no such piece stands there")
    builder.play(move | origin << 7 | (PROMOTE if promotion else 0))
    return False


def read_ki2(text: str, place: str, unfinished: bool = False) -> Game:
    """The main line of a KI2 text. Raises GameError."""
    reader = _Reader(place, unfinished)
    for line in _plain(text):
        if not line:
            continue
        if line.startswith("変化"):
            break
        if _MARK.match(line.lstrip(" 　")) and "：" not in line:
            marks = list(_MARK.finditer(line))
            ends = [mark.start() for mark in marks[1:]] + [len(line)]
            for mark, end in zip(marks, ends, strict=True):
                _ki2_move(reader, mark.group() in "▲▼☗", line[mark.start() + 1 : end].strip(" 　"))
        elif line.strip(" 　") in _ENDINGS:
            reader.ending = line.strip(" 　")
            reader.outcome = _ENDINGS[reader.ending]
        elif not reader.other_line(line):
            raise GameError(f"cannot read the line {line[:30]!r}")
    return reader.finish()


def _ki2_move(reader: _Reader, black: bool, text: str) -> None:
    builder = reader.start()
    number = len(builder.moves) + 1
    if black != (builder.turn == 0):
        raise GameError(f"move {number} {text!r} is the other side's")
    match = _KI2_MOVE.fullmatch(_abbreviate(text))
    if match is None:
        raise GameError(f"cannot read move {number} {text[:20]!r}")
    where, sign, side, motion, manner = match.groups()
    found = _meant(builder, reader.target(where), _PIECES[sign], side, motion, manner)
    if len(found) != 1:
        raise GameError(f"move {number} {text!r} is {'not unambiguous' if found else 'illegal'}")
    builder.play(found[0])


def _meant(builder: GameBuilder, target: int, kind: int, side: str, motion: str, manner: str | None) -> list[int]:
    """The legal moves that a KI2 move can mean (the federation's rules for 左直右, 上寄引, 成, 不成 and 打)."""
    legal = np.zeros(600, np.uint16)
    count = legal_moves(builder.pos, legal)
    drops, moves = [], []
    for move in legal[:count].tolist():
        if move & 127 != target:
            continue
        origin = move >> 7 & 127
        if origin >= DROP_ORIGIN:
            drops += [move] * (origin - DROP_ORIGIN == kind)
        elif int(builder.pos["board"][origin]) % KINDS == kind:
            moves.append(move)
    if manner == "打" or (not moves and not side and not motion):
        return drops

    def seen(square: int) -> tuple[int, int]:
        """File and rank as the mover sees them; a larger file is further left."""
        file, rank = divmod(square if builder.turn == BLACK else SQUARES - 1 - square, 9)
        return file, rank

    to_file, to_rank = seen(target)
    froms = {move: seen(move >> 7 & 127) for move in moves}
    if motion or side == "直":
        wanted = {"寄": 0, "引": -1}.get(motion, 1)  # how the origin's rank lies to the target's
        moves = [move for move in moves if np.sign(froms[move][1] - to_rank) == wanted]
    if side == "直":
        moves = [move for move in moves if froms[move][0] == to_file]
    elif side and moves:
        edge = (max if side == "左" else min)(froms[move][0] for move in moves)
        moves = [move for move in moves if froms[move][0] == edge]
    promoting = [move for move in moves if move & PROMOTE]
    if manner == "成":
        return promoting
    return [move for move in moves if not move & PROMOTE]
