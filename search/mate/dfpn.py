"""Depth-first proof number search for mate (df-pn), the jitted core of `search.mate.solver.MateSolver`.

Nagai's df-pn (2002): a position's proof number is the number of leaves that must still be shown to be mates to prove a
mate, its disproof number the number that must be refuted. The search follows the smaller number down and comes back
when a threshold is passed. Both sides share one function. `win` is the number of the side to move (proof number of the
attacker, disproof number of the defender) and the minimum over its moves; `lose` is the sum over them.

Repetition. A mate is a finite tree, and the shortest one never returns to a board with the same hand or less, so such
moves of the attacker are refuted. But they are refuted on this path only (graph history interaction). A refutation
therefore carries the depth of the earlier position that it goes back to. When that position itself is refuted, the
refutation holds on every path; until then the table returns it only on the same path (Kishimoto and Müller, "A general
solution to the graph history interaction problem", 2004). Proofs never depend on the path.

With a limit of plies the remaining plies are part of the key. No position can recur then, and repetition is not tested.
"""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit, program
from search.mate.in_one import find_mate
from search.mate.table import (
    INDEPENDENT,
    INFINITE_NUMBER,
    held_alone,
    keep,
    larger_counts,
    mate_table_dtype,
    probe,
)
from search.primitives.bits import popcount
from search.primitives.memory import load_word
from search.rules.bitboard import NONE, ONE
from search.rules.checks import generate_checks
from search.rules.movegen import MAX_MOVES, legal_moves
from search.rules.position import STACK, between, do_move, first_square, undo_move
from search.rules.repetition import hand_covers
from search.rules.shogi import BISHOP, DROP_ORIGIN, EMPTY, KINDS, LANCE, PAWN, PROMOTE, ROOK, UNPROMOTED

DEPTHS = 512
"""Largest depth of the search in plies; a refutation that needed more is not a refutation."""
UNKNOWN_DEPTH = -1
MOST_EVASIONS = 8
"""Upper bound of the first proof number of a check, which is the number of its evasions."""
_MIX_ONE, _MIX_TWO = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_FIELD_SHIFT = np.array([0, 6, 10, 14, 18, 21, 24], np.uint64)  # as in `position.packed_hand`
_FIELD_MASK = np.array([31, 7, 7, 7, 3, 3, 7], np.uint64)

mate_dtype = np.dtype(
    [
        ("table", mate_table_dtype),
        ("stop_address", np.uint64),  # address of a word that ends the search when it is set
        ("nodes", np.int64),  # calls of do_move
        ("node_limit", np.int64),  # 0: no limit
        ("stopped", np.uint8),
        ("salt", np.uint64),  # depends on the attacker's colour and the set of pieces
        ("limit", np.int32),  # longest mate in plies; 0: any length
        ("max_depth", np.int32),
        ("root_ply", np.int32),
        # per depth: the result of a node
        ("path", np.uint64, DEPTHS + 1),
        ("result_win", np.int64, DEPTHS + 1),
        ("result_lose", np.int64, DEPTHS + 1),
        ("result_hand", np.uint64, DEPTHS + 1),
        ("result_length", np.int64, DEPTHS + 1),
        ("result_back", np.int64, DEPTHS + 1),
        ("result_move", np.int64, DEPTHS + 1),
        # per depth and move: the position after the move, with numbers seen by the side that makes it
        ("moves", np.uint16, (DEPTHS + 1, MAX_MOVES)),
        ("win", np.int32, (DEPTHS + 1, MAX_MOVES)),
        ("lose", np.int32, (DEPTHS + 1, MAX_MOVES)),
        ("hand", np.uint32, (DEPTHS + 1, MAX_MOVES)),  # hand that the winner needs if the move is decided
        ("length", np.int16, (DEPTHS + 1, MAX_MOVES)),
        ("back", np.int16, (DEPTHS + 1, MAX_MOVES)),
        ("active", np.uint8, (DEPTHS + 1, MAX_MOVES)),
        ("following", np.int16, (DEPTHS + 1, MAX_MOVES)),  # a similar move, tried only if this one fails; -1: none
    ],
    align=True,
)


@jit
def _mix(word, number):
    """Mix a small number into a word."""
    word = (word + np.uint64(number) * _MIX_ONE) * _MIX_TWO
    return word ^ (word >> _HALF)


@jit
def board_table_key(board_key, solver, depth):
    """Return the key in the table of proofs of a board at `depth`."""
    key = board_key ^ solver.salt
    if solver.limit > 0:
        key = _mix(key, np.int64(solver.limit) - depth)
    return key


