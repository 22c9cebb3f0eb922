"""Search every position of a game."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace

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
    begun = time.monotonic()
    with ThreadPoolExecutor(1) as worker:
        search = _GameSearch(game.start_sfen, moves, engine, milliseconds, nodes, interrupted, worker)
        for ply in range(len(moves) + 1):
            if (found := search.judged(ply, done[-1] if ply else None)) is None:
                return done
            done.append(found)
            left = (time.monotonic() - begun) / len(done) * (len(moves) + 1 - len(done))
            _show_progress(ply, len(moves), names[ply - 1] if ply else "", found, left, words)
    if is_redrawn():
        print(file=sys.stderr)
    return done


@dataclass
class _GameSearch:
    """Searches of a game's positions. Compiled code receives no signal: it runs in a thread of its own while the
    caller's checks for an interrupt."""

    start: str
    moves: list[str]
    engine: Engine
    milliseconds: int | None
    nodes: int | None
    interrupted: Callable[[], bool]
    worker: Executor

    def judged(self, ply: int, before: Judgement | None) -> Judgement | None:
        """Return the judgement of the position after `ply` moves; None if interrupted. before: the judgement of the
        position before, None for the first one."""
        moves, black = self.moves[:ply], (ply % 2 == 0) == (self.start.split()[1] == "b")
        if (lines := self._wait(self._search, ply)) is None:
            return None
        best, *others = (_judgement(line, black, self.start, moves, self.engine) for line in lines)
        sfen = f"{self.start} moves {' '.join(moves)}" if moves else self.start
        found = replace(best, others=tuple(others), tsume_plies=tsume_plies(best, black, sfen))
        if before is None or not _needs_check(before, found, moves[-1], -1 if black else 1):
            return found
        loss = self._checked_loss(ply, before.line[0])
        return None if loss is None else replace(found, checked_loss=loss)

    def _checked_loss(self, ply: int, best: str) -> float | None:
        """Return the win rate that the last of `ply` moves loses against the best move; None if interrupted."""
        rates = []
        for move in (best, self.moves[ply - 1]):
            if (lines := self._wait(self._search_after, ply, move)) is None:
                return None
            rates.append(1 - lines[0].win_rate)  # of the side that moved
        return max(0.0, rates[0] - rates[1])

    def _wait(self, search: Callable[..., list[Analysis]], *about: int | str) -> list[Analysis] | None:
        """Return the lines of a search; None if it was interrupted."""
        searching = self.worker.submit(search, *about)
        while wait([searching], POLL_SECONDS).not_done and not self.interrupted():
            pass
        if self.interrupted():
            self.engine.stop()
            return None
        return searching.result()

    def _search(self, ply: int) -> list[Analysis]:
        """Search the position after `ply` moves of the game."""
        engine, moves = self.engine, self.moves[:ply]
        if moves == self.moves and (repeated := _repeated(self.start, moves)) is not None:
            return [repeated]
        reported: list[Analysis] = []
        found = engine.analyse(
            self.start,
            moves,
            nodes=self.nodes,
            time_ms=self.milliseconds,
            multipv=engine.multipv,
            on_info=reported.append,
            analysis=True,
        )
        return _of_one_depth(found, reported)

    def _search_after(self, ply: int, move: str) -> list[Analysis]:
        """Search the position after `ply` moves of which the last is `move` in place of the game's, to check it."""
        moves, nodes = [*self.moves[: ply - 1], move], self.nodes and max(self.nodes, CHECK_NODES)
        if (repeated := _repeated(self.start, moves)) is not None:
            return [repeated]
        return self.engine.analyse(self.start, moves, nodes=nodes, time_ms=self.milliseconds, multipv=1, analysis=True)


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
