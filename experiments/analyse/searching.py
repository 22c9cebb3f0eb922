"""Search every position of a game."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace

from experiments.analyse.annotated_kif import SMALLEST_MARK, Judgement, names_of_moves
from experiments.analyse.as_text import MOVE_COLUMNS, score_text
from experiments.analyse.figures import loss_of
from experiments.analyse.won_by import won_by
from experiments.language.english import ENGLISH
from experiments.language.words import Words
from lite.notation.columns import in_columns
from lite.notation.game import Game
from lite.progress_line import clock, draw, is_redrawn
from search.engine import DECLARE, Analysis, Engine
from search.mate.solver import MateSolver
from search.mate.tsume_length import tsume_plies_of
from search.rules.play import set_game
from search.rules.position import new_position
from search.rules.repetition import DRAW, LOSS, WIN, fourfold
from search.rules.sfen import move_to_usi
from search.score import MATE, is_mate

TSUME_MB, TSUME_MS = 16, 1000
"""Memory and time of the mate solver for the length of a mate that the search has found."""
CHECK_NODES = 20_000
"""Least nodes of each search that checks a bad move: shorter ones disagree by a mark about moves that lose nothing."""
POLL_SECONDS = 0.2
"""Seconds between checks for an interrupt."""
_SCORE_COLUMNS = 11


def search_game(
    game: Game,
    engine: Engine,
    milliseconds: int | None,
    nodes: int | None,
    interrupted: Callable[[], bool],
    words: Words = ENGLISH,
) -> list[Judgement]:
    """Search the first position of a game and the position after each move; return fewer if `interrupted`.

    Each position gets the same time or nodes, and as many lines as the engine's `multipv`. A move that these searches
    would mark as bad is searched again beside the best move, each for the same time, or nodes but at least
    `CHECK_NODES`: scores of two different positions are too noisy for a mark. Only the fourth occurrence of a position
    ends a game: then the rule gives the last position's judgement. words: the language of the progress on standard
    error.
    """
    moves, names = [move_to_usi(move) for move in game.moves.tolist()], names_of_moves(game)
    done: list[Judgement] = []
    black_first = game.start_sfen.split()[1] == "b"

    def search(ply: int) -> list[Analysis]:
        if ply == len(moves) and (repeated := _repeated(game.start_sfen, moves)) is not None:
            return [repeated]
        reported: list[Analysis] = []
        found = engine.analyse(
            game.start_sfen,
            moves[:ply],
            nodes=nodes,
            time_ms=milliseconds,
            multipv=engine.multipv,
            on_info=reported.append,
            analysis=True,
        )
        return _of_one_depth(found, reported)

    def search_after(ply: int, move: str) -> list[Analysis]:
        """Search the position after a move instead of the game's, to check it."""
        played, limit = [*moves[: ply - 1], move], nodes and max(nodes, CHECK_NODES)
        if (repeated := _repeated(game.start_sfen, played)) is not None:
            return [repeated]
        return engine.analyse(game.start_sfen, played, nodes=limit, time_ms=milliseconds, multipv=1, analysis=True)

    begun = time.monotonic()
    # Compiled code receives no signal: it runs in a thread of its own while this one checks for an interrupt.
    with ThreadPoolExecutor(1) as worker:

        def found_by(search: Callable[..., list[Analysis]], *about: int | str) -> list[Analysis] | None:
            """Return the lines of a search; None if it was interrupted."""
            searching = worker.submit(search, *about)
            while wait([searching], POLL_SECONDS).not_done and not interrupted():
                pass
            if interrupted():
                engine.stop()
                return None
            return searching.result()

        for ply in range(len(moves) + 1):
            black = (ply % 2 == 0) == black_first
            if (lines := found_by(search, ply)) is None:
                return done
            best, *others = (_judgement(found, black, game.start_sfen, moves[:ply], engine) for found in lines)
            sfen = f"{game.start_sfen} moves {' '.join(moves[:ply])}" if ply else game.start_sfen
            made = replace(best, others=tuple(others), tsume_plies=tsume_plies(best, black, sfen))
            if ply and _needs_check(done[-1], made, moves[ply - 1], -1 if black else 1):
                rates = []
                for move in (done[-1].line[0], moves[ply - 1]):
                    if (lines := found_by(search_after, ply, move)) is None:
                        return done
                    rates.append(1 - lines[0].win_rate)  # of the side that moved
                made = replace(made, checked_loss=max(0.0, rates[0] - rates[1]))
            done.append(made)
            left = (time.monotonic() - begun) / len(done) * (len(moves) + 1 - len(done))
            _show_progress(ply, len(moves), names[ply - 1] if ply else "", done[-1], left, words)
    if is_redrawn():
        print(file=sys.stderr)
    return done


