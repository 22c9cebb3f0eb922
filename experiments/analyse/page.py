"""Write an analysed game as an HTML page with a board to step through.

The board is shogiground, lishogi's (see `page/`). Positions, names of moves and lines are computed here, so that the
page needs no rules of the game.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path

import cshogi

from experiments.analyse.annotated_kif import LONGEST_LINE, Judgement, japanese, without_analysis
from experiments.analyse.as_text import best_text, result_text, score_text
from experiments.analyse.figures import GameFigures, line_figures
from experiments.drawing.fonts import font_face
from experiments.drawing.html_page import html_page, json_script
from experiments.language.catalogue import shown
from experiments.language.english import ENGLISH, HEADERS
from experiments.language.words import Words
from lite.notation.game import Game
from lite.notation.kif import Variation, read_variations
from search.rules.sfen import move_to_usi

_PARTS = Path(__file__).with_name("page")
_ROLES = {"P": "pawn", "L": "lance", "N": "knight", "S": "silver", "G": "gold", "B": "bishop", "R": "rook"}
"""shogiground's names of pieces that are dropped, by their USI letters."""


@dataclass(frozen=True)
class LineStep:
    """A move of a line or variation, and the position after it."""

    sfen: str
    name: str
    squares: tuple[str, str]
    """Origin (a square, or shogiground's name of the dropped piece) and target."""
    comments: tuple[str, ...] = ()


@dataclass(frozen=True)
class PageLine:
    """A line of a search."""

    text: str
    """Score or mate."""
    win_rate: float
    """Black's win rate, 0 to 1."""
    steps: tuple[LineStep, ...]


@dataclass(frozen=True)
class GameStep:
    """A position of the game; the fields of a move are empty at the first position."""

    sfen: str
    lines: tuple[PageLine, ...]
    comments: tuple[str, ...]
    variations: tuple[tuple[LineStep, ...], ...]
    name: str = ""
    squares: tuple[str, ...] = ()
    mark: str | None = None
    """Kind of a bad move: `blunder`, `mistake`, `doubtful` or `slack`."""
    mark_name: str = ""
    """The mark in the page's language."""
    loss: float | None = None
    best: str = ""
    compared: str = ""
    time: str = ""


def as_page(
    game: Game, figures: GameFigures, judgements: Sequence[Judgement | None], searched: str, words: Words = ENGLISH
) -> str:
    """Return the page as HTML, without the comments of an earlier analysis.

    judgements: of the first position and of the position after each move; None where nothing was searched. searched:
    the engine and its limit, as text.
    """
    board = cshogi.Board(game.start_sfen)
    branches = _branches(game)
    steps: list[GameStep] = []
    for ply in range(len(game.moves) + 1):
        comments = without_analysis(game.comments.get(ply, []))
        comments += game.comments.get(ply + 1, []) if ply == len(game.moves) else []  # below the ending
        step = GameStep(
            sfen=board.sfen(),
            lines=_lines(judgements[ply], board, words),
            comments=_texts(comments),
            variations=tuple(_variation(one, ply, board) for one in branches.get(ply, [])),
        )
        steps.append(_with_move(step, game, figures, ply, words) if ply else step)
        if ply < len(game.moves):
            board.push(board.move_from_move16(int(game.moves[ply])))
    names = [f"{mark}{name or side}" for mark, name, side in zip("▲△", game.names, words.sides, strict=True)]
    title = " ".join(names)
    handicap = [figures.handicap] if figures.handicap not in (None, "平手") else []
    english = HEADERS if words is ENGLISH else {}
    headers = [
        f"{english[key]}: {value}" if key in english else f"{key}：{value}"
        for key, values in game.headers.items()
        for value in values.split("\n")
    ]
    result = f'<span id="result">{escape(result_text(figures, words))}</span>'
    about = " · ".join([*(escape(one or "") for one in handicap), result, *map(escape, [searched, *headers])])
    score_axis, _, _ = words.score_axis.partition("\n")
    axes = " · ".join(axis.format(black=words.sides[0]) for axis in (words.win_rate_axis, score_axis))
    return _html(title, about, axes, steps, words)


