"""Write a game as KIF with an analysis in its comments, in the form that ShogiHome writes and reads.

The comments below a move describe the position after it; those below the headers describe the first position. In order:

- 【疑問手】 or another mark, if the move gave away much of the win rate,
- a word for the situation (`先手有利`),
- `#評価値=`, centipawns for black, or `#詰み=`,
- `#読み筋=`, the best line; `#深さ=`, `#ノード数=`, `#候補2=` and so on for further lines, `#エンジン=`.

Kifu for Windows, ShogiGUI and other programs show these lines as comments. The game's own comments stand above them. An
earlier analysis by this program is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cshogi
from cshogi import KI2

from experiments.analyse.won_by import WonBy
from lite.notation.game import UNFINISHED, Game
from lite.notation.kif_writer import ANALYSIS, kif_text, score_comment, sides_of
from lite.records.formats import BLACK_WINS, DRAW
from search.engine import DECLARE
from search.score import MATE, is_mate

LONGEST_LINE = 12
"""Largest number of moves written of a line."""
MARKS = ((0.5, "大悪手"), (0.2, "悪手"), (0.1, "疑問手"), (0.05, "緩手"))
"""Least win rate that a move gives away, and ShogiHome's name for such a move; the worst first."""
SMALLEST_MARK = MARKS[-1][0]
"""Least win rate that a marked move gives away."""
DECLARATION = "入玉宣言"
"""Japanese name of the move that declares a win."""
ENGINE = "LiteShogi"
"""Name of the engine in the comments."""
_WON_BY: dict[WonBy, str] = {"declaration": DECLARATION, "perpetual check": "連続王手の千日手"}
_SITUATIONS = ((1500, "勝勢"), (600, "優勢"), (400, "有利"), (200, "有望"))
_SIGNED = f"*#エンジン={ENGINE}"
_WRITTEN_HERE = re.compile(
    r"""
    ^(\*【(大悪手|悪手|疑問手|緩手)】\ 最善は\ .+\n)?
    (\*(互角|[先後上下]手(勝勢|優勢|有利|有望))\n\*\#評価値=-?\d+|\*\#詰み=[先後]手勝ち(:\d+手)?)\n
    (\*(入玉宣言|連続王手の千日手)で勝ち\n)?
    \*勝率\ [先下]手\ [\d.]+%\ [後上]手\ [\d.]+%\n
    (\*\#読み筋=.+\n)?
    (\*\#深さ=\d+\n\*\#ノード数=\d+\n)?
    (\*\#候補\d+=.+\n)*
    """
    + re.escape(f"{_SIGNED}\n"),
    re.MULTILINE | re.VERBOSE,
)
"""Matches the lines that `_comment` returns."""


@dataclass(frozen=True)
class Judgement:
    """Result of the search of a position, in black's view."""

    score: int
    """Centipawns for black, or a mate score (see `search.score`), positive if black wins."""
    win_rate: float
    """Black's win rate, 0 to 1."""
    depth: int
    nodes: int
    line: tuple[str, ...]
    """USI moves of the best line."""
    others: tuple[Judgement, ...] = ()
    """The second line and those after it, if the search had several."""
    tsume_plies: int | None = None
    """Length of the side to move's mate by checks as tsume shogi counts it, without futile interpositions; None if the
    search found no mate, or the length is not known."""
    won_by: WonBy | None = None
    """How the line wins if its mate score is not that of a mate."""
    checked_loss: float | None = None
    """Win rate that the move before the position gave away by further, equal searches of it and of the best move, 0 to
    1; None if there were none."""


def mark_of(loss: float) -> str:
    """Return the name of a move that gave away `loss` of its side's win rate; empty below the smallest mark."""
    return next((name for least, name in MARKS if loss >= least), "")


def write_kif(game: Game, judgements: Sequence[Judgement | None], losses: Sequence[float | None]) -> str:
    """Return the annotated KIF.

    judgements: of the first position and of the position after each move. losses: the win rate that each move gave
    away. Both hold None where nothing was searched.
    """
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
    """Return a position's comments without the last lines that this program wrote there.

    Lines of players and of other programs stay, even if they look the same.
    """
    text = "".join(f"{line}\n" for line in lines)
    for written in list(_WRITTEN_HERE.finditer(text))[-1:]:
        text = text[: written.start()] + text[written.end() :]
    return text.split("\n")[:-1]


def _comment(judgement: Judgement, note: str, board: cshogi.Board, sides: tuple[str, str]) -> list[str]:
    """Return the comment's lines for the position on the board."""
    lines = [f"*{note}"] if note else []
    if not is_mate(judgement.score):
        lines.append(f"*{situation(judgement.score, sides)}")
    lines += [f"*{text}" for text in _score(judgement)]
    rate = 100 * judgement.win_rate
    lines.append(f"*勝率 {sides[0]} {rate:.1f}% {sides[1]} {100 - rate:.1f}%")
    if line := japanese(board, judgement.line):  # a declaration has none
        lines.append("*#読み筋=" + line)
    if judgement.depth:
        lines += [f"*#深さ={judgement.depth}", f"*#ノード数={judgement.nodes}"]
    for number, other in enumerate(judgement.others, 2):
        score = " ".join(_score(other)).removeprefix("#")
        lines.append(f"*#候補{number}={score} 読み筋={japanese(board, other.line)}")
    return [*lines, _SIGNED]


def _score(found: Judgement) -> list[str]:
    """Return a line's score as ShogiHome writes it, and how it wins if that is no mate; then a length of a mate would
    be false."""
    if found.won_by is None:
        return [score_comment(found.score, ANALYSIS).removeprefix("*")]
    won = MATE if found.score > 0 else -MATE
    return [score_comment(won, ANALYSIS).removeprefix("*"), f"{_WON_BY[found.won_by]}で勝ち"]


def situation(score: int, sides: tuple[str, str] = ("先手", "後手")) -> str:
    """Return ShogiHome's words for a score of black's view."""
    for least, name in _SITUATIONS:
        if abs(score) >= least:
            return sides[score < 0] + name
    return "互角"


def japanese(board: cshogi.Board, moves: Sequence[str]) -> str:
    """Return USI moves from the position on the board in KI2's notation: `▲７六歩△３四歩`."""
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
    """Return the game's moves in KI2's notation: `▲７六歩`."""
    board, names = cshogi.Board(game.start_sfen), []
    for move in game.moves.tolist():
        played = board.move_from_move16(move)
        names.append(japanese(board, [cshogi.move_to_usi(played)]))
        board.push(played)
    return names


def best_name(judgement: Judgement, board: cshogi.Board) -> str:
    """Return the best move of the position on the board, `▲７六歩` or 入玉宣言; empty if there is none."""
    return DECLARATION if judgement.line[:1] == (DECLARE,) else japanese(board, judgement.line[:1])


def result_in_english(game: Game) -> str:
    """Return the game's result as in the figures."""
    if game.result == UNFINISHED:
        return "unfinished"
    if game.result & 3 == DRAW:
        return "draw"
    return "black wins" if game.result & 3 == BLACK_WINS else "white wins"
