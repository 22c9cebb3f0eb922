"""Reading the line of a proved mate from the table; positions that the table has lost are searched again."""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.mate.dfpn import attacker_hand, enter_path, explore, table_key
from search.mate.in_one import find_mate
from search.mate.table import INFINITE_NUMBER, probe
from search.rules.movegen import legal_moves
from search.rules.position import do_move, undo_move

UNKNOWN = -1


@jit
def _probe(pos, solver, depth):
    """Return (proof number, disproof number, winner's move, length) from the table; a number of 0 means a decided
    position."""
    pn, dn, _, move, length, _ = probe(
        solver.table, table_key(pos, solver, depth), attacker_hand(pos, depth), np.uint64(0)
    )
    return pn, dn, move, length


@jit
def _search_again(pos, solver, depth):
    """Search this position alone and return (proof number, disproof number, winner's move, length)."""
    infinite = np.int64(INFINITE_NUMBER)
    explore(pos, solver, depth, infinite, infinite)
    pn, dn = solver.result_win[depth], solver.result_lose[depth]
    if depth & 1:
        pn, dn = dn, pn
    return pn, dn, solver.result_move[depth], solver.result_length[depth]


@jit
def _winning_move(pos, solver, depth, limit):
    """Return the mover's winning move: a mate, or a defence against any, within `limit` plies; 0 if it is not found
    again."""
    solver.limit = limit
    pn, dn, move, _ = _probe(pos, solver, depth)
    if (dn if depth & 1 else pn) != 0:
        pn, dn, move, _ = _search_again(pos, solver, depth)
    return move if (dn if depth & 1 else pn) == 0 else np.int64(0)


@jit
def _attack(pos, solver, depth, plies):
    """Return a move that mates within `plies - depth` plies; 0 if the proof is not found again."""
    if plies - depth == 1:
        return find_mate(pos, solver.moves[depth])[0]
    solver.limit = 0
    pn, _, move, length = _probe(pos, solver, depth)
    return move if pn == 0 and length <= plies - depth else _winning_move(pos, solver, depth, plies)


@jit
def _defence(pos, solver, depth, plies):
    """Return a reply after which no mate is shorter than `plies - depth - 1`: it refutes a mate that is two plies
    shorter."""
    if plies - depth == 2:  # mate follows after any reply
        return np.int64(solver.moves[depth, 0]) if legal_moves(pos, solver.moves[depth]) else np.int64(0)
    return _winning_move(pos, solver, depth, plies - 2)


@jit
def shortest_line(pos, solver, line, plies):
    """Write a mate in `plies`, which is proved and the shortest, to `line` (uint16 [DEPTHS]).

    Both sides play their best: after each move the shortest mate takes exactly the plies that are left. Returns whether
    all proofs were found again. The position is restored.
    """
    solver.stopped = 0
    depth = np.int64(0)
    while depth < plies:
        enter_path(pos, solver, depth)
        move = _defence(pos, solver, depth, plies) if depth & 1 else _attack(pos, solver, depth, plies)
        if move == 0:
            break
        line[depth] = move
        do_move(pos, move)
        depth += 1
    for index in range(depth):
        undo_move(pos, np.int64(line[depth - 1 - index]))
    return depth == plies


@jit
def _known_length(pos, solver, depth):
    """Return (plies to mate, attacker's move) of a position that the search proved, from the table or by another
    search.

    It is (0, 0) for a mated defender, and (UNKNOWN, 0) if the proof is not found again.
    """
    if depth & 1 == 0:
        move, _ = find_mate(pos, solver.moves[depth])
        if move != 0:
            return np.int64(1), move
    elif legal_moves(pos, solver.moves[depth]) == 0:
        return np.int64(0), np.int64(0)
    pn, _, move, length = _probe(pos, solver, depth)
    if pn != 0 and depth < solver.max_depth and (solver.limit == 0 or depth < solver.limit):
        pn, _, move, length = _search_again(pos, solver, depth)
    if pn == 0:
        return length, move
    return np.int64(UNKNOWN), np.int64(0)


@jit
def proved_line(pos, solver, line):
    """Write a mate, as it was proved within `solver.limit`, to `line` (uint16 [DEPTHS]); return its length or UNKNOWN.

    The defender plays the reply with the longest known mate, which need not be the best: the attacker may know only a
    long way where there is a short one. The position is restored.
    """
    depth = np.int64(0)
    solver.stopped = 0
    found = np.int64(UNKNOWN)
    while depth < solver.max_depth:
        enter_path(pos, solver, depth)
        if depth & 1 == 0:
            length, move = _known_length(pos, solver, depth)
            if length < 1:
                break
        else:
            count = legal_moves(pos, solver.moves[depth])
            if count == 0:
                found = depth
                break
            longest, move = np.int64(-1), np.int64(0)
            for index in range(count):
                reply = np.int64(solver.moves[depth, index])
                do_move(pos, reply)
                length, _ = _known_length(pos, solver, depth + 1)
                undo_move(pos, reply)
                if length < 1:
                    move = np.int64(0)
                    break
                if length > longest:
                    longest, move = length, reply
            if move == 0:
                break
        line[depth] = move
        do_move(pos, move)
        depth += 1
    for index in range(depth):
        undo_move(pos, np.int64(line[depth - 1 - index]))
    return found
