"""A game as KIF with an analysis in its comments, in the form that ShogiHome writes and reads.

Under each move stand the lines for the position after it, under the headers those for the first position: a word on
the situation, `#評価値=` in centipawns of black's view (or `#詰み=`), `#読み筋=` the best line from there on, `#深さ=`
and `#エンジン=`; before them 【疑問手】 and the like where a move gave away too much of the win rate. Kifu for Windows,
ShogiGUI and every other reader show them as comments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cshogi
from cshogi import KI2, KIF

from lite.notation.game import UNFINISHED, Game
from lite.records.formats import BLACK_WINS, DECLARATION, DRAW, MOVE_LIMIT, SENNICHITE
from search.engine import DECLARE
from search.rules.shogi import START_SFEN
from search.score import is_mate, mate_plies

LONGEST_LINE = 12
"""Moves of a best line that are written."""
MARKS = ((0.5, "大悪手"), (0.2, "悪手"), (0.1, "疑問手"), (0.05, "緩手"))
"""How much of the win rate a move gives away at least, and what ShogiHome calls it."""
_SITUATIONS = ((1500, "勝勢"), (600, "優勢"), (400, "有利"), (200, "有望"))
_ENDINGS = {
    "TIME_UP": "切れ負け",
    "TSUMI": "詰み",
    "ILLEGAL_MOVE": "反則負け",
    "CHUDAN": "中断",
    "JISHOGI": "持将棋",
    "HIKIWAKE": "持将棋",
}
_KIF_ENDINGS = ("投了", "詰み", "切れ負け", "反則負け", "反則勝ち", "入玉勝ち", "千日手", "持将棋", "中断")


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


def mark_of(loss: float) -> str:
    """The name of a move that gave away so much of its side's win rate; empty where that is little."""
    return next((name for least, name in MARKS if loss >= least), "")


def write_kif(game: Game, judgements: Sequence[Judgement | None], losses: Sequence[float | None], engine: str) -> str:
    """The text. judgements: of the first position and after each move; losses: each move's, of its side's win rate.
    None where nothing was searched."""
    board = cshogi.Board(game.start_sfen)
    lines = ["#KIF version=2.0 encoding=UTF-8", *_headers(game, board)]
    lines += _comment(judgements[0], "", board, engine)
    last = 0
    for number, move in enumerate(game.moves.tolist(), 1):
        played = board.move_from_move16(move)
        text = KIF.move_to_kif(played, last)
        last = played
        # A double-width character takes two columns.
        lines.append(f"{number:4d} {text}{' ' * max(1, 14 - 2 * len(text) + text.count('('))}( 0:00/00:00:00)")
        lost, better = losses[number - 1], ""
        if lost is not None and mark_of(lost):
            better = f"【{mark_of(lost)}】 {_better(judgements[number - 1], board)}".rstrip()
        board.push(played)
        lines += _comment(judgements[number], better, board, engine)
    ending = _ending(game)
    lines.append(f"{len(game.moves) + 1:4d} {ending}")
    lines.append(f"まで{len(game.moves)}手で{_verdict(game, ending)}")
    return "\n".join(lines) + "\n"


def _headers(game: Game, board: cshogi.Board) -> list[str]:
    names = [name or ("先手", "後手")[colour] for colour, name in enumerate(game.names)]
    position = game.start_sfen.split()[:3]
    handicap = next(
        (name for name, sfen in KIF.Parser.HANDYCAP_SFENS.items() if sfen and sfen.split()[:3] == position), None
    )
    sides = ("先手", "後手")
    if handicap is None:
        lines = KIF.board_to_bod(board).split("\n")
    else:
        lines = [f"手合割：{handicap}"]
        if position != START_SFEN.split()[:3]:
            sides = ("下手", "上手")
    lines += [f"{side}：{' '.join(name.split())}" for side, name in zip(sides, names, strict=True)]
    return [*lines, "手数----指手---------消費時間--"]


def _comment(judgement: Judgement | None, note: str, board: cshogi.Board, engine: str) -> list[str]:
    """The comment's lines for the position on the board."""
    if judgement is None:
        return [f"*{note}"] if note else []
    lines = [note] if note else []
    if is_mate(judgement.score):
        winner = "先手" if judgement.score > 0 else "後手"
        plies = abs(mate_plies(judgement.score))
        lines.append(f"#詰み={winner}勝ち" + (f":{plies}手" if plies else ""))
        if judgement.line[:1] == (DECLARE,):
            lines.append("入玉宣言で勝ち")
    else:
        lines += [situation(judgement.score), f"#評価値={judgement.score}"]
    lines.append(f"勝率 先手 {100 * judgement.win_rate:.1f}% 後手 {100 - 100 * judgement.win_rate:.1f}%")
    if judgement.line:
        lines.append("#読み筋=" + _line(board, judgement.line))
    if judgement.depth:
        lines += [f"#深さ={judgement.depth}", f"#ノード数={judgement.nodes}"]
    lines.append(f"#エンジン={engine}")
    return [f"*{line}" for line in lines]


def situation(score: int) -> str:
    """A score of black's view in ShogiHome's words."""
    for least, name in _SITUATIONS:
        if abs(score) >= least:
            return ("先手" if score > 0 else "後手") + name
    return "互角"


def _line(board: cshogi.Board, moves: Sequence[str]) -> str:
    """Moves in the notation of KI2, each with its side's mark."""
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


def _better(before: Judgement | None, board: cshogi.Board) -> str:
    """The move that would have been best, in words."""
    best = _line(board, before.line[:1]) if before is not None else ""
    return f"最善は {best}" if best else ""


def _ending(game: Game) -> str:
    """The game's end in KIF's words."""
    if game.result == UNFINISHED:
        return "中断"
    if game.ending in _KIF_ENDINGS:
        return game.ending
    if game.ending in _ENDINGS:
        return _ENDINGS[game.ending]
    if game.result & DECLARATION:
        return "入玉勝ち"
    if game.result & 3 == DRAW:
        return "千日手" if game.result & SENNICHITE and not game.result & MOVE_LIMIT else "持将棋"
    return "反則勝ち" if _mover_wins(game) else "投了"


def _mover_wins(game: Game) -> bool:
    turn = (game.start_sfen.split()[1] == "w") ^ (len(game.moves) % 2 == 1)
    return (game.result & 3 == BLACK_WINS) == (turn == 0)


def _verdict(game: Game, ending: str) -> str:
    if game.result == UNFINISHED or game.result & 3 == DRAW:
        return ending
    winner = "先手" if game.result & 3 == BLACK_WINS else "後手"
    if ending in ("入玉勝ち", "反則勝ち"):
        return f"{winner}の{ending}"
    if ending == "反則負け":
        return f"{'後手' if winner == '先手' else '先手'}の反則負け"
    return f"{winner}の勝ち"


def result_in_words(game: Game) -> str:
    """The result in English, for pictures and figures."""
    if game.result == UNFINISHED:
        return "unfinished"
    if game.result & 3 == DRAW:
        return "draw"
    return "black wins" if game.result & 3 == BLACK_WINS else "white wins"
