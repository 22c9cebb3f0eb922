"""An analysed game as a page with a board to step through.

The board is shogiground, lishogi's (see `page/`); positions, moves' names and lines are made here, so that the page
knows no rules.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import cshogi

from experiments.analyse.annotated_kif import LONGEST_LINE, Judgement, japanese, without_analysis
from experiments.analyse.figures import line_figures
from experiments.drawing.fonts import NOTATION_FONT
from experiments.drawing.html_page import html_page, json_script
from lite.notation.game import Game
from lite.notation.kif import Variation, read_variations
from lite.notation.kif_writer import sides_of
from search.rules.sfen import move_to_usi

_PARTS = Path(__file__).with_name("page")
_ROLES = {"P": "pawn", "L": "lance", "N": "knight", "S": "silver", "G": "gold", "B": "bishop", "R": "rook"}
"""shogiground's words for what is dropped."""


def as_page(game: Game, report: dict[str, Any], judgements: Sequence[Judgement | None], searched: str) -> str:
    """The page as HTML.

    report: the game's `figures`. judgements: of the first position and after each move, None where nothing was
    searched. searched: by what and how long, in words. What an earlier analysis wrote is left out.
    """
    board = cshogi.Board(game.start_sfen)
    branches = _branches(game)
    steps: list[dict[str, Any]] = []
    for ply in range(len(game.moves) + 1):
        step: dict[str, Any] = {"sfen": board.sfen(), "name": "", "mark": None, "time": ""}
        if ply:
            row = report["moves"][ply - 1]
            step |= {"name": row["move_name"], "squares": _squares(row["move"])}
            step |= {"mark": row["mark"], "loss": row["loss"], "best": row["best_name"]}
            if len(game.times) and game.times[ply - 1] >= 0:
                minutes, seconds = divmod(int(game.times[ply - 1]) // 1000, 60)
                step["time"] = f"{minutes}:{seconds:02d}"
        comments = without_analysis(game.comments.get(ply, []))
        comments += game.comments.get(ply + 1, []) if ply == len(game.moves) else []  # below the ending
        step["comments"] = _words(comments)
        step["variations"] = [_variation(one, ply, board) for one in branches.get(ply, [])]
        step["lines"] = _lines(judgements[ply], board)
        steps.append(step)
        if ply < len(game.moves):
            board.push(board.move_from_move16(int(game.moves[ply])))
    sides = sides_of(game)
    names = [f"{mark}{name or side}" for mark, name, side in zip("▲△", game.names, sides, strict=True)]
    title = " ".join(names)
    handicap = [report["handicap"]] if report["handicap"] not in (None, "平手") else []
    headers = [f"{key}：{value}" for key, values in game.headers.items() for value in values.split("\n")]
    result = f'<span id="result">{escape(report["result"])}</span>'
    about = " · ".join([*map(escape, handicap), result, *map(escape, [searched, *headers])])
    return _html(title, about, {"steps": steps})


def _html(title: str, about: str, game: dict[str, Any]) -> str:
    """`about` is HTML."""

    def part(name: str) -> str:
        return (_PARTS / name).read_text(encoding="utf-8")

    font = base64.b64encode(NOTATION_FONT.read_bytes()).decode()
    face = f'@font-face {{ font-family: "Shogi Notation"; src: url(data:font/ttf;base64,{font}) }}'
    buttons = "".join(
        f'<button id="{name}">{sign}</button>'
        for name, sign in (("first", "|◀"), ("back", "◀"), ("forward", "▶"), ("last", "▶|"), ("turn", ""))
    )
    body = f"""<header hidden><h1>{escape(title)}</h1><p>{about}</p></header>
<main>
<div>
<div class="table"><div id="top"></div><div id="board"></div><div id="bottom"></div></div>
<nav>{buttons}</nav>
</div>
<div><svg id="graph" preserveAspectRatio="none"></svg><div id="moves"></div><div id="said"></div></div>
</main>
{json_script("game", game)}
<script>{part("shogiground.min.js")}</script>
<script type="module">{part("viewer.js")}</script>"""
    return html_page(title, f"{face}\n{part('viewer.css')}", body, "ja")


def _branches(game: Game) -> dict[int, list[Variation]]:
    """The game's variations by the number of moves played before them. One that leaves another variation stands where
    the main line was left, with all its moves. What cannot be read is said, and left out."""
    found: dict[int, list[Variation]] = {}
    variations, error = read_variations(game)
    if error is not None:
        print(f"{error} (the page has the variations before it)", file=sys.stderr)
    main = game.moves.tolist()
    for one in variations:
        ply = next(
            (ply for ply, (move, played) in enumerate(zip(one.moves, main, strict=False)) if move != played),
            min(len(one.moves), len(main)),
        )
        if ply < len(one.moves):
            found.setdefault(ply, []).append(one)
    return found


def _variation(one: Variation, ply: int, board: cshogi.Board) -> list[dict[str, Any]]:
    """The steps of a variation that leaves the game at the position on the board, each with its comments. What is said
    above the first move stands with it."""
    steps = _steps(board, [move_to_usi(move) for move in one.moves[ply:]])
    for number, step in enumerate(steps, ply + 1):
        above = one.comments.get(ply, []) if number == ply + 1 else []
        step["comments"] = _words([*above, *one.comments.get(number, [])])
    return steps


def _words(comments: Iterable[str]) -> list[str]:
    """What comments say, without KIF's mark, and without the bookmarks among them."""
    return [line[1:] for line in comments if line.startswith("*")]


def _lines(judgement: Judgement | None, board: cshogi.Board) -> list[dict[str, Any]]:
    if judgement is None:
        return []
    return [
        line_figures(one) | {"steps": _steps(board, one.line[:LONGEST_LINE])} for one in (judgement, *judgement.others)
    ]


def _steps(board: cshogi.Board, moves: Iterable[str]) -> list[dict[str, Any]]:
    """The positions after each of the USI moves, to the first that is none (a declaration)."""
    steps: list[dict[str, Any]] = []
    for usi in moves:
        name = japanese(board, [usi])
        if not name:
            break
        board.push_usi(usi)
        steps.append({"sfen": board.sfen(), "name": name, "squares": _squares(usi)})
    for _ in steps:
        board.pop()
    return steps


def _squares(usi: str) -> list[str]:
    """Where a move comes from, a square or the piece that is dropped, and where it goes."""
    return [_ROLES[usi[0]] if usi[1] == "*" else usi[:2], usi[2:4]]
