"""KIF and KI2 game records, with the scores that ShogiGUI and ShogiHome write into comments.

Read here, with cshogi as the oracle of the tests: its KIF parser passes over lines that it cannot read and plays on (a
shorter or another game comes out) and knows no board diagrams, and its KI2 parser takes a drop for 左, 右 and 引.

A game is read only if what it says of itself agrees: the ending's number follows the last move's, and the verdict below
it (`まで49手で先手の勝ち`) has the moves and the winner that stand above. So a file that lost a line is no other game.

Scores are centipawns in black's view. A player's (`**対局 ... 評価値 n`, `**評価値=n`) are of the search that chose the
move above them, an analysis's (`**解析 ... 候補1 ...`, `*#評価値=n`) of the position after it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from cshogi import KIF, Board, move_from, move_is_drop, move_to

from lite.amounts import amount
from lite.notation.game import (
    BLACK_WON,
    MOVER_LOSES,
    UNFINISHED,
    WHITE_WON,
    Game,
    GameBuilder,
    GameError,
    read_comment,
)
from lite.notation.kif_endings import ENDINGS, Verdict, read_remarks, read_verdict
from lite.records.formats import BLACK_WINS, DRAW, WHITE_WINS, WINNER_MASK
from search.rules.movegen import list_moves
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

HANDICAPS = KIF.Parser.HANDYCAP_SFENS | {
    "左七枚落ち": "2sgkg3/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "右七枚落ち": "3gkgs2/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
}
"""First positions by name: cshogi's, and what Kifu for Windows has beside them."""
_MOVE_LINE = re.compile(r"\s*([0-9]{1,6})\s+(\S.*)")
_NO_KEY = re.compile(r"[*＊#&|]|\+-|手数|変化|まで|[0-9]{1,6}\s")
"""How a line begins that KIF knows as something else than a header, which it could not be given back as."""
_PIECE_SIGNS = "[歩香桂銀金角飛玉と杏圭全馬龍]"
_SQUARE = "[１-９1-9][一二三四五六七八九１-９1-9]"
"""`７六`; Kifu for Windows can be told to write `７６` and `76`."""
_KIF_MOVE = re.compile(rf"({_SQUARE}|同)\s*({_PIECE_SIGNS})\s*(?:打|(?:(成)|不成)?\s*\(([1-9])([1-9])\))(.*)")
_CLOCK = re.compile(r"\(\s*(?:([0-9]{1,4}):)?([0-9]{1,6}):([0-9]{1,2}(?:\.[0-9]+)?)\s*/")
_KI2_MOVE = re.compile(rf"({_SQUARE}|同)\s*({_PIECE_SIGNS})([左直右]?)([上行寄引]?)(打|成|不成)?")

_PIECES = {sign: kind for kind, sign in enumerate("歩香桂銀角飛金玉と杏圭全馬龍")}
_PIECES |= {"王": _PIECES["玉"], "竜": _PIECES["龍"]}
_NUMBERS = {sign: number for number, sign in enumerate("〇一二三四五六七八九")} | {"十": 10}
_HELD = re.compile(r"(.)([0-9]{1,3}|[〇一二三四五六七八九十]{0,2})")
"""A kind in hand and how many: `歩十一`, and rsshogi's writer `歩11`."""
_ABBREVIATIONS = (("王", "玉"), ("竜", "龍"), ("成銀", "全"), ("成桂", "圭"), ("成香", "杏"))
_MARK = re.compile("[▲△▼▽☗☖]")
_NAME_KEYS = (("先手", "下手"), ("後手", "上手"))
_HAND_KEYS = (
    ("先手の持駒", "先手の持ち駒", "下手の持駒", "下手の持ち駒"),
    ("後手の持駒", "後手の持ち駒", "上手の持駒", "上手の持ち駒"),
)
_POSITION_KEYS = {"手合割", *sum((*_NAME_KEYS, *_HAND_KEYS), ())}
"""Headers that a `Game` holds as names and first position."""
_WHO_WON = {DRAW: "draw", BLACK_WINS: "black won", WHITE_WINS: "white won", UNFINISHED: "unfinished"}


