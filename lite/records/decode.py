"""Decode the raw bytes of hcpe, psv and hcpe3 files to labelled positions, in Numba.

Every position is checked by the rules of the search (`set_board`, `is_legal`, `do_move`). Impossible positions and
illegal moves are refused with an error number, because one bad record can make a training run diverge. hcpe3 games are
replayed move by move. A game with an illegal move is refused whole: the moves after it belong to another game.
"""

from __future__ import annotations

import numpy as np

from lite.records.formats import (
    BLACK_WINS,
    ENTERED,
    KIND_MASK,
    MAX_CANDIDATES,
    MAX_MOVES,
    NO_GAME,
    NO_RESULT,
    NO_SCORE,
    RESULT_MASK,
    WINNER_MASK,
    ZERO_IS_NO_SCORE,
    game_dtype,
    move_dtype,
)
from search.compiling.jit import jit
from search.primitives.bits import trailing_zeros
from search.rules import huffman
from search.rules.attacks import attackers
from search.rules.bitboard import GROUP, NONE
from search.rules.huffman import HCP, decode_position
from search.rules.movegen import is_legal
from search.rules.position import NO_KING, do_move, in_check, new_position
from search.rules.set_up import BOARD_ERRORS, DEAD_PIECE, OPPONENT_IN_CHECK, TOO_MANY_PIECES, TWO_PAWNS, set_board
from search.rules.shogi import (
    EMPTY,
    HAND_KINDS,
    KINDS,
    KING,
    KNIGHT,
    LANCE,
    NO_MOVE,
    PAWN,
    PIECES_IN_BOX,
    SQUARES,
    UNPROMOTED,
)
from search.rules.view import write_view

# Error numbers: those of search.rules.huffman, those of set_board plus _BOARD_BASE, and those of records.
_BOARD_BASE = 20
BAD_RESULT = 40
ILLEGAL_MOVE = 41
TRUNCATED = 42
BAD_CANDIDATES = 43
TOO_LONG = 44
ILLEGAL_CANDIDATE = 45
BAD_START = 46

RECORD_ERRORS = (
    huffman.ERROR_TEXT
    | {_BOARD_BASE + number: text for number, text in enumerate(BOARD_ERRORS) if number}
    | {
        BAD_RESULT: "an unknown game result",
        ILLEGAL_MOVE: "an illegal move",
        TRUNCATED: "the file ends inside it",
        BAD_CANDIDATES: "more candidate moves than a position can have",
        TOO_LONG: f"more than {MAX_MOVES} moves",
        ILLEGAL_CANDIDATE: "an illegal candidate move",
        BAD_START: "an unknown kind of first position",
    }
)

_SCORE = 32
_MOVE = 34
_HCPE_RESULT = 36
_PSV_MOVE_NUMBER = 36
_PSV_RESULT = 38
_HCPE_PADDING = 37
_PSV_PADDING = 39
_GAME_MOVES = 32
_GAME_RESULT = 34
_GAME_BYTES = game_dtype.itemsize
_MOVE_BYTES = move_dtype.itemsize
_CANDIDATE_BYTES = 4
_NO_PLY = -(1 << 31)
"""First ply of a game for which none is given."""

walked_dtype = np.dtype(
    [
        ("start", np.int64),  # offset of the game's first byte
        ("positions", np.int32),  # number of positions written; 0 if the game is refused
        ("ply", np.int32),  # ply of the error
        ("error", np.uint8),  # 0, or a key of RECORD_ERRORS
    ],
    align=True,
)
"""A replayed game."""


@jit
def _word(raw, at):
    """Return the little-endian unsigned 16-bit number at byte `at`."""
    return np.int64(raw[at]) | np.int64(raw[at + 1]) << 8


@jit
def _signed(word):
    """Return a 16-bit word as a signed number."""
    return word - 65536 if word >= 32768 else word


@jit
def _write_position(pos, out):
    """Write board, hands, turn and check of `pos` into a record of `labelled_dtype`, in the mover's view."""
    write_view(pos, out.pieces, out.hands)
    out.turn = pos.turn
    out.in_check = in_check(pos)


@jit
def _write_result(result, turn, out):
    """Write a result byte of hcpe or hcpe3 into a record of `labelled_dtype`, in the mover's view."""
    winner = result & WINNER_MASK
    if winner == 0:
        out.result = 0.5
    else:
        out.result = 1.0 if (winner == BLACK_WINS) == (turn == 0) else 0.0
    out.kind_of_result = result & KIND_MASK


