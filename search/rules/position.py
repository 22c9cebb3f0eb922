"""A position as one structured record, and the moves on it: do, undo, null move.

One record is one pointer per call, which Numba compiles quickly and runs quickly; separate arrays would pass a
descriptor each. The data for undo are in per-ply arrays indexed by `ply`, counted from the set-up position; entries
above `ply` are left over from undone lines. Keys are XORed throughout, those of hands too, so that they never depend on
the path.
"""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.primitives.bits import trailing_zeros
from search.primitives.memory import load_word, new_record, record_dtype, store_word
from search.rules.attacks import attacks, slides, sliding_attackers
from search.rules.bitboard import (
    BIT,
    DIRECTION,
    GROUP,
    GROUPS,
    NONE,
    ONE,
    OPPOSITE,
    RAYS,
    STEP,
    UNALIGNED,
)
from search.rules.shogi import (
    DROP_ORIGIN,
    EMPTY,
    GOLD,
    HAND_CODES,
    HAND_KINDS,
    HAND_OFFSET,
    HAND_SLOTS,
    KINDS,
    KING,
    KNIGHT,
    LANCE,
    NO_CODE,
    PAWN,
    PROMOTE,
    PROMOTION,
    SILVER,
    SQUARES,
    UNPROMOTED,
)

STACK = 2048
"""Plies that a record can hold: the game's moves and the search's above them."""
NO_KING = 81
PAWNS, SMALL, BLACKS, WHITES = range(4)
"""Parts of a position: pawns; small pieces and golds; each side's pieces without its pawns."""
PARTS = 4

position_dtype = record_dtype(
    [
        ("board", np.uint8, SQUARES),  # piece on each square
        ("hands", np.uint8, (2, HAND_KINDS)),  # [colour, kind]
        ("turn", np.uint8),
        ("king", np.uint8, 2),  # square of each colour's king, NO_KING if it has none
        ("ply", np.int32),  # index into the per-ply arrays; 0 at set-up
        ("game_ply", np.int32),  # move number of the position in SFEN
        ("plies_from_null", np.int32),  # repetition never looks across a null move
        ("key", np.uint64),
        ("colours", np.uint64, (2, 2)),  # [colour, word]
        ("groups", np.uint64, (GROUPS, 2)),  # [group, word]
        ("checkers", np.uint64, 2),  # pieces giving check to the mover
        # per ply
        ("keys", np.uint64, STACK),
        ("board_keys", np.uint64, STACK),  # keys without hands
        ("part_keys", np.uint64, (STACK, PARTS)),  # keys of some pieces only, see PART_OF
        ("packed_hands", np.uint32, (STACK, 2)),
        ("check_runs", np.uint16, (STACK, 2)),  # plies of unbroken checks by each colour, counted by two
        ("all_checkers", np.uint64, (STACK, 2)),
        ("moves", np.uint16, STACK),  # the move that led to this ply
        ("captured", np.uint8, STACK),  # the piece that it captured, EMPTY if none
        ("null_distance", np.int32, STACK),
        ("removed", np.uint16, (STACK, 2)),  # piece codes that the move removed, filled with NO_CODE
        ("added", np.uint16, (STACK, 2)),  # piece codes that the move added, filled with NO_CODE
    ]
)

_RECORD_WORDS = position_dtype.itemsize // 8

_random = np.random.Generator(np.random.PCG64(20241121))
PIECE_KEYS = _random.integers(0, 1 << 64, (2 * KINDS, SQUARES), np.uint64, endpoint=False)
HAND_KEYS = _random.integers(0, 1 << 64, (2, HAND_KINDS, 19), np.uint64, endpoint=False)
SIDE_KEY = _random.integers(0, 1 << 64, dtype=np.uint64, endpoint=False)
HAND_KEYS[:, :, 0] = 0


def _parts() -> np.ndarray:
    """Return a table [piece, part]: all bits are set where the piece belongs to the part."""
    table = np.zeros((2 * KINDS, PARTS), np.uint64)
    small = {int(GROUP[kind]) for kind in (LANCE, KNIGHT, SILVER, GOLD)}
    for colour, own in enumerate((BLACKS, WHITES)):
        for kind in range(KINDS):
            parts = [PAWNS] if kind == PAWN else [own, SMALL] if int(GROUP[kind]) in small else [own]
            table[colour * KINDS + kind, parts] = ~NONE
    return table


PART_OF = _parts()

