"""A whole game in compiled code: two searches move alternately until the rules, a limit or their scores end it.

Compiled code releases the GIL, so each core can play a game in a thread of its own.
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
"""Maximum number of moves of a game."""
LINES = 8
"""Maximum number of moves among which a soft choice is made."""
UNSCORED = -32768
"""Score of a move whose search was stopped before it found a score."""

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
"""Names of the endings, by number."""
NO_WINNER = 2
"""Winner of a drawn game; 0 is black, 1 white."""

game_dtype = np.dtype(
    [
        # settings
        ("first_colour", np.int32),  # colour of the first player
        ("nodes", np.int64, 2),  # nodes per move of each player, 0: no limit
        ("depth", np.int32, 2),  # depth per move of each player, 0: no limit
        ("max_moves", np.int32),  # the game is drawn after the move of this number, unless it mates
        ("declaration", np.int32),  # rule of declaration, see search.rules.declaration
        ("win_score", np.int32),  # won when both players' scores reach it for `win_plies` plies; 0: never
        ("win_plies", np.int32),
        ("draw_score", np.int32),  # drawn when no score exceeds it for `draw_plies` plies from move `draw_from`
        ("draw_plies", np.int32),
        ("draw_from", np.int32),
        ("plies", np.int32),  # the game stops unfinished after this many plies; 0: never
        ("play_out", np.uint8),  # record how the scores would have ended the game, but play on
        ("soft_plies", np.int32),  # plies from the start in which moves are drawn at random among the best
        ("soft_lines", np.int32),  # number of best moves to draw from, at most LINES
        ("soft_margin", np.int32),  # largest loss of a drawn move against the best, centipawns
        ("soft_temperature", np.float64),  # a move that loses this many centipawns is drawn 1 / e times as often
        ("random_state", np.uint64),
        ("cancelled", np.uint8),  # set from another thread: the game ends unfinished
        # result
        ("count", np.int32),
        ("moves", np.uint16, LONGEST),
        ("scores", np.int16, LONGEST),  # score of the best move for the mover, or UNSCORED
        ("searched", np.int64, 2),  # nodes of each player
        ("ending", np.int32),
        ("winner", np.int32),
        ("called_ending", np.int32),  # ending by the scores of a game that was played out; UNFINISHED: none
        ("called_winner", np.int32),
        ("called_at", np.int32),  # number of moves at that time
        # state
        ("clear", np.int32),  # consecutive plies with winning scores: above 0 for black, below 0 for white
        ("level", np.int32),  # consecutive plies with drawn scores
    ],
    align=True,
)


@jit
def begin_game(game):
    """Reset the record for another game."""
    game.count = game.called_at = game.clear = game.level = 0
    game.called_ending, game.called_winner = UNFINISHED, NO_WINNER
    game.searched[0] = game.searched[1] = 0


@jit
def rules_end(pos, game):
    """Return (ending, winner) if the rules end the game before this move, else UNFINISHED."""
    us = np.int64(pos.turn)
    verdict = fourfold(pos)
    if verdict == DRAW:
        return SENNICHITE, NO_WINNER
    if verdict == WIN:
        return PERPETUAL_CHECK, us
    if verdict == LOSS:
        return PERPETUAL_CHECK, 1 - us
    if pos.game_ply > game.max_moves or game.count >= LONGEST:
        # The last allowed move may mate; a declaration would need one move more.
        if is_mated(pos):
            return MATE, 1 - us
        return MOVE_LIMIT, NO_WINNER
    rule = np.int64(game.declaration)
    if rule != NO_RULE and (can_declare(pos, rule) or (rule == TRY_RULE and try_move(pos) != 0)):
        return DECLARATION, us
    return UNFINISHED, NO_WINNER


@jit
def _soft_move(pos, game, thread, accumulators, network, nodes, best, best_score):
    """Draw one of the best moves (int64) by a softmax over scores; the others are searched as deep as the best."""
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
    """Return (move, score or UNSCORED) of a player, int64; the move is 0 if there is none."""
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
    """Play a move with its score (or UNSCORED), unless the scores end the game first.

    Returns (ending, winner); UNFINISHED if the move was played.
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
            game.called_ending, game.called_winner = DRAWN_BY_SCORE, NO_WINNER
        game.called_at = game.count
        if game.called_ending != UNFINISHED and not game.play_out:
            return np.int64(game.called_ending), np.int64(game.called_winner)
    game.moves[game.count] = move
    game.scores[game.count] = score if score == UNSCORED else min(max(score, np.int64(-32767)), np.int64(32767))
    game.count += 1
    do_move(pos, move)
    return np.int64(UNFINISHED), np.int64(NO_WINNER)


@jit
def play_game(pos, game, first, first_sums, first_network, second, second_sums, second_network):
    """Play from position `pos` to the end; writes the result to `game` and plays the moves in `pos`.

    Each player is a thread's record, its accumulators and its network; both players may share them.
    """
    begin_game(game)
    while True:
        ending, winner = rules_end(pos, game)
        broken_off = game.plies and game.count >= game.plies
        if ending == UNFINISHED and broken_off and is_mated(pos):  # the last ply has mated
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
