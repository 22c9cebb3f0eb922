"""Figures of an analysed game: scores, win rates, and the win rate that each move gave away."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import cshogi

from experiments.analyse.annotated_kif import (
    Judgement,
    best_name,
    mark_of,
    names_of_moves,
    result_in_english,
)
from lite.notation.game import Game
from lite.notation.kif_writer import handicap_name
from search.rules.sfen import move_to_usi
from search.score import is_mate, mate_plies

MARKS_IN_ENGLISH = {"大悪手": "blunder", "悪手": "mistake", "疑問手": "doubtful", "緩手": "slack"}
"""The names of bad moves in the figures, by those in a KIF."""
LOSS_DIGITS = 3
"""Decimals of a loss: page, KIF and terminal show percentages with one."""
Side = Literal["black", "white"]
SIDES: tuple[Side, Side] = ("black", "white")
Comparison = Literal["best", "lines", "next", "bound", "checked"]
"""Source of a move's loss.

best: the move was the search's best. lines: the search before the move has a line for it. next: the search of the
position after the move, which is at least as deep. bound: the search before the move is deeper and has no line for the
move, which is therefore at most as good as its last line. checked: further, equal searches of the positions after the
move and after the best move."""


@dataclass(frozen=True)
class LineFigures:
    """One line of a search."""

    score: int | None
    """Centipawns for black; None for a mate."""
    mate: int | None
    """Plies to the mate, or to another win by force (declaration, the opponent's perpetual check), positive if black
    wins; None for a score."""
    win_rate: float
    """Black's win rate, 0 to 1."""
    line: tuple[str, ...]
    """USI moves from the position on."""


@dataclass(frozen=True)
class PositionFigures(LineFigures):
    """The best line of a position, and the others."""

    others: tuple[LineFigures, ...]
    """The second line and those after it, if the search had several."""


@dataclass(frozen=True)
class MoveFigures:
    """A move, and the search of the position after it. Fields of a search are None where nothing was searched."""

    ply: int
    side: Side
    move: str
    """The move in USI notation."""
    move_name: str
    """The move as in a KI2 file."""
    score: int | None = None
    """Centipawns for black after the move; None for a mate."""
    mate: int | None = None
    """Plies to the mate after the move, or to another win by force (declaration, the opponent's perpetual check),
    positive if black wins; None for a score."""
    win_rate: float | None = None
    """Black's win rate after the move, 0 to 1."""
    loss: float | None = None
    """Win rate that the move gave away, for its own side, 0 to 1, rounded to 0.001."""
    mark: str | None = None
    """`blunder`, `mistake`, `doubtful` or `slack`; None for a move that gave away less than 0.05."""
    best: str | None = None
    """The best move instead in USI notation; `win` is a declaration."""
    best_name: str | None = None
    """The best move instead as in a KI2 file."""
    line: tuple[str, ...] | None = None
    """USI moves of the best line after the move."""
    others: tuple[LineFigures, ...] | None = None
    """The second line after the move and those after it."""
    depth: int | None = None
    nodes: int | None = None
    compared: Comparison | None = None
    """Source of `loss`, see `Comparison`."""


@dataclass(frozen=True)
class SideFigures:
    """Summary of one side's moves."""

    moves: int
    """Number of moves with a loss."""
    as_the_best: int
    """Number of moves that were the search's best move."""
    mean_loss: float | None
    """Mean win rate that a move gave away; None without moves."""
    blunder: int
    mistake: int
    doubtful: int
    slack: int

    @property
    def marks(self) -> dict[str, int]:
        """Return the number of moves by mark, the worst first."""
        return {"blunder": self.blunder, "mistake": self.mistake, "doubtful": self.doubtful, "slack": self.slack}


@dataclass(frozen=True)
class GameFigures:
    """All figures of one game. Scores in centipawns, mates and win rates are black's."""

    game: str
    """File and number of the game."""
    names: tuple[str, str]
    """Names of black and white."""
    handicap: str | None
    """Name of the handicap; None if the first position has none."""
    start: str
    """SFEN of the first position."""
    result: str
    """`black wins`, `white wins`, `draw` or `unfinished`."""
    complete: bool
    """Whether every position was searched."""
    first: PositionFigures
    """The first position."""
    moves: tuple[MoveFigures, ...]
    black: SideFigures
    white: SideFigures

    @property
    def sides(self) -> tuple[SideFigures, SideFigures]:
        """Return the summaries of black and white."""
        return self.black, self.white


def figures(game: Game, judgements: Sequence[Judgement]) -> GameFigures:
    """Return the figures of a game from the searches of its first positions, at least one."""
    moves, names = [move_to_usi(move) for move in game.moves.tolist()], names_of_moves(game)
    board = cshogi.Board(game.start_sfen)
    black_first = game.start_sfen.split()[1] == "b"
    rows: list[MoveFigures] = []
    for ply, usi in enumerate(moves, 1):
        side: Side = "black" if (ply % 2 == 1) == black_first else "white"
        best = name = None
        if ply <= len(judgements):
            best = next(iter(judgements[ply - 1].line), None)
            name = best_name(judgements[ply - 1], board) or None
        board.push_usi(usi)
        if ply >= len(judgements):
            rows.append(MoveFigures(ply, side, usi, names[ply - 1], best=best, best_name=name))
            continue
        after = judgements[ply]
        found = position_figures(after)
        loss, compared = loss_of(judgements[ply - 1], after, usi, 1 if side == "black" else -1)
        rows.append(
            MoveFigures(
                ply,
                side,
                usi,
                names[ply - 1],
                score=found.score,
                mate=found.mate,
                win_rate=found.win_rate,
                loss=loss,
                mark=MARKS_IN_ENGLISH.get(mark_of(loss)),
                best=best,
                best_name=name,
                line=found.line,
                others=found.others,
                depth=after.depth,
                nodes=after.nodes,
                compared=compared,
            )
        )
    return GameFigures(
        game=game.place,
        names=game.names,
        handicap=handicap_name(game.start_sfen),
        start=game.start_sfen,
        result=result_in_english(game),
        complete=len(judgements) == len(moves) + 1,
        first=position_figures(judgements[0]),
        moves=tuple(rows),
        black=_summary(rows, "black"),
        white=_summary(rows, "white"),
    )


def loss_of(before: Judgement, after: Judgement, move: str, sign: int) -> tuple[float, Comparison]:
    """Return the win rate that a move gave away, rounded to 0.001, and the source of that figure.

    before, after: the searches of the positions before and after the move. sign: 1 if black moves, -1 if white does.
    Scores of one search are compared wherever it has a line for the move: two searches of different positions disagree
    even about the move that both prefer. The loss is rounded here, so that each output gives it the same mark and its
    percentage does not contradict the mark.
    """
    loss, compared = _exact_loss(before, after, move, sign)
    return round(loss, LOSS_DIGITS), compared


def _exact_loss(before: Judgement, after: Judgement, move: str, sign: int) -> tuple[float, Comparison]:
    if after.checked_loss is not None:
        return after.checked_loss, "checked"
    if before.line[:1] == (move,):
        return 0.0, "best"
    for line in before.others:
        if line.line[:1] == (move,):
            return max(0.0, sign * (before.win_rate - line.win_rate)), "lines"
    loss = max(0.0, sign * (before.win_rate - after.win_rate))
    if before.others and 0 < after.depth < before.depth - 1:
        return max(loss, sign * (before.win_rate - before.others[-1].win_rate)), "bound"
    return loss, "next"


def line_figures(judgement: Judgement) -> LineFigures:
    """Return the figures of a line without the others of its position."""
    mate = is_mate(judgement.score)
    return LineFigures(
        score=None if mate else judgement.score,
        mate=mate_plies(judgement.score) if mate else None,
        win_rate=round(judgement.win_rate, 4),
        line=judgement.line,
    )


def position_figures(judgement: Judgement) -> PositionFigures:
    """Return the figures of a searched position."""
    best = line_figures(judgement)
    others = tuple(line_figures(other) for other in judgement.others)
    return PositionFigures(best.score, best.mate, best.win_rate, best.line, others)


def _summary(rows: Sequence[MoveFigures], side: Side) -> SideFigures:
    own = [row for row in rows if row.side == side and row.loss is not None]
    return SideFigures(
        moves=len(own),
        as_the_best=sum(row.move == row.best for row in own),
        mean_loss=round(statistics.fmean(row.loss or 0.0 for row in own), 4) if own else None,
        **{mark: sum(row.mark == mark for row in own) for mark in MARKS_IN_ENGLISH.values()},
    )
