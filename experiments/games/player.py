"""Two players and the memory they search with: one game at a time, many such tables beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from experiments.games.compiled_game import (
    DECLARATION,
    ENDINGS,
    LINES,
    MOVE_LIMIT,
    NOBODY,
    PERPETUAL_CHECK,
    SENNICHITE,
    UNFINISHED,
    UNSCORED,
    game_dtype,
    play_game,
    rules_end,
)
from lite.records import formats
from lite.records.encode import encode_game
from search.alphabeta.parameters import EVERY_STEP, make_numbers
from search.alphabeta.single_search import share_search
from search.alphabeta.thread import SearchThread
from search.alphabeta.transposition import TranspositionTable
from search.evaluation.network import EvalNetwork
from search.primitives.random import first_state
from search.rules.declaration import NO_RULE, RULE_27, RULE_27_HANDICAP
from search.rules.huffman import HCP, encode
from search.rules.play import set_game, split_moves
from search.rules.position import new_position
from search.rules.shogi import BLACK, WHITE
from search.score import draw_value
from search.system.bounds import check_numbers, check_used

_KIND_BITS = {
    SENNICHITE: formats.SENNICHITE,
    PERPETUAL_CHECK: formats.SENNICHITE,
    DECLARATION: formats.DECLARATION,
    MOVE_LIMIT: formats.MOVE_LIMIT,
}


@dataclass(frozen=True)
class Player:
    """Who plays: a network in this search, and how far it looks at each move."""

    network: EvalNetwork
    nodes: int = 0
    """A move; 0: no limit."""
    depth: int = 0
    """Likewise."""
    parameters: Mapping[str, int] = field(default_factory=dict)
    """Changes of the search's parameters, by name."""
    steps: int = EVERY_STEP
    hash_mb: int = 16
    """Megabytes of its table."""
    draw_rates: tuple[float, float] = (0.5, 0.5)
    """What a draw is worth to it (0..1) as black and as white; half to one that plays itself."""


@dataclass(frozen=True)
class PuctPlayer:
    """Who plays by PUCT: a policy-value network, and how far it looks at each move."""

    network: bytes
    """The content of an ONNX file of dlshogi's format."""
    nodes: int
    """Visits of the root that end a move's search."""


@dataclass(frozen=True)
class Ending:
    """When a game is over although the rules let it go on."""

    max_moves: int = 320
    """A game of more moves, those of its opening with them, is drawn."""
    declaration: int = RULE_27
    """Of entered kings: 0 none, 1 by 24 points, 2 by 27, 3 the try rule, 4 and 5 as 1 and 2 with handicaps."""
    win_score: int = 0
    """Won when the scores of both players have said so for `win_plies` plies on end, centipawns; 0: never."""
    win_plies: int = 8
    """Plies for which they must have said so."""
    draw_score: int = 5
    """Drawn when no score was further from 0 for `draw_plies` plies on end, centipawns."""
    draw_plies: int = 0
    """0: never."""
    draw_from: int = 160
    """The move number from which on those plies count."""

    def check(self) -> None:
        """Raises ValueError in words for options that make no sense."""
        check_numbers(self, "max_moves", "win_plies")
        check_numbers(self, "win_score", "draw_score", "draw_plies", "draw_from", least=0)
        check_used(self, "win_plies", "win_score")
        for name in ("draw_score", "draw_from"):
            check_used(self, name, "draw_plies")
        if not NO_RULE <= self.declaration <= RULE_27_HANDICAP:
            raise ValueError(f"--declaration {self.declaration}: choose {NO_RULE} to {RULE_27_HANDICAP}")

    def check_played_out(self, options: Any) -> None:
        """Raises ValueError in words where a share of the games that scores end is to be `played_out`, and scores end
        none."""
        given = options.played_out != type(options).played_out
        if given and not self.win_score and not self.draw_plies:
            raise ValueError(f"--played-out {options.played_out}: does nothing without --win-score or --draw-plies")

    def write(self, game: np.void) -> None:
        """Ask it of a game's record."""
        for name, value in asdict(self).items():
            game[name] = value