def _piece_facts() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return four tables by piece: bitboard group, a 1 in the byte of the unpromoted kind (u8), a bit mask of the ranks
    where the piece could never move, and the pawn bit of its colour (1 or 1 << 16; 0 for other pieces)."""
    groups, units = np.zeros(EMPTY, np.uint8), np.zeros(EMPTY, np.uint64)
    dead, pawns = np.zeros(EMPTY, np.int64), np.zeros(EMPTY, np.int64)
    for piece in range(EMPTY):
        colour, kind = divmod(piece, KINDS)
        groups[piece] = GROUP[kind]
        units[piece] = 1 << 8 * int(UNPROMOTED[kind])
        ranks = {PAWN: 0b1, LANCE: 0b1, KNIGHT: 0b11}.get(kind, 0)
        dead[piece] = ranks if colour == 0 else int(f"{ranks:09b}"[::-1], 2)
        pawns[piece] = (kind == PAWN) << 16 * colour
    return groups, units, dead, pawns


_GROUP, _UNIT, _DEAD_RANKS, _PAWN_BIT = _piece_facts()
_UNITS_OF_HAND = _UNIT[:HAND_KINDS].copy()
_FILE = np.repeat(np.arange(9), 9)
_RANK = np.tile(np.arange(9), 9)
_HIGH_BITS = np.uint64(0x8080808080808080)
_ROOM = np.uint64(sum((127 - int(limit)) << 8 * kind for kind, limit in enumerate(PIECES_IN_BOX)))
"""Added to the packed counts of all kinds, this sets the high bit of each byte whose kind exceeds its limit."""


@jit
def _set_up_position(pos, board, hands, turn):
    """Set up a position on which no move will be made; return 0 or an error number of `set_board`.

    Fills the fields that attacks and `is_legal` read (board, hands, turn, kings, bitboards, checkers) and leaves keys
    and per-ply arrays unchanged. The loop walks the pieces instead of the squares and has no branch per piece, which
    takes a quarter of the time of `set_board`. `board` must come from `decode_position`: no unknown piece, one king of
    each colour."""
    low, high = NONE, NONE
    for square in range(63):
        low |= np.uint64(board[square] != EMPTY) << np.uint64(square)
    for square in range(63, SQUARES):
        high |= np.uint64(board[square] != EMPTY) << np.uint64(square - 63)
    for square in range(SQUARES):
        pos.board[square] = board[square]
    pos.colours[:] = NONE
    pos.groups[:] = NONE
    counts = NONE
    dead = 0
    seen = 0
    twice = 0
    for word in range(2):
        left = low if word == 0 else high
        while left != NONE:
            bit = left & (~left + np.uint64(1))
            square = trailing_zeros(left) + np.uint64(63 * word)
            left ^= bit
            piece = board[square]
            pos.groups[_GROUP[piece], word] |= bit
            pos.colours[np.uint8(piece >= KINDS), word] |= bit
            counts += _UNIT[piece]
            dead |= _DEAD_RANKS[piece] >> _RANK[square]
            pawn = _PAWN_BIT[piece] << _FILE[square]
            twice |= seen & pawn
            seen |= pawn
            if piece == KING:
                pos.king[0] = square
            elif piece == KINDS + KING:
                pos.king[1] = square
    for colour in range(2):
        for kind in range(HAND_KINDS):
            pos.hands[colour, kind] = hands[colour, kind]
            counts += _UNITS_OF_HAND[kind] * np.uint64(hands[colour, kind])
    if (counts + _ROOM) & _HIGH_BITS != NONE:
        return TOO_MANY_PIECES
    if dead & 1:
        return DEAD_PIECE
    pos.turn = turn
    pos.ply = 0
    a, b = attackers(pos, turn, np.int64(pos.king[1 - turn]), low, high)
    if (a | b) != NONE:
        return OPPONENT_IN_CHECK
    if twice:
        return TWO_PAWNS
    a, b = attackers(pos, 1 - turn, np.int64(pos.king[turn]), low, high)
    pos.checkers[0], pos.checkers[1] = a, b
    return 0


@jit
def _set_up_game(raw, at, pos, board, hands):
    """Set up `pos` for replaying moves from the hcp at byte `at`; return 0 or an error number."""
    turn = decode_position(raw[at : at + 32], np.int64(HCP), board, hands)
    if turn < 0:
        return -turn
    error = set_board(pos, board, hands, turn, np.int64(1))
    if error != 0:
        return _BOARD_BASE + error
    return np.int64(0)


@jit
def decode_positions(raw, width, dialect, check_moves, zero_is_score, pos, out, errors):
    """Decode hcpe (dialect HCP, width 38) or psv (PSV, 40) records.

    raw: u1[n * width]; pos: a scratch position record; out: `labelled_dtype`[>= n]; errors: u1[n], 0 for each good
    record. Returns the number of good records, which fill `out` from its start. With `check_moves` a record with an
    illegal move is refused, otherwise its move becomes 0. A move from a square to itself means no move (psv writes win
    and resign so). Without `zero_is_score` a score of 0 means that the score is unknown."""
    board = np.empty(SQUARES, np.uint8)
    hands = np.zeros((2, HAND_KINDS), np.uint8)
    taken = 0
    for index in range(min(errors.size, out.size)):
        at = index * width
        if at + width > raw.size:
            errors[index] = TRUNCATED
            continue
        turn = decode_position(raw[at : at + 32], dialect, board, hands)
        if turn < 0:
            errors[index] = -turn
            continue
        error = _set_up_position(pos, board, hands, turn)
        if error != 0:
            errors[index] = _BOARD_BASE + error
            continue
        record = out[taken]
        move = _word(raw, at + _MOVE)
        if dialect == HCP:
            result = np.int64(raw[at + _HCPE_RESULT])
            if result & WINNER_MASK == 3 or result & ~RESULT_MASK != 0:
                errors[index] = BAD_RESULT
                continue
            _write_result(result, pos.turn, record)
            record.ply = -1
            padding = raw[at + _HCPE_PADDING]
        else:
            result = np.int64(raw[at + _PSV_RESULT])
            if result > 1 and result != 255:
                errors[index] = BAD_RESULT
                continue
            record.result = 1.0 if result == 1 else (0.5 if result == 0 else 0.0)
            record.kind_of_result = 0
            record.ply = min(_word(raw, at + _PSV_MOVE_NUMBER) - 1, 32767)
            padding = raw[at + _PSV_PADDING]
            origin = (move >> 7) & 127
            if move & 0x4000:
                origin = origin + 80 if 1 <= origin <= HAND_KINDS else 127
            move = (move & 127) | origin << 7 | (move >> 15) << 14
        if (move & 127) == (move >> 7) & 127:
            move = NO_MOVE
        if move != NO_MOVE and not is_legal(pos, move):
            if check_moves:
                errors[index] = ILLEGAL_MOVE
                continue
            move = NO_MOVE
        _write_position(pos, record)
        record.move = move
        record.visits_at = -1
        record.score = _signed(_word(raw, at + _SCORE))
        without_game = padding == NO_RESULT and record.result == 0.5
        record.scored = record.score != 0 or without_game or (zero_is_score and padding != NO_SCORE)
        if without_game:
            record.kind_of_result |= NO_GAME
        errors[index] = 0
        taken += 1
    return taken


@jit
def _measure_game(raw, at):
    """Return (stop, moves, searched, score_found, error) of the hcpe3 game at byte `at` of `raw` (u1).

    stop: the byte after the game; searched: number of its moves that have candidates; score_found: whether any score
    differs from 0; error: 0, or the reason why the end of the game is unknown (the other values are then undefined)."""
    size = np.int64(raw.size)
    searched = np.int64(0)
    score_found = False
    if at + _GAME_BYTES > size:
        return at, np.int64(0), searched, score_found, TRUNCATED
    moves = _word(raw, at + _GAME_MOVES)
    if moves > MAX_MOVES:
        return at, np.int64(0), searched, score_found, TOO_LONG
    reach = at + _GAME_BYTES
    for _ in range(moves):
        if reach + _MOVE_BYTES > size:
            return at, np.int64(0), searched, score_found, TRUNCATED
        score_found |= _word(raw, reach + 2) != 0
        candidates = _word(raw, reach + 4)
        if candidates > MAX_CANDIDATES:
            return at, np.int64(0), searched, score_found, BAD_CANDIDATES
        searched += candidates > 0
        reach += _MOVE_BYTES + _CANDIDATE_BYTES * candidates
    if reach > size:
        return at, np.int64(0), searched, score_found, TRUNCATED
    return reach, moves, searched, score_found, 0


@jit
def scan_games(raw, begin, positions):
    """Step over whole hcpe3 games from byte `begin` of `raw` (u1) until they have at least `positions` moves.

    Returns (end, games, positions, learnable, error). end: the byte after the last whole game; games, positions: the
    numbers before it; learnable: how many positions `walk_games` returns if it refuses no game; error: why the scan
    stopped early, 0 if it did not or if the data ended between games."""
    at = np.int64(begin)
    games = total = learnable = 0
    while at < raw.size and total < positions:
        stop, moves, searched, _, error = _measure_game(raw, at)
        if error != 0:
            return at, games, total, learnable, error
        at = stop
        games += 1
        total += moves
        learnable += searched if searched > 0 else moves
    return at, games, total, learnable, 0


@jit
def _king_entered(pos, colour):
    """Return whether the king of `colour` stands on one of the three ranks where the enemy's pieces start."""
    king = np.int64(pos.king[colour & 1])
    return king != NO_KING and (king % 9 < 3 if colour == 0 else king % 9 > 5)


