"""A game as KIF with an analysis in its comments, in the form that ShogiHome writes and reads.

Under each move stand the lines for the position after it, under the headers those for the first position: a word on
the situation, `#評価値=` in centipawns of black's view (or `#詰み=`), `#読み筋=` the best line from there on, `#深さ=`
and `#エンジン=`, where several lines were looked for also `#候補2=` and so on; before them 【疑問手】 and the like
where a move gave away too much of the win rate. Kifu for Windows, ShogiGUI and every other reader show them as
comments. Comments that the game brings along stand above them, but for an earlier analysis by this one, which is
replaced.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cshogi
from cshogi import KI2

from lite.notation.game import UNFINISHED, Game
from lite.notation.kif_writer import ANALYSIS, kif_text, score_comment, sides_of
from lite.records.formats import BLACK_WINS, DRAW
from search.engine import DECLARE
from search.score import is_mate

LONGEST_LINE = 12
"""Moves of a best line that are written."""
MARKS = ((0.5, "大悪手"), (0.2, "悪手"), (0.1, "疑問手"), (0.05, "緩手"))
"""How much of the win rate a move gives away at least, and what ShogiHome calls it."""
DECLARATION = "入玉宣言"
"""What players call the move that declares a win."""
ENGINE = "LiteShogi"
"""Who signs what is written."""
_SITUATIONS = ((1500, "勝勢"), (600, "優勢"), (400, "有利"), (200, "有望"))
_SIGNED = f"*#エンジン={ENGINE}"
_WRITTEN_HERE = re.compile(
    r"""
    ^(\*【(大悪手|悪手|疑問手|緩手)】\ 最善は\ .+\n)?
    (\*(互角|[先後上下]手(勝勢|優勢|有利|有望))\n\*\#評価値=-?\d+|\*\#詰み=[先後]手勝ち(:\d+手)?)\n
    (\*入玉宣言で勝ち\n)?
    \*勝率\ [先下]手\ [\d.]+%\ [後上]手\ [\d.]+%\n
    (\*\#読み筋=.+\n)?
    (\*\#深さ=\d+\n\*\#ノード数=\d+\n)?
    (\*\#候補\d+=.+\n)*
    """
    + re.escape(f"{_SIGNED}\n"),
    re.MULTILINE | re.VERBOSE,
)
"""The lines of `_comment`."""


@dataclass(frozen=True)
class Judgement:
    """What a search says of a position."""

    score: int
    """Centipawns of black's view, or a mate score (see `search.score`), positive where black mates."""
    win_rate: float
    """Black's, 0..1."""
    depth: int
    nodes: int
    line: tuple[str, ...]
    """The best moves from here, USI."""
    others: tuple[Judgement, ...] = ()
    """The second line and those after it, where several were looked for."""


def mark_of(loss: float) -> str:
    """The name of a move that gave away so much of its side's win rate; empty where that is little."""
    return next((name for least, name in MARKS if loss >= least), "")


def write_kif(game: Game, judgements: Sequence[Judgement | None], losses: Sequence[float | None]) -> str:
    """The text. judgements: of the first position and after each move; losses: each move's, of its side's win rate.
    None where nothing was searched."""
    board, sides = cshogi.Board(game.start_sfen), sides_of(game)
    comments = {len(game.moves) + 1: list(game.comments.get(len(game.moves) + 1, []))}
    for number in range(len(game.moves) + 1):
        note = ""
        if number:
            lost, before = losses[number - 1], judgements[number - 1]
            best = best_name(before, board) if before is not None else ""
            if lost is not None and mark_of(lost) and best:
                note = f"【{mark_of(lost)}】 最善は {best}"
            board.push(board.move_from_move16(int(game.moves[number - 1])))
        comments[number], judgement = list(game.comments.get(number, [])), judgements[number]
        if judgement is not None:
            found = _comment(judgement, note, board, sides)
            comments[number] = without_analysis(comments[number]) + found
    return kif_text(replace(game, comments=comments))


def without_analysis(lines: list[str]) -> list[str]:
    """A position's comments without the lines that an earlier analysis by this one wrote there, the last such ones;
    what players and other programs wrote stays, though it be like them."""
    text = "".join(f"{line}\n" for line in lines)
    for written in list(_WRITTEN_HERE.finditer(text))[-1:]:
        text = text[: written.start()] + text[written.end() :]
    return text.split("\n")[:-1]


def _comment(judgement: Judgement, note: str, board: cshogi.Board, sides: tuple[str, str]) -> list[str]:
    """The comment's lines for the position on the board."""
    lines = [f"*{note}"] if note else []
    if not is_mate(judgement.score):
        lines.append(f"*{situation(judgement.score, sides)}")
    lines.append(score_comment(judgement.score, ANALYSIS))
    if judgement.line[:1] == (DECLARE,):
        lines.append(f"*{DECLARATION}で勝ち")
    rate = 100 * judgement.win_rate
    lines.append(f"*勝率 {sides[0]} {rate:.1f}% {sides[1]} {100 - rate:.1f}%")
    if line := japanese(board, judgement.line):  # of a declaration there is none
        lines.append("*#読み筋=" + line)
    if judgement.depth:
        lines += [f"*#深さ={judgement.depth}", f"*#ノード数={judgement.nodes}"]
    for number, other in enumerate(judgement.others, 2):
        score = score_comment(other.score, ANALYSIS).removeprefix("*#")
        lines.append(f"*#候補{number}={score} 読み筋={japanese(board, other.line)}")
    return [*lines, _SIGNED]


def situation(score: int, sides: tuple[str, str] = ("先手", "後手")) -> str:
    """A score of black's view in ShogiHome's words."""
    for least, name in _SITUATIONS:
        if abs(score) >= least:
            return sides[score < 0] + name
    return "互角"


def japanese(board: cshogi.Board, moves: Sequence[str]) -> str:
    """USI moves from the position on the board as Japanese players write them: `▲７六歩△３四歩`, KI2's notation."""
    text, played = "", 0
    for usi in moves[:LONGEST_LINE]:
        move = board.move_from_usi(usi) if usi != DECLARE else 0
        if not move or not board.is_legal(move):
            break
        text += KI2.move_to_ki2(move, board).replace(" ", "").replace("　", "")
        board.push(move)
        played += 1
    for _ in range(played):
        board.pop()
    return text


def names_of_moves(game: Game) -> list[str]:
    """The game's moves, `▲７六歩`."""
    board, names = cshogi.Board(game.start_sfen), []
    for move in game.moves.tolist():
        played = board.move_from_move16(move)
        names.append(japanese(board, [cshogi.move_to_usi(played)]))
        board.push(played)
    return names


def best_name(judgement: Judgement, board: cshogi.Board) -> str:
    """The best move of the position on the board, `▲７六歩` or 入玉宣言; empty where there is none."""
    return DECLARATION if judgement.line[:1] == (DECLARE,) else japanese(board, judgement.line[:1])


def result_in_words(game: Game) -> str:
    """The result in English, for pictures and figures."""
    if game.result == UNFINISHED:
        return "unfinished"
    if game.result & 3 == DRAW:
        return "draw"
    return "black wins" if game.result & 3 == BLACK_WINS else "white wins"