# A hand packed in 32 bits with a spare bit above each count, so that one subtraction compares all seven counts.
_HAND_SHIFT = np.array([0, 6, 10, 14, 18, 21, 24], np.uint32)
HAND_BORROWS = np.uint32((1 << 5) | (1 << 9) | (1 << 13) | (1 << 17) | (1 << 20) | (1 << 23) | (1 << 27))


def new_position() -> np.void:
    """Return an empty record of `position_dtype`; set it up with `sfen.set_sfen` or `set_up.set_board`."""
    return new_record(position_dtype)


@jit
def copy_position(target, source):
    """Copy a position record."""
    to, origin = np.uint64(target.board.ctypes.data), np.uint64(source.board.ctypes.data)  # the first field
    for word in range(_RECORD_WORDS):
        place = np.uint64(8 * word)
        store_word(to + place, load_word(origin + place))


@jit
def occupied(pos):
    """Return the squares of all pieces: two words."""
    return pos.colours[0, 0] | pos.colours[1, 0], pos.colours[0, 1] | pos.colours[1, 1]


@jit
def toggle(pos, piece, square):
    """Put a piece on an empty square of the bitboards, or take it off; the caller updates the board array."""
    colour = 1 if piece >= KINDS else 0
    group = GROUP[(piece - colour * KINDS) & 15]
    low, high = BIT[square, 0], BIT[square, 1]
    pos.colours[colour, 0] ^= low
    pos.colours[colour, 1] ^= high
    pos.groups[group, 0] ^= low
    pos.groups[group, 1] ^= high


@jit
def in_check(pos):
    """Return whether the mover's king is attacked."""
    return (pos.checkers[0] | pos.checkers[1]) != NONE


@jit
def between(first, second):
    """Return the squares strictly between two aligned squares, none if they are not aligned: two words."""
    direction = DIRECTION[first, second]
    back = OPPOSITE[direction]
    return (
        RAYS[direction, first, 0] & RAYS[back, second, 0],
        RAYS[direction, first, 1] & RAYS[back, second, 1],
    )


@jit
def first_square(low, high):
    """Return the lowest square of a bitboard that is not empty."""
    if low != NONE:
        return trailing_zeros(low)
    return trailing_zeros(high) + np.uint64(63)


@jit
def without_first(low, high):
    """Return a bitboard that is not empty without its lowest square: two words."""
    if low != NONE:
        return low & (low - ONE), high
    return low, high & (high - ONE)


@jit
def packed_hand(pos, colour):
    """Return the hand of a colour in 32 bits, see HAND_BORROWS."""
    packed = np.uint32(0)
    for kind in range(HAND_KINDS):
        packed |= np.uint32(pos.hands[colour, kind]) << _HAND_SHIFT[kind]
    return packed


@jit
def write_no_change(pos, ply):
    """Record for a ply that nothing on the board changed."""
    for index in range(2):
        pos.removed[ply, index] = NO_CODE
        pos.added[ply, index] = NO_CODE
        pos.check_runs[ply, index] = 0


@jit
def hand_code(colour, kind, count):
    """Return the piece code of "the colour holds at least `count` of the kind" (count >= 1)."""
    return HAND_CODES + colour * HAND_SLOTS + HAND_OFFSET[kind] + count - 1


@jit
def _checkers_after(pos, piece, origin, target):
    """Return the checkers of the side to move after `piece` came to `target` from `origin` (>= 81: a drop): two words.

    Only the moved piece itself, or a slider behind the square it left, can give check.
    """
    king = np.int64(pos.king[pos.turn])
    if king == NO_KING:
        return NONE, NONE
    low, high = occupied(pos)
    a, b = NONE, NONE
    if slides(piece % KINDS):
        if DIRECTION[king, target] != UNALIGNED:
            c, d = attacks(piece, target, low, high)
            if ((c & BIT[king, 0]) | (d & BIT[king, 1])) != NONE:
                a, b = BIT[target, 0], BIT[target, 1]
    elif ((STEP[piece, target, 0] & BIT[king, 0]) | (STEP[piece, target, 1] & BIT[king, 1])) != NONE:
        a, b = BIT[target, 0], BIT[target, 1]
    if origin < DROP_ORIGIN and DIRECTION[king, origin] != UNALIGNED:
        c, d = sliding_attackers(pos, 1 - pos.turn, king, low, high)
        a |= c
        b |= d
    return a, b


