"""Write games as KIF. `read_kif` reads the same game back; other programs ignore what they do not know.

Store the text in UTF-8: its first line declares that, and so does the suffix `.kifu`.
"""

from __future__ import annotations

import re
from itertools import pairwise

import cshogi
from cshogi import KIF

from lite.notation.columns import in_columns
from lite.notation.game import FOULS, REPETITION, UNFINISHED, Game, GameBuilder
from lite.notation.kif_endings import ENDINGS, stated, with_sides
from lite.notation.kif_lines import HANDICAPS, variation_number
from lite.notation.move_text import move_text
from lite.records.formats import BLACK_WINS, DRAW, WHITE_WINS, WINNER_MASK
from search.rules.movegen import list_moves
from search.rules.position import in_check
from search.score import is_mate, mate_plies

PLAYER, ANALYSIS = "*", "#"
"""Origin of a score comment: the search that chose the move above it, or an analysis of the position after it."""
_MOVE_COLUMNS = 13
_KNOWN_TO_ALL = {"平手", "香落ち", "右香落ち", "角落ち", "飛車落ち", "飛香落ち"}
_KNOWN_TO_ALL |= {"二枚落ち", "四枚落ち", "六枚落ち", "八枚落ち", "十枚落ち"}
"""Handicaps that tsshogi (ShogiHome) knows; it silently reads any other name as the even position."""
_ENDINGS = {
    "resign": "投了",
    "TORYO": "投了",
    "TIME_UP": "切れ負け",
    "time up": "切れ負け",
    "時間切れ": "切れ負け",
    "Time-up": "切れ負け",
    "時間切れにて終局": "切れ負け",
    "接続切れにて終局": "切れ負け",
    "接続切れ": "切れ負け",
    "TSUMI": "詰み",
    "win": "入玉勝ち",
    "KACHI": "入玉勝ち",
    "入玉宣言": "入玉勝ち",
    "勝ち宣言": "入玉勝ち",
    "宣言勝ち": "入玉勝ち",
    "王手連続千日手": "反則勝ち",
    "連続王手の千日手": "反則勝ち",
    "引き分け": "持将棋",
    "引分け": "持将棋",
    "先手 反則負け": "反則負け",
    "後手 反則負け": "反則負け",
    "ILLEGAL_MOVE": "反則負け",
    "+ILLEGAL_ACTION": "反則負け",
    "-ILLEGAL_ACTION": "反則負け",
    "illegal move": "反則負け",
    "illegal kachi": "反則負け",
    "uchifuzume": "反則負け",
    "oute_kaihimore": "反則負け",
    "oute_sennichite": "反則負け",
}
"""KIF's common word for endings of other notations, and for KIF endings that not every program knows."""


_SENTENCES = {FOULS: "反則負け", "切れ": "切れ負け", "入玉": "入玉勝ち", "宣言": "入玉勝ち"}
"""KIF's common word for an ending that was given as a sentence, by the pattern of a part of the sentence."""


def kif_text(game: Game) -> str:
    """Return the game as KIF text, with all its contents."""
    replay = GameBuilder(game.place, game.start_sfen)
    sides = sides_of(game)
    lines = ["#KIF version=2.0 encoding=UTF-8"]
    lines += [f"{key}：{value}" for key, values in game.headers.items() for value in values.split("\n")]
    lines += _position(game.start_sfen, sides, game.first_ply)
    lines += [f"{side}：{_one_line(name)}" for side, name in zip(sides, game.names, strict=True)]
    lines += ["手数----指手---------消費時間--", *game.comments.get(0, [])]
    clocks = _clocks(game)
    branches = _branches(game.variations)
    moves = game.moves.tolist()
    for number, (before, move) in enumerate(pairwise([None, *moves]), 1):
        assert move is not None
        branch = "+" if number in branches else ""
        lines.append(numbered(number, move_text(replay.pos, move, before), clocks[number - 1], branch))
        replay.play(move)
        lines += game.comments.get(number, [])
    ending = _ending(replay, game)
    lines += [numbered(len(moves) + 1, ending, clocks[-1]), *game.comments.get(len(moves) + 1, [])]
    lines.append(f"まで{len(moves)}手で{_verdict(game.result, ending, sides)}")
    if game.variations:
        lines += ["", game.variations]
    return "\n".join(lines) + "\n"


def score_comment(score: int, whose: str) -> str:
    """Return a score comment as ShogiHome writes and reads it: `**評価値=80`, `*#詰み=先手勝ち:5手`.

    score: centipawns in black's view, or a mate score (see `search.score`). whose: PLAYER or ANALYSIS.
    """
    if not is_mate(score):
        return f"*{whose}評価値={score}"
    plies = abs(mate_plies(score))
    return f"*{whose}詰み={'先手' if score > 0 else '後手'}勝ち" + (f":{plies}手" if plies else "")


def handicap_name(sfen: str) -> str | None:
    """Return the name of a first position, such as `平手` or `香落ち`; None if it has none."""
    placed = sfen.split()[:3]
    for name, start in HANDICAPS.items():
        if start is not None and start.split()[:3] == placed:
            return str(name)
    return None


