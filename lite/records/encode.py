"""Encode positions and games as record bytes, and hash them, in Numba."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lite.records.formats import (
    BLACK_WINS,
    DRAW,
    KIND_MASK,
    NO_GAME,
    NO_RESULT,
    NO_SCORE,
    POSITION_BYTES,
    WHITE_WINS,
    ZERO_IS_NO_SCORE,
    candidate_dtype,
    game_dtype,
    move_dtype,
)
from search.compiling.jit import jit
from search.rules.huffman import HCP, OK, encode_position
from search.rules.shogi import DROP_ORIGIN, EMPTY, HAND_KINDS, KINDS, SQUARES

_GAME_BYTES = game_dtype.itemsize
_MOVE_BYTES = move_dtype.itemsize
_CANDIDATE_BYTES = candidate_dtype.itemsize
_OTHER_COLOUR = np.full(32, EMPTY, np.uint8)
_OTHER_COLOUR[:EMPTY] = (np.arange(EMPTY) + KINDS) % EMPTY

_JUDGED_MOVE = np.dtype([("move", move_dtype), ("candidate", candidate_dtype)])

_random = np.random.Generator(np.random.PCG64(20250309))
_PIECE_HASH = _random.integers(0, 1 << 64, (SQUARES, EMPTY + 1), np.uint64, endpoint=False)
_HAND_HASH = _random.integers(0, 1 << 64, (2 * HAND_KINDS, 19), np.uint64, endpoint=False)
_TURN_HASH = _random.integers(0, 1 << 64, 2, np.uint64, endpoint=False)


@jit
def _put_word(raw, at, value):
    """Write a little-endian 16-bit number at byte `at`."""
    raw[at] = value & 255
    raw[at + 1] = (value >> 8) & 255


@jit
def result_byte(record):
    """Return the result of a `labelled_dtype` record as hcpe stores it: black's result with the bits of its kind."""
    if record.result == 0.5:
        winner = DRAW
    elif (record.result > 0.5) == (record.turn == 0):
        winner = BLACK_WINS
    else:
        winner = WHITE_WINS
    return winner | np.int64(record.kind_of_result) & KIND_MASK


@jit
def _mark(record):
    """Return the padding byte of a position record, which marks an unknown score or a missing game."""
    if not record.scored:
        return NO_SCORE
    return NO_RESULT if record.kind_of_result & NO_GAME else 0


@jit
def encode_positions(positions, dialect, width, raw):
    """Write `labelled_dtype` positions as hcpe (HCP, width 38) or psv (PSV, 40) records into raw (u1, zeroed).

    Returns the number written. It stops early only at a position that cannot be encoded; decoding never gives one."""
    board = np.empty(SQUARES, np.uint8)
    hands = np.empty((2, HAND_KINDS), np.uint8)
    for index in range(positions.size):
        record = positions[index]
        turn = np.int64(record.turn) & 1
        for square in range(SQUARES):
            if turn == 0:
                board[square] = record.pieces[square]
            else:
                board[square] = _OTHER_COLOUR[record.pieces[SQUARES - 1 - square] & 31]
        for kind in range(HAND_KINDS):
            hands[turn, kind] = record.hands[kind]
            hands[1 - turn, kind] = record.hands[HAND_KINDS + kind]
        at = index * width
        if encode_position(board, hands, turn, dialect, raw[at : at + 32]) != OK:
            return index
        _put_word(raw, at + 32, np.int64(record.score))
        move = np.int64(record.move)
        if dialect == HCP:
            _put_word(raw, at + 34, move)
            raw[at + 36] = result_byte(record)
            raw[at + 37] = _mark(record)
        else:
            origin = (move >> 7) & 127
            promotion = (move >> 14) & 1
            drop = 0
            if origin >= DROP_ORIGIN:
                origin -= DROP_ORIGIN - 1
                drop = 1
            _put_word(raw, at + 34, (move & 127) | origin << 7 | drop << 14 | promotion << 15)
            _put_word(raw, at + 36, np.int64(record.ply) + 1)  # an unknown ply (-1) is written as 0
            result = 0
            if record.result > 0.5:
                result = 1
            elif record.result < 0.5:
                result = 255
            raw[at + 38] = result
            raw[at + 39] = _mark(record)
    return positions.size