@dataclass(frozen=True)
class Variety:
    """Moves drawn by a softmax over the best ones' scores, so that games differ."""

    soft_plies: int = 0
    """So many at the start of each game."""
    soft_lines: int = 4
    """Of so many best moves, 8 at most."""
    soft_margin: int = 60
    """None is worse than the best by more, centipawns."""
    soft_temperature: float = 30.0
    """A move that is worse by so many centipawns is played 1 / e times as often."""

    def check(self) -> None:
        """Raises ValueError in words for options that make no sense."""
        check_numbers(self, "soft_lines", most=LINES)
        check_numbers(self, "soft_plies", "soft_margin", least=0)
        for name in ("soft_lines", "soft_margin", "soft_temperature"):
            check_used(self, name, "soft_plies")
        if not 0 < self.soft_temperature < float("inf"):
            raise ValueError(f"--soft-temperature {self.soft_temperature}: must be more than 0")


@dataclass(frozen=True)
class PlayedGame:
    """A game that came to its end."""

    start: bytes
    """The first position, 32 bytes of hcp."""
    moves: np.ndarray
    """u2 (plies,): 16-bit moves as in hcpe."""
    scores: np.ndarray
    """i2 (plies,): centipawns of the mover, UNSCORED where its search was cut before it had found any."""
    winner: int
    """0 black, 1 white, 2 nobody."""
    ending: int
    """See `experiments.games.compiled_game.ENDINGS`."""
    called: tuple[int, int, int] | None
    """(Ending, winner, count of moves) where the scores would have ended a game that was played out."""
    first_colour: int
    nodes: tuple[int, int]
    """Of each player."""
    visits: Sequence[tuple[np.ndarray, np.ndarray]] | None = None
    """For each ply, moves u2 (n,) and how often a search of playouts visited them u2 (n,)."""

    @property
    def points(self) -> float:
        """The first player's."""
        return 0.5 if self.winner == NOBODY else float(self.winner == self.first_colour)

    @property
    def ended(self) -> str:
        """How, in words."""
        return ENDINGS[self.ending]

    def counts(self) -> dict[str, int]:
        """What it adds to the counts of many games."""
        counts = {"games": 1, "positions": len(self.moves), "nodes": sum(self.nodes), f"ended by {self.ended}": 1}
        if self.called is not None:
            counts["called and played out"] = 1
            counts["called wrongly"] = int(self.called[1] != self.winner)
        return counts

    def result(self) -> int:
        """The result byte of hcpe3."""
        winner = {BLACK: formats.BLACK_WINS, WHITE: formats.WHITE_WINS, NOBODY: formats.DRAW}[self.winner]
        return winner | _KIND_BITS.get(self.ending, 0)

    def hcpe3(self) -> bytes:
        """The game as hcpe3: all its positions are to be learnt from."""
        scored = self.scores != UNSCORED
        return encode_game(self.start, self.result(), self.moves, self.scores, self.visits, scored)


def finished_game(
    game: np.void, start: bytes, visits: Sequence[tuple[np.ndarray, np.ndarray]] | None = None
) -> PlayedGame:
    """What a game's record holds at its end; `start` is the code of its first position."""
    count = int(game["count"])
    called = None
    if game["play_out"] and game["called_ending"] != UNFINISHED:
        called = (int(game["called_ending"]), int(game["called_winner"]), int(game["called_at"]))
    return PlayedGame(
        start,
        game["moves"][:count].copy(),
        game["scores"][:count].copy(),
        int(game["winner"]),
        int(game["ending"]),
        called,
        int(game["first_colour"]),
        (int(game["searched"][0]), int(game["searched"][1])),
        visits,
    )


class Cancelled(Exception):
    """A game was cut short from another thread."""


