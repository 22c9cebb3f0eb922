"""Two players with the memory that they search with; one `Duel` plays one game at a time."""

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
    NO_WINNER,
    PERPETUAL_CHECK,
    SENNICHITE,
    UNFINISHED,
    UNSCORED,
    game_dtype,
    play_game,
    rules_end,
)
from experiments.jobs.protocol import Stopped
from lite.records import formats
from lite.records.encode import encode_game
from search.alphabeta.parameters import EVERY_STEP, make_numbers
from search.alphabeta.single_search import share_search
from search.alphabeta.thread import SearchThread
from search.alphabeta.transposition import TranspositionTable
from search.evaluation.network import EvalNetwork
from search.levels import Level
from search.primitives.random import first_state
from search.rules.declaration import RULES
from search.rules.declaration_names import DeclarationRule
from search.rules.huffman import HCP, encode
from search.rules.play import set_game, split_moves
from search.rules.position import new_position
from search.rules.shogi import BLACK, WHITE
from search.score import draw_value
from search.system.bounds import check_numbers, check_used
from search.system.options import OptionError

_KIND_BITS = {
    SENNICHITE: formats.SENNICHITE,
    PERPETUAL_CHECK: formats.SENNICHITE,
    DECLARATION: formats.DECLARATION,
    MOVE_LIMIT: formats.MOVE_LIMIT,
}


@dataclass(frozen=True)
class Player:
    """An alpha-beta player: a network, limits per move and settings of the search."""

    network: EvalNetwork
    nodes: int = 0
    """Nodes per move; 0 means no limit."""
    depth: int = 0
    """Depth per move; 0 means no limit."""
    parameters: Mapping[str, int] = field(default_factory=dict)
    """Search parameters that differ from their defaults, by name."""
    steps: int = EVERY_STEP
    """Bit set of the search's steps that are on."""
    hash_mb: int = 16
    """Size of the transposition table, megabytes."""
    draw_rates: tuple[float, float] = (0.5, 0.5)
    """Value of a draw (0 to 1) as black and as white; one half in games against itself."""
    level: Level | None = None
    """Level below full strength, which `experiments.games.level_duel` plays; None means full strength."""


@dataclass(frozen=True)
class PuctPlayer:
    """A PUCT player: a policy-value network and a limit per move."""

    network: bytes
    """Content of an ONNX file of dlshogi's format."""
    nodes: int
    """Playouts per move."""


@dataclass(frozen=True)
class Ending:
    """Conditions that end a game although the rules would continue it."""

    max_moves: int = 320
    """Move limit, opening included; a longer game is a draw."""
    declaration: DeclarationRule = "CSARule27"
    """Rule of declaration, by the names of the engine's option EnteringKingRule."""
    win_score: int = 0
    """Adjudicate a win when both players' scores reach this for `win_plies` plies, centipawns; 0 means never."""
    win_plies: int = 8
    """Consecutive plies with a winning score that adjudicate a win."""
    draw_score: int = 5
    """Adjudicate a draw when all scores stay within this for `draw_plies` plies, centipawns."""
    draw_plies: int = 0
    """Consecutive plies with a drawn score that adjudicate a draw; 0 means never."""
    draw_from: int = 160
    """First move number that counts for adjudicating a draw."""

    @property
    def declaration_number(self) -> int:
        """Number of the rule of declaration, see `search.rules.declaration`."""
        return RULES[self.declaration]

    def check(self) -> None:
        """Raise OptionError for values that are out of bounds or have no effect."""
        check_numbers(self, "max_moves", "win_plies")
        check_numbers(self, "win_score", "draw_score", "draw_plies", "draw_from", least=0)
        check_used(self, "win_plies", "win_score")
        for name in ("draw_score", "draw_from"):
            check_used(self, name, "draw_plies")
        if self.declaration not in RULES:
            raise OptionError(f"`declaration` {self.declaration}: choose one of {', '.join(RULES)}", "declaration")

    def check_played_out(self, options: Any) -> None:
        """Raise OptionError if `options.played_out` was set and scores end no game."""
        given = options.played_out != type(options).played_out
        if given and not self.win_score and not self.draw_plies:
            raise OptionError(
                f"`played_out` {options.played_out}: has no effect without `win_score` or `draw_plies`",
                *("played_out", "win_score", "draw_plies"),
            )

    def write(self, game: np.void) -> None:
        """Write the conditions to a game's record."""
        for name, value in asdict(self).items():
            game[name] = self.declaration_number if name == "declaration" else value


@dataclass(frozen=True)
class Variety:
    """Moves drawn by a softmax over the scores of the best moves, so that games differ."""

    soft_plies: int = 0
    """Plies from the start of a game in which moves are drawn at random."""
    soft_lines: int = 4
    """Number of best moves to draw from, at most 8."""
    soft_margin: int = 60
    """Largest loss of a drawn move against the best, centipawns."""
    soft_temperature: float = 30.0
    """Temperature of the softmax: a move that loses this many centipawns is drawn 1 / e times as often."""

    def check(self) -> None:
        """Raise OptionError for values that are out of bounds or have no effect."""
        check_numbers(self, "soft_lines", most=LINES)
        check_numbers(self, "soft_plies", "soft_margin", least=0)
        for name in ("soft_lines", "soft_margin", "soft_temperature"):
            check_used(self, name, "soft_plies")
        if not 0 < self.soft_temperature < float("inf"):
            raise OptionError(f"`soft_temperature` {self.soft_temperature}: must be more than 0", "soft_temperature")


