"""Games as KIF, the one writer of it. `read_kif` reads the same game back; other programs lose what they do not know.

The text is to be stored in UTF-8; its first line says so, and so does a name in `.kifu`.
"""

from __future__ import annotations

import re
from itertools import pairwise

import cshogi
from cshogi import KIF

from lite.notation.game import REPETITION, UNFINISHED, Game, GameBuilder
from lite.notation.kif_endings import ENDINGS
from lite.notation.kif_lines import HANDICAPS
from lite.records.formats import BLACK_WINS, DRAW, WHITE_WINS, WINNER_MASK
from search.rules.movegen import list_moves
from search.rules.position import in_check
from search.rules.shogi import DROP_ORIGIN, KINDS, PROMOTE
from search.score import is_mate, mate_plies

PLAYER, ANALYSIS = "*", "#"
"""Whose score a comment tells: that of the search that chose the move above it, or a look at the position after it."""
_PIECES = ("歩", "香", "桂", "銀", "角", "飛", "金", "玉", "と", "成香", "成桂", "成銀", "馬", "龍")
_FILES, _RANKS = "１２３４５６７８９", "一二三四五六七八九"
_MOVE_COLUMNS = 13
_KNOWN_TO_ALL = {"平手", "香落ち", "右香落ち", "角落ち", "飛車落ち", "飛香落ち"}
_KNOWN_TO_ALL |= {"二枚落ち", "四枚落ち", "六枚落ち", "八枚落ち", "十枚落ち"}
"""Handicaps of tsshogi (ShogiHome), which takes any other name for the even position, without a word."""
_ENDINGS = {
    "resign": "投了",
    "TORYO": "投了",
    "TIME_UP": "切れ負け",
    "time up": "切れ負け",
    "時間切れ": "切れ負け",
    "Time-up": "切れ負け",
    "時間切れにて終局": "切れ負け",
    "接続切れにて終局": "切れ負け",
    "TSUMI": "詰み",
    "win": "入玉勝ち",
    "KACHI": "入玉勝ち",
    "入玉宣言": "入玉勝ち",
    "勝ち宣言": "入玉勝ち",
    "王手連続千日手": "反則勝ち",
    "引き分け": "持将棋",
    "先手 反則負け": "反則負け",
    "後手 反則負け": "反則負け",
    "ILLEGAL_MOVE": "反則負け",
    "+ILLEGAL_ACTION": "反則負け",
    "-ILLEGAL_ACTION": "反則負け",
    "illegal move": "反則負け",
    "illegal kachi": "反則負け",
    "oute_sennichite": "反則負け",
}
"""Other notations' words for an ending, and words of KIF's that not every program knows."""


def kif_text(game: Game) -> str:
    """The game with everything that it holds."""
    replay = GameBuilder(game.place, game.start_sfen)
    sides = sides_of(game)
    lines = ["#KIF version=2.0 encoding=UTF-8"]
    lines += [f"{key}：{value}" for key, values in game.headers.items() for value in values.split("\n")]
    lines += _position(game.start_sfen, sides)
    lines += [f"{side}：{_one_line(name)}" for side, name in zip(sides, game.names, strict=True)]
    lines += ["手数----指手---------消費時間--", *game.comments.get(0, [])]
    clocks = _clocks(game)
    branches = _branches(game.variations)
    moves = game.moves.tolist()
    for number, (before, move) in enumerate(pairwise([None, *moves]), 1):
        assert move is not None
        branch = "+" if number in branches else ""
        lines.append(numbered(number, move_text(replay, move, before), clocks[number - 1], branch))
        replay.play(move)
        lines += game.comments.get(number, [])
    ending = _ending(replay, game)
    lines += [numbered(len(moves) + 1, ending, clocks[-1]), *game.comments.get(len(moves) + 1, [])]
    lines.append(f"まで{len(moves)}手で{_verdict(game.result, ending, sides)}")
    if game.variations:
        lines += ["", game.variations]
    return "\n".join(lines) + "\n"


def score_comment(score: int, whose: str) -> str:
    """A comment with a score of black's view, as ShogiHome writes and reads it: `**評価値=80`, `*#詰み=先手勝ち:5手`.

    score: centipawns, or a mate score (see `search.score`). whose: PLAYER or ANALYSIS.
    """
    if not is_mate(score):
        return f"*{whose}評価値={score}"
    plies = abs(mate_plies(score))
    return f"*{whose}詰み={'先手' if score > 0 else '後手'}勝ち" + (f":{plies}手" if plies else "")


def handicap_name(sfen: str) -> str | None:
    """`平手`, `香落ち` and the like; None of a first position that has no such name."""
    placed = sfen.split()[:3]
    for name, start in HANDICAPS.items():
        if start is not None and start.split()[:3] == placed:
            return str(name)
    return None


def sides_of(game: Game) -> tuple[str, str]:
    """What black and white are called: as in handicap games where the first position is one's, or the game's own file
    called them so."""
    handicap = game.handicap_words or handicap_name(game.start_sfen) not in (None, "平手")
    return ("下手", "上手") if handicap else ("先手", "後手")


