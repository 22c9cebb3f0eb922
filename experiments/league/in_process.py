"""A league of this engine's networks in this process, counted in nodes or depth, on all cores.

A job is a pair of games of one meeting. The rounds are played one after another, each with a pair of every meeting, so
that a league that is cut has a table of about as many games for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from experiments.elo.ratings import Meeting, rate
from experiments.jobs.description import Description
from experiments.jobs.produce import produce
from experiments.jobs.protocol import Product, Stopped, Worker
from experiments.league.participant import Participant
from experiments.matches.counted_games import CountedGames
from experiments.matches.named_player import NamedPlayer, read_player
from experiments.matches.pair_task import PairTask
from experiments.matches.standing import Standing


def meetings_of(players: int, gauntlet: bool) -> list[tuple[int, int]]:
    """Who plays whom, by number: every two, or the first against all others."""
    return [pair for pair in combinations(range(players), 2) if not gauntlet or pair[0] == 0]


@dataclass(frozen=True)
class LeagueTask:
    """What a worker needs to play pairs of every meeting, which are told apart by their numbers alone."""

    meetings: tuple[PairTask, ...]

    def open(self) -> LeagueWorker:
        """A worker, which has the memory of the meeting under way alone."""
        return LeagueWorker(self)


class LeagueWorker:
    """Plays pairs, one after another."""

    def __init__(self, task: LeagueTask) -> None:
        self._task = task
        self._worker: Worker | None = None
        self._stopped = False

    def stop(self) -> None:
        """End the games under way."""
        self._stopped = True
        if self._worker is not None:
            self._worker.stop()

    def run(self, number: int) -> Product:
        """The pair of a meeting, see `PairTask`. Raises Stopped."""
        round_number, meeting = divmod(number, len(self._task.meetings))
        self._worker = self._task.meetings[meeting].open()
        if self._stopped:
            raise Stopped
        return self._worker.run(round_number)


class Crosstable:
    """The referee of a league: how every meeting stands."""

    def __init__(self, names: Sequence[str], meetings: Sequence[tuple[int, int]], rounds: int) -> None:
        self.total: int | None = 2 * rounds * len(meetings)
        """Games."""
        self._names, self._meetings = names, meetings
        self._standings = [Standing(rounds) for _ in meetings]

    def see(self, number: int, counts: Mapping[str, int | float]) -> None:
        """A pair has landed."""
        round_number, meeting = divmod(number, len(self._meetings))
        self._standings[meeting].see(round_number, counts)

    def has_enough(self) -> bool:
        """A league is played to its end."""
        return False

    def measure(self) -> tuple[int, str]:
        """Games that count, and who leads."""
        meetings = self.meetings()
        games = sum(one.games for one in meetings)
        words = f"{games:,} of {self.total:,} games"
        if games:
            ratings = rate(len(self._names), meetings)
            best = int(ratings.elo.argmax())
            words += f", {self._names[best]} leads with {ratings.elo[best]:+.0f} +- {ratings.error(best):.0f}"
        return games, words

    def meetings(self) -> list[Meeting]:
        """What has been played."""
        return [
            Meeting(
                *players,
                tuple((half / 2, 2) for half, pairs in enumerate(standing.pentanomial) for _ in range(pairs)),
                sum(standing.counts[f"draws as {colour}"] for colour in ("black", "white")),
            )
            for players, standing in zip(self._meetings, self._standings, strict=True)
        ]


def play_counted_league(
    rules: CountedGames, participants: Sequence[Participant], names: Sequence[str], gauntlet: bool
) -> list[Meeting]:
    """Play what is left of a league; all that was played. Raises as `produce` does."""
    rules.check()
    players = [_read(one, rules) for one in participants]
    lines = rules.lines()
    meetings = meetings_of(len(players), gauntlet)
    task = LeagueTask(tuple(rules.task(players[first], players[second], lines) for first, second in meetings))
    rounds = rules.games // 2
    table = Crosstable(names, meetings, rounds)
    jobs = ((number, number) for number in range(rounds * len(meetings)))
    produce(rules.place(), _description(rules, players, gauntlet, lines), task, jobs, referee=table)
    return table.meetings()


def _read(participant: Participant, rules: CountedGames) -> NamedPlayer:
    return read_player(participant.command, participant.options, rules.nodes, rules.depth, participant.name)


def _description(
    rules: CountedGames, players: Sequence[NamedPlayer], gauntlet: bool, lines: tuple[str, ...]
) -> Description:
    options: dict[str, Any] = {"players": [one.chosen for one in players], "gauntlet": gauntlet}
    nets = {f"player {number}": one.net for number, one in enumerate(players, 1)}
    return Description("match", rules.described(lines, options), (), nets, signature=players[0].signature)
