"""A whole game in compiled code: two searches move in turn until the rules, a limit or their scores end it.

Nothing of it holds Python's lock, so a thread for each core plays a game of its own.
"""

from __future__ import annotations

import math

import numpy as np

from search.alphabeta.single_search import search_on, search_once
from search.compiling.jit import jit
from search.mate.in_one import is_mated
from search.primitives.random import below, next_state
from search.rules.declaration import NO_RULE, TRY_RULE, can_declare, try_move
from search.rules.position import do_move
from search.rules.repetition import DRAW, LOSS, WIN, fourfold
from search.score import MATE_BOUND

LONGEST = 1024
"""Moves that a game may have."""
LINES = 8
"""Most moves that a soft choice is made among."""
UNSCORED = -32768
"""In place of a score: the search was cut before it had looked at a move."""

UNFINISHED, MATE, DECLARATION, SENNICHITE, PERPETUAL_CHECK, MOVE_LIMIT, WON_BY_SCORE, DRAWN_BY_SCORE = range(8)
ENDINGS = (
    "unfinished",
    "mate",
    "declaration",
    "sennichite",
    "perpetual check",
    "move limit",
    "won by score",
    "drawn by score",
)
"""How a game ended, by number."""
NOBODY = 2
"""The winner of a draw; else 0 black, 1 white."""

game_dtype = np.dtype(
    [
        # what is asked
        ("first_colour", np.int32),  # the colour that the first player has
        ("nodes", np.int64, 2),  # a move of each player, 0: no limit
        ("depth", np.int32, 2),  # likewise
        ("max_moves", np.int32),  # the game is drawn after the move of this number, unless it mates
        ("declaration", np.int32),  # the rule, see search.rules.declaration
        ("win_score", np.int32),  # both players say so for `win_plies` plies on end: won; 0: never
        ("win_plies", np.int32),
        ("draw_score", np.int32),  # no score is further from 0 for `draw_plies`, from move `draw_from` on: drawn
        ("draw_plies", np.int32),
        ("draw_from", np.int32),
        ("plies", np.int32),  # the game is broken off after so many, unfinished; 0: never
        ("play_out", np.uint8),  # note how the scores would have ended it, but play on
        ("soft_plies", np.int32),  # for so many plies choose among the best moves at random
        ("soft_lines", np.int32),  # the best of which are so many, at most LINES
        ("soft_margin", np.int32),  # and none is worse than the best by more, centipawns
        ("soft_temperature", np.float64),  # a move that is worse by so much is chosen 1 / e times as often
        ("random_state", np.uint64),
        ("cancelled", np.uint8),  # set by anyone: the game ends unfinished
        # what came of it
        ("count", np.int32),
        ("moves", np.uint16, LONGEST),
        ("scores", np.int16, LONGEST),  # the mover's, of the best move, or UNSCORED
        ("searched", np.int64, 2),  # nodes of each player
        ("ending", np.int32),
        ("winner", np.int32),
        ("called_ending", np.int32),  # what the scores said when they would have ended it; UNFINISHED: never
        ("called_winner", np.int32),
        ("called_at", np.int32),  # count of moves then
        # on the way
        ("clear", np.int32),  # plies on end that the scores were one side's: black's above 0, white's below
        ("level", np.int32),  # plies on end that they were nobody's
    ],
    align=True,
)


@jit
def begin_game(game):
    """Forget the game that was played last."""
    game.count = game.called_at = game.clear = game.level = 0
    game.called_ending, game.called_winner = UNFINISHED, NOBODY
    game.searched[0] = game.searched[1] = 0


@jit
def rules_end(pos, game):
    """(Ending, winner) of a game that the rules end before this move; UNFINISHED if they do not."""
    us = np.int64(pos.turn)
    verdict = fourfold(pos)
    if verdict == DRAW:
        return SENNICHITE, NOBODY
    if verdict == WIN:
        return PERPETUAL_CHECK, us
    if verdict == LOSS:
        return PERPETUAL_CHECK, 1 - us
    if pos.game_ply > game.max_moves or game.count >= LONGEST:
        # The last move that is allowed may mate; a declaration would be one move more.
        if is_mated(pos):
            return MATE, 1 - us
        return MOVE_LIMIT, NOBODY
    rule = np.int64(game.declaration)
    if rule != NO_RULE and (can_declare(pos, rule) or (rule == TRY_RULE and try_move(pos) != 0)):
        return DECLARATION, us
    return UNFINISHED, NOBODY


