"""Moves in CSA notation: `+7776FU`, `-0055KA`; the kind of piece is the one after the move."""

from __future__ import annotations

import re

import numpy as np

from lite.notation.game import GameBuilder, GameError, quoted
from search.rules.shogi import DROP_ORIGIN, EMPTY, HAND_KINDS, KINDS, PRO_PAWN, PROMOTE

_KINDS = ("FU", "KY", "KE", "GI", "KA", "HI", "KI", "OU", "TO", "NY", "NK", "NG", "UM", "RY")
KIND_OF = {name: kind for kind, name in enumerate(_KINDS)}
_MOVE = re.compile(r"([+-])([0-9]{2})([1-9]{2})([A-Z]{2})")


def csa_square(digits: str) -> int:
    """Return the square of two digits, file and rank."""
    return (int(digits[0]) - 1) * 9 + int(digits[1]) - 1


def csa_move(pos: np.void, move: int) -> str:
    """Return a 16-bit move of the side to move as a statement such as `+7776FU`."""
    target, origin = move & 127, move >> 7 & 127
    if origin >= DROP_ORIGIN:
        start, kind = "00", origin - DROP_ORIGIN
    else:
        start, kind = _digits(origin), int(pos["board"][origin]) % KINDS + (PRO_PAWN if move & PROMOTE else 0)
    return f"{'+-'[int(pos['turn'])]}{start}{_digits(target)}{_KINDS[kind]}"


def read_csa_move(text: str, builder: GameBuilder) -> int:
    """Return the 16-bit move of a statement such as `+7776FU` in the builder's position; it may be illegal, and is 0
    for a drop of a piece that no hand holds. Raises GameError if it is no move."""
    match = _MOVE.fullmatch(text.rstrip())
    if match is None or match.group(4) not in KIND_OF:
        raise GameError(f"cannot read the move {quoted(text, 20)}")
    colour, origin, target, name = match.groups()
    if "+-".index(colour) != builder.turn:
        raise GameError(f"{builder.next_move(text[:8])} has the sign of the other side")
    kind = KIND_OF[name]
    move = csa_square(target)
    if origin == "00":
        # A kind that cannot be in hand must not become the number of a square.
        return move | (DROP_ORIGIN + kind) << 7 if kind < HAND_KINDS else 0
    if "0" in origin:
        raise GameError(f"cannot read the move {quoted(text, 20)}")
    square = csa_square(origin)
    standing = int(builder.pos["board"][square])
    move |= square << 7
    if standing != EMPTY and standing % KINDS != kind:
        if standing % KINDS + PRO_PAWN != kind:
            raise GameError(f"{builder.next_move(text[:8])}: another piece stands on the square of origin")
        move |= PROMOTE
    return move


def _digits(square: int) -> str:
    return f"{square // 9 + 1}{square % 9 + 1}"
