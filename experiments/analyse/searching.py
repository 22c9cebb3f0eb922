"""Search every position of a game."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

from experiments.analyse.annotated_kif import Judgement, names_of_moves
from experiments.analyse.as_text import MOVE_COLUMNS, score_text
from experiments.language.english import ENGLISH
from experiments.language.words import Words
from lite.notation.columns import in_columns
from lite.notation.game import Game
from search.engine import DECLARE, Analysis, Engine
from search.mate.counted import counted_plies
from search.mate.solver import MateSolver
from search.rules.play import set_game
from search.rules.position import new_position
from search.rules.repetition import DRAW, LOSS, WIN, fourfold
from search.rules.sfen import move_to_usi
from search.score import MATE, is_mate

TSUME_MB, TSUME_MS = 16, 1000
"""Memory and time of the mate solver for the length of a mate that the search has found."""
POLL_SECONDS = 0.2
"""Seconds between checks for an interrupt."""
_SCORE_COLUMNS = 11


def judge(
    game: Game,
    engine: Engine,
    milliseconds: int | None,
    nodes: int | None,
    interrupted: Callable[[], bool],
    words: Words = ENGLISH,
) -> list[Judgement]:
    """Search the first position of a game and the position after each move; return fewer if `interrupted`.

    Each position gets the same time or nodes, and as many lines as the engine's `multipv`. Only the fourth occurrence
    of a position ends a game: then the rule gives the last position's judgement. words: the language of the progress
    on standard error.
    """
    moves, names = [move_to_usi(move) for move in game.moves.tolist()], names_of_moves(game)
    done: list[Judgement] = []
    black_first = game.start_sfen.split()[1] == "b"

    def search(ply: int) -> list[Analysis]:
        if ply == len(moves) and (repeated := _repeated(game.start_sfen, moves)) is not None:
            return [repeated]
        played = (game.start_sfen, moves[:ply])
        return engine.analyse(*played, nodes=nodes, time_ms=milliseconds, multipv=engine.multipv, analysis=True)

    # Compiled code receives no signal: it runs in a thread of its own while this one checks for an interrupt.
    with ThreadPoolExecutor(1) as worker:
        for ply in range(len(moves) + 1):
            searching = worker.submit(search, ply)
            while wait([searching], POLL_SECONDS).not_done and not interrupted():
                pass
            if interrupted():
                engine.stop()
                return done
            black = (ply % 2 == 0) == black_first
            best, *others = (_judgement(found, black) for found in searching.result())
            sfen = f"{game.start_sfen} moves {' '.join(moves[:ply])}" if ply else game.start_sfen
            plies = tsume_plies(best, black, sfen)
            done.append(Judgement(best.score, best.win_rate, best.depth, best.nodes, best.line, tuple(others), plies))
            _show_progress(ply, len(moves), names[ply - 1] if ply else "", done[-1], words)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return done


def tsume_plies(found: Judgement, black: bool, sfen: str) -> int | None:
    """Return the length of the side to move's mate as tsume shogi counts it; None without a mate, or if it has moves
    that give no check. black: whether black is to move. sfen: the position with the moves that led to it."""
    if not is_mate(found.score) or (found.score > 0) != black or not found.line or found.line[0] == DECLARE:
        return None
    return counted_plies(MateSolver(TSUME_MB), sfen, TSUME_MS)


def _repeated(start: str, moves: list[str]) -> Analysis | None:
    """Return the rule's verdict on a position's fourth occurrence: a draw, or a loss by perpetual check."""
    pos = new_position()
    set_game(pos, start, moves)
    score = {DRAW: 0, WIN: MATE, LOSS: -MATE}.get(int(fourfold(pos)))
    return None if score is None else Analysis(None, score, win_rate=0.5 + score / (2 * MATE))


def _judgement(found: Analysis, black: bool) -> Judgement:
    """Return a line in black's view. black: whether black is to move."""
    return Judgement(
        score=found.score if black else -found.score,
        win_rate=found.win_rate if black else 1 - found.win_rate,
        depth=found.depth,
        nodes=found.nodes,
        line=found.pv,
    )


def _show_progress(ply: int, plies: int, move: str, found: Judgement, words: Words) -> None:
    """Report a searched position on standard error; a terminal shows only the latest."""
    terminal = sys.stderr.isatty()
    declared = found.line[:1] == (DECLARE,)
    score = words.declaration if declared else score_text(found.score, words, words.sides)
    padding = in_columns(score, _SCORE_COLUMNS)[len(score) :]
    found_text = words.progress.format(
        score=f"{padding}{score}", rate=f"{100 * found.win_rate:5.1f}", depth=found.depth
    )
    text = f"{ply:3d}/{plies} {in_columns(move, MOVE_COLUMNS)} {found_text}"
    print(f"\r{text}\x1b[K" if terminal else text, end="" if terminal else "\n", file=sys.stderr, flush=True)
