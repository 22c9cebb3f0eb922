"""The ends of games: words of the server, the result for us, and the outcome for the record."""

from __future__ import annotations

from typing import Literal

from lite.notation.csa import OUTCOMES
from lite.notation.game import BLACK_WON, DRAWN, MOVER_LOSES, REPETITION, WHITE_WON, GameBuilder
from lite.records.formats import BLACK_WINS, DRAW, WHITE_WINS, WINNER_MASK

Result = Literal["win", "draw", "loss", "unfinished"]
RESULTS: dict[str, Result] = {
    "#WIN": "win",
    "#LOSE": "loss",
    "#DRAW": "draw",
    "#CENSORED": "draw",
    "#CHUDAN": "unfinished",
}
"""The result of each line that ends a game. shogi-server writes #CENSORED for a game at its limit of moves."""
GAME_OVER: dict[Result, str] = {"win": "win", "draw": "draw", "loss": "lose", "unfinished": "draw"}
"""USI's word after `gameover`."""
LOST = "connection lost"
"""The ending of a game whose end the server did not report."""
_WORDS = {"#RESIGN": "TORYO", "#OUTE_SENNICHITE": "oute_sennichite"}
"""CSA's words for endings that the server calls differently; others lose their mark."""
_OUTCOMES = OUTCOMES | {"illegal kachi": MOVER_LOSES, "oute_sennichite": REPETITION}
"""The outcome that a word means, which is taken where it gives the server's result."""


def ending_word(reason: str, result: Result, declared: bool) -> str:
    """Return the word for a server's reason such as `#RESIGN`; `declared`: the last move was %KACHI."""
    if declared and reason == "#ILLEGAL_MOVE":
        return "illegal kachi"
    if reason == "#JISHOGI" and result != "draw":
        return "KACHI"
    return _WORDS.get(reason, reason.lstrip("#"))


def outcome_of(word: str, result: Result, colour: int, builder: GameBuilder) -> int | None:
    """Return the outcome, as `GameBuilder.finish` takes it, that gives the server's result for the side `colour`.

    The server may end a game otherwise than the moves do: it lets the side to move win if the other one has gone.
    """
    if result == "unfinished":
        return None
    black_won = (result == "win") == (colour == 0)
    winner = DRAW if result == "draw" else BLACK_WINS if black_won else WHITE_WINS
    outcome = _OUTCOMES.get(word)
    if outcome is not None and (builder.result(outcome) or 0) & WINNER_MASK == winner:
        return outcome
    return DRAWN if result == "draw" else BLACK_WON if black_won else WHITE_WON