@jit
def _illegal_candidates(raw, at, count, pos):
    """Return how many candidates of the move at byte `at` are illegal."""
    found = 0
    for number in range(count):
        found += not is_legal(pos, _word(raw, at + _MOVE_BYTES + _CANDIDATE_BYTES * number))
    return found


@jit
def _walk_game(raw, at, first_ply, read_visits, pos, board, hands, out):
    """Replay the hcpe3 game at byte `at` of `raw`, and write its positions to the start of `out`.

    Returns (stop, positions, error, ply): the byte after the game, its number of positions, 0 or an error number, and
    the ply of the error. A refused game has no positions. first_ply: `_NO_PLY` means that none is given. board, hands:
    room for `decode_position`. Others as in `walk_games`."""
    stop, moves, searched, score_found, broken = _measure_game(raw, at)
    if broken != 0 or moves > out.size:
        return at, 0, TRUNCATED, 0
    error = _set_up_game(raw, at, pos, board, hands)
    if error != 0:
        return stop, 0, error, 0
    result = np.int64(raw[at + _GAME_RESULT])
    if result & WINNER_MASK == 3 or result & ~(RESULT_MASK | ZERO_IS_NO_SCORE) != 0:
        return stop, 0, BAD_RESULT, 0
    zero_is_score = (score_found or moves == 1) and result & ZERO_IS_NO_SCORE == 0
    if first_ply == _NO_PLY:
        first_ply = np.int64(-(moves == 1))
    at += _GAME_BYTES
    positions = 0
    for ply in range(moves):
        move = _word(raw, at)
        candidates = _word(raw, at + 4)
        if not is_legal(pos, move):
            return stop, 0, ILLEGAL_MOVE, ply
        if read_visits and _illegal_candidates(raw, at, candidates, pos):
            return stop, 0, ILLEGAL_CANDIDATE, ply
        if candidates > 0 or searched == 0:
            record = out[positions]
            _write_position(pos, record)
            _write_result(result, pos.turn, record)
            record.score = _signed(_word(raw, at + 2))
            record.scored = zero_is_score or record.score != 0
            record.ply = min(first_ply + ply, 32767)
            record.move = move
            record.visits_at = at if read_visits and candidates > 0 else -1
            positions += 1
        at += _MOVE_BYTES + _CANDIDATE_BYTES * candidates
        do_move(pos, move)
    return stop, positions, 0, 0