@jit
def hash_positions(positions, hashes):
    """Fill hashes (u8[n], never 0) from board, hands and turn of `labelled_dtype` positions."""
    for index in range(positions.size):
        record = positions[index]
        key = _TURN_HASH[record.turn & 1]
        for square in range(SQUARES):
            key ^= _PIECE_HASH[square, record.pieces[square]]
        for kind in range(2 * HAND_KINDS):
            key ^= _HAND_HASH[kind, record.hands[kind]]
        hashes[index] = max(key, np.uint64(1))


@jit
def _mix(key, value):
    """Return `key` mixed with `value`: one step of a 64-bit hash (the finaliser of splitmix64)."""
    key = (key ^ np.uint64(value)) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


@jit
def hash_games(raw, starts, hashes):
    """Fill hashes (u8[games], never 0) from first position and moves of hcpe3 games; scores and results are ignored."""
    for game in range(starts.size):
        at = starts[game]
        moves = np.int64(raw[at + 32]) | np.int64(raw[at + 33]) << 8
        key = np.uint64(moves)
        for i in range(32):
            key = _mix(key, raw[at + i])
        at += _GAME_BYTES
        for _ in range(moves):
            key = _mix(key, np.uint64(raw[at]) | np.uint64(raw[at + 1]) << np.uint64(8))
            candidates = np.int64(raw[at + 4]) | np.int64(raw[at + 5]) << 8
            at += _MOVE_BYTES + _CANDIDATE_BYTES * candidates
        hashes[game] = max(key, np.uint64(1))


@jit
def copy_games(raw, starts, keep_games, keep_positions, out):
    """Copy hcpe3 games and mark the positions to train on; return the number of bytes written into `out`.

    keep_games: bool[games]. keep_positions: bool, one per training position of all games in the order of `walk_games`
    (`starts` must not hold refused games). A kept position without candidates gets its move as the only candidate; a
    position that is not kept loses its candidates. out: u1, raw.size * 2 is enough."""
    position = 0
    size = 0
    for game in range(starts.size):
        at = starts[game]
        moves = np.int64(raw[at + 32]) | np.int64(raw[at + 33]) << 8
        reach = at + _GAME_BYTES
        searched = False
        for _ in range(moves):
            candidates = np.int64(raw[reach + 4]) | np.int64(raw[reach + 5]) << 8
            searched |= candidates > 0
            reach += _MOVE_BYTES + _CANDIDATE_BYTES * candidates
        keep = keep_games[game]
        if keep:
            for i in range(_GAME_BYTES):
                out[size + i] = raw[at + i]
            size += _GAME_BYTES
        at += _GAME_BYTES
        for _ in range(moves):
            candidates = np.int64(raw[at + 4]) | np.int64(raw[at + 5]) << 8
            length = _MOVE_BYTES + _CANDIDATE_BYTES * candidates
            trained = candidates > 0 or not searched
            kept = trained and keep_positions[position]
            position += trained
            if keep:
                for i in range(4):
                    out[size + i] = raw[at + i]
                if not kept:
                    _put_word(out, size + 4, 0)
                    size += _MOVE_BYTES
                elif candidates > 0:
                    for i in range(4, length):
                        out[size + i] = raw[at + i]
                    size += length
                else:
                    _put_word(out, size + 4, 1)
                    out[size + 6], out[size + 7] = raw[at], raw[at + 1]
                    _put_word(out, size + 8, 1)
                    size += _MOVE_BYTES + _CANDIDATE_BYTES
            at += length
    return size


