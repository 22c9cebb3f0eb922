"""Nodes a second of engines side by side, for ratios that hold where a machine is busy or its speed uneven.

Every engine searches a position before any goes on to the next, in lockstep, and what is timed is the CPU clock of its
own process. So other programs take no time from it, and what slows the machine for a while slows all of them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.games.game_position import GamePosition, read_positions
from experiments.jobs.progress import Progress
from experiments.league.participant import Participant, parse_participant, unique_names
from experiments.network_kinds import as_player
from experiments.usi_client.engines import ask_engine
from experiments.usi_client.searcher import Searcher
from search.alphabeta.bench import POSITIONS
from search.compiling.jit import KERNEL
from search.compiling.target import cpu_name
from search.system.bounds import check_numbers
from search.system.interrupt import ends_as_interrupts


@dataclass(frozen=True)
class SpeedOptions:
    """Which engines are timed, and on what."""

    players: tuple[str, ...]
    """Whose speeds are compared with the first one's, each as `liteshogi match` takes it: `[NAME=]PLAYER
    [OPTION=VALUE ...]`."""
    openings: Path | None = None
    """File of positions, an SFEN or `startpos moves ...` a line; without it those of `liteshogi bench`."""
    positions: int | None = None
    """The first so many of them; without it all."""
    nodes: int = 300_000
    """Of a search."""
    byoyomi: int | None = None
    """Milliseconds of a search, in place of nodes."""
    rounds: int = 3
    """Times that all positions are searched; another player begins in each."""
    hash: int = 64
    """Megabytes of a player's table, where its options say no other."""

    @property
    def limits(self) -> str:
        """What USI writes behind `go`."""
        return f"nodes {self.nodes}" if self.byoyomi is None else f"btime 0 wtime 0 byoyomi {self.byoyomi}"


@dataclass(frozen=True)
class TimedSearch:
    """What a search of one position took."""

    nodes: int
    depth: int
    """That was told last."""
    cpu: float
    """Seconds of the engine's process."""
    wall: float
    """Seconds from `position` to `bestmove`."""


class TimedPlayer:
    """A player as a USI process of one thread, this engine like any other. Raises OSError or ValueError that names it,
    if it does not start or ends."""

    def __init__(self, name: str, player: Participant, hash_mb: int) -> None:
        self._name = name
        command, options = as_player(player.command)
        with self._named():
            engine = ask_engine(command, options + player.options)
            alike: dict[str, str | int] = {"Threads": 1, "USI_Hash": hash_mb, "USI_OwnBook": "false"}
            known = {option: value for option, value in alike.items() if option in engine.declared}
            self._searcher = Searcher(replace(engine, options=known | engine.options))

    def search(self, position: GamePosition, limits: str) -> TimedSearch:
        """Search a position with everything forgotten. ValueError also if nothing is told of it that can be timed."""
        with self._named():
            self._searcher.forget()
            self._searcher.wait()  # clearing the table is no part of the search
            cpu, wall = self._searcher.cpu_seconds(), time.perf_counter()
            answer = self._searcher.search(position.text, limits)
            cpu, wall = self._searcher.cpu_seconds() - cpu, time.perf_counter() - wall
            nodes = answer.last("nodes")
            if not nodes:
                raise ValueError(f"told no nodes of {position.text}")
            if cpu <= 0:
                raise ValueError("used no CPU time itself; name the program, not a script that starts it")
            return TimedSearch(nodes, answer.last("depth") or 0, cpu, wall)

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except ValueError as error:
            raise ValueError(f"{self._name}: {error}") from error


def measure_speeds(options: SpeedOptions) -> dict[str, Any]:
    """{cpu, kernel, go, positions, rounds, turns, players, interrupted}; `players` as `compare_speeds` has them.

    turns: searches of each player that were done; fewer than positions times rounds where Ctrl-C ended it
    (KeyboardInterrupt if there are none). Raises OSError or ValueError in words.
    """
    if not options.players:
        raise ValueError("no player: name at least one")
    check_numbers(options, "rounds", "nodes", "hash", "positions", "byoyomi")
    if options.byoyomi is not None and options.nodes != SpeedOptions.nodes:
        raise ValueError(f"--nodes {options.nodes}: not with --byoyomi, which is in place of nodes; choose one")
    participants = [parse_participant(text) for text in options.players]
    names, positions = unique_names(participants), _positions(options)
    total, interrupted = options.rounds * len(positions), False
    turns: list[list[TimedSearch]] = []

    def told() -> tuple[int, str]:
        return len(turns), f"{len(turns)} of {total} searches of each player"

    with ends_as_interrupts(), Progress(total, told) as progress:
        try:
            players = [TimedPlayer(name, one, options.hash) for name, one in zip(names, participants, strict=True)]
            for turn in _take_turns(players, positions, options):
                turns.append(turn)
                progress.show()
        except KeyboardInterrupt:
            if not turns:
                raise
            interrupted = True
    return {
        "cpu": cpu_name(),
        "kernel": KERNEL,
        "go": options.limits,
        "positions": len(positions),
        "rounds": options.rounds,
        "turns": len(turns),
        "players": compare_speeds(names, turns, len(positions)),
        "interrupted": interrupted,
    }


def _positions(options: SpeedOptions) -> list[GamePosition]:
    if options.openings is not None:
        return read_positions(options.openings, options.positions)
    return [GamePosition.parse(line) for line in POSITIONS[: options.positions]]


def _take_turns(
    players: Sequence[TimedPlayer], positions: Sequence[GamePosition], options: SpeedOptions
) -> Iterator[list[TimedSearch]]:
    """The players' searches of one position after the other, round by round."""
    for player in players:
        player.search(positions[0], options.limits)  # pages and code are fetched by the first search
    count = len(players)
    for number in range(options.rounds):
        order = [(number + place) % count for place in range(count)]
        for position in positions:
            found = {place: players[place].search(position, options.limits) for place in order}
            yield [found[place] for place in range(count)]


def compare_speeds(
    names: Sequence[str], turns: Sequence[Sequence[TimedSearch]], positions: int
) -> list[dict[str, Any]]:
    """{name, nps, wall_nps, ratio, error, depth} of each player.

    turns: the players' searches, position by position and round by round. nps: nodes a second of CPU time, wall_nps of
    all time, medians over the positions. ratio: CPU time a node, the first player's being 1, the geometric mean over
    rounds and positions. error: its standard error, by how much positions differ; None of one position. depth: median.
    """
    nodes, depth, cpu, wall = np.moveaxis(np.array([[astuple(one) for one in turn] for turn in turns]), 2, 0)
    times = np.log(cpu / nodes)
    ratios = _by_position(times - times[:, :1], positions)
    means = np.exp(ratios.mean(axis=0))
    errors = means * ratios.std(axis=0, ddof=1) / math.sqrt(len(ratios)) if len(ratios) > 1 else None
    speed, wall_speed = (_by_position(nodes, positions) / _by_position(one, positions) for one in (cpu, wall))
    return [
        {
            "name": name,
            "nps": round(float(np.median(speed[:, place]))),
            "wall_nps": round(float(np.median(wall_speed[:, place]))),
            "ratio": round(float(means[place]), 4),
            "error": None if errors is None else round(float(errors[place]), 4),
            "depth": float(np.median(depth[:, place])),
        }
        for place, name in enumerate(names)
    ]


def _by_position(values: np.ndarray, positions: int) -> np.ndarray:
    """Means over the rounds, (positions, players), of values (turns, players)."""
    return np.array([values[place::positions].mean(axis=0) for place in range(min(positions, len(values)))])