def _of_one_depth(found: list[Analysis], reported: list[Analysis]) -> list[Analysis]:
    """Return several lines of one search as they were after its last whole depth.

    An engine whose last depth was interrupted puts the lines of that depth before those of the depth before, and scores
    of two depths cannot be compared. found: the search's result. reported: all lines that it has reported, in order.
    """
    depths = {line.depth for line in found}
    if len(depths) == 1:
        return found
    whole = [line for line in reported if line.depth == min(depths)][: len(found)]
    return [replace(line, nodes=found[0].nodes) for line in whole]


def _needs_check(before: Judgement, after: Judgement, move: str, sign: int) -> bool:
    """Return whether a move would be marked as bad by searches that may be wrong; `sign` as for `loss_of`."""
    is_proven = is_mate(before.score) and is_mate(after.score)
    has_best = bool(before.line) and before.line[0] != DECLARE
    return has_best and not is_proven and loss_of(before, after, move, sign)[0] >= SMALLEST_MARK


def tsume_plies(found: Judgement, black: bool, sfen: str) -> int | None:
    """Return the length of the side to move's mate as tsume shogi counts it; None without a mate, or if it has moves
    that give no check. black: whether black is to move. sfen: the position with the moves that led to it."""
    if not is_mate(found.score) or found.won_by or (found.score > 0) != black or not found.line:
        return None
    return tsume_plies_of(MateSolver(TSUME_MB), sfen, TSUME_MS)


def _repeated(start: str, moves: list[str]) -> Analysis | None:
    """Return the rule's verdict on a position's fourth occurrence: a draw, or a loss by perpetual check."""
    pos = new_position()
    set_game(pos, start, moves)
    score = {DRAW: 0, WIN: MATE, LOSS: -MATE}.get(int(fourfold(pos)))
    return None if score is None else Analysis(None, score, win_rate=0.5 + score / (2 * MATE))


def _judgement(found: Analysis, black: bool, start: str, moves: list[str], engine: Engine) -> Judgement:
    """Return a line in black's view. black: whether black is to move. start, moves: the searched position."""
    return Judgement(
        score=found.score if black else -found.score,
        win_rate=found.win_rate if black else 1 - found.win_rate,
        depth=found.depth,
        nodes=found.nodes,
        line=found.pv,
        won_by=won_by(found, start, moves, engine.rules.declaration),
    )


def _show_progress(ply: int, plies: int, move: str, found: Judgement, left: float, words: Words) -> None:
    """Report a searched position on standard error, with the seconds left for the game; a terminal shows only the
    latest."""
    score = score_text(found, words)
    padding = in_columns(score, _SCORE_COLUMNS)[len(score) :]
    found_text = words.progress.format(
        score=f"{padding}{score}", rate=f"{100 * found.win_rate:5.1f}", depth=found.depth
    )
    text = f"{ply:3d}/{plies} {in_columns(move, MOVE_COLUMNS)} {found_text}"
    draw(text, "  " + words.time_left.format(clock=clock(left)) if ply < plies else "")
