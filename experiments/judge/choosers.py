"""Whose moves are judged: this engine in process, as it is and with each step left out, or any USI engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from experiments.games.game_position import GamePosition
from experiments.games.player import Player
from experiments.jobs.protocol import Stopped
from experiments.matches.named_player import read_player
from experiments.network_kinds import as_player
from experiments.usi_client.engines import Engine, ask_engine
from experiments.usi_client.searcher import Searcher, why_no_score
from search.alphabeta.engine import AlphaBetaEngine
from search.alphabeta.parameters import STEPS, make_numbers
from search.engine import Rules
from search.score import draw_value

AS_IT_IS = "as it is"


@dataclass(frozen=True)
class Choice:
    """What a player's search found."""

    move: str
    """USI, or `resign` or `win`."""
    score: int
    """The mover's."""
    trace: list[tuple[int, int, int]]
    """(Depth, nodes so far, score), the depths rising; another engine may pass over some."""


class Chooser(Protocol):
    """One thread's player."""

    def forget(self, variant: int) -> None:
        """Go on as a variant, a place among `Judged.variants`, that knows nothing."""

    def search(self, position: GamePosition, nodes: int) -> Choice:
        """A search that knows what those since `forget` have left behind. Raises Stopped."""

    def stop(self) -> None:
        """End the search under way, from any thread."""


def choose_in_game(chooser: Chooser, position: GamePosition, nodes: int, earlier: int, variant: int) -> Choice:
    """What a player chooses who has searched its `earlier` turns before in order, and knows nothing else."""
    chooser.forget(variant)
    for before in position.own_turns_before(earlier):
        chooser.search(before, nodes)
    return chooser.search(position, nodes)


def rules_of(player: Player, position: GamePosition) -> Rules:
    """Those of a player's search, to whom a draw is worth what it is with the colour that is to move."""
    colour = int(position.set_up()["turn"])
    return Rules(draw_value=draw_value(player.draw_rates[colour], colour, player.network.cp_per_logit))


class Judged(Protocol):
    """A player whose moves are judged."""

    @property
    def name(self) -> str:
        """For readers."""

    @property
    def nodes(self) -> int:
        """Of each of its searches."""

    @property
    def variants(self) -> tuple[str, ...]:
        """The player as it is, and what else is made of it."""

    def open(self) -> Chooser:
        """One thread's."""

    def files(self) -> Sequence[Path | str]:
        """Those that make it what it is."""


def read_judged(command: str, options: Sequence[str], nodes: int, each_step: bool) -> Judged:
    """A network's file or `default`, played in process, or the command of a USI engine; with NAME=VALUE options.

    Raises OSError or ValueError in words.
    """
    program, settings = as_player(command)
    if program == "liteshogi":
        named = read_player(command, options, nodes, 0, "--option")
        return OwnPlayer(named.name(False), named.by_alphabeta, named.net, each_step)
    if each_step:
        raise ValueError(f"--each-step: {command} is another engine, whose steps cannot be left out from here")
    engine = ask_engine(program, (*settings, *options))
    return UsiPlayer(f"{engine.id_name} ({', '.join([f'{nodes} nodes', *engine.chosen])})", engine, nodes)


@dataclass(frozen=True)
class OwnPlayer:
    """This engine's alpha-beta search."""

    name: str
    player: Player
    net: str
    """File of its network, or `default`."""
    each_step: bool = False
    """Whether there is a variant without each step."""

    @property
    def nodes(self) -> int:
        return self.player.nodes

    @property
    def variants(self) -> tuple[str, ...]:
        return (AS_IT_IS, *(f"without {step}" for step in STEPS)) if self.each_step else (AS_IT_IS,)

    def open(self) -> OwnChooser:
        return OwnChooser(self.player)

    def files(self) -> list[Path | str]:
        return [self.net]


class OwnChooser:
    """Searches in process, with a table of its own."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._engine = AlphaBetaEngine(player.network, player.hash_mb)
        self._engine.numbers = make_numbers(player.parameters)
        self._stopped = False

    def forget(self, variant: int) -> None:
        self._engine.new_game()
        self._engine.steps = self._player.steps & ~((1 << variant) >> 1)

    def search(self, position: GamePosition, nodes: int) -> Choice:
        trace: list[tuple[int, int, int]] = []
        self._engine.rules = rules_of(self._player, position)
        start = position.start.removeprefix("sfen ")
        found = self._engine.analyse(
            start,
            position.moves,
            nodes=nodes,
            on_info=lambda line: trace.append((line.depth, line.nodes, line.score)),
        )
        if self._stopped:
            raise Stopped
        return Choice(found.best_move or "resign", found.score, trace)

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
        return UsiChooser(self.engine)

    def files(self) -> list[Path]:
        return self.engine.files()


class UsiChooser:
    """A process of it."""

    def __init__(self, engine: Engine) -> None:
        self._searcher = Searcher(engine)
        self._stopped = False

    def forget(self, variant: int) -> None:
        self._searcher.forget()

    def search(self, position: GamePosition, nodes: int) -> Choice:
        answer = self._searcher.search(position.text, f"nodes {nodes}")
        if self._stopped:
            raise Stopped
        if answer.score is None:
            raise ValueError(f"the engine told no score of {position.text} ({why_no_score('--option')})")
        return Choice(answer.move, answer.score, answer.trace())

    def stop(self) -> None:
        self._stopped = True
        self._searcher.stop()
