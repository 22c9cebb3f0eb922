"""Comparison of engines' speeds in nodes per second, with ratios that hold on a busy or uneven machine.

All engines search a position before any of them continues with the next position, and the time is that of the CPU clock
of each engine's own process. So other programs take no time from it, and what slows the machine slows all engines.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import numpy as np

from experiments.games.game_position import GamePosition, read_positions
from experiments.jobs.progress import Progress
from experiments.league.participant import Participant, parse_participant, unique_names
from experiments.network_kinds.player_command import as_player
from experiments.usi_client.engines import ask_engine
from experiments.usi_client.searcher import Searcher
from search.alphabeta.bench import POSITIONS
from search.compiling.jit import KERNEL
from search.compiling.target import cpu_name
from search.system.bounds import check_numbers
from search.system.interrupt import ends_as_interrupts
from search.system.options import OptionError


@dataclass(frozen=True)
class SpeedOptions:
    """Options of a comparison of speeds."""

    players: tuple[str, ...]
    """Engines to compare, each in quotes as `[NAME=]PLAYER [OPTION=VALUE ...]`. A player is a network file, the name of
    a shipped network, or the command of a USI engine. Ratios are relative to the first one."""
    openings: Path | None = None
    """File of positions, one SFEN or `startpos moves ...` per line. Default: the positions of the search's bench."""
    positions: int | None = None
    """Number of positions from the start of the list; None means all."""
    nodes: int = 300_000
    """Nodes per search."""
    byoyomi: int | None = None
    """Milliseconds per search, instead of a number of nodes."""
    rounds: int = 3
    """Number of times that all positions are searched; each round starts with another player."""
    hash_mb: int = 64
    """Megabytes of each player's hash table, unless the player's own options set USI_Hash."""

    @property
    def limits(self) -> str:
        """Words after `go` in USI."""
        return f"nodes {self.nodes}" if self.byoyomi is None else f"btime 0 wtime 0 byoyomi {self.byoyomi}"


@dataclass(frozen=True)
class PlayerSpeed:
    """Speed of one player."""

    name: str
    """Name of the player."""
    nps: int
    """Nodes per second of CPU time: the median over the positions."""
    wall_nps: int
    """Nodes per second of elapsed time: the median over the positions."""
    ratio: float
    """CPU time per node divided by the first player's: the geometric mean over rounds and positions."""
    error: float | None
    """Standard error of `ratio`, from the variation between positions; None with one position."""
    depth: float
    """Median depth reached."""


@dataclass(frozen=True)
class SpeedReport:
    """Speeds of several players on the same positions."""

    cpu: str
    """Name of the CPU."""
    kernel: str
    """Kernel of this engine's evaluation."""
    go: str
    """Limits of each search, as in USI's `go`."""
    positions: int
    """Number of positions."""
    rounds: int
    """Number of requested rounds."""
    turns: int
    """Searches of each player that were completed: positions times rounds unless interrupted."""
    players: tuple[PlayerSpeed, ...]
    """Speeds in the order of the options."""
    interrupted: bool
    """Whether Ctrl-C ended the comparison early."""


@dataclass(frozen=True)
class TimedSearch:
    """Cost of one search."""

    nodes: int
    """Nodes that the engine reported."""
    depth: int
    """Last depth that the engine reported."""
    cpu: float
    """CPU seconds of the engine's process."""
    wall: float
    """Seconds from `position` to `bestmove`."""


class TimedPlayer:
    """A player as a USI process with one thread; this engine, too, is started as a process.

    Raises OSError, or ValueError that names the player if it does not start or ends.
    """

    def __init__(self, name: str, player: Participant, hash_mb: int) -> None:
        self._name = name
        command, options = as_player(player.command, player.options)
        with self._named():
            engine = ask_engine(command, options)
            common: dict[str, str | int] = {"Threads": 1, "USI_Hash": hash_mb, "USI_OwnBook": "false"}
            known = {option: value for option, value in common.items() if option in engine.declared}
            self._searcher = Searcher(replace(engine, options=known | engine.options))

    def search(self, position: GamePosition, limits: str) -> TimedSearch:
        """Search a position with an empty table. Raises ValueError also if the engine reports nothing to time."""
        with self._named():
            self._searcher.forget()
            self._searcher.wait()  # clearing the table is not part of the search
            cpu, wall = self._searcher.cpu_seconds(), time.perf_counter()
            answer = self._searcher.search(position.text, limits)
            cpu, wall = self._searcher.cpu_seconds() - cpu, time.perf_counter() - wall
            nodes = answer.last("nodes")
            if not nodes:
                raise ValueError(f"reported no nodes for {position.text}")
            if cpu <= 0:
                raise ValueError("used no CPU time itself; name the program, not a script that starts it")
            return TimedSearch(nodes, answer.last("depth") or 0, cpu, wall)

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except ValueError as error:
            raise ValueError(f"{self._name}: {error}") from error