def _with_move(step: GameStep, game: Game, figures: GameFigures, ply: int, words: Words) -> GameStep:
    """Return a step with the move that led to it."""
    row, time = figures.moves[ply - 1], ""
    if len(game.times) and game.times[ply - 1] >= 0:
        minutes, seconds = divmod(int(game.times[ply - 1]) // 1000, 60)
        time = f"{minutes}:{seconds:02d}"
    return GameStep(
        step.sfen,
        step.lines,
        step.comments,
        step.variations,
        name=row.move_name,
        squares=_squares(row.move),
        mark=row.mark,
        mark_name=words.marks[row.mark] if row.mark else "",
        loss=row.loss,
        best=best_text(row, words),
        compared=words.compared[row.compared] if row.compared else "",
        time=time,
    )


def _html(title: str, about: str, axes: str, steps: Sequence[GameStep], words: Words) -> str:
    """Return the whole page. about: HTML below the title. axes: what the graph and the lists show."""

    def part(name: str) -> str:
        return (_PARTS / name).read_text(encoding="utf-8")

    buttons = "".join(
        f'<button id="{name}">{escape(sign)}</button>'
        for name, sign in (("first", "|◀"), ("back", "◀"), ("forward", "▶"), ("last", "▶|"), ("turn", words.flip))
    )
    body = f"""<noscript><p>{escape(words.needs_script)}</p></noscript>
<header hidden><h1>{escape(title)}</h1><p>{about}</p></header>
<main hidden>
<div>
<div class="table"><div id="top"></div><div id="board"></div><div id="bottom"></div></div>
<nav>{buttons}</nav>
<div id="said"></div>
</div>
<div><p id="axes">{escape(axes)}</p>
<svg id="graph" role="img" aria-labelledby="axes" preserveAspectRatio="none"></svg>
<section id="mistakes"><h2>{escape(words.mistakes)}</h2><button id="next">{escape(words.next_mistake)}</button>
<ol></ol></section>
<div id="moves"></div></div>
</main>
{json_script("game", {"steps": [asdict(step) for step in steps], "words": _page_words(words)})}
<script>{part("shogiground.min.js")}</script>
<script type="module">{part("viewer.js")}</script>"""
    return html_page(title, f"{font_face()}\n{part('viewer.css')}", body, words.code)


def _page_words(words: Words) -> dict[str, str]:
    """Return the texts that the page's script uses."""
    return {
        "start": words.start,
        "lost": words.lost,
        "best": words.best,
        "line": words.line,
        "variation": words.variation,
        "none": words.no_mistakes,
    }


def _branches(game: Game) -> dict[int, list[Variation]]:
    """Return the game's variations by the number of main moves before them.

    A variation that branches from another variation stands where that one left the game, with all its moves. The first
    error in them is reported on standard error.
    """
    found: dict[int, list[Variation]] = {}
    variations, error = read_variations(game)
    if error is not None:
        print(shown(f"{error} (the page lacks it and what follows it)"), file=sys.stderr)
    main = game.moves.tolist()
    for one in variations:
        ply = next(
            (ply for ply, (move, played) in enumerate(zip(one.moves, main, strict=False)) if move != played),
            min(len(one.moves), len(main)),
        )
        if ply < len(one.moves):
            found.setdefault(ply, []).append(one)
    return found


def _variation(one: Variation, ply: int, board: cshogi.Board) -> tuple[LineStep, ...]:
    """Return the steps of a variation that branches at the position on the board, with comments.

    Comments above the first move stand with that move.
    """
    steps = _steps(board, [move_to_usi(move) for move in one.moves[ply:]])
    commented = []
    for number, step in enumerate(steps, ply + 1):
        above = one.comments.get(ply, []) if number == ply + 1 else []
        comments = _texts([*above, *one.comments.get(number, [])])
        commented.append(LineStep(step.sfen, step.name, step.squares, comments))
    return tuple(commented)


def _texts(comments: Iterable[str]) -> tuple[str, ...]:
    """Return the text of KIF comments, without bookmarks."""
    return tuple(line[1:] for line in comments if line.startswith("*"))


def _lines(judgement: Judgement | None, board: cshogi.Board, words: Words) -> tuple[PageLine, ...]:
    if judgement is None:
        return ()
    found = []
    for one in (judgement, *judgement.others):
        rate = line_figures(one).win_rate
        found.append(PageLine(score_text(one, words), rate, _steps(board, one.line[:LONGEST_LINE])))
    return tuple(found)


def _steps(board: cshogi.Board, moves: Iterable[str]) -> tuple[LineStep, ...]:
    """Return the positions after each of the USI moves, up to one that moves no piece (a declaration)."""
    steps: list[LineStep] = []
    for usi in moves:
        name = japanese(board, [usi])
        if not name:
            break
        board.push_usi(usi)
        steps.append(LineStep(board.sfen(), name, _squares(usi)))
    for _ in steps:
        board.pop()
    return tuple(steps)


def _squares(usi: str) -> tuple[str, str]:
    """Return the origin and target of a move; the origin of a drop is shogiground's name of the piece."""
    return (_ROLES[usi[0]] if usi[1] == "*" else usi[:2], usi[2:4])