@jit
def gives_check(pos, move):
    """Return whether a legal move that is not yet played attacks the enemy king."""
    us = np.int64(pos.turn) & 1
    king = np.int64(pos.king[1 - us]) & 127
    if king == NO_KING:
        return False
    target, origin = move & 127, (move >> 7) & 127
    low, high = occupied(pos)
    low |= BIT[target, 0]
    high |= BIT[target, 1]
    if origin >= DROP_ORIGIN:
        piece = us * KINDS + origin - DROP_ORIGIN
    else:
        piece = np.int64(pos.board[origin])
        piece = piece + PROMOTION if move & PROMOTE else piece
        low &= ~BIT[origin, 0]
        high &= ~BIT[origin, 1]
    if ((STEP[piece, target, 0] & BIT[king, 0]) | (STEP[piece, target, 1] & BIT[king, 1])) != NONE:
        return True
    if slides(piece - us * KINDS) and DIRECTION[king, target] != UNALIGNED:
        a, b = attacks(piece, target, low, high)
        if ((a & BIT[king, 0]) | (b & BIT[king, 1])) != NONE:
            return True
    if origin >= DROP_ORIGIN or DIRECTION[king, origin] == UNALIGNED:
        return False
    a, b = sliding_attackers(pos, us, king, low, high)
    return ((a & ~BIT[origin, 0]) | (b & ~BIT[origin, 1])) != NONE


@jit
def key_after(pos, move):
    """Return the key (uint64) of the position after a legal move that is not yet played, to prefetch its table
    entry."""
    us = np.int64(pos.turn) & 1
    target = np.int64(move) & 127
    origin = (np.int64(move) >> 7) & 127
    key = pos.key ^ SIDE_KEY
    if origin >= DROP_ORIGIN:
        kind = origin - DROP_ORIGIN
        held = np.int64(pos.hands[us, kind])
        return key ^ HAND_KEYS[us, kind, held] ^ HAND_KEYS[us, kind, held - 1] ^ PIECE_KEYS[us * KINDS + kind, target]
    moved = np.int64(pos.board[origin])
    piece = moved + PROMOTION if move & PROMOTE else moved
    key ^= PIECE_KEYS[moved, origin] ^ PIECE_KEYS[piece, target]
    taken = np.int64(pos.board[target])
    if taken != EMPTY:
        kind = UNPROMOTED[taken % KINDS]
        held = np.int64(pos.hands[us, kind])
        key ^= PIECE_KEYS[taken, target] ^ HAND_KEYS[us, kind, held] ^ HAND_KEYS[us, kind, held + 1]
    return key


@jit
def write_parts(pos, ply, piece, square):
    """Add a piece on a square to the part keys of a ply, or remove it."""
    key = PIECE_KEYS[piece, square]
    for part in range(PARTS):
        pos.part_keys[ply, part] ^= key & PART_OF[piece, part]


