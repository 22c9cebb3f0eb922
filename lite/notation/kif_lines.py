"""Lines and signs common to KIF and KI2: headers, board diagrams, comments, the verdict, pieces."""

from __future__ import annotations

import re

import numpy as np
from cshogi import KIF

from lite.amounts import amount
from lite.notation.game import (
    BLACK_WON,
    MOVER_LOSES,
    UNFINISHED,
    WHITE_WON,
    Game,
    GameBuilder,
    GameError,
    quoted,
)
from lite.notation.kif_endings import (
    ENDINGS,
    Ending,
    Verdict,
    is_ending,
    read_bare_ending,
    read_remarks,
    read_verdict,
)
from lite.notation.numbers import NUMBER, half_width, number
from lite.notation.scores import read_comment
from lite.records.formats import BLACK_WINS, DRAW, MAX_MOVES, WHITE_WINS, WINNER_MASK
from search.rules.position import new_position
from search.rules.set_up import BOARD_ERRORS, set_board
from search.rules.sfen import get_sfen, set_sfen
from search.rules.shogi import EMPTY, HAND_KINDS, KINDS, PIECES_IN_BOX, SQUARES, START_SFEN

HANDICAPS = KIF.Parser.HANDYCAP_SFENS | {
    "左七枚落ち": "2sgkg3/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "右七枚落ち": "3gkgs2/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
}
"""First positions by name: cshogi's, and further ones of Kifu for Windows."""
_KANJI = {2: "二", 3: "三", 4: "四", 5: "五", 6: "六", 7: "七", 8: "八", 10: "十"}
_SYNONYMS = {"左香落ち": "香落ち", "飛落ち": "飛車落ち", "飛車香落ち": "飛香落ち", "飛角落ち": "二枚落ち"}
FILES = r"[9９]\s*[8８]\s*[7７]\s*[6６]"
"""The start of the line of file numbers above a diagram. `９ ８七歩` is a move."""
MOVE_LINE = re.compile(rf"\s*(?!{FILES})([0-9０-９]{{1,6}})\s+(\S.*)")
"""A line of KIF's moves: number and move."""
PIECE_SIGNS = "[歩香桂銀金角飛玉と杏圭全馬龍]"
SQUARE = "[１-９1-9][一二三四五六七八九１-９1-9]"
"""`７六`; Kifu for Windows has options to write `７６` and `76`."""
PIECES = {sign: kind for kind, sign in enumerate("歩香桂銀角飛金玉と杏圭全馬龍")}
PIECES |= {"王": PIECES["玉"], "竜": PIECES["龍"]}
MARK = re.compile("[▲△▼▽☗☖]")
_NO_CONTENT = re.compile(rf"[#&]|手数|[+＋][-－−]|{FILES}|盤面(?:回転|反転)$")
"""Lines that are read without effect: remarks, the frame of a diagram, and how the board is displayed."""
_COMMENT = re.compile("(?:[*＊]|(?=https?://))(.*)")
"""A comment, or the address of a page alone in its line."""
_EMPTY_SQUARES = "・･·"
_NO_KEY = re.compile(r"[*＊#&|]|\+-|手数|変化|まで|[0-9０-９]{1,6}\s")
"""Starts of lines that KIF does not read as headers, so that they cannot be written back as headers."""
_HELD = re.compile(rf"(.)({NUMBER})?")
"""A kind in hand and its number: `歩十一`, or `歩11` as rsshogi writes it."""
_VARIATION = re.compile(rf"[ 　]*変化\s*[：:]?\s*({NUMBER})手?")
_PLIES = re.compile(rf"[ 　]*手数\s*[＝=：:]\s*({NUMBER})[手\s]*([▲▼☗△▽☖])?")
"""Number of moves before a board diagram, and the side that made the last of them."""
_BLACK_MARKS = "▲▼☗"
_TURN = re.compile(r"\s*(?:([先下後上])手の?番|手番\s*[：:]\s*(?:([先下後上])手番?|([▲▼☗△▽☖])))\s*")
"""The side to move below a diagram: `後手番`, or `手番：後手`."""
_ABBREVIATIONS = (("王", "玉"), ("竜", "龍"), ("成銀", "全"), ("成桂", "圭"), ("成香", "杏"))
_NAME_KEYS = (("先手", "下手"), ("後手", "上手"))
_HAND_KEY = re.compile(r"(?:(先手|下手|攻め?方|[▲▼☗]|)|後手|上手|[玉受]方|受け方|[△▽☖])の?持ち?駒")
"""The header of a hand. The first group is black's side; a header without a side is black's, too."""
_POSITION_KEYS = {"手合割", *sum(_NAME_KEYS, ())}
"""Headers that a `Game` holds as names and first position."""
_WHO_WON = {DRAW: "draw", BLACK_WINS: "black won", WHITE_WINS: "white won", UNFINISHED: "unfinished"}