def encode_game(
    start: bytes | np.ndarray,
    result: int,
    moves: np.ndarray,
    scores: np.ndarray,
    visits: Sequence[tuple[np.ndarray, np.ndarray]] | None = None,
    scored: np.ndarray | None = None,
) -> bytes:
    """Return a game as hcpe3 bytes: first position (hcp, 32 bytes), result byte, moves u2 (plies,), scores i2 (plies,).

    visits: for each ply the candidates u2 (n,) of a search and their visit counts u2 (n,); empty arrays for a position
    that is not to be trained on. Without `visits` each move is the only candidate of its position, with one visit: so
    dlshogi marks that every position is to be trained on.

    scored: bool (plies,), whether the score is known; unknown scores are marked, see `lite.records.formats`. Default:
    all scores are known.
    """
    scored = np.ones(len(moves), bool) if scored is None else scored
    header = np.zeros((), game_dtype)
    header["hcp"] = np.frombuffer(start, np.uint8)
    header["moves"], header["result"] = len(moves), result | (0 if scored.all() else ZERO_IS_NO_SCORE)
    if not (scored.all() and scores.any()):  # in such a game a score of 0 means unknown
        scores = np.where(scored, np.where(scores == 0, 1, scores), 0)
    rows = np.zeros(len(moves), _JUDGED_MOVE)
    rows["move"]["move"] = rows["candidate"]["move"] = moves
    rows["move"]["score"], rows["move"]["candidates"], rows["candidate"]["visits"] = scores, 1, 1
    if visits is None:
        return header.tobytes() + rows.tobytes()
    parts = [header.tobytes()]
    for row, (candidates, counts) in zip(rows["move"], visits, strict=True):
        row["candidates"] = len(candidates)
        found = np.empty(len(candidates), candidate_dtype)
        found["move"], found["visits"] = candidates, counts
        parts += [row.tobytes(), found.tobytes()]
    return b"".join(parts)


def position_records(positions: np.ndarray, form: str, dialect: int) -> np.ndarray:
    """Return `labelled_dtype` positions as the bytes (u1) of a psv or hcpe file."""
    width = POSITION_BYTES[form]
    raw = np.zeros(len(positions) * width, np.uint8)
    written = encode_positions(np.ascontiguousarray(positions), np.int64(dialect), np.int64(width), raw)
    if written != len(positions):
        raise ValueError(f"position {written + 1} cannot be encoded as {form}")
    return raw


def one_move_games(positions: np.ndarray) -> np.ndarray:
    """Return `labelled_dtype` positions (n,), each with a move, as one-move hcpe3 games u1 (n, 46)."""
    game = np.dtype([("game", game_dtype), ("move", move_dtype), ("candidate", candidate_dtype)])
    hcpe = position_records(positions, "hcpe", HCP).reshape(-1, POSITION_BYTES["hcpe"])
    out = np.zeros(len(positions), game)
    out["game"]["hcp"] = hcpe[:, :32]
    out["game"]["moves"] = 1
    out["game"]["result"] = hcpe[:, 36] | np.where(positions["scored"], 0, ZERO_IS_NO_SCORE).astype(np.uint8)
    out["move"]["move"] = out["candidate"]["move"] = positions["move"]
    out["move"]["score"] = positions["score"]
    out["move"]["candidates"] = out["candidate"]["visits"] = 1
    return out.view(np.uint8).reshape(len(out), game.itemsize)


def position_hashes(positions: np.ndarray) -> np.ndarray:
    """Return hashes u8 (n,) of `labelled_dtype` positions: equal for equal board, hands and turn, and never 0."""
    hashes = np.empty(len(positions), np.uint64)
    hash_positions(np.ascontiguousarray(positions), hashes)
    return hashes


def game_hashes(raw: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return hashes u8 (games,) of hcpe3 games: equal for equal first position and moves, and never 0."""
    hashes = np.empty(len(starts), np.uint64)
    hash_games(raw, np.ascontiguousarray(starts, np.int64), hashes)
    return hashes