@jit
def do_move(pos, move):
    """Play a legal move (16 bits)."""
    us = np.int64(pos.turn) & 1
    target = np.int64(move) & 127
    origin = (np.int64(move) >> 7) & 127
    ply = (np.int64(pos.ply) + 1) & (STACK - 1)
    board_key = pos.board_keys[ply - 1] ^ SIDE_KEY
    key = pos.key ^ SIDE_KEY
    pos.packed_hands[ply, 0] = pos.packed_hands[ply - 1, 0]
    pos.packed_hands[ply, 1] = pos.packed_hands[ply - 1, 1]
    for part in range(PARTS):
        pos.part_keys[ply, part] = pos.part_keys[ply - 1, part]
    pos.removed[ply, 1] = NO_CODE
    pos.added[ply, 1] = NO_CODE
    captured = np.uint8(EMPTY)
    change = NONE
    if origin >= DROP_ORIGIN:
        kind = origin - DROP_ORIGIN
        piece = us * KINDS + kind
        held = np.int64(pos.hands[us, kind])
        pos.hands[us, kind] = held - 1
        pos.packed_hands[ply, us] -= np.uint32(1) << _HAND_SHIFT[kind]
        key ^= HAND_KEYS[us, kind, held] ^ HAND_KEYS[us, kind, held - 1]
        pos.removed[ply, 0] = hand_code(us, kind, held)
    else:
        moved = np.int64(pos.board[origin])
        piece = moved + PROMOTION if move & PROMOTE else moved
        pos.removed[ply, 0] = moved * SQUARES + origin
        captured = pos.board[target]
        if captured != EMPTY:
            taken = np.int64(captured)
            kind = UNPROMOTED[taken % KINDS]
            toggle(pos, taken, target)
            change ^= PIECE_KEYS[taken, target]
            write_parts(pos, ply, taken, target)
            pos.removed[ply, 1] = taken * SQUARES + target
            held = np.int64(pos.hands[us, kind]) + 1
            pos.hands[us, kind] = held
            pos.packed_hands[ply, us] += np.uint32(1) << _HAND_SHIFT[kind]
            key ^= HAND_KEYS[us, kind, held] ^ HAND_KEYS[us, kind, held - 1]
            pos.added[ply, 1] = hand_code(us, kind, held)
        toggle(pos, moved, origin)
        pos.board[origin] = EMPTY
        change ^= PIECE_KEYS[moved, origin]
        write_parts(pos, ply, moved, origin)
        if moved == us * KINDS + KING:
            pos.king[us] = target
    toggle(pos, piece, target)
    pos.board[target] = piece
    change ^= PIECE_KEYS[piece, target]
    write_parts(pos, ply, piece, target)
    pos.added[ply, 0] = piece * SQUARES + target
    pos.captured[ply] = captured
    pos.moves[ply] = move
    pos.board_keys[ply] = board_key ^ change
    key ^= change
    pos.key = key
    pos.keys[ply] = key
    pos.turn = 1 - us
    pos.ply = ply
    pos.game_ply += 1
    pos.plies_from_null += 1
    pos.null_distance[ply] = pos.plies_from_null
    a, b = _checkers_after(pos, piece, origin, target)
    pos.checkers[0], pos.checkers[1] = a, b
    pos.all_checkers[ply, 0], pos.all_checkers[ply, 1] = a, b
    pos.check_runs[ply, us] = pos.check_runs[ply - 1, us] + 2 if (a | b) != NONE else 0
    pos.check_runs[ply, 1 - us] = pos.check_runs[ply - 1, 1 - us]


@jit
def undo_move(pos, move):
    """Take back the last move, which was `move`."""
    them = np.int64(pos.turn) & 1
    us = 1 - them
    target = np.int64(move) & 127
    origin = (np.int64(move) >> 7) & 127
    ply = np.int64(pos.ply) & (STACK - 1)
    piece = np.int64(pos.board[target])
    toggle(pos, piece, target)
    if origin >= DROP_ORIGIN:
        pos.board[target] = EMPTY
        pos.hands[us, origin - DROP_ORIGIN] += 1
    else:
        moved = piece - PROMOTION if move & PROMOTE else piece
        toggle(pos, moved, origin)
        pos.board[origin] = moved
        captured = pos.captured[ply]
        pos.board[target] = captured
        if captured != EMPTY:
            taken = np.int64(captured)
            toggle(pos, taken, target)
            pos.hands[us, UNPROMOTED[taken % KINDS]] -= 1
        if moved == us * KINDS + KING:
            pos.king[us] = origin
    _step_back(pos, ply - 1)


@jit
def _step_back(pos, ply):
    """Restore the fields that the per-ply arrays hold."""
    pos.turn = 1 - pos.turn
    pos.ply = ply
    pos.game_ply -= 1
    pos.plies_from_null = pos.null_distance[ply]
    pos.key = pos.keys[ply]
    pos.checkers[0], pos.checkers[1] = pos.all_checkers[ply, 0], pos.all_checkers[ply, 1]


@jit
def do_null_move(pos):
    """Pass; not allowed in check."""
    ply = np.int64(pos.ply) + 1
    pos.turn = 1 - pos.turn
    pos.ply = ply
    pos.game_ply += 1
    pos.plies_from_null = 0
    pos.null_distance[ply] = 0
    pos.key ^= SIDE_KEY
    pos.keys[ply] = pos.key
    pos.board_keys[ply] = pos.board_keys[ply - 1] ^ SIDE_KEY
    pos.moves[ply] = 0
    pos.captured[ply] = EMPTY
    write_no_change(pos, ply)
    for part in range(PARTS):
        pos.part_keys[ply, part] = pos.part_keys[ply - 1, part]
    for index in range(2):
        pos.packed_hands[ply, index] = pos.packed_hands[ply - 1, index]
        pos.checkers[index] = NONE
        pos.all_checkers[ply, index] = NONE


@jit
def undo_null_move(pos):
    """Take back a pass."""
    _step_back(pos, np.int64(pos.ply) - 1)