def measure_speeds(options: SpeedOptions) -> SpeedReport:
    """Compare the speeds of engines.

    Ctrl-C ends the comparison, and the completed searches are reported; KeyboardInterrupt if there are none. Raises
    OSError, OptionError that names the field, or ValueError that names the player.
    """
    if not options.players:
        raise OptionError("`players`: none is named; name at least one", "players")
    check_numbers(options, "rounds", "nodes", "hash_mb", "positions", "byoyomi")
    if options.byoyomi is not None and options.nodes != SpeedOptions.nodes:
        raise OptionError(f"`nodes` {options.nodes}: not with `byoyomi`; choose one", "nodes", "byoyomi")
    participants = [parse_participant(text) for text in options.players]
    names, positions = unique_names(participants), _positions(options)
    total, interrupted = options.rounds * len(positions), False
    turns: list[list[TimedSearch]] = []

    def progress_line() -> tuple[int, str]:
        return len(turns), f"{len(turns)} of {total} searches of each player"

    with ends_as_interrupts(), Progress(total, progress_line) as progress:
        try:
            players = [TimedPlayer(name, one, options.hash_mb) for name, one in zip(names, participants, strict=True)]
            for turn in _take_turns(players, positions, options):
                turns.append(turn)
                progress.show()
        except KeyboardInterrupt:
            if not turns:
                raise
            interrupted = True
    return SpeedReport(
        cpu=cpu_name(),
        kernel=KERNEL,
        go=options.limits,
        positions=len(positions),
        rounds=options.rounds,
        turns=len(turns),
        players=compare_speeds(names, turns, len(positions)),
        interrupted=interrupted,
    )


def _positions(options: SpeedOptions) -> list[GamePosition]:
    if options.openings is not None:
        return read_positions(options.openings, options.positions)
    return [GamePosition.parse(line) for line in POSITIONS[: options.positions]]


def _take_turns(
    players: Sequence[TimedPlayer], positions: Sequence[GamePosition], options: SpeedOptions
) -> Iterator[list[TimedSearch]]:
    """Yield the players' searches of each position, round by round."""
    for player in players:
        player.search(positions[0], options.limits)  # the first search loads pages and code
    count = len(players)
    for number in range(options.rounds):
        order = [(number + place) % count for place in range(count)]
        for position in positions:
            found = {place: players[place].search(position, options.limits) for place in order}
            yield [found[place] for place in range(count)]


def compare_speeds(
    names: Sequence[str], turns: Sequence[Sequence[TimedSearch]], positions: int
) -> tuple[PlayerSpeed, ...]:
    """Return the speed of each player.

    `turns` are the players' searches, position by position and round by round; the last round may be incomplete.
    """
    nodes, depth, cpu, wall = np.moveaxis(np.array([[astuple(one) for one in turn] for turn in turns]), 2, 0)
    times = np.log(cpu / nodes)
    ratios = _by_position(times - times[:, :1], positions)
    means = np.exp(ratios.mean(axis=0))
    errors = means * ratios.std(axis=0, ddof=1) / math.sqrt(len(ratios)) if len(ratios) > 1 else None
    speed, wall_speed = (_by_position(nodes, positions) / _by_position(one, positions) for one in (cpu, wall))
    return tuple(
        PlayerSpeed(
            name=name,
            nps=round(float(np.median(speed[:, place]))),
            wall_nps=round(float(np.median(wall_speed[:, place]))),
            ratio=round(float(means[place]), 4),
            error=None if errors is None else round(float(errors[place]), 4),
            depth=float(np.median(depth[:, place])),
        )
        for place, name in enumerate(names)
    )


def _by_position(values: np.ndarray, positions: int) -> np.ndarray:
    """Return the means over the rounds, (positions, players), of values (turns, players)."""
    return np.array([values[place::positions].mean(axis=0) for place in range(min(positions, len(values)))])