class Reader:
    """Builds a game from the lines that KIF and KI2 have in common, which are given in order."""

    def __init__(self, place: str, unfinished: bool) -> None:
        self.place = place
        self._unfinished = unfinished
        self.headers: dict[str, list[str]] = {}
        """All values of each key; of names and first position the last one counts."""
        self.hands = ["", ""]
        self.handicap_words = False
        self.rows: list[str] = []
        self.white_moves: bool | None = None
        """Whether the diagram says that white moves first; None if it does not say who does."""
        self.plies_before = 0
        """Number of moves before the diagram, if it gives one."""
        self.numbered_from = 0
        """Number of moves before the first one according to the numbers of the moves: 0 or `plies_before`."""
        self.builder: GameBuilder | None = None
        self.ending: Ending | None = None
        """The first ending, which counts."""
        self.ending_number: int | None = None
        self._later_endings: list[tuple[str, int | None]] = []
        """Words and numbers of the endings after the first one."""
        self.verdict: Verdict | None = None
        self._early_comments: list[str] = []
        self.line = 0
        """Number of the current line in the file, or 0 if unknown."""

    def error(self, message: str) -> GameError:
        """Return an error that names the current line."""
        return GameError(f"{message} (line {self.line})" if self.line else message)

    def explained(self, error: GameError) -> GameError:
        """Return an error about the first move with the remark of `assumption`; other errors unchanged."""
        if self.builder is None or self.builder.moves or error.reason == "no moves":
            return error
        return GameError(f"{error}{self.assumption()}", error.reason)

    def start(self) -> GameBuilder:
        """Return the builder, which is set up from the headers when the first move comes."""
        if self.builder is None:
            self.builder = GameBuilder(self.place, self.start_sfen(), japanese=True)
            for line in self._early_comments:
                self.builder.comment(line)
        return self.builder

    def start_sfen(self) -> str:
        """Return the SFEN of the first position that the headers describe. Raises GameError."""
        if self.rows:
            return self._diagram()
        handicap = self.headers.get("手合割", [""])[-1]
        sfen = handicap_sfen(handicap)
        if sfen is None:
            raise GameError(f"the handicap {quoted(handicap)} is unknown, and there is no board diagram")
        return sfen

    def _diagram(self) -> str:
        """Return the SFEN of the board diagram. Raises GameError."""
        board, hands = np.full(SQUARES, EMPTY, np.uint8), np.zeros((2, HAND_KINDS), np.uint8)
        if len(self.rows) != 9:
            raise GameError(f"a board diagram of {len(self.rows)} ranks")
        for rank, row in enumerate(self.rows):
            cells = re.findall(r"([ v^])(.)", row.split("|")[1])
            if len(cells) != 9:
                raise GameError(f"a board diagram with {len(cells)} squares on rank {rank + 1}")
            for column, (colour, sign) in enumerate(cells):
                if sign in _EMPTY_SQUARES:
                    continue
                if sign not in PIECES:
                    raise GameError(f"unknown piece {quoted(sign)} in the board diagram")
                board[(8 - column) * 9 + rank] = PIECES[sign] + (KINDS if colour == "v" else 0)
        for text, hand in zip(self.hands, hands, strict=True):
            self._hand(text, hand)
        if self.white_moves is None and self._is_start_of_handicap(board):
            self.white_moves = True
        pos = new_position()
        error = set_board(pos, board, hands, np.int64(bool(self.white_moves)), np.int64(self.plies_before + 1))
        if error:
            raise GameError(f"its board diagram: {BOARD_ERRORS[error]}{self.assumption()}")
        return get_sfen(pos)

    def _is_start_of_handicap(self, board: np.ndarray) -> bool:
        """Return whether a diagram shows the first position of the named handicap, in which white moves first."""
        sfen = handicap_sfen(self.headers.get("手合割", [""])[-1])
        if sfen is None or sfen.split()[1] != "w":
            return False
        pos = new_position()
        set_sfen(pos, sfen)
        return bool((pos["board"] == board).all())

    def assumption(self) -> str:
        """Return a remark for an error if the diagram does not say who moves first; otherwise an empty string."""
        if not self.rows or self.white_moves is not None:
            return ""
        black, white = ("下手番", "上手番") if self.handicap_words else ("先手番", "後手番")
        return f"; the board diagram does not say who moves first: {black} was assumed; add the line {white} if not"

    def _hand(self, text: str, hand: np.ndarray) -> None:
        """Add the pieces of a hand's header to `hand`. Raises GameError."""
        held = re.sub(r"[\s、,，・]|なし|枚", "", text)  # blanks between the kinds may be missing
        for item in _HELD.finditer(held):
            kind, count = PIECES.get(item[1], HAND_KINDS), number(item[2]) if item[2] else 1
            if kind >= HAND_KINDS:
                raise GameError(f"cannot read the pieces in hand {quoted(held[item.start() :], 20)}")
            if int(hand[kind]) + count > PIECES_IN_BOX[kind]:
                raise GameError(f"no hand holds so many pieces: {quoted(text, 40)}")
            hand[kind] += count

    def other_line(self, line: str) -> bool:
        """Read a header, diagram row, comment, verdict or ending without a number; return False if the line is none of
        these."""
        line = line.lstrip()  # text copied from a page or a mail may be indented
        if match := _COMMENT.match(line):
            if self.builder is None:
                self._early_comments.append(f"*{match[1]}")
            else:
                self.builder.comment(f"*{match[1]}")
                read_comment(match[1], self.builder)
        elif line.startswith("手数--"):
            self.start()  # the headers end here: later comments belong to the first position
        elif line[0] == "&" and self.builder is not None:
            self.builder.comment(line)
        elif self.builder is None and (match := _PLIES.match(line)):
            self.plies_before = min(number(match[1]), MAX_MOVES)
            if match[2] and self.white_moves is None:
                self.white_moves = match[2] in _BLACK_MARKS
        elif _NO_CONTENT.match(line):
            pass
        elif line[0] in "|｜":
            self.rows.append(line.replace("｜", "|").replace("ｖ", "v"))
        elif match := _TURN.fullmatch(line):
            side = match[1] or match[2] or match[3]
            self.white_moves = side in "後上△▽☖"
            self.handicap_words |= side in "下上" and not self.is_over()
        elif verdict := read_verdict(line):
            self.verdict = self.verdict or verdict
            if self.builder is not None and self._counts(verdict.plies, self.builder.plies_recorded):
                self.builder.ended = True
        elif "：" in line or ":" in line.split("(")[0]:
            self._header(*(part.strip() for part in re.split("[：:]", line, maxsplit=1)))
        else:
            return self.bare_ending(line)
        return True

    def bare_ending(self, text: str) -> bool:
        """Record an ending without a number; return whether the text is one. A sentence below the end of the game is a
        remark."""
        if self.is_over() and not is_ending(text):
            return False
        ending = read_bare_ending(text, self.names())
        if ending is not None:
            self.end(ending)
        return ending is not None

    def end(self, ending: Ending, number: int | None = None, milliseconds: int | None = None) -> None:
        """Record an ending with its number and time. Only the first ending of a game counts."""
        if self.ending is not None:
            self._later_endings.append((ending.word, number))
            return
        self.ending, self.ending_number = ending, number
        builder = self.start()
        builder.ended = True
        if milliseconds is not None:
            builder.time_of_ending(milliseconds)

    def begin_numbers(self, number: int) -> None:
        """Take the number of the first numbered line: moves after a diagram may continue from the number given there.

        The number then also decides which side moves first, if the diagram does not."""
        builder = self.start()
        if builder.moves or not self.plies_before or number != self.plies_before + 1:
            return
        self.numbered_from = builder.numbered_from = self.plies_before
        if self.white_moves is None and (number % 2 == 0) != self.handicap_words:
            self.white_moves = True
            self.builder = GameBuilder(self.place, self.start_sfen(), japanese=True)
            self.builder.comments, self.builder.numbered_from = builder.comments, self.plies_before

    def _counts(self, stated: int, plies: int) -> bool:
        """Return whether a stated number of moves is right; it may include the moves before the diagram."""
        return stated in (plies, plies + self.plies_before)

    def is_over(self) -> bool:
        """Return whether an ending or a verdict was read."""
        return self.ending is not None or self.verdict is not None

    def remark(self, line: str) -> None:
        """Keep a line of no known form that follows an ending or a verdict as a comment. Raises GameError for one
        before them, which may be a damaged move."""
        if not self.is_over():
            raise self.error(f"cannot read the line {quoted(line)}")
        self.start().comment(f"*{line.strip()}")

    def refuse_after_ending(self, text: str) -> None:
        """Raise GameError for a move after the ending, which may belong to a second game."""
        if self.start().ended:
            raise self.error(
                f"a move after the ending: {quoted(text)}; a KIF or KI2 file holds one game, so remove the line or "
                "write the second game to a file of its own"
            )

    def names(self) -> tuple[str, str]:
        """Return the names of black and white. 先手 may be empty above a filled 下手."""
        black, white = (
            next((self.headers[key][-1] for key in keys if self.headers.get(key, [""])[-1]), "") for keys in _NAME_KEYS
        )
        return black, white

    def _header(self, key: str, value: str) -> None:
        """Read a header. A name or a handicap below the end of the game belongs to another game, or is a remark. Raises
        GameError for a hand whose side is unclear, since ignoring it changes the position."""
        if key in _POSITION_KEYS and self.is_over():
            self.remark(f"{key}：{value}")
        elif match := _HAND_KEY.fullmatch(re.sub(r"\s", "", key)):
            self.hands[match[1] is None] = value
            self.handicap_words |= key[:2] in ("下手", "上手") and not self.is_over()
        elif "持駒" in key or "持ち駒" in key:
            if self.builder is not None:
                return  # belongs to a diagram below the moves; written above them, it would be refused
            raise self.error(f"the side of the hand {quoted(key, 20)} is unclear; write 先手の持駒 or 後手の持駒")
        elif not _NO_KEY.match(key):
            self.headers.setdefault(key, []).append(value)

    def target(self, text: str) -> int:
        """Return the square of `７六` or `同`. Raises GameError."""
        moves = self.start().moves
        if text == "同":
            if not moves:
                raise GameError("同 as the first move")
            return moves[-1] & 127
        return (number(text[0]) - 1) * 9 + number(text[1]) - 1

    def finish(self) -> Game:
        """Return the game, after checking that moves, ending and verdict agree. Raises GameError."""
        builder, verdict, names = self.start(), self.verdict, self.names()
        if verdict is not None:
            verdict = None if self._of_later_ending(verdict) else verdict.naming_sides(names)
        plies, first = builder.plies_recorded, self.numbered_from
        if self.ending is not None and self.ending_number not in (None, plies + first + 1):
            raise _disagreement(
                f"the ending {self.ending.word} has number {self.ending_number} after {amount(plies + first, 'move')}"
            )
        if verdict is not None and not (self._counts(verdict.plies, plies) or self._counted_by_cshogi(verdict)):
            raise _disagreement(f"{quoted(verdict.line)} states {amount(verdict.plies, 'move')}, not {plies}")
        builder.names = list(names)
        for bare, handicap in _NAME_KEYS:
            self.handicap_words |= not self.headers.get(bare, [""])[-1] and bool(self.headers.get(handicap, [""])[-1])
        builder.handicap_words = self.handicap_words
        builder.headers = {key: "\n".join(values) for key, values in self.headers.items() if key not in _POSITION_KEYS}
        outcome, ending = (None, "") if self.ending is None else (self.ending.outcome, self.ending.word)
        if not ending and verdict is None:
            outcome, ending = read_remarks(builder.comments.get(len(builder.moves), []))
        if ending == "勝ち宣言" and verdict is not None and self._loses(builder.turn, verdict):
            outcome, ending = MOVER_LOSES, "トライ"
        if verdict is not None and outcome is None:
            outcome = verdict.outcome
            if self.verdict is not None and (self.ending is None or not verdict.names_winner_alone):
                ending = self.verdict.text
            if self.ending is not None and outcome == MOVER_LOSES:
                # 中断 has a number, so no move is missing, and the winner need not be the side that moved last.
                outcome = BLACK_WON if verdict.winner == BLACK_WINS else WHITE_WON
        game = builder.finish(ending, outcome, self._unfinished)
        found = game.result & WINNER_MASK
        if self.ending is not None and self.ending.winner not in (None, found):
            raise _disagreement(f"the moves mean {_WHO_WON[found]!r}, but the ending is {quoted(self.ending.word)}")
        if verdict is not None and self._contradicts(verdict, builder, game):
            raise _disagreement(f"moves and ending mean {_WHO_WON[found]!r}, but {quoted(verdict.line)} follows")
        return game

    def _of_later_ending(self, verdict: Verdict) -> bool:
        """Return whether a verdict belongs to an ending after the first one, which does not count: it repeats the
        word, or it counts the first ending as a move."""
        ending, first = self.ending, self.ending_number
        if ending is None or (ending.outcome is None and ending.word not in ENDINGS):
            first = None  # an unknown word may be a damaged move, which does count
        return any(
            verdict.text.startswith(word)
            or (first and number and number > first and self._counts(verdict.plies, number - 1 - self.numbered_from))
            for word, number in self._later_endings
        )

    def _counted_by_cshogi(self, verdict: Verdict) -> bool:
        """Return whether the verdict is one of cshogi's exporter, which states two moves too many after 持将棋."""
        return verdict.text == "持将棋" and verdict.plies - 1 == self.ending_number

    def _loses(self, colour: int, verdict: Verdict) -> bool:
        """Return whether a verdict unambiguously names the other side as the winner."""
        return verdict.winner == (WHITE_WINS, BLACK_WINS)[colour] and self._names_sides(verdict)

    def _names_sides(self, verdict: Verdict) -> bool:
        """Return whether the verdict's sides are unambiguous. If white moves first, 先手 is white to some programs and
        black to others."""
        text = verdict.text
        return "下手" in text or "上手" in text or self.start().start_sfen.split()[1] == "b"

    def _contradicts(self, verdict: Verdict, builder: GameBuilder, game: Game) -> bool:
        """Return whether the verdict's result differs from that of moves and ending."""
        found = game.result & WINNER_MASK
        if verdict.winner is not None:
            return verdict.winner != found and (self._names_sides(verdict) or self._outcome() is None)
        if self._outcome() is None or not verdict.known:
            return False
        stated = builder.result(verdict.outcome)
        return (UNFINISHED if stated is None else stated & WINNER_MASK) != found

    def _outcome(self) -> int | None:
        """Return the outcome of the ending, or None."""
        return None if self.ending is None else self.ending.outcome


