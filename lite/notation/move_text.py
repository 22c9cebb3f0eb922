"""Write moves, squares and pieces in Japanese, as game records do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from search.rules.position import do_move
from search.rules.sfen import move_from_usi
from search.rules.shogi import DROP_ORIGIN, KINDS, PROMOTE

_PIECES = ("歩", "香", "桂", "銀", "角", "飛", "金", "玉", "と", "成香", "成桂", "成銀", "馬", "龍")
_FILES, _RANKS = "１２３４５６７８９", "一二三四五六七八九"


def line_text(pos: np.void, moves: Sequence[str]) -> str:
    """Return USI moves that are legal from a position as players read them: `▲５二金打 △同玉(51)`."""
    pos, texts, before = pos.copy(), list[str](), None
    for usi in moves:
        move = move_from_usi(usi)
        texts.append("▲△"[int(pos["turn"])] + move_text(pos, move, before).replace("　", ""))
        do_move(pos, np.int64(move))
        before = move
    return " ".join(texts)


def square_name(square: int) -> str:
    """Return the name of a square: `７六`."""
    file, rank = divmod(square, 9)
    return _FILES[file] + _RANKS[rank]


def piece_name(kind: int) -> str:
    """Return the name of a kind of piece: `歩`, `成銀`."""
    return _PIECES[kind]


def move_text(pos: np.void, move: int, before: int | None) -> str:
    """Return a move as KIF writes it: `７六歩(77)`, `同　銀成(31)`, `５五角打`."""
    target, origin = move & 127, move >> 7 & 127
    where = "同　" if before is not None and before & 127 == target else square_name(target)
    if origin >= DROP_ORIGIN:
        return f"{where}{_PIECES[origin - DROP_ORIGIN]}打"
    piece = _PIECES[int(pos["board"][origin]) % KINDS]
    return f"{where}{piece}{'成' if move & PROMOTE else ''}({origin // 9 + 1}{origin % 9 + 1})"
