"""A playout of the PUCT search: down the tree to an unvisited position, and its value back up.

A playout goes down from the root by the moves with the largest Q + U (`choose`, as in AlphaZero, with dlshogi's
constants) to an unvisited position. If the rules or a mate search decide it, its value goes up at once. Otherwise it
waits in a slot of a batch for the network (`select_leaf`); then `absorb` creates its edges and sends the value up.
Meanwhile all nodes on the path count the playout as lost (virtual loss, `in_flight`), so that the next playout of the
batch goes elsewhere. Proved wins and losses go up as in a proof tree (Winands et al., "Monte-Carlo tree search solver",
2008).
"""

from __future__ import annotations

import math

import numpy as np

from search.compiling.jit import jit
from search.mate.dfpn import solve_root
from search.mate.in_one import find_mate
from search.puct.tree import (
    DRAWN,
    EXPANDED,
    FRESH,
    LOST,
    NONE,
    PROVED_LOSS,
    PROVED_WIN,
    UNPROVED,
    WAITING,
    WON,
    new_node,
)
from search.rules.declaration import NO_RULE, TRY_RULE, can_declare, try_move
from search.rules.movegen import legal_moves
from search.rules.position import do_move, undo_move
from search.rules.repetition import DRAW, INFERIOR, LOSS, NO_REPETITION, SUPERIOR, WIN, game_repetition
from search.rules.view import view_position
from search.score import MAX_PLY

LEAF, SETTLED, COLLISION, FULL = range(4)
"""Ends of a playout's way down: a position for the network, a value known at once, a position that is waiting
already, no room in the tree. Only after LEAF the record stays at the leaf's position."""
REPETITION_PLIES = 16


@jit
def choose(tree, nodes, edges, index, turn):
    """Return the index (int64) of the edge that the next playout takes at an expanded node, whose mover is `turn`."""
    node = nodes[index]
    at_root = index == tree.root
    which = 1 if at_root else 0
    shift = tree.draw_value[turn] - 0.5
    # The node already counts the present playout, and no child does.
    total = np.float64(node.visits - node.own + node.in_flight - 1)
    scale = (math.log((total + tree.base[which] + 1) / tree.base[which]) + tree.initial[which]) * math.sqrt(
        max(total, 1.0)
    )
    value = (node.win + node.draw * shift) / max(np.int64(node.visits), 1)
    first = np.int64(node.first_edge) + 1
    best, highest, tried = np.int64(NONE), -1e9, 0.0
    for number in range(np.int64(node.edge_count)):
        if at_root and tree.allowed[number] == 0:
            continue
        edge = edges[first + number]
        prior = np.float64(edge.prior)
        visits, among = np.int64(0), np.int64(0)
        if edge.child >= 0:
            child = nodes[edge.child]
            if child.proof == PROVED_LOSS:
                return first + number
            if child.proof == PROVED_WIN and best != NONE:
                continue
            visits = np.int64(child.visits)
            among = visits + np.int64(child.in_flight)
            if child.proof == PROVED_WIN:
                best, highest = first + number, -1e8
                continue
        if among > 0:
            child = nodes[edge.child]
            quality = (visits - child.win + child.draw * shift) / among
            tried += prior
        else:
            quality = value - tree.reduction[which] * math.sqrt(tried)
        quality += scale * prior / (1 + among)
        if quality > highest:
            best, highest = first + number, quality
        if edge.child < 0:
            break
    return best


