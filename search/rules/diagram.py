"""A position as text, as YaneuraOu's command `d` prints it: board in Japanese, hands, side to move, and SFEN."""

from __future__ import annotations

import numpy as np

from search.rules.sfen import get_sfen
from search.rules.shogi import EMPTY, HAND_KINDS, KINDS

KANJI = "歩香桂銀角飛金玉と杏圭全馬龍"
"""One character for each kind: promoted lances, knights and silvers have substitutes."""
_EMPTY_SQUARE = " 口"


def draw(pos: np.void) -> str:
    """Return the lines of a diagram such as `^香^桂 口 歩 ...`.

    White's pieces are preceded by `^`, and rank a comes first. Hands, side to move and SFEN follow.
    """
    lines = ["".join(_cell(int(pos["board"][file * 9 + rank])) for file in range(8, -1, -1)) for rank in range(9)]
    black, white = (_held(hand) for hand in pos["hands"])
    mover = "後手" if pos["turn"] else "先手"
    hands = f"先手 手駒 : {black} , 後手 手駒 : {white}"
    return "\n".join([*lines, hands, f"手番 = {mover}", f"sfen {get_sfen(pos)}"])


def _cell(piece: int) -> str:
    return _EMPTY_SQUARE if piece == EMPTY else ("^" if piece >= KINDS else " ") + KANJI[piece % KINDS]


def _held(hand: np.ndarray) -> str:
    """Return the pieces of a hand, such as ` 歩5 角`."""
    counts = [(KANJI[kind], int(hand[kind])) for kind in range(HAND_KINDS)]
    return "".join(f" {name}{count if count > 1 else ''}" for name, count in counts if count)