class _Reader:
    """What KIF and KI2 share: headers, board diagrams, comments, the verdict."""

    def __init__(self, place: str, unfinished: bool) -> None:
        self.place = place
        self._unfinished = unfinished
        self.headers: dict[str, list[str]] = {}
        """All that stands under a key; of names and first position the last is meant."""
        self.rows: list[str] = []
        self.white_moves = False
        self.builder: GameBuilder | None = None
        self.ending = ""
        self.outcome: int | None = None
        self.ending_number: int | None = None
        self.verdict: Verdict | None = None
        self._early_comments: list[str] = []

    def start(self) -> GameBuilder:
        """The builder, set up from what the headers said when the first move comes."""
        if self.builder is None:
            self.builder = GameBuilder(self.place, self.start_sfen())
            for line in self._early_comments:
                self.builder.comment(line)
        return self.builder

    def start_sfen(self) -> str:
        """The first position by what the headers said. Raises GameError."""
        handicap = self.headers.get("手合割", [""])[-1].strip(" 　")
        if self.rows:
            return self._diagram()
        if handicap in ("", "平手"):
            return START_SFEN
        sfen = HANDICAPS.get(handicap)
        if sfen is None:
            raise GameError(f"the handicap {handicap[:30]!r} without a board diagram")
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
        for colour, keys in enumerate(_HAND_KEYS):
            for key in keys:
                self._hand(self.headers.get(key, ["なし"])[-1], hands[colour])
        pos = new_position()
        error = set_board(pos, board, hands, np.int64(self.white_moves), np.int64(1))
        if error:
            raise GameError(f"its board diagram: {BOARD_ERRORS[error]}")
        return get_sfen(pos)

    def _hand(self, text: str, hand: np.ndarray) -> None:
        held = re.sub(r"[\s　]|なし", "", text)  # blanks between the kinds may be missing
        for item in _HELD.finditer(held):
            kind, digits = _PIECES.get(item[1], HAND_KINDS), item[2]
            if kind >= HAND_KINDS:
                raise GameError(f"cannot read the pieces in hand {held[item.start() :][:20]!r}")
            count = int(digits) if digits.isdecimal() else sum(_NUMBERS[sign] for sign in digits) if digits else 1
            if int(hand[kind]) + count > PIECES_IN_BOX[kind]:
                raise GameError(f"no hand holds so many pieces: {text[:40]!r}")
            hand[kind] += count

    def other_line(self, line: str) -> bool:
        """Headers, diagrams, comments and the verdict; False if the line is none of these."""
        if line[0] in "*＊":
            if self.builder is None:
                self._early_comments.append("*" + line[1:])
            else:
                self.builder.comment("*" + line[1:])
                read_comment(line[1:], self.builder)
        elif line.startswith("手数--"):
            self.start()  # the headers are over: a comment from here on belongs to the first position
        elif line[0] == "&" and self.builder is not None:
            self.builder.comment(line)
        elif line[0] in "#&" or line.startswith(("手数", "+-", "  ９", " ９")):
            pass
        elif line.strip(" 　") == "盤面回転":
            pass  # how the board is to be shown, not how it stands
        elif line[0] == "|":
            self.rows.append(line)
        elif line.strip() in ("後手番", "上手番"):
            self.white_moves = True
        elif line.strip() in ("先手番", "下手番"):
            self.white_moves = False
        elif verdict := read_verdict(line):
            self.verdict = verdict
        elif "：" in line or ":" in line.split("(")[0]:
            key, value = (part.strip() for part in re.split("[：:]", line, maxsplit=1))
            if not _NO_KEY.match(key):
                self.headers.setdefault(key, []).append(value)
        else:
            return False
        return True

    def target(self, text: str) -> int:
        """`７六` or `同` -> square."""
        moves = self.start().moves
        if text == "同":
            if not moves:
                raise GameError("同 as the first move")
            return moves[-1] & 127
        rank = _NUMBERS.get(text[1]) or int(text[1])
        return (int(text[0]) - 1) * 9 + rank - 1

    def finish(self) -> Game:
        builder, verdict = self.start(), self.verdict
        plies = builder.plies_told
        if self.ending_number not in (None, plies + 1):
            raise _disagrees(
                f"its ending is line {self.ending_number} ({self.ending}) and it has {amount(plies, 'move')}"
            )
        if verdict is not None and verdict.plies != plies and not self._counted_by_cshogi(verdict):
            raise _disagrees(f"it says {amount(verdict.plies, 'move')} and has {plies}")
        for colour, keys in enumerate(_NAME_KEYS):
            builder.names[colour] = next((self.headers[key][-1] for key in keys if key in self.headers), "")
        builder.headers = {key: "\n".join(values) for key, values in self.headers.items() if key not in _POSITION_KEYS}
        outcome, ending = self.outcome, self.ending
        if not ending and verdict is None:
            outcome, ending = read_remarks(builder.comments.get(len(builder.moves), []))
        if verdict is not None and outcome is None:
            outcome, ending = verdict.outcome, verdict.text
            if self.ending and outcome == MOVER_LOSES:
                # 中断 numbers the moves, so none is missing; and who won need not be who made the last one.
                outcome = BLACK_WON if verdict.winner == BLACK_WINS else WHITE_WON
        game = builder.finish(ending, outcome, self._unfinished)
        if verdict is not None and self._contradicts(verdict, builder, game):
            raise _disagrees(f"its moves and ending say {_WHO_WON[game.result & WINNER_MASK]!r}, and {verdict.line!r}")
        return game

    def _counted_by_cshogi(self, verdict: Verdict) -> bool:
        """cshogi's exporter says two moves more of a game that ended 持将棋, below an ending with the right number."""
        return verdict.text == "持将棋" and verdict.plies - 1 == self.ending_number

    def _contradicts(self, verdict: Verdict, builder: GameBuilder, game: Game) -> bool:
        found = game.result & WINNER_MASK
        if verdict.winner is not None:
            # Where white moves first, 先手 is who moves first to some programs and black to others: the ending decides.
            sides_are_told = "下手" in verdict.text or "上手" in verdict.text or game.start_sfen.split()[1] == "b"
            return verdict.winner != found and (sides_are_told or self.outcome is None)
        if self.outcome is None or not verdict.known:
            return False
        told = builder.result(verdict.outcome)
        return (UNFINISHED if told is None else told & WINNER_MASK) != found


