"""One game on a server: the engine's moves go to the server, the server's lines decide everything."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Literal

from experiments.csa.clock import GameClock
from experiments.csa.connection import Connection
from experiments.csa.endings import GAME_OVER, LOST, RESULTS, Result, ending_word, outcome_of
from experiments.csa.engine_player import EnginePlayer, best_line
from experiments.csa.events import ConnectionLost, Received, ServerError, Thought
from experiments.csa.game_summary import Summary, read_timed_move
from experiments.usi_client.searcher import Answer
from lite.notation.csa_moves import csa_move, read_csa_move
from lite.notation.game import Game, GameBuilder, GameError
from lite.notation.kif_writer import PLAYER, score_comment
from search.rules.movegen import is_legal
from search.rules.position import do_move, undo_move
from search.rules.sfen import move_from_usi, move_to_usi
from search.rules.shogi import BLACK
from search.score import is_mate

RESIGN_MOVES = 3
"""Number of consecutive moves with a score at or below the limit after which the game is resigned."""
MATE_COMMENT = 100_000
"""Score of a mate in a comment for the server."""
LONGEST_LINE_SENT = 16
"""Most moves of the best line in a comment for the server."""
MOST_RESTARTS = 1
"""Times that a failed engine is started again in a game."""
MOST_OTHER_LINES = 1000
"""Most lines in a game that are neither moves nor its end."""
LAST_LINES_SECONDS = 3.0
"""Seconds to wait for the end of a game after a resignation at once, or after an illegal move."""


class ServerGame:
    """A game that the server has started."""

    def __init__(
        self,
        connection: Connection,
        summary: Summary,
        player: EnginePlayer,
        *,
        margin: int,
        resign_score: int,
        comments: bool,
        notice: Callable[[], None],
    ) -> None:
        """margin, resign_score, comments: see `ServerPlay`. `notice` is called while the game waits."""
        self.summary = summary
        self.result: Result = "unfinished"
        self.ending = LOST
        self.started = datetime.now()
        self._connection, self._player = connection, player
        self._margin, self._resign_score, self._has_comments, self._notice = margin, resign_score, comments, notice
        self._builder = GameBuilder(f"{connection.place}: {summary.game_id}", summary.start_sfen)
        self._clock = GameClock(summary.controls)
        self._usi: list[str] = []
        self._sent = ""
        """The own move that the server has not confirmed."""
        self._answer: Answer | None = None
        """The search that chose that move."""
        self._reason = ""
        self._declared = False
        self._bad_scores = self._restarts = self._others = 0
        for text, milliseconds in summary.moves:
            self._play(text, milliseconds)

    @property
    def moves(self) -> int:
        """Number of moves so far."""
        return len(self._builder.moves)

    @property
    def is_our_turn(self) -> bool:
        """Whether the server waits for our move."""
        return self._builder.turn == self.summary.colour

    def play(self) -> None:
        """Play to the end. Raises ConnectionLost, ServerError for a line that breaks the protocol or the rules, and
        ValueError if the engine cannot be started again; the game so far can be recorded in each case."""
        try:
            self._think()
            while True:
                event = self._connection.wait()
                self._notice()
                if isinstance(event, Thought):
                    self._thought(event)
                elif isinstance(event, Received) and self._line(event.line):
                    return
        finally:
            self._player.finish(GAME_OVER[self.result])

    def resign_at_once(self) -> None:
        """Resign if it is our turn, and wait a moment for the server's answer. Never fails."""
        try:
            if self.is_our_turn and not self._sent:
                self._connection.send("%TORYO")
                end = time.monotonic() + LAST_LINES_SECONDS
                while time.monotonic() < end:
                    event = self._connection.wait()
                    if isinstance(event, Received) and self._line(event.line):
                        return
        except (ConnectionLost, ServerError):
            return

    def record(self, headers: dict[str, str]) -> Game | None:
        """Return the game for a KIF file; None if it has no move."""
        builder = self._builder
        if not builder.moves:
            return None
        builder.names = list(self.summary.names)
        builder.headers = headers
        outcome = outcome_of(self.ending, self.result, self.summary.colour, builder)
        return builder.finish(self.ending, outcome, unfinished=True)

    def _think(self) -> None:
        if self.is_our_turn:
            self._sent = ""
            self._player.think(self._position(), self._clock.limits(self.summary.colour, self._margin))

    def _position(self, *more: str) -> str:
        moves = [*self._usi, *more]
        return f"sfen {self.summary.start_sfen}" + (f" moves {' '.join(moves)}" if moves else "")

    def _thought(self, thought: Thought) -> None:
        if not self._player.is_current(thought) or not self.is_our_turn or self._sent:
            return
        if thought.answer is None:
            print(f"warning: the engine failed: {thought.error}", file=sys.stderr)
            self._player.restart()
            self._restarts += 1
            if self._restarts > MOST_RESTARTS:
                self._declare("%TORYO")
            else:
                self._think()
            return
        self._answer = thought.answer
        move = thought.answer.move
        if move == "win":
            self._declare("%KACHI")
        elif self._is_hopeless(thought.answer.score) or move == "resign":
            self._declare("%TORYO")
        else:
            self._send_move(move, thought.answer)

    def _is_hopeless(self, score: int | None) -> bool:
        is_bad = bool(self._resign_score) and score is not None and score <= -self._resign_score
        self._bad_scores = self._bad_scores + 1 if is_bad else 0
        return self._bad_scores >= RESIGN_MOVES

    def _declare(self, word: str) -> None:
        self._sent = word
        self._connection.send(word)

    def _send_move(self, text: str, answer: Answer) -> None:
        move = _legal_move(self._builder, text)
        if move is None:
            print(f"warning: the engine's move {text[:20]!r} is illegal; the game is resigned", file=sys.stderr)
            self._declare("%TORYO")
            return
        self._sent = csa_move(self._builder.pos, move)
        comment = self._comment(text, answer) if self._has_comments else ""
        self._connection.send(self._sent + comment)

    def _comment(self, text: str, answer: Answer) -> str:
        """Return `,'* 123 +7776FU -3334FU`: the score in black's view and the best line, as floodgate shows them."""
        if answer.score is None:
            return ""
        score = answer.score if self.summary.colour == BLACK else -answer.score
        if is_mate(score):
            score = MATE_COMMENT if score > 0 else -MATE_COMMENT
        line = best_line(answer.lines)
        moves = _csa_line(self._builder, line if line[:1] == [text] else [text])
        # The server shows the line after the move, which has been sent already.
        return " ".join([f",'* {score}", *moves[1:]])

    def _line(self, line: str) -> bool:
        """Take a line of the server; returns whether the game is over."""
        if line[0] in "+-":
            return self._moved(line)
        if line[0] == "%":
            self._said(line)
        elif line in RESULTS:
            self.result = RESULTS[line]
            reason = self._reason or ("" if line == "#CENSORED" else line)
            self.ending = ending_word(reason, self.result, self._declared)
            return True
        else:
            self._others += 1
            if self._others > MOST_OTHER_LINES:
                raise ServerError(line, f"more than {MOST_OTHER_LINES:,} lines that are no moves")
            if line[0] == "#" and not line.startswith("##"):
                self._reason = line[:40]
        return False

    def _said(self, line: str) -> None:
        """Take `%TORYO,T12` or `%KACHI,T12`: the move by which the side to move ends the game, perhaps with its
        time."""
        word, _, time_text = line.partition(",T")
        self._declared = word == "%KACHI"
        if time_text.isascii() and time_text.isdigit() and len(time_text) < 9:
            self._builder.time_of_ending(1000 * int(time_text))

    def _moved(self, line: str) -> bool:
        """Take a move with its time; returns whether the game is over."""
        text, milliseconds = read_timed_move(line)
        is_ours = self.is_our_turn
        if is_ours and text != self._sent:
            raise ServerError(line, f"our move was {self._sent or 'not made yet'}")
        try:
            self._play(text, milliseconds)
        except GameError as error:
            return self._end_after(ServerError(line, str(error)))
        if not is_ours:
            self._think()
            return False
        answer, self._answer, self._sent = self._answer, None, ""
        if answer is not None:
            self._note(answer)
        return False

    def _end_after(self, illegal: ServerError) -> Literal[True]:
        """Wait a moment for the end of a game whose last move is illegal: a server may pass the opponent's move on
        before it ends the game. Raises the move's error if it does not."""
        end = time.monotonic() + LAST_LINES_SECONDS
        with suppress(ConnectionLost):
            while time.monotonic() < end:
                event = self._connection.wait()
                if isinstance(event, Received):
                    if event.line[0] in "+-":
                        break
                    if self._line(event.line):
                        return True
        raise illegal

    def _note(self, answer: Answer) -> None:
        """Keep the score of our move, and think on the opponent's time."""
        if answer.score is not None:
            score = answer.score if self.summary.colour == BLACK else -answer.score
            self._builder.comment(score_comment(score, PLAYER))
        words = answer.lines[-1].split()
        expected = words[3] if words[2:3] == ["ponder"] and len(words) > 3 else ""
        if expected and _legal_move(self._builder, expected) is not None:
            limits = self._clock.limits(self.summary.colour, self._margin)
            self._player.ponder(self._position(expected), limits)

    def _play(self, text: str, milliseconds: int) -> None:
        mover = self._builder.turn
        move = read_csa_move(text, self._builder)
        if not is_legal(self._builder.pos, move):
            raise GameError(f"{self._builder.next_move(text)} is illegal")
        self._builder.play(move)
        self._builder.time_of_last(milliseconds)
        self._clock.spend(mover, milliseconds)
        self._usi.append(move_to_usi(move))


def _legal_move(builder: GameBuilder, text: str) -> int | None:
    """Return the move of an engine; None if it is not legal."""
    try:
        move = move_from_usi(text)
    except ValueError:
        return None
    return move if is_legal(builder.pos, move) else None


def _csa_line(builder: GameBuilder, line: list[str]) -> list[str]:
    """Return the first moves of a line in CSA notation, up to one that is not legal."""
    played: list[int] = []
    found = []
    for text in line[:LONGEST_LINE_SENT]:
        move = _legal_move(builder, text)
        if move is None:
            break
        found.append(csa_move(builder.pos, move))
        do_move(builder.pos, move)
        played.append(move)
    for move in reversed(played):
        undo_move(builder.pos, move)
    return found
