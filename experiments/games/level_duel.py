"""Games of two players, at least one of them with a level; one `LevelDuel` plays one game at a time.

Levels draw their moves in Python, so these games are not compiled ones. Rules, endings and records are the same.
"""

from __future__ import annotations

from random import Random

import numpy as np

from experiments.games.compiled_game import MATE, UNFINISHED, UNSCORED, begin_game, enter_move, game_dtype, rules_end
from experiments.games.player import Ending, PlayedGame, Player, finished_game
from experiments.jobs.protocol import Stopped
from search.alphabeta.engine import AlphaBetaEngine
from search.alphabeta.parameters import make_numbers
from search.engine import Limits, Rules
from search.rules.huffman import HCP, encode
from search.rules.play import set_game, split_moves
from search.rules.position import new_position
from search.rules.sfen import move_from_usi
from search.rules.shogi import BLACK
from search.score import draw_value


class LevelDuel:
    """Two players with their engines; plays one game at a time."""

    def __init__(self, first: Player, second: Player, ending: Ending | None = None) -> None:
        """Create the engines; raises MemoryError if their memory cannot be allocated."""
        self._players = (first, second)
        self._engines = (_engine(first), _engine(second))
        self._ending = ending or Ending()
        self._game = np.zeros(1, game_dtype)[0]
        self._ending.write(self._game)
        self._cancelled = False

    def forget(self) -> None:
        """Clear the players' memory."""
        for engine in self._engines:
            engine.new_game()

    def stop(self) -> None:
        """Stop the running game soon; may be called from any thread. `play` raises Stopped from then on."""
        self._cancelled = True
        for engine in self._engines:
            engine.stop()

    def is_over(self, start: str) -> bool:
        """Return whether the rules end a game at its `start`, which is as in `play`. ValueError if it is invalid."""
        pos = new_position()
        set_game(pos, *split_moves(start))
        begin_game(self._game)
        return bool(rules_end(pos, self._game)[0] != UNFINISHED)

    def play(self, start: str, first_colour: int = BLACK, seed: int = 1, play_out: bool = False) -> PlayedGame:
        """Play a game from `startpos` or an SFEN, with `moves ...` or without; those are not part of the game.

        `seed` is for the moves that levels draw. With `play_out` the game continues when the scores would end it, and
        records that. Raises ValueError for an invalid position and for a game that has no first move.
        """
        pos, game = new_position(), self._game
        set_game(pos, *split_moves(start))
        code = encode(pos["board"], pos["hands"], int(pos["turn"]), HCP)
        begin_game(game)
        game["first_colour"], game["play_out"] = first_colour, play_out
        for number, (player, engine) in enumerate(zip(self._players, self._engines, strict=True)):
            colour = first_colour ^ number
            engine.random = Random(f"{seed} {number}")
            engine.rules = Rules(
                self._ending.declaration_number,
                self._ending.max_moves,
                draw_value(player.draw_rates[colour], colour, player.network.cp_per_logit),
            )
        ending, winner = rules_end(pos, game)
        while ending == UNFINISHED:
            mover = int(pos["turn"])
            move, score = self._choose(pos, mover ^ first_colour)
            if self._cancelled:
                raise Stopped
            if not move:
                ending, winner = MATE, 1 - mover
                break
            ending, winner = enter_move(pos, game, np.int64(move), np.int64(score))
            if ending == UNFINISHED:
                ending, winner = rules_end(pos, game)
        game["ending"], game["winner"] = ending, winner
        if not game["count"]:
            raise ValueError(f"{start}: the game is over before it begins")
        return finished_game(game, code)

    def _choose(self, pos: np.void, number: int) -> tuple[int, int]:
        """Return (move, score or UNSCORED) of a player; the move is 0 if there is none."""
        player, engine = self._players[number], self._engines[number]
        engine.position = pos
        engine.ready()
        found = engine.search(Limits(player.nodes or None, player.depth or None))[0]
        self._game["searched"][number] += found.nodes
        if found.best_move is None:
            return 0, 0
        return move_from_usi(found.best_move), found.score if found.depth else UNSCORED


def _engine(player: Player) -> AlphaBetaEngine:
    engine = AlphaBetaEngine(player.network, player.hash_mb)
    engine.steps, engine.numbers = player.steps, make_numbers(player.parameters)
    engine.level = player.level
    return engine
