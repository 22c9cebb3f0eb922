"""A game as every notation gives it, and the builder that checks each move while one is read."""

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
"""Result of a game that just stops; such games are read only where that is asked for."""
MATE_SCORE = 32000
"""Centipawns written for a found mate; larger scores in comments are cut to it."""
LONGEST_TIME = 2**31 - 1
"""Milliseconds; longer times are cut to it."""


class GameError(ValueError):
    """A game that cannot be used; the message says why, `reason` what to count it under."""

    def __init__(self, message: str, reason: str = "unreadable") -> None:
        super().__init__(message)
        self.reason = reason


def quoted(text: str, longest: int = 30) -> str:
    """A piece of a game's text for a complaint, with escapes only for what cannot be seen."""
    return repr(text[:longest]).replace("\\u3000", "\u3000")


@dataclass(frozen=True)
class Game:
    """A game replayed legally from its first position."""

    place: str
    """Where it was read: file, and which game of it."""
    start_sfen: str
    hcp: bytes
    """The 32-byte code of the first position."""
    first_ply: int
    """Plies played before the first position, where the notation tells; 0 at the start position."""
    moves: np.ndarray
    """u2 (plies,): 16-bit moves."""
    scores: np.ndarray
    """i2 (plies,): centipawns, the mover's view, of the search that chose each move; 0 where there is none."""
    scored: np.ndarray
    """bool (plies,): where there is a score."""
    result: int
    """As in hcpe: 0 draw, 1 black wins, 2 white wins, with the sennichite, declaration and move-limit bits; or
    UNFINISHED."""
    ending: str
    """In the notation's own words."""
    names: tuple[str, str] = ("", "")
    ratings: tuple[float | None, float | None] = (None, None)
    headers: Mapping[str, str] = field(default_factory=dict)
    """What else stands above the moves, by KIF's own keys (開始日時, 棋戦, 持ち時間, ...), as it was written. A key
    that stands there several times has so many lines."""
    times: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    """i4 (plies + 1,): milliseconds that each move took, and after them the ending; -1 where it is not told."""
    comments: Mapping[int, list[str]] = field(default_factory=dict)
    """By the number of moves played before them, lines as KIF has them: `*` and a comment, `&` and a bookmark. Those
    below the ending stand under one number more than there are moves."""
    variations: str = ""
    """KIF's lines of the variations as they were read, from the first `変化：` on."""
    handicap_words: bool = False
    """Whether the players are called 下手 and 上手 there, as in handicap games, and not 先手 and 後手."""

    def hcpe3(self) -> bytes:
        """The game as hcpe3, all its positions to be learnt from."""
        return encode_game(self.hcp, self.result, self.moves, self.scores, scored=self.scored)


