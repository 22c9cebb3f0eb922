"""The two 32-byte Huffman codes of a shogi position: `hcp` (Apery, dlshogi, cshogi) and psv's `sfen` (YaneuraOu).

Both write bits from the lowest of the first byte upward: the turn (1 bit), the kings' squares (7 + 7 bits, black's
first), the other 79 squares in order, then the hands. A piece in hand takes exactly as many bits as the same piece on a
square takes more than an empty square, so 40 pieces always fill the 256 bits. Pieces that a handicap game leaves out
are written as piece-box codes after the hands. The dialects differ in a few codes and in whether colour or promotion
comes first (Apery's huffmanCodedPos.hpp, YaneuraOu's sfen_packer.cpp).

`decode_position` and `encode_position` are jitted and return an error number; `decode` and `encode` are for Python.
"""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.rules.shogi import (
    BISHOP,
    BLACK,
    EMPTY,
    GOLD,
    HAND_KINDS,
    KINDS,
    KING,
    KNIGHT,
    LANCE,
    PAWN,
    PIECES_IN_BOX,
    PRO_PAWN,
    ROOK,
    SILVER,
    SQUARES,
    WHITE,
)

HCP, PSV = 0, 1
"""The dialects: first index of the tables below."""

CODE_BYTES = 32
CODE_BITS = 8 * CODE_BYTES

OK = 0
BAD_CODE = 1
BAD_LENGTH = 2
BAD_KING = 3
TOO_MANY_PIECES = 4
TWO_PAWNS = 5
DEAD_PIECE = 6

ERROR_TEXT = {
    OK: "no error",
    BAD_CODE: "bits that do not encode a piece",
    BAD_LENGTH: "pieces that do not fill 256 bits",
    BAD_KING: "a missing king, a king off the board, or both kings on one square",
    TOO_MANY_PIECES: "more pieces of a kind than a set has",
    TWO_PAWNS: "two pawns of a side on a file",
    DEAD_PIECE: "a piece that could never move",
}

# The bits of each code, in the order in which they are read. A board code is followed by colour and promotion (hcp) or
# promotion and colour (psv), a gold's by colour alone; a hand code by colour; a piece-box code by nothing.
_BOARD_CODES = (
    {PAWN: "10", LANCE: "1100", KNIGHT: "1110", SILVER: "1101", BISHOP: "111110", ROOK: "111111", GOLD: "11110"},
    {PAWN: "10", LANCE: "1100", KNIGHT: "1101", SILVER: "1110", BISHOP: "111110", ROOK: "111111", GOLD: "11110"},
)
_HAND_CODES = (
    {PAWN: "00", LANCE: "1000", KNIGHT: "1100", SILVER: "1010", BISHOP: "111110", ROOK: "111111", GOLD: "1110"},
    {PAWN: "00", LANCE: "1000", KNIGHT: "1010", SILVER: "1100", BISHOP: "111100", ROOK: "111110", GOLD: "1110"},
)
_BOX_CODES = (
    {PAWN: "010", LANCE: "10010", KNIGHT: "11010", SILVER: "10110", BISHOP: "1111000", ROOK: "1111010", GOLD: "10111"},
    {PAWN: "010", LANCE: "10010", KNIGHT: "10110", SILVER: "11010", BISHOP: "1111010", ROOK: "1111110", GOLD: "11011"},
)
_HAND_ORDER = (PAWN, LANCE, KNIGHT, SILVER, GOLD, BISHOP, ROOK)
"""The order in which cshogi writes the kinds of hands and box, in both dialects; readers accept any order."""

_IN_BOX = 16
"""Flag in a hand table's entry: the piece is in the box. The low 3 bits are the kind, bit 3 the colour."""
_LENGTH_SHIFT = 8
_LONGEST = 255
"""Mask of the longest code, 8 bits: a bishop or rook on the board with colour and promotion."""
_PADDED = CODE_BYTES + 8

