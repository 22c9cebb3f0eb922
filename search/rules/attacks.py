"""Squares that pieces attack over a set of occupied squares, and pieces that attack a square."""

from __future__ import annotations

from search.compiling.jit import jit
from search.rules.bitboard import DIAGONAL_LINES, DRAGONS, HORSES, NONE, RAYS, STEP, STRAIGHT_LINES, N, S
from search.rules.shogi import BISHOP, DRAGON, GOLD, HORSE, KINDS, KING, KNIGHT, LANCE, PAWN, ROOK, SILVER
from search.rules.sliders import bishop_attacks, lance_attacks, rook_attacks


@jit
def attacks(piece, square, low, high):
    """Return the squares that a piece attacks over the occupied squares (low, high): two words."""
    square &= 127
    piece &= 31
    colour = 1 if piece >= KINDS else 0
    kind = piece - colour * KINDS
    if kind == LANCE:
        return lance_attacks(colour, square, low, high)
    a, b = STEP[piece, square, 0], STEP[piece, square, 1]
    if kind == BISHOP or kind == HORSE:
        c, d = bishop_attacks(square, low, high)
        return a | c, b | d
    if kind == ROOK or kind == DRAGON:
        c, d = rook_attacks(square, low, high)
        return a | c, b | d
    return a, b


@jit
def slides(kind):
    """Return whether a kind moves along lines."""
    return kind == LANCE or kind == BISHOP or kind == ROOK or kind >= HORSE


@jit
def attackers(pos, colour, square, low, high):
    """Return the pieces of `colour` that attack `square` over the occupied squares (low, high): two words.

    A piece attacks the square if the same piece of the other colour, standing there, attacks it.
    """
    square &= 127
    colour &= 1
    own = (1 - colour) * KINDS
    g = pos.groups
    found_low, found_high = NONE, NONE
    for kind in (PAWN, KNIGHT, SILVER, GOLD):
        found_low |= STEP[own + kind, square, 0] & g[kind, 0]
        found_high |= STEP[own + kind, square, 1] & g[kind, 1]
    found_low |= STEP[KING, square, 0] & (g[KING, 0] | g[HORSES, 0] | g[DRAGONS, 0])
    found_high |= STEP[KING, square, 1] & (g[KING, 1] | g[HORSES, 1] | g[DRAGONS, 1])
    found_low &= pos.colours[colour, 0]
    found_high &= pos.colours[colour, 1]
    a, b = sliding_attackers(pos, colour, square, low, high)
    return found_low | a, found_high | b


@jit
def sliding_attackers(pos, colour, square, low, high):
    """Return bishops, rooks and lances of `colour`, promoted or not, whose sliding part reaches `square`: two words."""
    square &= 127
    colour &= 1
    g = pos.groups
    c_low, c_high = pos.colours[colour, 0], pos.colours[colour, 1]
    found_low, found_high = NONE, NONE
    # Test the line on the empty board first: most squares have no slider on it, and the attack need not be computed.
    s_low, s_high = (g[BISHOP, 0] | g[HORSES, 0]) & c_low, (g[BISHOP, 1] | g[HORSES, 1]) & c_high
    if (DIAGONAL_LINES[square, 0] & s_low) | (DIAGONAL_LINES[square, 1] & s_high):
        a, b = bishop_attacks(square, low, high)
        found_low |= a & s_low
        found_high |= b & s_high
    s_low, s_high = (g[ROOK, 0] | g[DRAGONS, 0]) & c_low, (g[ROOK, 1] | g[DRAGONS, 1]) & c_high
    if (STRAIGHT_LINES[square, 0] & s_low) | (STRAIGHT_LINES[square, 1] & s_high):
        a, b = rook_attacks(square, low, high)
        found_low |= a & s_low
        found_high |= b & s_high
    s_low, s_high = g[LANCE, 0] & c_low, g[LANCE, 1] & c_high
    side = S if colour == 0 else N  # a black lance attacks from the south, a white one from the north
    if (RAYS[side, square, 0] & s_low) | (RAYS[side, square, 1] & s_high):
        a, b = lance_attacks(1 - colour, square, low, high)
        found_low |= a & s_low
        found_high |= b & s_high
    return found_low, found_high


@jit
def sliders_to(pos, square, low, high):
    """Return sliders of both colours, promoted or not, whose sliding part reaches `square`: two words."""
    square &= 127
    g, c = pos.groups, pos.colours
    found_low, found_high = NONE, NONE
    s_low, s_high = (g[BISHOP, 0] | g[HORSES, 0]) & low, (g[BISHOP, 1] | g[HORSES, 1]) & high
    if (DIAGONAL_LINES[square, 0] & s_low) | (DIAGONAL_LINES[square, 1] & s_high):
        a, b = bishop_attacks(square, low, high)
        found_low |= a & s_low
        found_high |= b & s_high
    # Rooks on all four lines; a black lance attacks from the south, a white one from the north.
    s_low, s_high = g[ROOK, 0] | g[DRAGONS, 0], g[ROOK, 1] | g[DRAGONS, 1]
    s_low |= g[LANCE, 0] & ((RAYS[S, square, 0] & c[0, 0]) | (RAYS[N, square, 0] & c[1, 0]))
    s_high |= g[LANCE, 1] & ((RAYS[S, square, 1] & c[0, 1]) | (RAYS[N, square, 1] & c[1, 1]))
    s_low &= low
    s_high &= high
    if (STRAIGHT_LINES[square, 0] & s_low) | (STRAIGHT_LINES[square, 1] & s_high):
        a, b = rook_attacks(square, low, high)
        found_low |= a & s_low
        found_high |= b & s_high
    return found_low, found_high


@jit
def attackers_of_both(pos, square, low, high):
    """Return the pieces of both colours that attack `square` over the occupied squares (low, high): two words."""
    square &= 127
    g, c = pos.groups, pos.colours
    black_low, black_high = NONE, NONE
    white_low, white_high = NONE, NONE
    for kind in (PAWN, KNIGHT, SILVER, GOLD):
        black_low |= STEP[KINDS + kind, square, 0] & g[kind, 0]
        black_high |= STEP[KINDS + kind, square, 1] & g[kind, 1]
        white_low |= STEP[kind, square, 0] & g[kind, 0]
        white_high |= STEP[kind, square, 1] & g[kind, 1]
    found_low = (black_low & c[0, 0]) | (white_low & c[1, 0])
    found_high = (black_high & c[0, 1]) | (white_high & c[1, 1])
    found_low |= STEP[KING, square, 0] & (g[KING, 0] | g[HORSES, 0] | g[DRAGONS, 0])
    found_high |= STEP[KING, square, 1] & (g[KING, 1] | g[HORSES, 1] | g[DRAGONS, 1])
    a, b = sliders_to(pos, square, low, high)
    return found_low | a, found_high | b
