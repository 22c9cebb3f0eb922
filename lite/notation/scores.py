"""Read the scores that programs write into comments.

All are in centipawns of black's view. A score belongs to the search that chose the move above the comment, or to an
analysis of the position after that move. Known forms, without the notation's own comment mark:

- floodgate and CSA: `* 123 +7776FU ...` (the move above)
- ShogiHome: `*評価値=123`, `*詰み=先手勝ち:5手` (the move above), `#評価値=123`, `#詰み=先手勝ち` (the position)
- ShogiGUI and ShogiHome: `*対局 時間 ... 深さ ... 評価値 123 読み筋` (the move above), `*解析 ...`, `*検討 ...` (the
  position). Every part is optional. Scores of another candidate than the first (`候補2`) are ignored.
- Kishin Analytics: `* ... 評価値 123` (the position)
- K-Shogi and Piyo Shogi: `#形勢[123]`, `#指し手[123]` (the position)

A mate is `+詰`, `-詰 7`, `mate -7`, or the number of a large score.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lite.notation.game import MATE_SCORE, GameBuilder
from lite.notation.numbers import half_width

# The quantifiers are possessive, which keeps the time of long lines linear.
_NUMBER = r"(?P<number>[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})++|[0-9]{1,9}+)(?:\.[0-9]{1,9}+)?+)(?!\s*+%)"
_MATE = r"(?P<before>[+-])?\s*+(?:詰み?|mate)\s*+(?P<after>[+-])?(?P<plies>[0-9]{1,4})?"
_VALUE = rf"(?:{_NUMBER}|{_MATE})"
_FLOODGATE = re.compile(rf"\*\s*+{_VALUE}(?:\s|$)", re.IGNORECASE)
_SHOGIHOME = re.compile(rf"[*#]評価値\s*+[=:]?\s*+{_VALUE}", re.IGNORECASE)
_WINNER = re.compile(r"[*#]詰み\s*+[=:]\s*+(先手|後手)勝ち")
_K_SHOGI = re.compile(rf"#(?:形勢|指し手)\[\s*+{_VALUE}", re.IGNORECASE)
_GUI = re.compile(r"\*?\s*+(?:棋譜)?(?P<kind>対局|解析|検討)|\*\s|\*(?=候補|時間|深さ|ノード数)")
_PART = re.compile(rf"候補手?\s*+[=:]?\s*+(?P<candidate>[0-9]{{1,4}}+)|評価値\s*+[=:]?\s*+{_VALUE}", re.IGNORECASE)


@dataclass(frozen=True)
class CommentScore:
    """A score read from a comment."""

    score: int
    """Centipawns in black's view; a mate is +-MATE_SCORE."""
    of_last: bool
    """Whether the score is from the search that chose the last move, not from an analysis of the position."""


def comment_score(comment: str) -> CommentScore | None:
    """Return the score that a comment holds, if any; `comment` is given without the notation's mark."""
    text = half_width(comment)
    if match := _WINNER.match(text):
        return CommentScore(MATE_SCORE if match[1] == "先手" else -MATE_SCORE, text[0] == "*")
    for pattern in (_FLOODGATE, _SHOGIHOME, _K_SHOGI):
        if match := pattern.match(text):
            score = _value(match)
            return None if score is None else CommentScore(score, text[0] == "*")
    if not (kind := _GUI.match(text)):
        return None
    candidate = 1
    for part in _PART.finditer(text, kind.end()):
        if part["candidate"]:
            candidate = int(part["candidate"])
        elif candidate == 1 and (score := _value(part)) is not None:
            return CommentScore(score, kind["kind"] == "対局")
    return None


def _value(match: re.Match[str]) -> int | None:
    """Return the score of a match of `_VALUE`; None for a mate without a sign or a number of plies."""
    if match["number"]:
        return round(float(match["number"].replace(",", "")))
    signs = (match["before"] or "") + (match["after"] or "")
    if not signs and not match["plies"]:
        return None
    return -MATE_SCORE if signs.count("-") == 1 else MATE_SCORE


def read_comment(comment: str, builder: GameBuilder) -> None:
    """Set the score that a comment holds, if any; `comment` is given without the notation's mark."""
    if found := comment_score(comment):
        (builder.score_of_last if found.of_last else builder.score_here)(found.score)