# One look-up of 10 bits gives a run of up to four squares: most are empty or pawns. An entry packs in u4 the pieces (5
# bits each), their number and the bits that they take. This needs a third of the look-ups, each of which waits for the
# one before, and halves the time.
_RUN, _RUN_BITS = 4, 10
_RUN_MASK = (1 << _RUN_BITS) - 1
_RUN_COUNT, _RUN_LENGTH = 20, 24


def _build_tables() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Build the decoding and the encoding tables.

    Decoding: u2 [2][256] for squares and for hands (value | length << 8; 0 is no code). Encoding, packed in the same
    way: u2 [2][29] by piece, and [2][3][7] by owner (black, white, box) and kind.
    """
    board_decode = np.zeros((2, 256), np.uint16)
    hand_decode = np.zeros((2, 256), np.uint16)
    board_encode = np.zeros((2, EMPTY + 1), np.uint16)
    hand_encode = np.zeros((2, 3, HAND_KINDS), np.uint16)

    def enter(decode: np.ndarray, bits: str, value: int) -> int:
        code = sum(int(bit) << i for i, bit in enumerate(bits))
        for rest in range(256 >> len(bits)):
            slot = code | rest << len(bits)
            assert decode[slot] == 0, "the code is not prefix-free"
            decode[slot] = value | len(bits) << _LENGTH_SHIFT
        return code | len(bits) << _LENGTH_SHIFT

    for dialect in (HCP, PSV):
        board_encode[dialect, EMPTY] = enter(board_decode[dialect], "0", EMPTY)
        for kind in range(HAND_KINDS):
            for colour in (BLACK, WHITE):
                for promoted in range(1 if kind == GOLD else 2):
                    marks = f"{colour}{promoted}" if dialect == HCP else f"{promoted}{colour}"
                    bits = _BOARD_CODES[dialect][kind] + (str(colour) if kind == GOLD else marks)
                    # Promoted kinds follow the king: +P +L +N +S +B +R, in the order of P L N S B R.
                    piece = colour * KINDS + (PRO_PAWN + kind if promoted else kind)
                    board_encode[dialect, piece] = enter(board_decode[dialect], bits, piece)
                bits = _HAND_CODES[dialect][kind] + str(colour)
                hand_encode[dialect, colour, kind] = enter(hand_decode[dialect], bits, kind | colour << 3)
            hand_encode[dialect, 2, kind] = enter(hand_decode[dialect], _BOX_CODES[dialect][kind], kind | _IN_BOX)
    return board_decode, hand_decode, board_encode, hand_encode


def _build_runs(board_decode: np.ndarray) -> np.ndarray:
    """Build the table of the complete codes at the start of 10 bits: u4 [2][1024]."""
    runs = np.zeros((2, 1 << _RUN_BITS), np.uint32)
    for dialect in (HCP, PSV):
        for bits in range(1 << _RUN_BITS):
            packed = count = used = 0
            while count < _RUN:
                entry = int(board_decode[dialect, bits >> used & _LONGEST])
                if used + (entry >> _LENGTH_SHIFT) > _RUN_BITS:
                    break
                packed |= (entry & 255) << 5 * count
                count += 1
                used += entry >> _LENGTH_SHIFT
            runs[dialect, bits] = packed | count << _RUN_COUNT | used << _RUN_LENGTH
    return runs


_BOARD_DECODE, _HAND_DECODE, _BOARD_ENCODE, _HAND_ENCODE = _build_tables()
_BOARD_RUNS = _build_runs(_BOARD_DECODE)
_ORDER = np.array(_HAND_ORDER, np.uint8)
_BOX = PIECES_IN_BOX.astype(np.int64)
_UNPROMOTED = np.array([*range(8), PAWN, LANCE, KNIGHT, SILVER, BISHOP, ROOK] * 2 + [KING], np.uint8)
"""The kind that a captured piece becomes, by piece; the entry of an empty square is not used."""


@jit
def check_pieces(board, hands):
    """Return OK or an error number: piece counts, kings, two pawns on a file, pieces that could never move.

    `board` is u1[81], `hands` u1[2][7]. Whether a king is in check is not tested.
    """
    counts = np.zeros(8, np.int64)
    kings = np.zeros(2, np.int64)
    for file in range(9):
        black_pawns = 0
        white_pawns = 0
        for rank in range(9):
            piece = np.int64(board[file * 9 + rank])
            if piece == EMPTY:
                continue
            if piece > EMPTY:
                return BAD_CODE
            counts[_UNPROMOTED[piece]] += 1
            if piece == PAWN:
                black_pawns += 1
                if rank == 0:
                    return DEAD_PIECE
            elif piece == KINDS + PAWN:
                white_pawns += 1
                if rank == 8:
                    return DEAD_PIECE
            elif (
                (piece == LANCE and rank == 0)
                or (piece == KINDS + LANCE and rank == 8)
                or (piece == KNIGHT and rank <= 1)
                or (piece == KINDS + KNIGHT and rank >= 7)
            ):
                return DEAD_PIECE
            elif piece == KING:
                kings[0] += 1
            elif piece == KINDS + KING:
                kings[1] += 1
        if black_pawns > 1 or white_pawns > 1:
            return TWO_PAWNS
    if kings[0] != 1 or kings[1] != 1:
        return BAD_KING
    for kind in range(HAND_KINDS):
        if counts[kind] + np.int64(hands[0, kind]) + np.int64(hands[1, kind]) > _BOX[kind]:
            return TOO_MANY_PIECES
    return OK


@jit
def _peek(bytes_, used):
    """Return at least 57 bits from bit `used` on; LLVM combines the eight loads into one."""
    at = np.uint64(used) >> np.uint64(3)
    word = np.uint64(bytes_[at])
    for i in range(1, 8):
        word |= np.uint64(bytes_[at + np.uint64(i)]) << np.uint64(8 * i)
    return word >> (np.uint64(used) & np.uint64(7))


@jit
def decode_position(code, dialect, board, hands):
    """Unpack `code` (u1[32] or longer) into board u1[81] and hands u1[2][7].

    Returns the turn (0 or 1), or minus an error number; the arrays are then undefined. Whether the position is possible
    is not tested: see `check_pieces` and `search.rules.set_up.set_board`.
    """
    padded = np.zeros(_PADDED, np.uint8)
    for i in range(CODE_BYTES):
        padded[i] = code[i]
    pieces = np.empty(SQUARES + _RUN, np.uint8)  # squares in order, without those of the kings
    header = _peek(padded, 0)
    turn = np.int64(header & np.uint64(1))
    black_king = np.int64((header >> np.uint64(1)) & np.uint64(127))
    white_king = np.int64((header >> np.uint64(8)) & np.uint64(127))
    if black_king >= SQUARES or white_king >= SQUARES or black_king == white_king:
        return -BAD_KING
    used = np.int64(15)
    read = np.int64(0)
    while read <= SQUARES - 2 - _RUN and used < CODE_BITS:
        run = np.int64(_BOARD_RUNS[dialect, _peek(padded, used) & np.uint64(_RUN_MASK)])
        for i in range(_RUN):
            pieces[read + i] = (run >> (5 * i)) & 31
        read += (run >> _RUN_COUNT) & 7
        used += run >> _RUN_LENGTH
    while read < SQUARES - 2 and used < CODE_BITS:
        entry = np.int64(_BOARD_DECODE[dialect, _peek(padded, used) & np.uint64(_LONGEST)])
        pieces[read] = entry & 255
        read += 1
        used += entry >> _LENGTH_SHIFT
    if read < SQUARES - 2:
        return -BAD_LENGTH
    first, second = min(black_king, white_king), max(black_king, white_king)
    for square in range(first):
        board[square] = pieces[square]
    for square in range(first + 1, second):
        board[square] = pieces[square - 1]
    for square in range(second + 1, SQUARES):
        board[square] = pieces[square - 2]
    board[black_king] = KING
    board[white_king] = KINDS + KING
    for colour in range(2):
        for kind in range(HAND_KINDS):
            hands[colour, kind] = 0
    while used < CODE_BITS:
        entry = np.int64(_HAND_DECODE[dialect, _peek(padded, used) & np.uint64(_LONGEST)])
        length = entry >> _LENGTH_SHIFT
        if length == 0:
            return -BAD_CODE
        if entry & _IN_BOX == 0:
            hands[(entry >> 3) & 1, entry & 7] += 1
        used += length
    if used != CODE_BITS:
        return -BAD_LENGTH
    return turn


@jit
def _put(code, used, entry):
    """Append an encoding table's entry to `code` at bit `used`; return the new number of bits."""
    length = np.int64(entry) >> _LENGTH_SHIFT
    value = np.int64(entry) & _LONGEST
    for i in range(length):
        bit = used + i
        code[bit >> 3] |= ((value >> i) & 1) << (bit & 7)
    return used + length