@dataclass(frozen=True)
class PlayedGame:
    """A finished game."""

    start: bytes
    """First position, an hcp code of 32 bytes."""
    moves: np.ndarray
    """Moves of 16 bits as in hcpe, uint16 (plies,)."""
    scores: np.ndarray
    """Scores in centipawns for the mover, int16 (plies,); UNSCORED where a search was stopped before it had one."""
    winner: int
    """0 black, 1 white, 2 draw."""
    ending: int
    """Index in `experiments.games.compiled_game.ENDINGS`."""
    called: tuple[int, int, int] | None
    """(Ending, winner, number of moves) at the time when scores would have ended a game that was played out."""
    first_colour: int
    """Colour of the first player."""
    nodes: tuple[int, int]
    """Nodes of the first and the second player."""
    visits: Sequence[tuple[np.ndarray, np.ndarray]] | None = None
    """For each ply of a PUCT search, moves uint16 (n,) and their visits uint16 (n,)."""

    @property
    def points(self) -> float:
        """Points of the first player."""
        return 0.5 if self.winner == NO_WINNER else float(self.winner == self.first_colour)

    @property
    def ended(self) -> str:
        """Name of the ending."""
        return ENDINGS[self.ending]

    def counts(self) -> dict[str, int]:
        """Return the counts that this game adds to the totals of many games."""
        counts = {"games": 1, "positions": len(self.moves), "nodes": sum(self.nodes), f"ended by {self.ended}": 1}
        if self.called is not None:
            counts["called and played out"] = 1
            counts["called wrongly"] = int(self.called[1] != self.winner)
        return counts

    def result(self) -> int:
        """Return the result byte of hcpe3."""
        winner = {BLACK: formats.BLACK_WINS, WHITE: formats.WHITE_WINS, NO_WINNER: formats.DRAW}[self.winner]
        return winner | _KIND_BITS.get(self.ending, 0)

    def hcpe3(self) -> bytes:
        """Return the game as an hcpe3 record in which every position counts for training."""
        scored = self.scores != UNSCORED
        return encode_game(self.start, self.result(), self.moves, self.scores, self.visits, scored)


def finished_game(
    game: np.void, start: bytes, visits: Sequence[tuple[np.ndarray, np.ndarray]] | None = None
) -> PlayedGame:
    """Read a finished game from its record; `start` is the code of its first position."""
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


class Duel:
    """Two players, or one against itself, with their memory; plays one game at a time."""

    def __init__(
        self,
        first: Player,
        second: Player | None = None,
        ending: Ending | None = None,
        variety: Variety | None = None,
        plies: int = 0,
    ) -> None:
        """Create the players' memory; raises MemoryError if it cannot be allocated.

        Without a second player the first plays both colours with one memory. A game stops unfinished after `plies`
        plies; 0 means never.
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
        """Clear the players' memory."""
        for seat in {id(seat): seat for seat in self._seats}.values():
            seat.forget()

    def set_parameters(self, *changes: Mapping[str, int]) -> None:
        """Set each player's search parameters by name; all others take their defaults."""
        for seat, changed in zip(self._seats, changes, strict=True):
            seat.record["numbers"] = make_numbers(changed)

    def set_steps(self, *steps: int) -> None:
        """Set the steps of each player's search, see `Player.steps`."""
        for seat, bits in zip(self._seats, steps, strict=True):
            seat.record["steps"] = bits

    def stop(self) -> None:
        """Stop the running game soon; may be called from any thread. `play` raises Stopped from then on."""
        self._cancelled = True
        self._game["cancelled"] = 1
        for seat in self._seats:
            seat.record["stop"] = 1

    def is_over(self, start: str) -> bool:
        """Return whether the rules end a game at its `start`, which is as in `play`. ValueError if it is invalid."""
        set_game(self._position, *split_moves(start))
        self._game["count"] = 0
        return bool(rules_end(self._position, self._game)[0] != UNFINISHED)

    def play(self, start: str, first_colour: int = BLACK, seed: int = 1, play_out: bool = False) -> PlayedGame:
        """Play a game from `startpos` or an SFEN, with `moves ...` or without; those are not part of the game.

        `seed` is for soft choices. With `play_out` the game continues when the scores would end it, and records that.
        Raises ValueError for an invalid position and for a game that is over before it begins.
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
            raise Stopped
        if not game["count"]:
            raise ValueError(f"{start}: the game is over before it begins ({ENDINGS[game['ending']]})")
        return finished_game(game, code)


def _weigh_draws(seat: SearchThread, player: Player, colour: int) -> None:
    """Set the value of draws for the player's colour; if it changes, scores in memory are invalid and are cleared."""
    before = seat.record["draw_value"].copy()
    seat.set_draw_value(draw_value(player.draw_rates[colour], colour, player.network.cp_per_logit))
    if (seat.record["draw_value"] != before).any():
        seat.table.clear()
        seat.clear_corrections()


def _seat(player: Player) -> SearchThread:
    if not player.nodes and not player.depth:
        raise ValueError("a player needs a limit of nodes or depth per move")
    if player.level is not None:
        raise ValueError(f"{player.level.name}: compiled games have no levels")
    thread = share_search(SearchThread(player.network, TranspositionTable(player.hash_mb)))
    thread.record["steps"], thread.record["numbers"] = player.steps, make_numbers(player.parameters)
    return thread


def _arguments(thread: SearchThread) -> tuple[np.void, np.void, np.void]:
    return thread.record, thread.accumulators.record, thread.accumulators.network