def handicap_sfen(name: str) -> str | None:
    """Return the first position of a handicap such as `二枚落ち`, `2枚落ち` or `角落`; None if the name is unknown."""
    name, _, remark = half_width(name).strip(" )").partition("(")  # as in 七枚落ち（左）
    name = name.strip(" ")
    if name in ("", "平手"):
        return START_SFEN
    name = re.sub("[0-9]+", lambda digits: _KANJI.get(int(digits[0]), digits[0]), name)
    name = name if name.endswith("落ち") or not name.endswith("落") else f"{name}ち"
    if remark[:1] in ("左", "右"):
        name = remark[:1] + name
    sfen = HANDICAPS.get(_SYNONYMS.get(name, name))
    return None if sfen is None else str(sfen)


def variation_number(line: str) -> int | None:
    """Return the number of the first move of a variation that the line `変化：3手` begins; None for other lines."""
    match = _VARIATION.match(line)
    return number(match[1]) if match else None


def begins_variation(line: str) -> bool:
    """Return whether a line begins a variation, even if its number cannot be read."""
    return line.lstrip(" 　").startswith("変化")


def _disagreement(what: str) -> GameError:
    """Return an error for a game whose lines contradict each other."""
    return GameError(
        f"{what}: a line is missing or added; correct the file or copy the game from its source again",
        "moves and ending that disagree",
    )


def plain_lines(text: str) -> list[str]:
    """Return the lines of a text, without line ends, trailing blanks and byte order mark."""
    return [line.rstrip() for line in text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")]


def abbreviated(text: str) -> str:
    """Return a move with one character per piece."""
    if "成" not in text and "王" not in text and "竜" not in text:  # the common case
        return text
    for long, short in _ABBREVIATIONS:
        text = text.replace(long, short)
    return text


def is_ki2(line: str) -> bool:
    """Return whether a line holds KI2 moves, and is no header such as `▲持駒：`."""
    return MARK.match(line.lstrip(" 　")) is not None and re.search("[：:]", line) is None