@jit
def encode_position(board, hands, turn, dialect, code):
    """Pack board u1[81], hands u1[2][7] and turn into `code` (u1[32], overwritten).

    Returns OK or an error number. Pieces that are neither on the board nor in a hand are written as piece-box codes.
    """
    error = check_pieces(board, hands)
    if error != OK:
        return error
    for i in range(CODE_BYTES):
        code[i] = 0
    kings = np.zeros(2, np.int64)
    box = _BOX.copy()
    for square in range(SQUARES):
        piece = np.int64(board[square])
        if piece == EMPTY:
            continue
        box[_UNPROMOTED[piece]] -= 1
        if piece == KING:
            kings[0] = square
        elif piece == KINDS + KING:
            kings[1] = square
    header = np.int64(turn) | kings[0] << 1 | kings[1] << 8
    code[0] = header & 255
    code[1] = header >> 8
    used = 15
    for square in range(SQUARES):
        if square == kings[0] or square == kings[1]:
            continue
        used = _put(code, used, _BOARD_ENCODE[dialect, board[square]])
    for colour in range(2):
        for i in range(HAND_KINDS):
            kind = _ORDER[i]
            for _ in range(np.int64(hands[colour, kind])):
                used = _put(code, used, _HAND_ENCODE[dialect, colour, kind])
            box[kind] -= np.int64(hands[colour, kind])
    for i in range(HAND_KINDS):
        kind = _ORDER[i]
        for _ in range(box[kind]):
            used = _put(code, used, _HAND_ENCODE[dialect, 2, kind])
    if used != CODE_BITS:
        return BAD_LENGTH
    return OK