def _position(sfen: str, sides: tuple[str, str]) -> list[str]:
    """The lines for the first position: a handicap's name that every program knows, or a diagram.

    Above it stands the name that cshogi, which knows no diagrams, can go by, or else what makes it refuse the game:
    without it, it would play on from the even position."""
    name = handicap_name(sfen)
    if name in _KNOWN_TO_ALL:
        return [f"手合割：{name}"]
    diagram = KIF.board_to_bod(cshogi.Board(sfen))
    for word, side in zip(("先手", "後手"), sides, strict=True):
        diagram = diagram.replace(f"{word}の持駒", f"{side}の持駒")  # but 後手番: rsshogi knows no 上手番
    return [f"手合割：{name if name in KIF.Parser.HANDYCAP_SFENS else 'その他'}", *diagram.split("\n")]


def move_text(replay: GameBuilder, move: int, before: int | None) -> str:
    """`７六歩(77)`, `同　銀成(31)`, `５五角打`."""
    target, origin = move & 127, move >> 7 & 127
    file, rank = divmod(target, 9)
    where = "同　" if before is not None and before & 127 == target else _FILES[file] + _RANKS[rank]
    if origin >= DROP_ORIGIN:
        return f"{where}{_PIECES[origin - DROP_ORIGIN]}打"
    piece = _PIECES[int(replay.pos["board"][origin]) % KINDS]
    return f"{where}{piece}{'成' if move & PROMOTE else ''}({origin // 9 + 1}{origin % 9 + 1})"


def numbered(number: int, text: str, clock: str = "", branch: str = "") -> str:
    """A line of KIF's moves."""
    return f"{number:4d} {in_columns(text, _MOVE_COLUMNS)}{clock}{branch}".rstrip()


def in_columns(text: str, columns: int) -> str:
    """The text with blanks behind it to so many columns, of which a Japanese character takes two."""
    return text + " " * (columns - sum(1 if character.isascii() else 2 for character in text))


def _clocks(game: Game) -> list[str]:
    """For each move and the ending `( 0:05/00:00:12)`: what it took, and its side in all; empty where it is not told.

    Whole seconds, as the clocks of shogi count them: what is begun is not counted.
    """
    used, clocks = [0, 0], []
    for ply in range(len(game.moves) + 1):
        told = int(game.times[ply]) if len(game.times) else -1
        if told < 0:
            clocks.append("")
            continue
        seconds = told // 1000
        used[ply % 2] += seconds
        hours, rest = divmod(used[ply % 2], 3600)
        clocks.append(f"({seconds // 60:2d}:{seconds % 60:02d}/{hours:02d}:{rest // 60:02d}:{rest % 60:02d})")
    return clocks


def _branches(variations: str) -> set[int]:
    """Numbers of the moves of the main line that variations stand in for: Kifu for Windows marks their lines.

    A variation leaves what was read last before it, so only one that begins no later than all before it leaves the
    main line.
    """
    found: set[int] = set()
    for start in re.findall(r"^変化：\s*([0-9]+)手", variations, re.MULTILINE):
        if all(int(start) <= other for other in found):
            found.add(int(start))
    return found


def _ending(replay: GameBuilder, game: Game) -> str:
    """The game's own word for its end, if it gives the result that the game has after these moves, or else another.

    Whose turn it is tells the winner of every word, and of a win by other means than those (by points, say) no word
    does: then 中断, and the verdict below it names who won."""
    own = _ENDINGS.get(game.ending, game.ending)
    if not own and in_check(replay.pos) and not list_moves(replay.pos):
        own = "詰み"  # which nobody has to say
    decided = game.result & WINNER_MASK in (BLACK_WINS, WHITE_WINS)
    words = [] if decided and own == "千日手" else [own]  # perpetual check: other programs read it as a draw
    words += ["反則負け", "反則勝ち"] if own.startswith(("反則", "千日手")) else []
    words += ["投了", "入玉勝ち"]
    words += ["反則勝ち"] if decided and replay.result(REPETITION) == game.result else []  # likewise
    for word in (*words, "千日手", "持将棋", "最大手数"):
        if word in ENDINGS:
            result = replay.result(ENDINGS[word])
            if (UNFINISHED if result is None else result) == game.result:
                return word
    return "中断"


def _verdict(result: int, ending: str, sides: tuple[str, str]) -> str:
    """What follows `まで49手で`."""
    if result == UNFINISHED:
        return ending
    if result & WINNER_MASK == DRAW:
        return "持将棋" if ending == "最大手数" else ending
    winner, loser = sides if result & WINNER_MASK == BLACK_WINS else sides[::-1]
    if ending == "反則負け":
        return f"{loser}の反則負け"
    return f"{winner}の{ending if ending in ('入玉勝ち', '反則勝ち') else '勝ち'}"


def _one_line(text: str) -> str:
    return " ".join(text.splitlines()).strip()
