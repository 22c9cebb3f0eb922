"""The game that every notation is read into, and the builder that checks each of its moves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from lite.records.encode import encode_game
from lite.records.formats import (
    BLACK_WINS,
    DECLARATION,
    DRAW,
    MAX_MOVES,
    MOVE_LIMIT,
    SENNICHITE,
    WHITE_WINS,
)
from search.rules import repetition
from search.rules.huffman import HCP, encode
from search.rules.movegen import is_legal, list_moves
from search.rules.position import NO_KING, do_move, in_check, new_position
from search.rules.sfen import move_to_usi, set_sfen
from search.rules.shogi import BLACK, START_SFEN

UNFINISHED = 3
"""Result of a game without an ending; such games are read only on request."""
MATE_SCORE = 32000
"""Score in centipawns for a mate; larger scores in comments are limited to it."""
FOULS = "反則|二歩|二手指し|打ち?歩詰|王手放置"
"""Pattern of the words by which sentences about the end of a game name a broken rule."""
LONGEST_TIME = 2**31 - 1
"""Longest time of a move in milliseconds; longer times are limited to it."""


class GameError(ValueError):
    """A game that cannot be used. The message gives the cause; `reason` is the category under which it is counted."""

    def __init__(self, message: str, reason: str = "unreadable") -> None:
        super().__init__(message)
        self.reason = reason


def quoted(text: str, longest: int = 30) -> str:
    """Return the start of a game's text for an error message, with escapes only for invisible characters."""
    return repr(text[:longest]).replace("\\u3000", "\u3000")


@dataclass(frozen=True)
class Game:
    """A game replayed legally from its first position."""

    place: str
    """Where the game was read: file, and number of the game in it."""
    start_sfen: str
    """The first position as SFEN."""
    hcp: bytes
    """The 32-byte code of the first position."""
    first_ply: int
    """Plies played before the first position, if the notation records them; 0 otherwise."""
    moves: np.ndarray
    """u2 (plies,): 16-bit moves."""
    scores: np.ndarray
    """i2 (plies,): score in centipawns for the mover, from the search that chose the move; 0 if there is none."""
    scored: np.ndarray
    """bool (plies,): whether the move has a score."""
    result: int
    """Result as in hcpe: 0 draw, 1 black wins, 2 white wins, with the sennichite, declaration and move-limit bits; or
    UNFINISHED."""
    ending: str
    """The notation's own word for the ending."""
    names: tuple[str, str] = ("", "")
    """Names of black and white."""
    ratings: tuple[float | None, float | None] = (None, None)
    """Ratings of black and white; None if unknown."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Other headers by KIF's keys (開始日時, 棋戦, 持ち時間, ...), as written. A repeated key has several lines."""
    times: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    """i4 (plies + 1,): time of each move and of the ending in milliseconds; -1 if unknown."""
    comments: Mapping[int, list[str]] = field(default_factory=dict)
    """Comment lines by the number of moves before them, as in KIF: `*` and a comment, `&` and a bookmark. Those below
    the ending have the number of moves plus 1."""
    variations: str = ""
    """KIF lines of the variations as read, from the first `変化：` to the end."""
    handicap_words: bool = False
    """Whether the players are called 下手 and 上手, as in handicap games, instead of 先手 and 後手."""

    def hcpe3(self) -> bytes:
        """Return the game as hcpe3 bytes, with every position marked for training."""
        return encode_game(self.hcp, self.result, self.moves, self.scores, scored=self.scored)