@jit
def _settle(tree, nodes, edges, index, pos, solver, slot, depth):
    """Visit a position for the first time: write its edges, or its result by the rules or by a mate.

    Returns SETTLED, LEAF or FULL.
    """
    node = nodes[index]
    if depth > 0:
        limit = min(np.int64(REPETITION_PLIES), depth) if tree.analysis else np.int64(REPETITION_PLIES)
        verdict = game_repetition(pos, limit, depth)
        if verdict != NO_REPETITION:
            if verdict == DRAW:
                node.state = DRAWN
            elif verdict == WIN or verdict == SUPERIOR:
                node.state = WON
            elif verdict == LOSS or verdict == INFERIOR:
                node.state = LOST
            return SETTLED
    count = legal_moves(pos, slot.moves[:])  # an array as elsewhere: a record's field would compile the generator again
    if count == 0:
        node.state, node.proof, node.plies = LOST, PROVED_LOSS, 0
        return SETTLED
    if depth > 0:
        if tree.max_moves > 0 and pos.game_ply > tree.max_moves:
            node.state = DRAWN
            return SETTLED
        rule = np.int64(tree.rule)
        if rule != NO_RULE and (can_declare(pos, rule) or (rule == TRY_RULE and try_move(pos) != 0)):
            node.state, node.proof, node.plies = WON, PROVED_WIN, 1
            return SETTLED
        mate, checks = find_mate(pos, solver.moves[0])
        if mate != 0:
            node.state, node.proof, node.plies = WON, PROVED_WIN, 1
            return SETTLED
        # Under the try rule a check may be answered by a winning move, which the solver does not know.
        if checks > 0 and tree.mate_nodes > 0 and rule != TRY_RULE:
            solver.nodes = 0
            solver.node_limit = tree.mate_nodes
            solver.salt = tree.salt[pos.turn]
            if solve_root(pos, solver) == 1 and (
                tree.max_moves == 0 or pos.game_ply + solver.result_length[0] - 1 <= tree.max_moves
            ):
                node.state, node.proof, node.plies = WON, PROVED_WIN, solver.result_length[0]
                return SETTLED
    if tree.edges_used + count + 1 > len(edges):
        return FULL
    first = np.int64(tree.edges_used)
    tree.edges_used += count + 1
    owner = edges[first]
    owner.move = 0
    owner.count = count
    owner.prior = 0.0
    owner.child = index
    for number in range(count):
        edge = edges[first + 1 + number]
        edge.move = slot.moves[number]
        edge.count = 0
        edge.prior = 0.0
        edge.child = NONE
    node.first_edge = first
    node.edge_count = count
    node.state = WAITING
    return LEAF


@jit
def retreat(pos, plies):
    """Take back the last `plies` moves."""
    for _ in range(plies):
        undo_move(pos, np.int64(pos.moves[pos.ply]))


@jit
def _take_back(nodes, slot):
    """Remove the virtual losses of a playout without a result."""
    for step in range(slot.length):
        nodes[slot.path[step]].in_flight -= 1


@jit
def select_leaf(tree, nodes, edges, pos, solver, slot):
    """Send a playout down from the root, whose position is `pos`; return LEAF, SETTLED, COLLISION or FULL.

    After LEAF, `pos` is at the leaf, `slot.length - 1` plies down, and the playout is in flight until `absorb` or
    `abandon`.
    """
    index = np.int64(tree.root)
    depth = np.int64(0)
    while True:
        node = nodes[index]
        slot.path[depth] = index
        slot.length = depth + 1
        node.in_flight += 1
        if (node.proof != UNPROVED and depth > 0) or node.state >= DRAWN:
            outcome = np.int64(SETTLED)
            break
        if node.state == WAITING:
            outcome = np.int64(COLLISION)
            break
        if node.state == FRESH:
            slot.turn = pos.turn
            outcome = np.int64(_settle(tree, nodes, edges, index, pos, solver, slot, depth))
            break
        if depth == MAX_PLY:
            outcome = np.int64(SETTLED)
            break
        chosen = choose(tree, nodes, edges, index, np.int64(pos.turn) & 1)
        edge = edges[chosen]
        if edge.child < 0:
            if tree.nodes_used >= len(nodes):
                outcome = np.int64(FULL)
                break
            edge.child = new_node(tree, nodes)
        do_move(pos, np.int64(edge.move))
        index = np.int64(edge.child)
        depth += 1
    if outcome == LEAF:
        return outcome
    retreat(pos, depth)
    if outcome == SETTLED:
        node = nodes[index]
        node.own += 1
        win, draw = 0.5, 0.0
        if node.proof == PROVED_WIN or node.state == WON:
            win = 1.0
        elif node.proof == PROVED_LOSS or node.state == LOST:
            win = 0.0
        elif node.state == DRAWN:
            draw = 1.0
        elif node.visits > 0:  # too deep: the values of earlier visits
            win, draw = node.win / node.visits, node.draw / node.visits
        _back_up(tree, nodes, slot, win, draw)
        _prove_upwards(tree, nodes, edges, slot)
    else:
        _take_back(nodes, slot)
    return outcome


@jit
def gather_leaves(tree, nodes, edges, pos, solver, slots, first, size, most, pieces, hands, in_checks):
    """Send at most `most` playouts down until `size` leaves wait in `slots`, and in the views, from row `first` on.

    Returns (number of waiting leaves, end of the last playout). A COLLISION or FULL ends it, too; the end is LEAF if no
    playout was sent.
    """
    count, outcome = np.int64(0), np.int64(LEAF)
    for _ in range(most):
        if count == size:
            break
        slot = slots[first + count]
        outcome = select_leaf(tree, nodes, edges, pos, solver, slot)
        if outcome == LEAF:
            view_position(pos, pieces, hands, in_checks, first + count)
            retreat(pos, np.int64(slot.length) - 1)
            count += 1
        elif outcome != SETTLED:
            break
    return count, outcome