@jit
def table_key(pos, solver, depth):
    """Return the key in the table of proofs of the position's board."""
    return board_table_key(pos.board_keys[pos.ply], solver, depth)


@jit
def attacker_hand(pos, depth):
    """Return the attacker's packed hand (uint64) in a position at `depth`, which is even if the attacker is to move."""
    attacker = (np.int64(pos.turn) ^ (depth & 1)) & 1
    return np.uint64(pos.packed_hands[pos.ply, attacker])


@jit
def _defender_hand(pos, depth):
    defender = 1 - ((np.int64(pos.turn) ^ (depth & 1)) & 1)
    return np.uint64(pos.packed_hands[pos.ply, defender])


@jit
def _earlier_depth(pos, solver, depth):
    """Return the depth of the nearest earlier position with the same board and at least this hand of the attacker,
    or -1."""
    ply = np.int64(pos.ply) & (STACK - 1)
    attacker = (np.int64(pos.turn) ^ (depth & 1)) & 1
    board_key, hand = pos.board_keys[ply], pos.packed_hands[ply, attacker]
    before = ply - 4
    root = np.int64(solver.root_ply)
    while before >= root:
        if pos.board_keys[before & (STACK - 1)] == board_key and hand_covers(
            pos.packed_hands[before & (STACK - 1), attacker], hand
        ):
            return before - root
        before -= 2
    return np.int64(-1)


@jit
def _can_be_interposed(pos):
    """Return whether the check can be interposed; if so, it matters which pieces the mover could drop."""
    low, high = pos.checkers[0], pos.checkers[1]
    if popcount(low) + popcount(high) != ONE:
        return False
    a, b = between(np.int64(pos.king[pos.turn]), np.int64(first_square(low, high)))
    return (a | b) != NONE


@jit
def _hand_before(pos, move, hand):
    """Return the hand that the winner needs before its move (not yet played), if it needs `hand` after it."""
    origin, target = (move >> 7) & 127, move & 127
    if origin >= DROP_ORIGIN:
        return hand + (ONE << _FIELD_SHIFT[origin - DROP_ORIGIN])
    captured = np.int64(pos.board[target])
    if captured != EMPTY:
        kind = UNPROMOTED[captured % KINDS]
        if (hand >> _FIELD_SHIFT[kind]) & _FIELD_MASK[kind]:
            return hand - (ONE << _FIELD_SHIFT[kind])
    return hand


@jit
def _link(pos, solver, depth, count):
    """Postpone moves that are similar to an earlier one: other pieces dropped on the same square, and no promotion."""
    moves = solver.moves[depth]
    for index in range(count):
        solver.active[depth, index] = 1
        solver.following[depth, index] = -1
        move = np.int64(moves[index])
        origin = (move >> 7) & 127
        if origin >= DROP_ORIGIN:
            if depth & 1 == 0:
                continue
            target = move & 127
            before = index - 1
            while before >= 0 and (np.int64(moves[before]) >> 7) & 127 >= DROP_ORIGIN:
                if np.int64(moves[before]) & 127 == target:
                    solver.following[depth, before] = index
                    solver.active[depth, index] = 0
                    break
                before -= 1
        elif move & PROMOTE == 0:
            kind = np.int64(pos.board[origin]) % KINDS
            if kind == PAWN or kind == LANCE or kind == BISHOP or kind == ROOK:
                before = index - 1
                while before >= 0 and (np.int64(moves[before]) >> 7) & 127 == origin:
                    if np.int64(moves[before]) == move | PROMOTE:
                        solver.following[depth, before] = index
                        solver.active[depth, index] = 0
                        break
                    before -= 1


@jit
def enter_path(pos, solver, depth):
    """Add the position at `depth` to the key of the path."""
    solver.path[depth] = _mix(pos.key, depth) ^ (solver.path[depth - 1] if depth > 0 else NONE)