@jit
def _mark_entered(pos, positions):
    """Set the bit ENTERED of a game's positions whose mover's king has entered in `pos`, the end of the game."""
    for index in range(positions.size):
        if _king_entered(pos, np.int64(positions[index].turn)):
            positions[index].kind_of_result |= ENTERED


@jit
def walk_games(raw, first_plies, mark_entered, read_visits, pos, out, games):
    """Replay whole hcpe3 games of `raw` (u1, divided by `scan_games`) and return the number of positions written.

    first_plies: i4[games], plies played before each game's first position. If it is empty, games start at ply 0, and
    the ply of one-move games is -1 (unknown), since they may be positions without their games.
    mark_entered: set the bit ENTERED in kind_of_result. read_visits: check the candidates and set visits_at.
    out: `labelled_dtype`[>= positions]. games: `walked_dtype`[games], which is filled.
    Never reads beyond `raw` or writes beyond `out`: a game that does not fit is TRUNCATED, and so are all after it.

    If some moves of a game have candidates (visit counts of a search), the moves without candidates give no training
    positions, as in dlshogi. A game without any candidates gives all its positions."""
    board = np.empty(SQUARES, np.uint8)
    hands = np.zeros((2, HAND_KINDS), np.uint8)
    at = np.int64(0)
    taken = 0
    for number in range(games.size):
        game = games[number]
        game.start = at
        first_ply = np.int64(first_plies[number]) if first_plies.size else np.int64(_NO_PLY)
        found = _walk_game(raw, at, first_ply, read_visits, pos, board, hands, out[taken:])
        at, game.positions, game.error, game.ply = found
        if mark_entered:
            _mark_entered(pos, out[taken : taken + game.positions])
        taken += game.positions
    return taken


def scratch_position() -> np.void:
    """Return a position record for the functions above; each thread needs its own."""
    return new_position()