@jit
def _soft_move(pos, game, thread, accumulators, network, nodes, best, best_score):
    """One of the best moves (int64), drawn by a softmax over their scores: the others are searched as the best was."""
    moves, scores = np.zeros(LINES, np.int64), np.zeros(LINES, np.int64)
    moves[0], scores[0] = best, best_score
    found = np.int64(1)
    last = max(np.int64(thread.depth), np.int64(1))
    lines = min(np.int64(game.soft_lines), np.int64(LINES), np.int64(thread.root_count))
    while found < lines:
        thread.root_first, thread.depth, thread.score = found, 0, scores[found - 1]
        thread.stop, thread.line_length, thread.pv_length[0] = 0, 0, 0
        if nodes:
            thread.node_limit = thread.nodes + nodes
        search_on(pos, thread, accumulators, network, last)
        if thread.depth == 0 or thread.score < best_score - game.soft_margin:
            break
        moves[found], scores[found] = np.int64(thread.line[0]), np.int64(thread.score)
        found += 1
    total = 0.0
    for place in range(found):
        total += math.exp((scores[place] - best_score) / game.soft_temperature)
    game.random_state = next_state(game.random_state)
    left = total * (below(game.random_state, np.int64(1 << 30)) / (1 << 30))
    for place in range(found):
        left -= math.exp((scores[place] - best_score) / game.soft_temperature)
        if left < 0:
            return moves[place]
    return best


@jit
def _choose(pos, game, thread, accumulators, network, player):
    """(Move, score or UNSCORED) of a player, int64; the move is 0 where there is none."""
    thread.max_moves, thread.declaration_rule = game.max_moves, game.declaration
    nodes = np.int64(game.nodes[player])
    move, score = search_once(pos, thread, accumulators, network, nodes, np.int64(game.depth[player]))
    if thread.depth == 0:
        score = np.int64(UNSCORED)
    elif move and game.count < game.soft_plies and abs(score) < MATE_BOUND:
        move = _soft_move(pos, game, thread, accumulators, network, nodes, move, score)
    game.searched[player] += thread.nodes
    return move, score


@jit
def enter_move(pos, game, move, score):
    """Play a move that its player gives this score (or UNSCORED), if the scores do not end the game before it.

    (Ending, winner): UNFINISHED where the move was played.
    """
    us = np.int64(pos.turn)
    blacks = score if us == 0 else -score
    if score == UNSCORED:
        game.clear = 0
    elif blacks >= game.win_score:
        game.clear = max(np.int64(game.clear), np.int64(0)) + 1
    elif blacks <= -game.win_score:
        game.clear = min(np.int64(game.clear), np.int64(0)) - 1
    else:
        game.clear = 0
    game.level = game.level + 1 if abs(score) <= game.draw_score and pos.game_ply >= game.draw_from else 0
    if game.called_ending == UNFINISHED:
        if game.win_score and abs(np.int64(game.clear)) >= game.win_plies:
            game.called_ending, game.called_winner = WON_BY_SCORE, 0 if game.clear > 0 else 1
        elif game.draw_plies and game.level >= game.draw_plies:
            game.called_ending, game.called_winner = DRAWN_BY_SCORE, NOBODY
        game.called_at = game.count
        if game.called_ending != UNFINISHED and not game.play_out:
            return np.int64(game.called_ending), np.int64(game.called_winner)
    game.moves[game.count] = move
    game.scores[game.count] = score if score == UNSCORED else min(max(score, np.int64(-32767)), np.int64(32767))
    game.count += 1
    do_move(pos, move)
    return np.int64(UNFINISHED), np.int64(NOBODY)


@jit
def play_game(pos, game, first, first_sums, first_network, second, second_sums, second_network):
    """Play from the position that was set to the end; the answers are in `game`, the moves done in `pos`.

    Each player is a thread's record, its accumulators and its network; both may be the same ones.
    """
    begin_game(game)
    while True:
        ending, winner = rules_end(pos, game)
        broken_off = game.plies and game.count >= game.plies
        if ending == UNFINISHED and broken_off and is_mated(pos):  # the last of its plies has ended it
            ending, winner = np.int64(MATE), 1 - np.int64(pos.turn)
        if ending == UNFINISHED and not broken_off and not game.cancelled:
            us = np.int64(pos.turn)
            if us == game.first_colour:
                move, score = _choose(pos, game, first, first_sums, first_network, np.int64(0))
            else:
                move, score = _choose(pos, game, second, second_sums, second_network, np.int64(1))
            if move == 0:
                ending, winner = np.int64(MATE), 1 - us
            elif not game.cancelled:
                ending, winner = enter_move(pos, game, move, score)
        if ending != UNFINISHED or broken_off or game.cancelled:
            game.ending, game.winner = ending, winner
            return
