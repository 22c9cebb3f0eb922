"""Whose moves are judged: this engine in process, as it is and with each step left out, or any USI engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from experiments.arena.engines import Engine, ask_engine
from experiments.arena.searcher import Answer, Searcher
from experiments.factory.jobs import Stopped
from experiments.games.options import read_player
from experiments.games.player import Player
from experiments.judge.game_position import GamePosition
from experiments.nets import as_player
from search.alphabeta.engine import AlphaBetaEngine
from search.alphabeta.parameters import STEPS, make_parameters
from search.engine import Analysis, OnInfo

AS_IT_IS = "as it is"


class Chooser(Protocol):
    """One thread's player."""

    def choose(self, position: GamePosition, earlier: int, variant: int) -> str:
        """The move that it plays, USI or `resign` or `win`, having searched its `earlier` turns before in order and
        knowing nothing else. `variant` is a place among `Judged.variants`. Raises Stopped."""

    def trace(self, position: GamePosition, variant: int, nodes: int) -> list[tuple[int, int]]:
        """(Nodes so far, the mover's score) of each depth of a search of so many, knowing nothing else. Raises
        Stopped."""

    def stop(self) -> None:
        """End the search under way, from any thread."""


class Judged(Protocol):
    """A player whose moves are judged."""

    @property
    def name(self) -> str:
        """For readers."""

    @property
    def variants(self) -> tuple[str, ...]:
        """The player as it is, and what else is made of it."""

    def open(self) -> Chooser:
        """One thread's."""


def read_judged(command: str, options: Sequence[str], nodes: int, each_step: bool) -> Judged:
    """A network's file or `default`, played in process, or the command of a USI engine; with NAME=VALUE options.

    Raises OSError or ValueError in words.
    """
    if nodes < 1:
        raise ValueError(f"--nodes {nodes}: must be at least 1")
    program, settings = as_player(command)
    if program == "liteshogi":
        named = read_player(command, options, nodes, 0, "--option")
        assert isinstance(named.player, Player)
        return OwnPlayer(named.name(False), named.player, each_step)
    if each_step:
        raise ValueError(f"--each-step: {command} is another engine, whose steps cannot be left out from here")
    engine = ask_engine(program, (*settings, *options))
    return UsiPlayer(f"{engine.id_name} ({', '.join([f'{nodes} nodes', *engine.chosen])})", engine, nodes)


@dataclass(frozen=True)
class OwnPlayer:
    """This engine's alpha-beta search."""

    name: str
    player: Player
    each_step: bool = False
    """Whether there is a variant without each step."""

    @property
    def variants(self) -> tuple[str, ...]:
        return (AS_IT_IS, *(f"without {step}" for step in STEPS)) if self.each_step else (AS_IT_IS,)

    def open(self) -> OwnChooser:
        return OwnChooser(self.player)


class OwnChooser:
    """Searches in process, with a table of its own."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._engine = AlphaBetaEngine(player.network, player.hash_mb)
        self._engine.parameters = make_parameters(player.parameters)
        self._stopped = False

    def choose(self, position: GamePosition, earlier: int, variant: int) -> str:
        self.forget(variant)
        for before in position.own_turns_before(earlier):
            self.search(before, self._player.nodes)
        return self.search(position, self._player.nodes).best_move or "resign"

    def trace(self, position: GamePosition, variant: int, nodes: int) -> list[tuple[int, int]]:
        depths: list[tuple[int, int]] = []
        self.forget(variant)
        self.search(position, nodes, lambda found: depths.append((found.nodes, found.score)))
        return depths

    def forget(self, variant: int) -> None:
        """Go on as a variant that knows nothing."""
        self._engine.new_game()
        self._engine.steps = self._player.steps & ~((1 << variant) >> 1)

    def search(self, position: GamePosition, nodes: int, on_info: OnInfo | None = None) -> Analysis:
        """A search that knows what those before it have left behind. Raises Stopped."""
        found = self._engine.analyse(position.start.removeprefix("sfen "), position.moves, nodes=nodes, on_info=on_info)
        if self._stopped:
            raise Stopped
        return found

    def stop(self) -> None:
        self._stopped = True
        self._engine.stop()


@dataclass(frozen=True)
class UsiPlayer:
    """Another engine."""

    name: str
    engine: Engine
    nodes: int
    variants: tuple[str, ...] = (AS_IT_IS,)

    def open(self) -> UsiChooser:
        return UsiChooser(self)


class UsiChooser:
    """A process of it."""

    def __init__(self, player: UsiPlayer) -> None:
        self._searcher = Searcher(player.engine)
        self._nodes = player.nodes
        self._stopped = False

    def choose(self, position: GamePosition, earlier: int, variant: int) -> str:
        self._searcher.forget()
        for before in position.own_turns_before(earlier):
            self._search(before, self._nodes)
        return self._search(position, self._nodes).move

    def trace(self, position: GamePosition, variant: int, nodes: int) -> list[tuple[int, int]]:
        self._searcher.forget()
        return self._search(position, nodes).trace()

    def _search(self, position: GamePosition, nodes: int) -> Answer:
        answer = self._searcher.search(position.text, f"nodes {nodes}")
        if self._stopped:
            raise Stopped
        return answer

    def stop(self) -> None:
        self._stopped = True
        self._searcher.stop()