def decode(code: bytes | np.ndarray, dialect: int = HCP) -> tuple[np.ndarray, np.ndarray, int]:
    """Decode a 32-byte code to (board u1[81], hands u1[2][7], turn). Raises ValueError if it is not a position."""
    raw = np.frombuffer(code, np.uint8) if isinstance(code, bytes) else np.asarray(code, np.uint8)
    if raw.shape != (CODE_BYTES,):
        raise ValueError(f"a position code has {CODE_BYTES} bytes, not {raw.size}")
    board = np.empty(SQUARES, np.uint8)
    hands = np.zeros((2, HAND_KINDS), np.uint8)
    turn = decode_position(np.ascontiguousarray(raw).copy(), np.int64(dialect), board, hands)
    error = -turn if turn < 0 else check_pieces(board, hands)
    if error:
        raise ValueError(f"not a position: {ERROR_TEXT[error]}")
    return board, hands, int(turn)


def encode(board: np.ndarray, hands: np.ndarray, turn: int, dialect: int = HCP) -> bytes:
    """Encode board u1[81], hands u1[2][7] and turn in 32 bytes. Raises ValueError if they are not a position."""
    code = np.zeros(CODE_BYTES, np.uint8)
    error = encode_position(
        np.ascontiguousarray(board, np.uint8),
        np.ascontiguousarray(hands, np.uint8),
        np.int64(turn),
        np.int64(dialect),
        code,
    )
    if error:
        raise ValueError(f"not a position: {ERROR_TEXT[error]}")
    return code.tobytes()