def sides_of(game: Game) -> tuple[str, str]:
    """Return the names of black's and white's sides: 下手 and 上手 if the first position is a handicap or the game's
    file used these words, otherwise 先手 and 後手."""
    handicap = game.handicap_words or handicap_name(game.start_sfen) not in (None, "平手")
    return ("下手", "上手") if handicap else ("先手", "後手")


def _position(sfen: str, sides: tuple[str, str], first_ply: int) -> list[str]:
    """Return the lines of the first position: a handicap name that every program knows, or a diagram with the number of
    moves before it.

    cshogi does not read diagrams, so the line above gives a handicap name that cshogi knows, or a word that makes it
    refuse the game instead of playing from the even position."""
    name = handicap_name(sfen)
    if name in _KNOWN_TO_ALL and not first_ply:
        return [f"手合割：{name}"]
    diagram = KIF.board_to_bod(cshogi.Board(sfen))
    for word, side in zip(("先手", "後手"), sides, strict=True):
        diagram = diagram.replace(f"{word}の持駒", f"{side}の持駒")  # 後手番 stays: rsshogi does not know 上手番
    plies = [f"手数＝{first_ply}　まで"] if first_ply else []
    return [f"手合割：{name if name in KIF.Parser.HANDYCAP_SFENS else 'その他'}", *diagram.split("\n"), *plies]


def numbered(number: int, text: str, clock: str = "", branch: str = "") -> str:
    """Return a numbered line of KIF: a move or an ending."""
    return f"{number:4d} {in_columns(text, _MOVE_COLUMNS)}{clock}{branch}".rstrip()


def _clocks(game: Game) -> list[str]:
    """Return `( 0:05/00:00:12)` for each move and the ending: its time and the side's total; empty if unknown.

    Times are rounded down to whole seconds, as shogi clocks do.
    """
    used, clocks = [0, 0], []
    for ply in range(len(game.moves) + 1):
        milliseconds = int(game.times[ply]) if len(game.times) else -1
        if milliseconds < 0:
            clocks.append("")
            continue
        seconds = milliseconds // 1000
        used[ply % 2] += seconds
        hours, rest = divmod(used[ply % 2], 3600)
        clocks.append(f"({seconds // 60:2d}:{seconds % 60:02d}/{hours:02d}:{rest // 60:02d}:{rest % 60:02d})")
    return clocks


def _branches(variations: str) -> set[int]:
    """Return the numbers of the main line's moves at which variations branch; Kifu for Windows marks their lines.

    A variation branches from the line before it, so it branches from the main line only if it begins no later than all
    earlier variations.
    """
    found: set[int] = set()
    for start in map(variation_number, variations.split("\n")):
        if start is not None and all(start <= other for other in found):
            found.add(start)
    return found


def _ending(replay: GameBuilder, game: Game) -> str:
    """Return the game's own word for its ending if that gives the game's result after these moves, otherwise another.

    The winner of every word follows from the side to move. If no word gives the result (a win by points, for example),
    or the game names a reason that KIF has no word for (a lost connection), the word is 中断, and the verdict below it
    names the winner."""
    own = _ENDINGS.get(game.ending, game.ending)
    if own not in ENDINGS or re.match(FOULS, own):  # a sentence such as 先手切れ負け, or 二歩
        own = next((word for part, word in _SENTENCES.items() if re.search(part, own)), own)
    mated = in_check(replay.pos) and not list_moves(replay.pos)
    if not own and mated:
        own = "詰み"
    decided = game.result & WINNER_MASK in (BLACK_WINS, WHITE_WINS)
    # Other programs read 千日手 as a draw, also after perpetual check, and 中断 names no winner, also of a mate.
    words = [] if decided and own in ("千日手", "中断") else [own]
    words += ["反則負け", "反則勝ち"] if own.startswith(("反則", "千日手")) else []
    unknown = own and ENDINGS.get(own) is None and stated(with_sides(own, game.names)) is None
    words += ["入玉勝ち"] if unknown and not mated else ["投了", "入玉勝ち"]
    words += ["反則勝ち"] if decided and replay.result(REPETITION) == game.result else []  # perpetual check
    for word in (*words, "千日手", "持将棋", "最大手数"):
        if word in ENDINGS:
            result = replay.result(ENDINGS[word])
            if (UNFINISHED if result is None else result) == game.result:
                return word
    return "中断"


def _verdict(result: int, ending: str, sides: tuple[str, str]) -> str:
    """Return the text after `まで49手で`."""
    if result == UNFINISHED:
        return ending
    if result & WINNER_MASK == DRAW:
        return "持将棋" if ending == "最大手数" else ending
    winner, loser = sides if result & WINNER_MASK == BLACK_WINS else sides[::-1]
    if ending == "反則負け":
        return f"{loser}の反則負け"
    return f"{winner}の{ending if ending in ('入玉勝ち', '反則勝ち') else '勝ち'}"


def _one_line(text: str) -> str:
    """Return the text in one line."""
    return " ".join(text.splitlines()).strip()