@jit
def _back_up(tree, nodes, slot, win, draw):
    """Add a value, seen by the leaf's mover, to every node on the path."""
    tree.visits += 1
    tree.deepest = max(np.int64(tree.deepest), np.int64(slot.length) - 1)
    for step in range(slot.length - 1, -1, -1):
        node = nodes[slot.path[step]]
        node.in_flight -= 1
        node.visits += 1
        node.win += win
        node.draw += draw
        win = 1.0 - win


@jit
def prove(tree, nodes, edges, index):
    """Update an expanded node's proof from those of its children; return whether it is proved."""
    node = nodes[index]
    first = np.int64(node.first_edge) + 1
    at_root = index == tree.root
    shortest, longest, open_moves = np.int64(1 << 15), np.int64(0), np.int64(0)
    for number in range(np.int64(node.edge_count)):
        if at_root and tree.allowed[number] == 0:
            continue
        child_index = edges[first + number].child
        if child_index < 0:
            open_moves += 1
            continue
        child = nodes[child_index]
        if child.proof == PROVED_LOSS:
            shortest = min(shortest, np.int64(child.plies) + 1)
        elif child.proof == PROVED_WIN:
            longest = max(longest, np.int64(child.plies) + 1)
        else:
            open_moves += 1
    if shortest < 1 << 15:
        node.proof, node.plies = PROVED_WIN, shortest
        return True
    if open_moves == 0:
        node.proof, node.plies = PROVED_LOSS, longest
        return True
    return False


@jit
def _prove_upwards(tree, nodes, edges, slot):
    """Update the proofs of the nodes above a settled leaf."""
    for step in range(slot.length - 2, -1, -1):
        if nodes[slot.path[step + 1]].proof == UNPROVED:
            break
        if not prove(tree, nodes, edges, np.int64(slot.path[step])):
            break


@jit
def _expand(tree, nodes, edges, index, labels, policy):
    """Set the priors of a node's edges, the softmax of the logits of their labels, and sort the edges by them."""
    node = nodes[index]
    first = np.int64(node.first_edge) + 1
    count = np.int64(node.edge_count)
    highest = -1e30
    for number in range(count):
        logit = np.float64(policy[labels[number]])
        if not logit > -1e4:  # also false for NaN
            logit = -1e4
        logit = min(logit, 1e4) / tree.temperature
        highest = max(highest, logit)
        edges[first + number].prior = logit
    total = 0.0
    for number in range(count):
        edge = edges[first + number]
        edge.prior = math.exp(edge.prior - highest)
        total += edge.prior
    for number in range(count):
        prior, move = np.float32(edges[first + number].prior / total), edges[first + number].move
        place = first + number
        while place > first and edges[place - 1].prior < prior:
            edges[place].prior = edges[place - 1].prior
            edges[place].move = edges[place - 1].move
            place -= 1
        edges[place].prior = prior
        edges[place].move = move
    node.state = EXPANDED


@jit
def absorb(tree, nodes, edges, slots, count, labels, policy, wins, draws):
    """Add a batch of `count` evaluated leaves to the tree.

    `labels` i8 (count, MAX_MOVES) are those of the leaves' moves. `policy` f4 (count, 2187) are logits; `wins` and
    `draws` f4 (count,) are the mover's rates.
    """
    for number in range(count):
        slot = slots[number]
        index = np.int64(slot.path[slot.length - 1])
        _expand(tree, nodes, edges, index, labels[number], policy[number])
        nodes[index].own += 1
        win, draw = np.float64(wins[number]), np.float64(draws[number])
        win = min(win, 1.0) if win >= 0.0 else (0.0 if win < 0.0 else 0.5)
        draw = min(draw, 1.0) if draw >= 0.0 else 0.0
        _back_up(tree, nodes, slot, win, draw)


@jit
def abandon(nodes, slots, count):
    """Undo the playouts of a batch that the network failed to evaluate."""
    for number in range(count):
        slot = slots[number]
        node = nodes[slot.path[slot.length - 1]]
        node.state = FRESH
        node.edge_count = 0
        node.first_edge = NONE
        _take_back(nodes, slot)
