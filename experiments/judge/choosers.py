"""Players whose moves are judged: this engine in process, whole or without one of its steps, or any USI engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from experiments.games.game_position import GamePosition
from experiments.games.player import Player
from experiments.jobs.protocol import Stopped
from experiments.matches.named_player import read_player
from experiments.network_kinds.player_command import engine_of
from experiments.usi_client.engines import Engine, ask_engine
from experiments.usi_client.identity import configured_condition
from experiments.usi_client.searcher import Searcher, why_no_score
from lite.datasets.provenance import sha256_of
from search.alphabeta.engine import AlphaBetaEngine
from search.alphabeta.parameters import STEPS, make_numbers
from search.engine import Rules
from search.score import draw_value
from search.system.options import OptionError

AS_IT_IS = "as it is"


@dataclass(frozen=True)
class Choice:
    """The result of a player's search."""

    move: str
    """USI move, or `resign` or `win`."""
    score: int
    """The mover's score: centipawns, or a mate score (see `search.score`)."""
    trace: list[tuple[int, int, int]]
    """(Depth, nodes so far, score) with rising depths; another engine may omit some."""


class Chooser(Protocol):
    """One thread's player."""

    def forget(self, variant: int) -> None:
        """Become the variant of this index in `Judged.variants`, with empty memory."""

    def search(self, position: GamePosition, nodes: int) -> Choice:
        """Search with the memory of all searches since `forget`. Raises Stopped."""

    def stop(self) -> None:
        """End the search under way, from any thread."""


def choose_in_game(chooser: Chooser, position: GamePosition, nodes: int, earlier: int, variant: int) -> Choice:
    """Return a player's choice after it has searched its last `earlier` turns in order, beginning with empty memory."""
    chooser.forget(variant)
    for before in position.own_turns_before(earlier):
        chooser.search(before, nodes)
    return chooser.search(position, nodes)


def rules_of(player: Player, position: GamePosition) -> Rules:
    """Return the rules of a player's search, with the value of a draw for the colour to move."""
    colour = int(position.set_up()["turn"])
    return Rules(draw_value=draw_value(player.draw_rates[colour], colour, player.network.cp_per_logit))


class Judged(Protocol):
    """A player whose moves are judged."""

    @property
    def name(self) -> str:
        """Name for readers."""

    @property
    def nodes(self) -> int:
        """Nodes of each of its searches."""

    @property
    def variants(self) -> tuple[str, ...]:
        """Names of the player as it is, and of its variants."""

    def open(self) -> Chooser:
        """Create the player of one thread."""

    @property
    def nets(self) -> Mapping[str, str]:
        """Networks of a run with this player."""

    @property
    def conditions(self) -> Mapping[str, object]:
        """Conditions of a run with this player."""

    def files(self) -> Sequence[Path]:
        """Return other files that decide its moves."""


def read_judged(command: str, options: Sequence[str], nodes: int, each_step: bool) -> Judged:
    """Return the player of a network's file or shipped name, in process, or of a USI engine's command.

    `options`: NAME=VALUE. Raises OSError or ValueError.
    """
    program, settings = engine_of(command)
    if program == "liteshogi":
        named = read_player(command, options, nodes, 0, "option")
        return OwnPlayer(named.name(False), named.by_alphabeta, named.net, each_step, named.conditions)
    if each_step:
        raise OptionError(f"`each_step`: {command} is another engine, whose steps cannot be left out", "each_step")
    engine = ask_engine(program, (*settings, *options))
    conditions = {"engine": configured_condition(engine, {path: sha256_of(path) for path in engine.files()})}
    name = f"{engine.id_name} ({', '.join([f'{nodes} nodes', *engine.chosen])})"
    return UsiPlayer(name, engine, nodes, conditions=conditions)


@dataclass(frozen=True)
class OwnPlayer:
    """This engine's alpha-beta search."""

    name: str
    player: Player
    net: str
    """Path of its network, or the name of a shipped one."""
    each_step: bool = False
    """Whether there is a variant without each step."""
    conditions: Mapping[str, object] = field(default_factory=dict)

    @property
    def nodes(self) -> int:
        return self.player.nodes

    @property
    def variants(self) -> tuple[str, ...]:
        return (AS_IT_IS, *(f"without {step}" for step in STEPS)) if self.each_step else (AS_IT_IS,)

    def open(self) -> OwnChooser:
        return OwnChooser(self.player)

    @property
    def nets(self) -> dict[str, str]:
        return {"engine": self.net}

    def files(self) -> list[Path]:
        return []


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
    nets: Mapping[str, str] = field(default_factory=dict)
    conditions: Mapping[str, object] = field(default_factory=dict)

    def open(self) -> UsiChooser:
        return UsiChooser(self.engine)

    def files(self) -> list[Path]:
        return self.engine.files()


class UsiChooser:
    """A process of a USI engine."""

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
            raise ValueError(f"the engine gave no score of {position.text} ({why_no_score('option')})")
        return Choice(answer.move, answer.score, answer.trace())

    def stop(self) -> None:
        self._stopped = True
        self._searcher.stop()