def _disagrees(what: str) -> GameError:
    return GameError(
        f"{what}: a line is missing or one too many; take the game from its source again, or correct what is wrong",
        "moves and ending that disagree",
    )


def _plain(text: str) -> list[str]:
    return [line.rstrip() for line in text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")]


def _abbreviate(text: str) -> str:
    """One character a piece."""
    if "成" not in text and "王" not in text and "竜" not in text:  # which is most moves
        return text
    for long, short in _ABBREVIATIONS:
        text = text.replace(long, short)
    return text


def read_kif(text: str, place: str, unfinished: bool = False) -> Game:
    """The main line of a KIF text, with its variations as they stand. Raises GameError."""
    reader, lines = _Reader(place, unfinished), _plain(text)
    ended = False
    for index, line in enumerate(lines):
        if not line:
            continue
        if line.startswith("変化") and reader.builder is not None:
            reader.builder.variations = "\n".join(lines[index:]).rstrip("\n")  # they follow the whole main line
            break
        if match := _MOVE_LINE.fullmatch(line):
            if ended:
                raise GameError(f"a move after the ending: {line[:30]!r}")
            ended = _kif_line(reader, int(match.group(1)), match.group(2))
        elif not reader.other_line(line) and not ended:  # below the ending stand remarks, as 後手時間切れ
            raise GameError(f"cannot read the line {line[:30]!r}")
    return reader.finish()


def read_start(text: str) -> str:
    """The SFEN of a KIF or KI2 text's first position, without regard to its moves; a king may be missing. Raises
    GameError."""
    reader = _Reader("", unfinished=True)
    for line in filter(None, _plain(text)):
        if line.startswith("手数--") or _MOVE_LINE.fullmatch(line) or _is_ki2(line):
            break
        if not reader.other_line(line):
            raise GameError(f"cannot read the line {line[:30]!r}")
    return reader.start_sfen()


@dataclass(frozen=True)
class Variation:
    """What could have been played instead."""

    first: int
    """The number of its first move; those before it are the game's, or an earlier variation's."""
    moves: tuple[int, ...]
    """All 16-bit moves from the game's first position on."""
    comments: Mapping[int, list[str]]
    """As a game's."""


def read_variations(game: Game) -> list[Variation]:
    """A game's variations, in their order. Each leaves what stands before it, the main line or another variation, as
    Kifu for Windows writes them. Raises GameError for one that cannot be read."""
    found: list[Variation] = []
    before = tuple(game.moves.tolist())
    for block in re.split(r"^変化[：:]\s*", game.variations, flags=re.MULTILINE)[1:]:
        head, *lines = block.split("\n")
        place = f"{game.place}, variation {len(found) + 1}"
        number = re.match(r"([0-9]{1,6})手", head)
        first = int(number[1]) if number else 0
        if not 1 <= first <= len(before) + 1:
            raise GameError(f"{place}: cannot read 変化：{head[:20]!r}; correct the line, or take it out")
        try:
            builder = _read_variation(place, game.start_sfen, before[: first - 1], lines)
        except GameError as error:
            raise GameError(f"{place}: {error}", error.reason) from None
        before = tuple(builder.moves)
        found.append(Variation(first, before, builder.comments))
    return found


def _read_variation(place: str, start_sfen: str, before: tuple[int, ...], lines: list[str]) -> GameBuilder:
    """What stands there after the moves before it and a variation's own lines."""
    reader = _Reader(place, unfinished=True)
    reader.builder = builder = GameBuilder(place, start_sfen)
    for move in before:
        builder.play(move)
    for line in filter(None, lines):
        if match := _MOVE_LINE.fullmatch(line):
            if _kif_line(reader, int(match.group(1)), match.group(2)):
                break
        elif not reader.other_line(line):
            raise GameError(f"cannot read the line {line[:30]!r}")
    return builder


def _kif_line(reader: _Reader, number: int, text: str) -> bool:
    """One numbered line; True if it ends the game."""
    builder, text = reader.start(), _MARK.sub("", text, count=1)
    match = _KIF_MOVE.match(_abbreviate(text))
    if match is None:
        for name, outcome in ENDINGS.items():
            if text.startswith(name):
                reader.ending, reader.outcome, reader.ending_number = name, outcome, number
                if (took := _clock(text)) is not None:
                    builder.time_of_ending(took)
                return True
    builder.refuse_more()
    if number != len(builder.moves) + 1:
        raise GameError(f"line {number} stands where move {len(builder.moves) + 1} should")
    if match is None:
        raise GameError(f"cannot read move {number} {text[:20]!r}")
    where, sign, promotion, file, rank, rest = match.groups()
    kind, move = _PIECES[sign], reader.target(where)
    if file is None:
        # A kind that is in no hand is no move at all.
        builder.play(move | (DROP_ORIGIN + kind) << 7 if kind < HAND_KINDS else NO_MOVE)
    else:
        origin = (int(file) - 1) * 9 + int(rank) - 1
        if int(builder.pos["board"][origin]) != builder.turn * KINDS + kind:
            raise GameError(f"move {number} ({text.split()[0][:12]}): no such piece stands there")
        builder.play(move | origin << 7 | (PROMOTE if promotion else 0))
    if (took := _clock(rest)) is not None:
        builder.time_of_last(took)
    return False


def _clock(text: str) -> int | None:
    """`( 0:05/00:00:12)` -> milliseconds of the move."""
    match = _CLOCK.search(text)
    if match is None:
        return None
    hours, minutes, seconds = match.groups()
    return round(1000 * (3600 * int(hours or 0) + 60 * int(minutes) + float(seconds)))


def read_ki2(text: str, place: str, unfinished: bool = False) -> Game:
    """The main line of a KI2 text. Raises GameError."""
    reader, lines = _Reader(place, unfinished), _plain(text)
    for index, line in enumerate(lines):
        if not line:
            continue
        if line.startswith("変化") and reader.builder is not None:
            # Nothing but KI2 has such moves in its variations: as comments they can be read on.
            for variation in filter(None, lines[index:]):
                reader.builder.comment(f"*{variation}")
            break
        if _is_ki2(line):
            marks = list(_MARK.finditer(line))
            ends = [mark.start() for mark in marks[1:]] + [len(line)]
            for mark, end in zip(marks, ends, strict=True):
                _ki2_move(reader, mark.group() in "▲▼☗", line[mark.start() + 1 : end].strip(" 　"))
        elif line.strip(" 　") in ENDINGS:
            _ki2_ending(reader, line.strip(" 　"))
        elif not reader.other_line(line):
            raise GameError(f"cannot read the line {line[:30]!r}")
    return reader.finish()


def _is_ki2(line: str) -> bool:
    """Whether it is a line of KI2's moves, not a header such as `▲持駒：`."""
    return _MARK.match(line.lstrip(" 　")) is not None and "：" not in line


def _ki2_ending(reader: _Reader, word: str) -> None:
    reader.ending, reader.outcome = word, ENDINGS[word]


def _ki2_move(reader: _Reader, black: bool, text: str) -> None:
    builder = reader.start()
    number = len(builder.moves) + 1
    if reader.ending:
        raise GameError(f"a move after the ending: {text[:30]!r}")
    if black != (builder.turn == 0):
        raise GameError(f"move {number} {text!r} is the other side's")
    if text in ENDINGS:  # as Shogi DB2 writes it: △投了
        _ki2_ending(reader, text)
        return
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
    drops, moves = [], []
    for move in list_moves(builder.pos):
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
    if side or motion:
        origins = _reaching(builder, target, kind)
        froms = {origin: seen(origin) for origin in origins}
        if motion or side == "直":
            wanted = {"寄": 0, "引": -1}.get(motion, 1)  # how the origin's rank lies to the target's
            origins = [origin for origin in origins if np.sign(froms[origin][1] - to_rank) == wanted]
        if side == "直":
            origins = [origin for origin in origins if froms[origin][0] == to_file]
        elif side and origins:
            edge = (max if side == "左" else min)(froms[origin][0] for origin in origins)
            origins = [origin for origin in origins if froms[origin][0] == edge]
        moves = [move for move in moves if move >> 7 & 127 in origins]
    promoting = [move for move in moves if move & PROMOTE]
    if manner == "成":
        return promoting
    return [move for move in moves if not move & PROMOTE]


def _reaching(builder: GameBuilder, target: int, kind: int) -> list[int]:
    """Where the mover's pieces of a kind that reach a square stand, pinned ones too: KI2 tells all of them apart."""
    found = Board(get_sfen(builder.pos)).pseudo_legal_moves
    origins = {move_from(move) for move in found if move_to(move) == target and not move_is_drop(move)}
    return [origin for origin in sorted(origins) if int(builder.pos["board"][origin]) % KINDS == kind]