class GameBuilder:
    """Replays a game as it is read. Illegal moves raise GameError, but for one that ended the game."""

    def __init__(self, place: str, start_sfen: str = START_SFEN) -> None:
        self.place = place
        self.start_sfen = start_sfen
        self.pos = new_position()
        try:
            set_sfen(self.pos, start_sfen)
            if NO_KING in self.pos["king"]:
                raise ValueError(
                    "a king is missing; a tsume without the attacker's king is for `liteshogi mate --file`"
                )
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
        """Whether what is told is behind the ending."""

    @property
    def turn(self) -> int:
        return int(self.pos["turn"])

    @property
    def plies_told(self) -> int:
        """The moves, with the illegal one if the last was one."""
        return len(self.moves) + (self._illegal is not None)

    def refuse_more(self) -> None:
        """Raises GameError if the move before was illegal: nothing may follow it."""
        if self._illegal is not None:
            raise GameError(self._illegal, "an illegal move")

    def play(self, move: int, text: str = "") -> None:
        """Play a 16-bit move; text: as it is written, which a comment tells if it is one against the rules."""
        self.refuse_more()
        if len(self.moves) >= MAX_MOVES:
            raise GameError(f"more than {MAX_MOVES} moves")
        if not is_legal(self.pos, move):
            # A game may end by an illegal move and record it: `finish` decides.
            self._illegal = f"move {len(self.moves) + 1} ({move_to_usi(move) if move else 'none'}) is illegal"
            if text:
                self.comment(f"*反則手：{text}")
            return
        do_move(self.pos, move)
        self.moves.append(move)

    def time_of_last(self, milliseconds: int) -> None:
        """What the last move took."""
        self._times[self.plies_told - 1] = milliseconds

    def time_of_ending(self, milliseconds: int) -> None:
        """What the player took who then ended the game."""
        self._times[self.plies_told] = milliseconds

    def comment(self, line: str) -> None:
        """A line on the position as it stands, with KIF's mark before it: `*` a comment, `&` a bookmark."""
        self.comments.setdefault(len(self.moves) + self.ended, []).append(line)

    def score_of_last(self, black_score: int) -> None:
        """The score, in black's view, of the search that chose the last move."""
        if self.moves and self._illegal is None:
            self._scores[len(self.moves) - 1] = black_score

    def score_here(self, black_score: int) -> None:
        """A score, in black's view, of the position as it stands: an analysis. A player's own score comes first."""
        self._scores.setdefault(len(self.moves), black_score)

    def finish(self, ending: str, outcome: int | None, unfinished: bool = False) -> Game:
        """The game with an outcome, see the constants below (None: not told). If there is none to be found it is
        UNFINISHED where that may be, else GameError."""
        if self._illegal is not None and not self._ends_illegally(ending, outcome):
            raise GameError(self._illegal, "an illegal move")
        if not self.moves:
            raise GameError("no moves", "no moves")
        result = self.result(outcome)
        if result is None:
            if not unfinished:
                raise GameError(f"no result ({ending or 'it just stops'})", "no result")
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
        """Whether an ending says that the illegal move has lost."""
        if "ILLEGAL_ACTION" in ending:  # CSA names the side that broke the rules, here the one to move
            return outcome == (WHITE_WON, BLACK_WON)[self.turn]
        return outcome in (ILLEGAL_MOVE, ILLEGAL_BEFORE) or "反則" in ending

    def result(self, outcome: int | None) -> int | None:
        """The result byte of an outcome after these moves; None if it is not told and the position does not tell."""
        mover_wins = (BLACK_WINS, WHITE_WINS)[self.turn]
        mover_loses = (WHITE_WINS, BLACK_WINS)[self.turn]
        if outcome is None:
            # Checkmate and the fourth repetition need nobody to say so.
            if in_check(self.pos) and not list_moves(self.pos):
                return mover_loses
            if repetition.fourfold(self.pos) == repetition.NO_REPETITION:
                return None
            outcome = REPETITION
        if outcome == REPETITION:
            verdict = repetition.fourfold(self.pos)
            if verdict == repetition.WIN:
                return mover_wins
            return mover_loses if verdict == repetition.LOSS else DRAW | SENNICHITE
        return {
            MOVER_LOSES: mover_loses,
            MOVER_WINS: mover_wins,
            # Whoever made the move that was not played here is still to move.
            ILLEGAL_MOVE: mover_loses,
            ILLEGAL_BEFORE: mover_wins if self._illegal is None else mover_loses,
            MOVER_DECLARES: mover_wins | DECLARATION,
            BLACK_WON: BLACK_WINS,
            WHITE_WON: WHITE_WINS,
            DRAWN: DRAW,
            MOVES_USED_UP: DRAW | MOVE_LIMIT,
        }[outcome]


# What an ending says; `GameBuilder.finish` makes a result of it.
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
) = range(10)

_NUMBER = r"([+-]?[0-9]{1,9})"
# Scores that programs write into comments, all in centipawns of black's view: (pattern, whether it is of the search
# that chose the move above it; otherwise it judges the position after that move). What is looked for behind the first
# 候補1 is not looked for again behind each further one, which would take long lines the square of their length.
_COMMENT_SCORES = (
    (re.compile(rf"\*\s*{_NUMBER}(?:\s|$)"), True),  # floodgate, CSA 2.2: '** 123 +7776FU ...
    (re.compile(rf"\*対局.*?評価値\s*{_NUMBER}"), True),  # ShogiGUI, a player's search
    (re.compile(rf"\*評価値={_NUMBER}"), True),  # ShogiHome, a player's search
    (
        re.compile(rf"\*?(?:解析|検討)(?>.*?候補1\b).*?評価値\s*{_NUMBER}"),
        False,
    ),  # ShogiGUI, analysis: the best line only
    (re.compile(rf"#評価値={_NUMBER}"), False),  # ShogiHome, analysis
)
_COMMENT_MATES = (
    (re.compile(r"\*対局.*?評価値\s*([+-])詰"), True),
    (re.compile(r"\*詰み=(先手|後手)勝ち"), True),
    (re.compile(r"\*?(?:解析|検討)(?>.*?候補1\b).*?評価値\s*([+-])詰"), False),
    (re.compile(r"#詰み=(先手|後手)勝ち"), False),
)


def read_comment(comment: str, builder: GameBuilder) -> None:
    """Enter a comment's score, if it holds one, into the game; `comment` without the notation's own mark."""
    for pattern, of_last in _COMMENT_MATES:
        if match := pattern.match(comment):
            score = MATE_SCORE if match.group(1) in ("+", "先手") else -MATE_SCORE
            builder.score_of_last(score) if of_last else builder.score_here(score)
            return
    for pattern, of_last in _COMMENT_SCORES:
        if match := pattern.match(comment):
            score = int(match.group(1))
            builder.score_of_last(score) if of_last else builder.score_here(score)
            return