class Duel:
    """The memory in which two players play each other, or one plays itself; one game at a time."""

    def __init__(
        self,
        first: Player,
        second: Player | None = None,
        ending: Ending | None = None,
        variety: Variety | None = None,
        plies: int = 0,
    ) -> None:
        """Without a second player the first has both colours and one memory for both. A game is broken off after so
        many `plies` of its own, unfinished and nobody's; 0: never. MemoryError if there is no room.
        """
        seats = [_seat(first)]
        seats.append(_seat(second) if second is not None else seats[0])
        self._seats = seats
        self._players = () if second is None else (first, second)
        self._position = new_position()
        self._game = np.zeros(1, game_dtype)[0]
        self._cancelled = False
        ending, variety = ending or Ending(), variety or Variety()
        game = self._game
        for number, player in enumerate((first, second or first)):
            game["nodes"][number], game["depth"][number] = player.nodes, player.depth
        ending.write(game)
        game["plies"] = plies
        for name, value in asdict(variety).items():
            game[name] = value

    def forget(self) -> None:
        """Forget everything learnt in earlier games."""
        for seat in {id(seat): seat for seat in self._seats}.values():
            seat.forget()

    def set_parameters(self, *changes: Mapping[str, int]) -> None:
        """Change each player's parameters of the search, by name, all others at their defaults."""
        for seat, changed in zip(self._seats, changes, strict=True):
            seat.record["numbers"] = make_numbers(changed)

    def set_steps(self, *steps: int) -> None:
        """Change which steps of the search each player has, see `Player.steps`."""
        for seat, bits in zip(self._seats, steps, strict=True):
            seat.record["steps"] = bits

    def stop(self) -> None:
        """End the game under way soon, from any thread: `play` raises Cancelled, then and ever after."""
        self._cancelled = True
        self._game["cancelled"] = 1
        for seat in self._seats:
            seat.record["stop"] = 1

    def is_over(self, start: str) -> bool:
        """Whether the rules end a game before its first move; `start` as `play` takes it. ValueError likewise."""
        set_game(self._position, *split_moves(start))
        self._game["count"] = 0
        return bool(rules_end(self._position, self._game)[0] != UNFINISHED)

    def play(self, start: str, first_colour: int = BLACK, seed: int = 1, play_out: bool = False) -> PlayedGame:
        """A game from `startpos` or an SFEN, perhaps with `moves ...`, which are not part of it.

        `seed` is of its soft choices; `play_out` plays on where the scores would end it, and notes it. Raises
        ValueError for a position that is none, or a game that is over before it begins.
        """
        pos, game = self._position, self._game
        set_game(pos, *split_moves(start))
        code = encode(pos["board"], pos["hands"], int(pos["turn"]), HCP)
        game["first_colour"], game["play_out"] = first_colour, play_out
        game["random_state"] = first_state(seed)
        for number, player in enumerate(self._players):
            _weigh_draws(self._seats[number], player, first_colour ^ number)
        arguments = [part for seat in self._seats for part in _arguments(seat)]
        play_game(pos, game, *arguments)
        if self._cancelled:
            raise Cancelled
        if not game["count"]:
            raise ValueError(f"{start}: the game is over before it begins ({ENDINGS[game['ending']]})")
        return finished_game(game, code)


def _weigh_draws(seat: SearchThread, player: Player, colour: int) -> None:
    """Weigh draws as the player does with this colour; of others, scores and what was learnt of them are of no use."""
    before = seat.record["draw_value"].copy()
    seat.set_draw_value(draw_value(player.draw_rates[colour], colour, player.network.cp_per_logit))
    if (seat.record["draw_value"] != before).any():
        seat.table.clear()
        seat.clear_corrections()


def _seat(player: Player) -> SearchThread:
    if not player.nodes and not player.depth:
        raise ValueError("a player needs a number of nodes or a depth for each move")
    thread = share_search(SearchThread(player.network, TranspositionTable(player.hash_mb)))
    thread.record["steps"], thread.record["numbers"] = player.steps, make_numbers(player.parameters)
    return thread


def _arguments(thread: SearchThread) -> tuple[np.void, np.void, np.void]:
    return thread.record, thread.accumulators.record, thread.accumulators.network
