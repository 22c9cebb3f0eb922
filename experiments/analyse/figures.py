"""What the search of a game's positions comes to, as JSON: scores, win rates, what each move gave away."""

from __future__ import annotations

import statistics
from typing import Any

import cshogi

from experiments.analyse.annotated_kif import (
    Judgement,
    best_name,
    mark_of,
    names_of_moves,
    result_in_words,
)
from lite.notation.game import Game
from lite.notation.kif_writer import handicap_name
from search.rules.sfen import move_to_usi
from search.score import is_mate, mate_plies

IN_ENGLISH = {"大悪手": "blunder", "悪手": "mistake", "疑問手": "doubtful", "緩手": "slack"}


def figures(game: Game, judgements: list[Judgement]) -> dict[str, Any]:
    """What was found. Scores in centipawns and win rates are black's; a move's `loss` is of its own side's win rate,
    from what the best move would have kept. Moves are USI, and with `_name` as players write them. `others` are the
    second line and those after it, where several were looked for."""
    moves, names = [move_to_usi(move) for move in game.moves.tolist()], names_of_moves(game)
    board = cshogi.Board(game.start_sfen)
    black_first = game.start_sfen.split()[1] == "b"
    rows: list[dict[str, Any]] = []
    for ply, usi in enumerate(moves, 1):
        row: dict[str, Any] = {
            "ply": ply,
            "side": "black" if (ply % 2 == 1) == black_first else "white",
            "move": usi,
            "move_name": names[ply - 1],
            **dict.fromkeys(("score", "mate", "win_rate", "loss", "mark", "best", "best_name")),
            **dict.fromkeys(("line", "others", "depth", "nodes")),
        }
        if ply <= len(judgements):
            row["best"] = next(iter(judgements[ply - 1].line), None)
            row["best_name"] = best_name(judgements[ply - 1], board) or None
        board.push_usi(usi)
        if ply < len(judgements):
            before, after = judgements[ply - 1], judgements[ply]
            # The best move loses nothing, whatever a deeper look one move later says.
            lost = 0.0 if usi == row["best"] else before.win_rate - after.win_rate
            loss = max(0.0, lost if row["side"] == "black" else -lost)
            row |= _found(after) | {
                "loss": round(loss, 4),
                "mark": IN_ENGLISH.get(mark_of(loss)),
                "depth": after.depth,
                "nodes": after.nodes,
            }
        rows.append(row)
    return {
        "game": game.place,
        "names": list(game.names),
        "handicap": handicap_name(game.start_sfen),
        "start": game.start_sfen,
        "result": result_in_words(game),
        "complete": len(judgements) == len(moves) + 1,
        "first": _found(judgements[0]),
        "moves": rows,
        "black": _summary(rows, "black"),
        "white": _summary(rows, "white"),
    }


def _found(judgement: Judgement) -> dict[str, Any]:
    return line_figures(judgement) | {"others": [line_figures(other) for other in judgement.others]}


def line_figures(judgement: Judgement) -> dict[str, Any]:
    """Of a line alone: its score or mate, win rate and moves."""
    mate = is_mate(judgement.score)
    return {
        "score": None if mate else judgement.score,
        "mate": mate_plies(judgement.score) if mate else None,
        "win_rate": round(judgement.win_rate, 4),
        "line": list(judgement.line),
    }


def _summary(rows: list[dict[str, Any]], side: str) -> dict[str, Any]:
    own = [row for row in rows if row["side"] == side and row["loss"] is not None]
    return {
        "moves": len(own),
        "as_the_best": sum(row["move"] == row["best"] for row in own),
        "mean_loss": round(statistics.fmean(row["loss"] for row in own), 4) if own else None,
        **{mark: sum(row["mark"] == mark for row in own) for mark in IN_ENGLISH.values()},
    }
