"""A game of PUCT players in progress: its position, its trees, and the visits to learn from."""

from __future__ import annotations

import numpy as np

from experiments.games.compiled_game import MATE, UNFINISHED, begin_game, enter_move, game_dtype, rules_end
from experiments.games.player import Ending, PlayedGame, finished_game
from experiments.puct_selfplay.exploration import Exploration
from search.puct.engine import Settings
from search.puct.tree import PROVED_WIN, UNPROVED
from search.puct.tree_memory import Tree
from search.rules.huffman import HCP, encode
from search.rules.play import set_game, split_moves
from search.rules.position import new_position
from search.rules.shogi import BLACK
from search.score import score_of_rate

MOVES_A_NODE = 120
"""Legal moves per position, a generous average: a tree that overflows drops its least visited nodes."""
EDGE_BYTES = 12


def tree_megabytes(playouts: int) -> int:
    """Return the megabytes of a game's tree for `playouts` playouts per move, with room for those of earlier moves."""
    return 1 + 6 * playouts * MOVES_A_NODE * EDGE_BYTES // (1 << 20)


class Game:
    """A game: alternate `begin_move`, a search of the tree and `end_move` until it `is_over`."""

    def __init__(
        self,
        start: str,
        ending: Ending,
        settings: Settings,
        megabytes: int,
        play_out: bool,
        first_colour: int | None = None,
    ) -> None:
        """`start`: line of an opening. `play_out`: play on where the scores would end the game, and take note of it.
        `first_colour`: colour of the first of two players, each with a tree; None: one player plays itself."""
        self.position = new_position()
        set_game(self.position, *split_moves(start))
        board, hands = self.position["board"], self.position["hands"]
        self._start = encode(board, hands, int(self.position["turn"]), HCP)
        self._trees = [Tree(megabytes) for _ in range(1 if first_colour is None else 2)]
        for tree in self._trees:
            settings.write(tree.record)
            tree.record["draw_value"] = 0.5
            tree.record["rule"], tree.record["max_moves"] = ending.declaration_number, ending.max_moves
        self._game = np.zeros(1, game_dtype)[0]
        ending.write(self._game)
        begin_game(self._game)
        self._game["play_out"], self._game["first_colour"] = play_out, first_colour or BLACK
        self._visits: list[tuple[np.ndarray, np.ndarray]] = []

    @property
    def player(self) -> int:
        """Player to move: 0 the first or only player, 1 the second."""
        return int(len(self._trees) == 2 and self.position["turn"] != self._game["first_colour"])

    @property
    def tree(self) -> Tree:
        """Tree of the player to move."""
        return self._trees[self.player]

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return bool(self._game["ending"] != UNFINISHED)

    def begin_move(self) -> None:
        """End the game if the rules do, or prepare the tree for a search."""
        self._end(*rules_end(self.position, self._game))
        self.tree.allow(set())
        self.tree.record["visits"] = 0

    def stir(self, exploration: Exploration, random: np.random.Generator) -> None:
        """Add noise to the priors of the root, which must have been expanded."""
        edges = self.tree.root_edges()
        if exploration.noise_share and len(edges):
            self.tree.set_root_priors(exploration.stir(edges["prior"], random))

    def end_move(self, exploration: Exploration, random: np.random.Generator) -> None:
        """Play a move by the search's visits, and keep the visits; a proved game ends."""
        root, game = self.tree.root, self._game
        game["searched"][self.player] += self.tree.record["visits"]
        if root["proof"] != UNPROVED:
            turn = int(self.position["turn"])
            self._end(MATE, turn if root["proof"] == PROVED_WIN else 1 - turn)
            return
        moves, visits, weights, score = self._tried()
        move = int(moves[exploration.choose(weights, int(game["count"]), random)])
        tried = (moves, visits.astype(np.uint16))
        self._end(*enter_move(self.position, game, np.int64(move), np.int64(score)))
        if self.is_over:
            return
        self._visits.append(tried)
        for tree in self._trees:
            if not tree.advance([move]):
                tree.clear()

    @property
    def score(self) -> int | None:
        """The mover's score by the search, centipawns; None where the game is proved."""
        return self._tried()[3] if self.tree.root["proof"] == UNPROVED else None

    def _tried(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """Return (moves u2, visits i8, weights i8, each (n,), score of the best) of the root's visited moves."""
        edges = self.tree.root_edges()
        edges = edges[edges["child"] >= 0]
        edges = edges[self.tree.nodes["visits"][edges["child"]] > 0]  # a kept tree may have forgotten some visits
        nodes = self.tree.nodes[edges["child"]]
        visits = nodes["visits"].astype(np.int64)
        # A move after which the opponent has a proved win has no weight, unless no other was visited.
        sound = np.where(nodes["proof"] == PROVED_WIN, 0, visits)
        weights = sound if sound.any() else visits
        best = int(np.argmax(weights))
        rate = 1 - float(nodes["win"][best]) / int(visits[best])
        return edges["move"].copy(), visits, weights, score_of_rate(rate)

    def finished(self) -> PlayedGame:
        """Return the game, which must be over."""
        return finished_game(self._game, self._start, self._visits)

    def _end(self, ending: int, winner: int) -> None:
        self._game["ending"], self._game["winner"] = ending, winner
