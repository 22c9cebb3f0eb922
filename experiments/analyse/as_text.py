"""The result of an analysis as text for a terminal."""

from __future__ import annotations

from dataclasses import replace

from experiments.analyse.annotated_kif import Judgement
from experiments.analyse.figures import SIDES, GameFigures, MoveFigures, SideFigures
from experiments.analyse.result import AnalysedGame, AnalysedGames
from experiments.language.catalogue import shown
from experiments.language.japanese import JAPANESE
from experiments.language.words import Words
from lite.notation.columns import in_columns
from lite.notation.game import Game
from lite.notation.kif_writer import sides_of
from search.engine import DECLARE
from search.score import MAX_EVALUATION, is_mate, mate_plies

MOVE_COLUMNS = 14
"""Columns of a move on the terminal: the longest is `▲５五銀左不成`."""
SHOWN_MOVES = 5
"""Largest number of bad moves listed for a game."""


def as_text(found: AnalysedGames, words: Words) -> str:
    """Return the figures of all games. words: the language of lines that belong to no game."""
    parts = [_game_as_text(game) for game in found.games]
    if found.skipped:
        parts.append(words.done_already.format(count=len(found.skipped)))
    parts += [words.refused.format(reason=shown(reason)) for reason in found.refused]
    return "\n".join(parts)


def _game_as_text(game: AnalysedGame) -> str:
    words, figures = game.words, game.figures
    players = " - ".join(name or side for name, side in zip(figures.names, words.sides, strict=True))
    handicap = "" if figures.handicap in (None, "平手") else f" ({figures.handicap})"
    lines = [
        f"{players}{handicap}: {result_text(figures, words)}",
        words.summary_header + "".join(f"  {in_columns(name, 8)}" for name in words.mark_headers.values()).rstrip(),
    ]
    for side, found in zip(words.sides, figures.sides, strict=True):
        lines.append(_side_as_text(side, found))
    marked = sorted((row for row in figures.moves if row.mark), key=lambda row: -(row.loss or 0))
    lines += [
        words.worst_move.format(
            ply=f"{row.ply:3d}",
            move=in_columns(row.move_name, MOVE_COLUMNS),
            loss=f"{100 * (row.loss or 0):4.1f}",
            mark=words.marks[row.mark or ""],
            best=best_text(row, words),
        )
        for row in marked[:SHOWN_MOVES]
    ]
    return "\n".join([*lines, str(game.kif), str(game.page), str(game.picture)])


def _side_as_text(side: str, found: SideFigures) -> str:
    loss = "" if found.mean_loss is None else f"{100 * found.mean_loss:.1f} %"
    counts = "".join(f"  {number:<8d}" for number in found.marks.values())
    return f"{in_columns(side, 5)}  {found.moves:6d}  {found.as_the_best:9d}  {loss:>9s}{counts}".rstrip()


def words_for_game(words: Words, game: Game) -> Words:
    """Return the texts of a language with the names of a game's sides, which are others in a handicap game."""
    return replace(words, sides=sides_of(game)) if words is JAPANESE else words


def result_text(figures: GameFigures, words: Words) -> str:
    """Return a game's result."""
    return words.results[figures.result].format(**dict(zip(SIDES, words.sides, strict=True)))


def best_text(row: MoveFigures, words: Words) -> str:
    """Return the best move instead of a move; empty if there is none."""
    return words.declaration if row.best == DECLARE else row.best_name or ""


def score_text(found: Judgement, words: Words) -> str:
    """Return a line's score in black's view: centipawns, the plies of a mate, or the winner and how that side wins."""
    score = found.score
    if found.line[:1] == (DECLARE,):
        return words.declaration
    if found.won_by is not None:
        winner = words.results["black wins" if score > 0 else "white wins"]
        way = words.won_by[found.won_by]
        return way.format(result=winner.format(black=words.sides[0], white=words.sides[1]))
    if is_mate(score):
        return _mate_text(mate_plies(score), score > 0, words, found.tsume_plies)
    if abs(score) <= MAX_EVALUATION:
        return f"{score:+d}"
    text = words.black_superior if score > 0 else words.white_superior
    return text.format(black=words.sides[0], white=words.sides[1])


def _mate_text(plies: int, black: bool, words: Words, tsume_plies: int | None) -> str:
    """Return the plies of a mate; a mate in 0 is on the board. black: whether black mates. tsume_plies: see
    `Judgement`."""
    if plies == 0:
        return words.mate
    text = words.black_mates if black else words.white_mates
    tsume = "" if tsume_plies in (None, abs(plies)) else words.counted_as_tsume.format(plies=tsume_plies)
    return text.format(plies=abs(plies), black=words.sides[0], white=words.sides[1]) + tsume
