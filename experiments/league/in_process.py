"""A league of this engine's networks in this process, limited by nodes or depth, on all cores or on Ray.

A job is a pair of games of one meeting. Rounds follow each other, each with a pair of every meeting, so an interrupted
league has about as many games of each player.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from experiments.elo.ratings import Meeting, rate
from experiments.jobs.produce import produce
from experiments.jobs.protocol import Product, Stopped, Worker
from experiments.league.participant import Participant
from experiments.matches.in_process_games import MORE_GAMES, InProcessGames
from experiments.matches.named_player import NamedPlayer, read_player
from experiments.matches.pair_task import PairTask
from experiments.matches.standing import Standing
from lite.datasets.plan import plan_run

VERB = "league"


def meetings_of(players: int, gauntlet: bool, neighbours: int = 0) -> list[tuple[int, int]]:
    """Return the numbers of the two players of each meeting: every two, or the first against all others.

    With `neighbours` above 0, players meet only if their numbers differ by at most `neighbours`.
    """
    pairs = combinations(range(players), 2)
    within = neighbours or players
    return [(first, second) for first, second in pairs if second - first <= within and (not gauntlet or first == 0)]


@dataclass(frozen=True)
class LeagueTask:
    """Everything a worker needs to play pairs of every meeting; a job is a number."""

    meetings: tuple[PairTask, ...]

    def open(self) -> LeagueWorker:
        """Create a worker, which keeps memory for the meeting under way only."""
        return LeagueWorker(self)


class LeagueWorker:
    """Plays pairs one after another."""

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
        """Return the product of a meeting's pair, see `PairTask`. Raises Stopped."""
        round_number, meeting = divmod(number, len(self._task.meetings))
        self._worker = self._task.meetings[meeting].open()
        if self._stopped:
            raise Stopped
        return self._worker.run(round_number)


class Crosstable:
    """The referee of a league: the standing of every meeting."""

    def __init__(self, names: Sequence[str], meetings: Sequence[tuple[int, int]], rounds: int) -> None:
        self.total: int | None = 2 * rounds * len(meetings)
        """Number of games."""
        self._names, self._meetings = names, meetings
        self._standings = [Standing(rounds) for _ in meetings]

    def see(self, number: int, counts: Mapping[str, int | float]) -> None:
        """Take note of a pair."""
        round_number, meeting = divmod(number, len(self._meetings))
        self._standings[meeting].see(round_number, counts)

    def has_enough(self) -> bool:
        """Return False: a league is played to its end."""
        return False

    def measure(self) -> tuple[int, str]:
        """Return (games, text with the leading player) for the progress line."""
        meetings = self.meetings()
        games = sum(one.games for one in meetings)
        words = f"{games:,} of {self.total:,} games"
        if games:
            ratings = rate(len(self._names), meetings)
            best = int(ratings.elo.argmax())
            words += f", {self._names[best]} leads with {ratings.elo[best]:+.0f} +- {ratings.error(best):.0f}"
        return games, words

    def meetings(self) -> list[Meeting]:
        """Return the games of every meeting."""
        return [
            Meeting(
                *players,
                tuple((half / 2, 2) for half, pairs in enumerate(standing.pentanomial) for _ in range(pairs)),
                sum(standing.counts[f"draws as {colour}"] for colour in ("black", "white")),
            )
            for players, standing in zip(self._meetings, self._standings, strict=True)
        ]


def play_league_in_process(
    rules: InProcessGames,
    participants: Sequence[Participant],
    names: Sequence[str],
    gauntlet: bool,
    neighbours: int = 0,
) -> list[Meeting]:
    """Play the remaining games of a league; returns all meetings. Raises as `produce` does."""
    rules.check()
    players = [_read(one, rules) for one in participants]
    lines = rules.lines()
    meetings = meetings_of(len(players), gauntlet, neighbours)
    task = LeagueTask(tuple(rules.task(players[first], players[second], lines) for first, second in meetings))
    rounds = rules.games // 2
    pairing = {"gauntlet": gauntlet} | ({"neighbours": neighbours} if neighbours else {})
    table = Crosstable(names, meetings, rounds)
    jobs = ((number, number) for number in range(rounds * len(meetings)))
    plan = plan_run(
        VERB,
        rules.deciding(lines, {"players": [one.deciding for one in players], **pairing}),
        goal={"games": rules.games, "players": list(names)},
        nets={f"player {number}": one.net for number, one in enumerate(players, 1)},
        conditions=players[0].conditions,
    )
    produce(rules.place(), plan, task, jobs, referee=table, others=MORE_GAMES)
    return table.meetings()


def _read(participant: Participant, rules: InProcessGames) -> NamedPlayer:
    return read_player(participant.command, participant.options, rules.nodes, rules.depth)