@jit
def _evaluate(pos, solver, depth, index):
    """Evaluate the move `index` of a node at `depth`: by the path, the table, or a first look."""
    move = np.int64(solver.moves[depth, index])
    do_move(pos, move)
    solver.nodes += 1
    child = depth + 1
    pn, dn = np.int64(1), np.int64(1)
    back, length = np.int64(INDEPENDENT), np.int64(0)
    hand = np.uint64(0)
    earlier = np.int64(-1)
    path = np.uint64(0)
    if solver.limit == 0:
        earlier = _earlier_depth(pos, solver, child)
        path = solver.path[depth] ^ _mix(pos.key, child)
    if earlier >= 0:
        pn, dn, back, hand = np.int64(INFINITE_NUMBER), np.int64(0), earlier, _defender_hand(pos, child)
    elif child >= solver.max_depth:
        pn, dn, back, hand = np.int64(INFINITE_NUMBER), np.int64(0), np.int64(UNKNOWN_DEPTH), _defender_hand(pos, child)
    else:
        attackers_hand = attacker_hand(pos, child)
        pn, dn, hand, _, length, back = probe(solver.table, table_key(pos, solver, child), attackers_hand, path)
        if dn == 0:  # the table stores the attacker's hand
            hand = attackers_hand + _defender_hand(pos, child) - hand
        elif pn < 0:
            hint_pn, hint_dn = -pn, -dn
            if child & 1:
                pn, dn, length, hand = _look_at_defence(pos, solver, child)
            else:
                pn, dn, length, hand = _look_at_attack(pos, solver, child)
            if pn != 0 and dn != 0:
                pn, dn = max(pn, hint_pn), max(dn, hint_dn)
    undo_move(pos, move)
    if depth & 1:
        pn, dn = dn, pn
    solver.win[depth, index] = pn
    solver.lose[depth, index] = dn
    solver.back[depth, index] = back
    solver.length[depth, index] = length
    solver.hand[depth, index] = hand


@jit
def _look_at_attack(pos, solver, depth):
    """Return (proof number, disproof number, length, winner's hand) of a position that is not in the table, attacker
    to move."""
    move, checks = find_mate(pos, solver.moves[depth])
    if move != 0:
        attacker = np.int64(pos.turn) & 1
        do_move(pos, move)
        hand = np.uint64(0)
        if _can_be_interposed(pos):
            ply = pos.ply
            hand = held_alone(
                np.uint64(pos.packed_hands[ply, attacker]), np.uint64(pos.packed_hands[ply, 1 - attacker])
            )
        undo_move(pos, move)
        return np.int64(0), np.int64(INFINITE_NUMBER), np.int64(1), _hand_before(pos, move, hand)
    if checks == 0:
        hand = held_alone(_defender_hand(pos, depth), attacker_hand(pos, depth))
        return np.int64(INFINITE_NUMBER), np.int64(0), np.int64(0), hand
    if solver.limit > 0 and depth + 1 >= solver.limit:
        return np.int64(INFINITE_NUMBER), np.int64(0), np.int64(0), _defender_hand(pos, depth)
    return np.int64(1), checks, np.int64(0), np.uint64(0)


@jit
def _look_at_defence(pos, solver, depth):
    """Return (proof number, disproof number, length, winner's hand) of a position that is not in the table, defender to
    move.

    The defender is in check.
    """
    count = legal_moves(pos, solver.moves[depth])
    if count == 0:
        hand = np.uint64(0)
        if _can_be_interposed(pos):
            hand = held_alone(attacker_hand(pos, depth), _defender_hand(pos, depth))
        return np.int64(0), np.int64(INFINITE_NUMBER), np.int64(0), hand
    return min(count, np.int64(MOST_EVASIONS)), np.int64(1), np.int64(0), np.uint64(0)


@jit
def _should_stop(solver):
    if load_word(solver.stop_address) != NONE or (solver.node_limit > 0 and solver.nodes >= solver.node_limit):
        solver.stopped = 1
    return solver.stopped != 0


