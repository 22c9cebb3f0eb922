"""Read .pack files, games of YaneuraOu's GenSfen and BulletOu, by converting them to hcpe3 games in Numba.

The format is described in GenSfen/readme.md of github.com/yaneurao/YaneuraOu-ScriptCollection. A file is a sequence of
games, little-endian, without a header:

- first position: byte 1 for the start position; or byte 0, the position (hcp, 32 bytes) and its move number (u2)
- for each move: the move (u2, 16 bits as in hcpe) and the score (i2, centipawns for the mover)
- end: u2 whose origin and target squares both are the winner (0 draw, 1 black, 2 white), then the reason (u1)

A game that was interrupted (reason 3) has no result; it gets one that `walk_games` refuses.
"""

from __future__ import annotations

import numpy as np

from lite.records.decode import BAD_START, TOO_LONG, TRUNCATED
from lite.records.formats import (
    DECLARATION,
    DRAW,
    MAX_MOVES,
    MOVE_LIMIT,
    SENNICHITE,
    WINNER_MASK,
    game_dtype,
    move_dtype,
)
from search.compiling.jit import jit

_START = np.frombuffer(bytes.fromhex("58a449210cd757217e8e4d212caf427814c2ab109e4d212cd75f213e8e49210c"), np.uint8)
"""The start position (hcp). It is written out because encoding it would compile code whenever a record is imported."""
_AT_START, _PLACED = 1, 0
_HCP_BYTES = 32
_GAME_BYTES = game_dtype.itemsize
_MOVE_BYTES = move_dtype.itemsize
_END_BYTES = 3
_REPETITION, _MOVES_USED_UP, _INTERRUPTED = 1, 2, 3
_FIRST_DECLARATION, _LAST_DECLARATION = 10, 13
_NO_RESULT = WINNER_MASK
"""A result byte that no game has."""


@jit
def _word(raw, at):
    """Return the little-endian unsigned 16-bit number at byte `at`."""
    return np.int64(raw[at]) | np.int64(raw[at + 1]) << 8


@jit
def _measure_game(raw, at):
    """Return (stop, moves, error) of the game at byte `at` of `raw` (u1): the byte after it, its number of moves, and
    0 or the reason why its end is unknown."""
    if raw[at] > _AT_START:
        return at, np.int64(0), BAD_START
    reach = at + 1 if raw[at] == _AT_START else at + 1 + _HCP_BYTES + 2
    moves = np.int64(0)
    while reach + _END_BYTES <= raw.size:
        move = _word(raw, reach)
        if move & 127 == (move >> 7) & 127:
            return reach + _END_BYTES, moves, 0
        reach += 4
        moves += 1
        if moves > MAX_MOVES:
            return at, np.int64(0), TOO_LONG
    return at, np.int64(0), TRUNCATED


@jit
def scan_pack(raw, begin, positions):
    """Step over whole games from byte `begin` of `raw` (u1) until they have at least `positions` moves; returns
    (end, games, positions, learnable, error) as `scan_games` does."""
    at = np.int64(begin)
    games = total = np.int64(0)
    while at < raw.size and total < positions:
        stop, moves, error = _measure_game(raw, at)
        if error != 0:
            return at, games, total, total, error
        at = stop
        games += 1
        total += moves
    return at, games, total, total, 0


@jit
def _result(move, reason):
    """Return the hcpe3 result byte of a game's end."""
    winner = move & 127
    if move != winner | winner << 7 or winner > 2 or reason == _INTERRUPTED:
        return _NO_RESULT
    if reason == _REPETITION and winner == DRAW:
        return winner | SENNICHITE
    if reason == _MOVES_USED_UP and winner == DRAW:
        return winner | MOVE_LIMIT
    if _FIRST_DECLARATION <= reason <= _LAST_DECLARATION:
        return winner | DECLARATION
    return winner


@jit
def convert_pack(raw, out, first_plies):
    """Convert the whole games of `raw` (u1, divided by `scan_pack`) to hcpe3 games in `out`; return the bytes written.

    out: u1, 36 bytes per game and 6 per move; first_plies: i4[games], plies played before each game."""
    at = np.int64(0)
    size = np.int64(0)
    for game in range(first_plies.size):
        stop, moves, error = _measure_game(raw, at)
        if error != 0 or size + _GAME_BYTES + _MOVE_BYTES * moves > out.size:
            return size
        first_plies[game] = 0
        if raw[at] == _AT_START:
            for i in range(_HCP_BYTES):
                out[size + i] = _START[i]
            at += 1
        else:
            for i in range(_HCP_BYTES):
                out[size + i] = raw[at + 1 + i]
            first_plies[game] = max(np.int64(0), _word(raw, at + 1 + _HCP_BYTES) - 1)
            at += 1 + _HCP_BYTES + 2
        out[size + 32], out[size + 33] = moves & 255, moves >> 8
        out[size + 34] = _result(_word(raw, stop - _END_BYTES), np.int64(raw[stop - 1]))
        out[size + 35] = 0
        size += _GAME_BYTES
        for _ in range(moves):
            for i in range(4):
                out[size + i] = raw[at + i]
            out[size + 4], out[size + 5] = 0, 0
            at += 4
            size += _MOVE_BYTES
        at = stop
    return size


def as_games(raw: np.ndarray, games: int, moves: int) -> tuple[np.ndarray, np.ndarray]:
    """Return whole .pack games as hcpe3 bytes (u1), and the plies played before each game (i4)."""
    out, first_plies = np.empty(_GAME_BYTES * games + _MOVE_BYTES * moves, np.uint8), np.zeros(games, np.int32)
    return out[: convert_pack(raw, out, first_plies)], first_plies
