"""Games of two players that are stopped early after some plies and judged by a stronger engine.

Most of what distinguishes two players happens long before the end of a game, and the end itself is one bit, where a
strong engine's win rate is a number: an hour of such games measures several times as much as one of whole games
(rollouts that are truncated and evaluated: G. Tesauro and G. Galperin, "On-line Policy Improvement using Monte-Carlo
Search", 1996). The result is a share of win rate and no Elo: a lead grows with the moves that are left to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.games.compiled_game import UNFINISHED
from experiments.games.game_position import GamePosition
from experiments.games.player import Duel, PlayedGame, Player
from experiments.jobs.ledger import Counts
from experiments.jobs.produce import produce
from experiments.jobs.protocol import Product
from experiments.judge.judge import Judge, Judging
from experiments.judge.statistics import clipped
from experiments.league.participant import parse_participant
from experiments.matches.in_process_games import InProcessGames
from experiments.matches.named_player import names_of_two, read_player
from experiments.matches.pair import COLOURS, line_of
from lite.datasets.plan import plan_run
from search.rules.sfen import move_to_usi
from search.score import win_rate
from search.system.bounds import check_numbers

VERB = "judge match"


@dataclass(frozen=True)
class JudgedMatch:
    """Options of a judged match."""

    first: str
    """The first player, `[NAME=]NET [OPTION=VALUE ...]`: a network's file or shipped name, and options as in a match in
    process."""
    second: str
    """The second player, `[NAME=]NET [OPTION=VALUE ...]`."""
    openings: Path
    """File of balanced openings, one per line as an SFEN or `startpos moves ...`."""
    nodes: int = 100_000
    """Nodes per move."""
    plies: int = 50
    """Plies after which a game is stopped early and judged."""
    games: int = 400
    """Games to play; an even number, as every opening is played with both colours."""
    seed: int = 1
    """Seed of the order of the openings."""
    output: Path = Path("runs/judge/match")
    """Folder of the run; the same command resumes an interrupted run."""


@dataclass(frozen=True)
class SharesReport:
    """Shares of win rate of the pairs that were played."""

    games: int
    pairs: int
    share: float
    """The first player's mean win rate where its games were stopped early; games that ended before count by their
    result."""
    share_error: float | None
    """Standard error of `share`, by pairs; None for a single pair."""
    ended: int
    """Games that ended before they were stopped early."""


@dataclass(frozen=True, kw_only=True)
class JudgedMatchReport(SharesReport):
    """The report of a judged match."""

    first: str
    second: str
    judge: str
    judge_nodes: int
    nodes: int
    plies: int


def play_judged_match(match: JudgedMatch, judging: Judging) -> JudgedMatchReport:
    """Play and judge the remaining games; returns the report of all. Raises as `produce` does."""
    check_numbers(match, "plies")
    rules = InProcessGames(
        nodes=match.nodes, games=match.games, openings=match.openings, seed=match.seed, output=match.output
    )
    rules.check()
    lines = rules.lines()
    players = [parse_participant(text) for text in (match.first, match.second)]
    first, second = (read_player(one.command, one.options, match.nodes, 0) for one in players)
    names = names_of_two(first, second, [one.label for one in players])
    shares = Shares(match.games // 2)
    with judging.open() as judge:
        task = JudgedTask(first.by_alphabeta, second.by_alphabeta, judge, lines, match.plies, match.seed)
        deciding: dict[str, Any] = {
            "openings": len(lines),
            "nodes": match.nodes,
            "plies": match.plies,
            "seed": match.seed,
        }
        deciding |= {"first": first.chosen, "second": second.chosen, "judge_nodes": judge.nodes}
        plan = plan_run(
            VERB,
            deciding,
            goal={"games": match.games, "players": names},
            sources={"openings": [match.openings]},
            nets={"first": first.net, "second": second.net},
            conditions={**first.conditions, **judge.conditions},
            others=judge.engine.files(),
        )
        jobs = ((number, number) for number in range(match.games // 2))
        produce(judging.place(match.output), plan, task, jobs, referee=shares, keep=judge.keep)
    return JudgedMatchReport(
        **vars(shares.report()),
        first=names[0],
        second=names[1],
        judge=judge.engine.id_name,
        judge_nodes=judge.nodes,
        nodes=match.nodes,
        plies=match.plies,
    )


@dataclass(frozen=True)
class JudgedTask:
    """Everything a worker needs to play and judge pairs; a job is a pair's number."""

    first: Player
    second: Player
    judge: Judge
    lines: tuple[str, ...]
    plies: int
    seed: int

    def open(self) -> JudgedWorker:
        return JudgedWorker(self)


class JudgedWorker:
    """One thread's players, and its judge."""

    def __init__(self, task: JudgedTask) -> None:
        self._task = task
        self.duel = Duel(task.first, task.second, plies=task.plies)
        self._seat = task.judge.seat()

    def stop(self) -> None:
        self.duel.stop()
        self._seat.stop()

    def run(self, number: int) -> Product:
        """Return, as counts, the first player's shares of a pair; it is black in the first game. Raises Stopped."""
        opening = line_of(self._task.lines, number, self._task.seed)
        counts: dict[str, float] = {"ended": 0}
        for colour, name in COLOURS.items():
            self.duel.forget()
            game = self.duel.play(opening, colour)
            counts[f"share as {name}"] = round(self._share(opening, game), 6)
            counts["ended"] += game.ending != UNFINISHED
        return Product(counts=counts, answers=self._seat.fresh())

    def _share(self, opening: str, game: PlayedGame) -> float:
        if game.ending != UNFINISHED:
            return game.points
        start = GamePosition.parse(opening)
        position = GamePosition(start.start, (*start.moves, *(move_to_usi(int(move)) for move in game.moves)))
        mover = win_rate(clipped(self._seat.ask(position).score))
        return mover if int(position.set_up()["turn"]) == game.first_colour else 1 - mover


def share_of(counts: Counts) -> float:
    """Return the first player's share of a pair, 0 to 1."""
    return sum(counts[f"share as {name}"] for name in COLOURS.values()) / 2


class Shares:
    """The shares of the pairs; the referee of a judged match."""

    def __init__(self, pairs: int) -> None:
        self.total: int | None = 2 * pairs
        self._pairs = pairs
        self._shares: list[float] = []
        self._ended = 0

    def see(self, number: int, counts: Counts) -> None:
        """Take note of a pair."""
        if number < self._pairs:
            self._shares.append(share_of(counts))
            self._ended += int(counts["ended"])

    def has_enough(self) -> bool:
        """Return False: all pairs are played."""
        return False

    def measure(self) -> tuple[int, str]:
        """Return (games, text with the share) for the progress line."""
        games = 2 * len(self._shares)
        words = f"{games:,} of {self.total:,} games"
        if games > 2:
            words += f", {np.mean(self._shares):.3f} +- {self._error():.3f}"
        return games, words

    def report(self) -> SharesReport:
        """Return the figures of the pairs, of which there must be one."""
        return SharesReport(
            games=2 * len(self._shares),
            pairs=len(self._shares),
            share=round(float(np.mean(self._shares)), 4),
            share_error=round(self._error(), 4) if len(self._shares) > 1 else None,
            ended=self._ended,
        )

    def _error(self) -> float:
        """Return the standard error of the mean share; at least two pairs are needed."""
        return float(np.std(self._shares, ddof=1)) / math.sqrt(len(self._shares))