class GameBuilder:
    """Replays a game while it is read. An illegal move raises GameError unless the game ended by it."""

    def __init__(self, place: str, start_sfen: str = START_SFEN, japanese: bool = False) -> None:
        self.place = place
        self.start_sfen = start_sfen
        self.japanese = japanese
        """Whether errors write moves as Japanese notations do: with the sign of the side, and without the origin."""
        self.numbered_from = 0
        """Number of moves before the first one, for the numbers of moves in errors."""
        self.pos = new_position()
        try:
            set_sfen(self.pos, start_sfen)
            if NO_KING in self.pos["king"]:
                raise ValueError("a king is missing; a mate problem (tsume) without one can be solved, but is no game")
            self._hcp = encode(self.pos["board"], self.pos["hands"], int(self.pos["turn"]), HCP)
        except ValueError as error:
            raise GameError(f"its first position: {error}") from None
        self._first_ply = max(0, int(self.pos["game_ply"]) - 1)
        self.moves: list[int] = []
        self._scores: dict[int, int] = {}
        self._illegal: str | None = None
        self._times: dict[int, int] = {}
        self.names = ["", ""]
        self.ratings: list[float | None] = [None, None]
        self.headers: dict[str, str] = {}
        self.comments: dict[int, list[str]] = {}
        self.variations = ""
        self.handicap_words = False
        self.ended = False
        """Whether the ending has been read."""

    @property
    def turn(self) -> int:
        """The side to move."""
        return int(self.pos["turn"])

    @property
    def plies_recorded(self) -> int:
        """Number of recorded moves, including an illegal last one."""
        return len(self.moves) + (self._illegal is not None)

    def refuse_more(self) -> None:
        """Raise GameError if the last move was illegal: no move may follow it."""
        if self._illegal is not None:
            raise GameError(self._illegal, "an illegal move")

    def play(self, move: int, text: str = "", line: int = 0) -> None:
        """Play a 16-bit move. `text`: the move as written; if it is illegal, a comment keeps it. `line`: its number in
        the file for the error, or 0 if unknown."""
        self.refuse_more()
        if len(self.moves) >= MAX_MOVES:
            raise GameError(f"more than {MAX_MOVES} moves")
        if not is_legal(self.pos, move):
            # A game may end by an illegal move: `finish` decides.
            name = self.next_move(text or (move_to_usi(move) if move else "none"))
            self._illegal = f"{name} is illegal" + (f" (line {line})" if line else "")
            if text:
                self.comment(f"*反則手：{text}")
            return
        do_move(self.pos, move)
        self.moves.append(move)

    def next_move(self, text: str = "") -> str:
        """Return the name of the next move for an error: `move 4 (-4133KI)`, or `move 4 (△３三金)` if japanese."""
        number = len(self.moves) + self.numbered_from + 1
        if self.japanese:
            text = re.sub(r"[\s　]|[(（].*", "", text)
            text = text and "▲△"[self.turn] + text
        return f"move {number} ({text})" if text else f"move {number}"

    def time_of_last(self, milliseconds: int) -> None:
        """Set the time of the last move."""
        self._times[self.plies_recorded - 1] = milliseconds

    def time_of_ending(self, milliseconds: int) -> None:
        """Set the time that the side to move used before the ending."""
        self._times[self.plies_recorded] = milliseconds

    def comment(self, line: str) -> None:
        """Add a line about the current position, with KIF's mark before it: `*` a comment, `&` a bookmark."""
        self.comments.setdefault(len(self.moves) + self.ended, []).append(line)

    def score_of_last(self, black_score: int) -> None:
        """Set the score, in black's view, of the search that chose the last move."""
        if self.moves and self._illegal is None:
            self._scores[len(self.moves) - 1] = black_score

    def score_here(self, black_score: int) -> None:
        """Set an analysis score, in black's view, of the current position, unless a player's own score is set."""
        self._scores.setdefault(len(self.moves), black_score)

    def finish(self, ending: str, outcome: int | None, unfinished: bool = False) -> Game:
        """Return the game with an outcome (a constant below, or None if it is not recorded).

        If the moves do not decide the game either, the result is UNFINISHED with `unfinished`, otherwise GameError is
        raised."""
        if self._illegal is not None and not self._ends_illegally(ending, outcome):
            raise GameError(self._illegal, "an illegal move")
        if not self.moves:
            raise GameError("no moves", "no moves")
        result = self.result(outcome)
        if result is None:
            if not unfinished:
                raise GameError(f"no result ({ending or 'the moves stop without an ending'})", "no result")
            result = UNFINISHED
        scores, scored = np.zeros(len(self.moves), np.int16), np.zeros(len(self.moves), bool)
        times = np.full(len(self.moves) + 1, -1, np.int32)
        for ply, milliseconds in self._times.items():
            if 0 <= ply <= len(self.moves):
                times[ply] = min(milliseconds, LONGEST_TIME)
        start_turn = (self.turn + len(self.moves)) % 2
        for ply, score in self._scores.items():
            if ply < len(self.moves):
                sign = 1 if (start_turn + ply) % 2 == BLACK else -1
                scores[ply] = sign * max(-MATE_SCORE, min(MATE_SCORE, score))
                scored[ply] = True
        return Game(
            self.place,
            self.start_sfen,
            self._hcp,
            self._first_ply,
            np.array(self.moves, np.uint16),
            scores,
            scored,
            result,
            ending,
            (self.names[0], self.names[1]),
            (self.ratings[0], self.ratings[1]),
            self.headers,
            times,
            self.comments,
            self.variations,
            self.handicap_words,
        )

    def _ends_illegally(self, ending: str, outcome: int | None) -> bool:
        """Return whether the ending means that the illegal move lost the game."""
        if "ILLEGAL_ACTION" in ending:  # CSA names the side that broke the rules, here the side to move
            return outcome == (WHITE_WON, BLACK_WON)[self.turn]
        return outcome in (ILLEGAL_MOVE, ILLEGAL_BEFORE) or re.search(FOULS, ending) is not None

    def result(self, outcome: int | None) -> int | None:
        """Return the result byte of an outcome after the moves; None if neither it nor the position decides."""
        mover_wins = (BLACK_WINS, WHITE_WINS)[self.turn]
        mover_loses = (WHITE_WINS, BLACK_WINS)[self.turn]
        if outcome is None:
            # Checkmate and the fourth repetition decide the game without an ending statement.
            if in_check(self.pos) and not list_moves(self.pos):
                return mover_loses
            if repetition.fourfold(self.pos) == repetition.NO_REPETITION:
                return None
            outcome = REPETITION
        if outcome == PERPETUAL_CHECK:
            # The ending names no side. The fourth occurrence may be the position in check or the one after the escape.
            checks = self.pos["check_runs"][self.pos["ply"]]
            outcome = MOVER_LOSES if checks[self.turn] > checks[1 - self.turn] else MOVER_WINS
        if outcome == REPETITION:
            verdict = repetition.fourfold(self.pos)
            if verdict == repetition.WIN:
                return mover_wins
            return mover_loses if verdict == repetition.LOSS else DRAW | SENNICHITE
        return {
            MOVER_LOSES: mover_loses,
            MOVER_WINS: mover_wins,
            # The illegal move is not played, so the side that made it is still to move.
            ILLEGAL_MOVE: mover_loses,
            ILLEGAL_BEFORE: mover_wins if self._illegal is None else mover_loses,
            MOVER_DECLARES: mover_wins | DECLARATION,
            BLACK_WON: BLACK_WINS,
            WHITE_WON: WHITE_WINS,
            DRAWN: DRAW,
            MOVES_USED_UP: DRAW | MOVE_LIMIT,
        }[outcome]


# Outcomes of endings; `GameBuilder.finish` turns them into results.
(
    MOVER_LOSES,
    ILLEGAL_MOVE,
    MOVER_DECLARES,
    BLACK_WON,
    WHITE_WON,
    DRAWN,
    REPETITION,
    MOVES_USED_UP,
    ILLEGAL_BEFORE,
    MOVER_WINS,
    PERPETUAL_CHECK,
) = range(11)
