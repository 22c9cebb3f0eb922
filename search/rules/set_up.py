"""Setting up a position, and refusing positions that no game can reach."""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.rules.attacks import attackers
from search.rules.bitboard import GROUPS, NONE
from search.rules.position import (
    HAND_KEYS,
    NO_KING,
    PARTS,
    PIECE_KEYS,
    SIDE_KEY,
    occupied,
    packed_hand,
    toggle,
    write_no_change,
    write_parts,
)
from search.rules.shogi import EMPTY, HAND_KINDS, KINDS, KING, KNIGHT, LANCE, PAWN, PIECES_IN_BOX, SQUARES, UNPROMOTED

# Results of `set_board`.
BOARD_OK, BAD_PIECE, TOO_MANY_PIECES, TWO_KINGS, TWO_PAWNS, DEAD_PIECE, OPPONENT_IN_CHECK, BAD_TURN = range(8)
BOARD_ERRORS = (
    "",
    "an unknown piece on the board",
    "more pieces of a kind than a set has",
    "two kings of one colour",
    "two unpromoted pawns of one colour on a file",
    "a pawn, lance or knight that can never move",
    "the side that is not to move is in check",
    "an unknown side to move",
)


@jit
def _find_checkers(pos):
    king = np.int64(pos.king[pos.turn])
    if king == NO_KING:
        return NONE, NONE
    low, high = occupied(pos)
    return attackers(pos, 1 - pos.turn, king, low, high)


@jit
def set_board(pos, board, hands, turn, game_ply):
    """Set a record up from board uint8 [81] and hands uint8 [2, 7]; return BOARD_OK or an error number.

    Positions are refused if no game can reach them and the rules here could not continue from them. Missing kings are
    accepted (mate problems have one king), and missing pieces too (handicaps). TWO_PAWNS is returned only if nothing
    else is wrong, and the record is then complete: the rules of moving work with two pawns on a file.
    """
    if turn > 1 or turn < 0:
        return BAD_TURN
    counts = np.zeros(KINDS, np.int64)
    for square in range(SQUARES):
        if board[square] > EMPTY:
            return BAD_PIECE
        if board[square] < EMPTY:
            counts[UNPROMOTED[board[square] % KINDS]] += 1
    for kind in range(HAND_KINDS):
        counts[kind] += np.int64(hands[0, kind]) + np.int64(hands[1, kind])
    for kind in range(KING + 1):
        if counts[kind] > PIECES_IN_BOX[kind]:
            return TOO_MANY_PIECES
    # Loops, because an assignment to a slice takes Numba seconds to compile.
    for colour in range(2):
        pos.king[colour] = NO_KING
        for word in range(2):
            pos.colours[colour, word] = NONE
    for group in range(GROUPS):
        for word in range(2):
            pos.groups[group, word] = NONE
    for square in range(SQUARES):
        pos.board[square] = EMPTY
    for part in range(PARTS):
        pos.part_keys[0, part] = NONE
    pos.ply = 0
    pos.game_ply = game_ply
    pos.plies_from_null = 0
    pos.turn = turn
    board_key = SIDE_KEY if turn == 1 else NONE
    error = BOARD_OK
    pawn_files = np.zeros((2, 9), np.uint8)
    for square in range(SQUARES):
        piece = board[square]
        if piece == EMPTY:
            continue
        colour, kind = piece // KINDS, piece % KINDS
        rank = square % 9 if colour == 0 else 8 - square % 9
        if ((kind == PAWN or kind == LANCE) and rank == 0) or (kind == KNIGHT and rank < 2):
            return DEAD_PIECE
        if kind == PAWN:
            if pawn_files[colour, square // 9]:
                error = TWO_PAWNS
            pawn_files[colour, square // 9] = 1
        if kind == KING:
            if pos.king[colour] != NO_KING:
                return TWO_KINGS
            pos.king[colour] = square
        pos.board[square] = piece
        toggle(pos, np.int64(piece), square)
        write_parts(pos, np.int64(0), np.int64(piece), square)
        board_key ^= PIECE_KEYS[piece, square]
    hand_key = NONE
    for colour in range(2):
        for kind in range(HAND_KINDS):
            pos.hands[colour, kind] = hands[colour, kind]
            hand_key ^= HAND_KEYS[colour, kind, hands[colour, kind]]
        pos.packed_hands[0, colour] = packed_hand(pos, colour)
    low, high = occupied(pos)
    waiting = pos.king[1 - turn]
    if waiting != NO_KING:
        a, b = attackers(pos, turn, waiting, low, high)
        if (a | b) != NONE:
            return OPPONENT_IN_CHECK
    a, b = _find_checkers(pos)
    pos.checkers[0], pos.checkers[1] = a, b
    pos.all_checkers[0, 0], pos.all_checkers[0, 1] = a, b
    pos.key = board_key ^ hand_key
    pos.keys[0] = pos.key
    pos.board_keys[0] = board_key
    pos.moves[0] = 0
    pos.captured[0] = EMPTY
    pos.null_distance[0] = 0
    write_no_change(pos, np.int64(0))
    return error