@jit
def explore(pos, solver, depth, win_limit, lose_limit):
    """Search a position until its `win` or `lose` number reaches a limit, and write the result to `solver.result_*`.

    All arguments after the records are int64; depth is even where the attacker is to move.
    """
    begun = solver.nodes
    infinite = np.int64(INFINITE_NUMBER)
    if depth & 1:
        count = legal_moves(pos, solver.moves[depth])
    else:
        count = generate_checks(pos, solver.moves[depth], np.int64(0))
    _link(pos, solver, depth, count)
    enter_path(pos, solver, depth)
    for index in range(count):
        if solver.active[depth, index]:
            _evaluate(pos, solver, depth, index)
            if solver.win[depth, index] == 0:
                break
    win, lose, best = infinite, np.int64(0), np.int64(-1)
    while True:
        win, second, lose, best = infinite, infinite, np.int64(0), np.int64(-1)
        for index in range(count):
            if solver.active[depth, index] == 0:
                continue
            following = np.int64(solver.following[depth, index])
            if solver.lose[depth, index] == 0 and following >= 0 and solver.active[depth, following] == 0:
                solver.active[depth, following] = 1
                _evaluate(pos, solver, depth, following)
            offered = np.int64(solver.win[depth, index])
            lose = min(lose + np.int64(solver.lose[depth, index]), infinite - 1)
            # Among moves with the same number prefer the one with less against it: it is decided sooner either way.
            if offered < win or (offered == win and best >= 0 and solver.lose[depth, index] < solver.lose[depth, best]):
                second = win
                win = offered
                best = index
                if win == 0:
                    break
            elif offered < second:
                second = offered
        if win == 0 or lose == 0 or win >= win_limit or lose >= lose_limit or _should_stop(solver):
            break
        child_win = min(lose_limit - lose + np.int64(solver.lose[depth, best]), infinite)
        child_lose = min(win_limit, second + 1 + (second >> 2))
        move = np.int64(solver.moves[depth, best])
        do_move(pos, move)
        solver.nodes += 1
        explore(pos, solver, depth + 1, child_win, child_lose)
        undo_move(pos, move)
        solver.win[depth, best] = solver.result_lose[depth + 1]
        solver.lose[depth, best] = solver.result_win[depth + 1]
        solver.back[depth, best] = solver.result_back[depth + 1]
        solver.length[depth, best] = solver.result_length[depth + 1]
        solver.hand[depth, best] = solver.result_hand[depth + 1]
    _conclude(pos, solver, depth, count, win, lose, best, solver.nodes - begun)


@jit
def _conclude(pos, solver, depth, count, win, lose, best, work):
    """Write the result of a node and store it in the table."""
    infinite = np.int64(INFINITE_NUMBER)
    back, length, hand, move = np.int64(INDEPENDENT), np.int64(0), np.uint64(0), np.int64(0)
    attacking = depth & 1 == 0
    own, other = attacker_hand(pos, depth), _defender_hand(pos, depth)
    total = own + other
    if not attacking:
        own, other = other, own
    if win == 0:
        lose = infinite
        move = np.int64(solver.moves[depth, best])
        back, length = np.int64(solver.back[depth, best]), np.int64(solver.length[depth, best]) + 1
        hand = _hand_before(pos, move, np.uint64(solver.hand[depth, best]))
    elif lose == 0:
        win = infinite
        for index in range(count):
            back = min(back, np.int64(solver.back[depth, index]))
            length = max(length, np.int64(solver.length[depth, index]) + 1)
            hand = larger_counts(hand, np.uint64(solver.hand[depth, index]))
        if attacking or _can_be_interposed(pos):
            # Of kinds that the loser does not hold, it could drop none: with such a piece the result might differ.
            hand = larger_counts(hand, held_alone(other, own))
    if back >= depth:
        back = np.int64(INDEPENDENT)
    solver.result_win[depth] = win
    solver.result_lose[depth] = lose
    solver.result_back[depth] = back
    solver.result_length[depth] = length
    solver.result_hand[depth] = hand
    solver.result_move[depth] = move
    pn, dn = (win, lose) if attacking else (lose, win)
    kept = hand
    if dn == 0:
        kept = total - hand
    elif pn != 0:
        kept = own if attacking else other
    keep(
        solver.table,
        table_key(pos, solver, depth),
        kept,
        pn,
        dn,
        move,
        min(length, np.int64(0x7FFF)),
        back,
        solver.path[depth],
        work,
    )


@program
def solve_root(pos, solver):
    """Prove or refute a mate for the side to move: 1 mate, 0 no mate (within the limit, if any), -1 unknown.

    A mate that is proved takes at most `solver.result_length[0]` plies.
    """
    solver.stopped = 0
    solver.root_ply = pos.ply
    solver.max_depth = min(np.int64(DEPTHS), np.int64(STACK) - 2 - np.int64(pos.ply))
    move, checks = find_mate(pos, solver.moves[0])
    if move != 0:
        solver.result_length[0] = 1
        return np.int64(1)
    if checks == 0 or solver.limit == 1:
        return np.int64(0)
    explore(pos, solver, np.int64(0), np.int64(INFINITE_NUMBER), np.int64(INFINITE_NUMBER))
    if solver.result_win[0] == 0:
        return np.int64(1)
    if solver.result_lose[0] == 0 and solver.result_back[0] == INDEPENDENT:
        return np.int64(0)
    return np.int64(-1)
