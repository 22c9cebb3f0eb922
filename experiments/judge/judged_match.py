"""Two players' games broken off after some plies, and told by a judge who stands better.

Most of what tells two players apart has happened long before the end of a game, and the end itself is one bit, where a
strong engine's win rate says how much: an hour of such games tells several times as much as one of whole games
(rollouts that are truncated and evaluated: G. Tesauro and G. Galperin, "On-line Policy Improvement using Monte-Carlo
Search", 1996). What comes of it is a share of win rate and no Elo: a lead grows with the moves that are left to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.games.compiled_game import UNFINISHED
from experiments.games.game_position import GamePosition
from experiments.games.player import Cancelled, Duel, PlayedGame, Player
from experiments.jobs.description import Description
from experiments.jobs.ledger import Counts
from experiments.jobs.produce import Place, produce
from experiments.jobs.protocol import Product, Stopped
from experiments.judge.judge import Judge, Judging
from experiments.judge.losses import clipped
from experiments.league.participant import parse_participant
from experiments.matches.counted_games import CountedGames
from experiments.matches.named_player import read_player
from experiments.matches.pair import COLOURS, line_of
from lite.records.formats import HCPE
from search.rules.sfen import move_to_usi
from search.score import win_rate
from search.system.bounds import check_numbers

VERB = "judge match"
"""By which its folder is known."""


@dataclass(frozen=True)
class JudgedMatch:
    """Who plays, and how far."""

    first: str
    """`[NAME=]NET [OPTION=VALUE ...]`: a network's file or `default`, and options as a match in process takes them."""
    second: str
    """Likewise."""
    openings: Path
    nodes: int = 100_000
    """Of a move."""
    plies: int = 50
    """After which a game is broken off and judged."""
    games: int = 400
    """An even number: every opening is played with both colours."""
    seed: int = 1
    """Order of the openings."""
    output: Path = Path("runs/judged")
    """Folder of what is found: called again, it goes on."""


def play_judged_match(match: JudgedMatch, judging: Judging) -> dict[str, Any]:
    """{first, second, judge, judge_nodes, nodes, plies, games, pairs, share, share_error, ended}; goes on where it was
    cut.

    `share` is the first player's mean win rate where its games were broken off, those that ended before counting by
    their result, and `share_error` its standard error, by pairs. `ended` is how many did. Raises OSError or ValueError
    in words, KeyboardInterrupt.
    """
    check_numbers(match, "plies")
    counted = CountedGames(
        nodes=match.nodes, games=match.games, openings=match.openings, seed=match.seed, output=match.output
    )
    counted.check()
    lines = counted.lines()
    players = [parse_participant(text) for text in (match.first, match.second)]
    first, second = (read_player(one.command, one.options, match.nodes, 0, one.command) for one in players)
    judge = judging.open()
    task = JudgedTask(first.by_alphabeta, second.by_alphabeta, judge, lines, match.plies, match.seed)
    told: dict[str, Any] = {"openings": len(lines), "nodes": match.nodes, "plies": match.plies, "seed": match.seed}
    told |= {"first": first.name(False), "second": second.name(False)}  # their nets are known by digests
    told |= {"judge": judge.identity, "judge_nodes": judge.nodes}
    nets = {"first": first.net, "second": second.net}
    description = Description(VERB, told, (match.openings,), nets, signature=first.signature)
    shares = Shares(match.games // 2)
    place = Place(match.output, HCPE, judging.workers)
    produce(place, description, task, ((number, number) for number in range(match.games // 2)), referee=shares)
    return {
        "first": players[0].name,
        "second": players[1].name,
        "judge": judge.engine.id_name,
        "judge_nodes": judge.nodes,
        "nodes": match.nodes,
        "plies": match.plies,
        **shares.report(),
    }


@dataclass(frozen=True)
class JudgedTask:
    """What a worker needs to play pairs and have them judged."""

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
        """What both games of a pair are worth to the first player, who is black in the first. Raises Stopped."""
        opening = line_of(self._task.lines, number, self._task.seed)
        counts: dict[str, float] = {"ended": 0}
        try:
            for colour, name in COLOURS.items():
                self.duel.forget()
                game = self.duel.play(opening, colour)
                counts[f"share as {name}"] = round(self._share(opening, game), 6)
                counts["ended"] += game.ending != UNFINISHED
        except Cancelled:
            raise Stopped from None
        return Product(b"", counts)

    def _share(self, opening: str, game: PlayedGame) -> float:
        if game.ending != UNFINISHED:
            return game.points
        start = GamePosition.parse(opening)
        position = GamePosition(start.start, (*start.moves, *(move_to_usi(int(move)) for move in game.moves)))
        mover = win_rate(clipped(self._seat.ask(position).score))
        return mover if int(position.set_up()["turn"]) == game.first_colour else 1 - mover


def share_of(counts: Counts) -> float:
    """What a pair was worth to the first player, 0..1."""
    return sum(counts[f"share as {name}"] for name in COLOURS.values()) / 2


class Shares:
    """What the pairs have come to; the referee of the work."""

    def __init__(self, pairs: int) -> None:
        self.total: int | None = 2 * pairs
        self._pairs = pairs
        self._shares: list[float] = []
        self._ended = 0

    def see(self, number: int, counts: Counts) -> None:
        """A pair has been played."""
        if number < self._pairs:
            self._shares.append(share_of(counts))
            self._ended += int(counts["ended"])

    def has_enough(self) -> bool:
        """Never: as many are played as were asked for."""
        return False

    def measure(self) -> tuple[int, str]:
        """For the progress line."""
        games = 2 * len(self._shares)
        words = f"{games:,} of {self.total:,} games"
        if games > 2:
            words += f", {np.mean(self._shares):.3f} +- {self._error():.3f}"
        return games, words

    def report(self) -> dict[str, Any]:
        """games, pairs, share, share_error and ended, see `play_judged_match`."""
        return {
            "games": 2 * len(self._shares),
            "pairs": len(self._shares),
            "share": round(float(np.mean(self._shares)), 4),
            "share_error": round(self._error(), 4) if len(self._shares) > 1 else None,
            "ended": self._ended,
        }

    def _error(self) -> float:
        """The standard error, of two pairs at least: one says nothing of it."""
        return float(np.std(self._shares, ddof=1)) / math.sqrt(len(self._shares))
