"""A position as YaneuraOu's `d` shows it: the board in Japanese, hands, mover, and the SFEN."""

from __future__ import annotations

import numpy as np

from search.rules.sfen import get_sfen
from search.rules.shogi import EMPTY, HAND_KINDS, KINDS

KANJI = "歩香桂銀角飛金玉と杏圭全馬龍"
"""By kind, in one character: promoted lances, knights and silvers have stand-ins."""
_EMPTY_SQUARE = " 口"


def draw(pos: np.void) -> str:
    """Lines as in: `^香^桂 口 歩 ...`, white's pieces behind a `^`, rank a first; hands, mover and SFEN below."""
    lines = ["".join(_cell(int(pos["board"][file * 9 + rank])) for file in range(8, -1, -1)) for rank in range(9)]
    black, white = (_held(hand) for hand in pos["hands"])
    mover = "後手" if pos["turn"] else "先手"
    hands = f"先手 手駒 : {black} , 後手 手駒 : {white}"
    return "\n".join([*lines, hands, f"手番 = {mover}", f"sfen {get_sfen(pos)}"])


def _cell(piece: int) -> str:
    return _EMPTY_SQUARE if piece == EMPTY else ("^" if piece >= KINDS else " ") + KANJI[piece % KINDS]


def _held(hand: np.ndarray) -> str:
    """As in ` 歩5 角`."""
    counts = [(KANJI[kind], int(hand[kind])) for kind in range(HAND_KINDS)]
    return "".join(f" {name}{count if count > 1 else ''}" for name, count in counts if count)
