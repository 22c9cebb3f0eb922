"""The line of a mate that the search has proved, read from its table; what the table has lost is searched again."""

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
    """(proof number, disproof number, winner's move, length) of a position from the table; a number of 0 is settled."""
    pn, dn, _, move, length, _ = probe(
        solver.table, table_key(pos, solver, depth), attacker_hand(pos, depth), np.uint64(0)
    )
    return pn, dn, move, length


@jit
def _search_again(pos, solver, depth):
    """The same after a search of this position alone."""
    infinite = np.int64(INFINITE_NUMBER)
    explore(pos, solver, depth, infinite, infinite)
    pn, dn = solver.result_win[depth], solver.result_lose[depth]
    if depth & 1:
        pn, dn = dn, pn
    return pn, dn, solver.result_move[depth], solver.result_length[depth]


@jit
def _winning_move(pos, solver, depth, limit):
    """The move by which the mover has its way, mate or none within `limit` plies; 0 if it cannot be found again."""
    solver.limit = limit
    pn, dn, move, _ = _probe(pos, solver, depth)
    if (dn if depth & 1 else pn) != 0:
        pn, dn, move, _ = _search_again(pos, solver, depth)
    return move if (dn if depth & 1 else pn) == 0 else np.int64(0)


@jit
def _attack(pos, solver, depth, plies):
    """A move that mates within `plies - depth` plies; 0 if the proof cannot be found again."""
    if plies - depth == 1:
        return find_mate(pos, solver.moves[depth])[0]
    solver.limit = 0
    pn, _, move, length = _probe(pos, solver, depth)
    return move if pn == 0 and length <= plies - depth else _winning_move(pos, solver, depth, plies)


@jit
def _defence(pos, solver, depth, plies):
    """A reply to which no mate is shorter than `plies - depth - 1`: what refutes one that is two plies shorter."""
    if plies - depth == 2:  # the mate comes next whatever one plays
        return np.int64(solver.moves[depth, 0]) if legal_moves(pos, solver.moves[depth]) else np.int64(0)
    return _winning_move(pos, solver, depth, plies - 2)


@jit
def shortest_line(pos, solver, line, plies):
    """Write to `line` (uint16 [DEPTHS]) a mate in `plies`, where that is proved and a shorter one refuted.

    Both sides play their best: after each move the shortest mate takes exactly the plies that are left. Whether the
    proofs were all found again. The position comes back as it was.
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
    """(plies to mate, mating side's move) of a position that the search proved, from the table or by searching again.

    (0, 0) for a mated defender, (UNKNOWN, 0) if the proof cannot be found again.
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
    """Write to `line` (uint16 [DEPTHS]) a mate as it was proved within `solver.limit`; its length or UNKNOWN.

    The defender takes the reply that is known to hold out longest, which need not be the best: the attacker may know
    a long way alone where there is a short one. The position comes back as it was.
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
