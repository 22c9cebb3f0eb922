"""Two players of this engine, by alpha-beta or by PUCT, play from balanced openings in pairs, here and on all cores.

Moves are counted in nodes or depth, so the result depends neither on the machine nor on what else it does: equal
commands play equal games. What plays by the clock, or is another engine, plays through `experiments.arena.match`.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.arena.process import GAMES
from experiments.factory.description import Description
from experiments.factory.produce import Place, produce
from experiments.games.openings import read_openings
from experiments.games.options import NamedPlayer, read_player
from experiments.games.pairs import PairTask
from experiments.games.player import Ending, Player, PuctPlayer
from experiments.games.sprt import Sprt
from experiments.games.standing import Standing
from experiments.zero.pairs import PuctPairTask
from lite.records.formats import HCPE3

FROM_START = (6, 12)
"""Random plies where no file of openings is given."""


@dataclass(frozen=True)
class CountedMatch:
    """Who plays, and how."""

    first: str
    """A network's file or `default`."""
    second: str
    """Likewise."""
    nodes: int = 0
    """A move; 0: no limit."""
    depth: int = 0
    """Likewise."""
    second_nodes: int | None = None
    """The second player's, where it has others."""
    second_depth: int | None = None
    """Likewise."""
    games: int = 1000
    """An even number, for every opening is played with both colours. With a test these are the most."""
    openings: Path | None = None
    """File of openings; without it, random moves from the start position."""
    random_plies: tuple[int, int] | None = None
    """Random moves that are played on from there, at least and at most."""
    balance: int = 100
    """Centipawns that the first player's network may see for a side after random moves."""
    first_option: tuple[str, ...] = ()
    second_option: tuple[str, ...] = ()
    sprt: Sprt | None = None
    """The test that may end the match before its games are played."""
    max_plies: int = 320
    """A game of so many moves is a draw."""
    win_score: int = 0
    """A game is won when both players have said so for 8 plies on end, centipawns; 0: it is played to its end."""
    played_out: float = 0.05
    """Share of the games so ended that are played on, to see how often the scores err."""
    parallel: int = field(default_factory=lambda: os.cpu_count() or 1)
    """Games at a time."""
    seed: int = 1
    output: Path = Path("runs/match")

    def check(self) -> None:
        """Raises ValueError in words for options that make no sense."""
        for side in (self.nodes, self.depth), self.second_limits():
            if min(side) < 0 or not any(side):
                raise ValueError("--nodes, --depth: a move of each player needs a limit, which is above 0")
        if self.games < 2 or self.games % 2:
            raise ValueError(f"--games {self.games}: an even number is needed, for openings are played in pairs")
        least, most = self.plies()
        if not 0 <= least <= most:
            raise ValueError(f"--random-plies {least} {most}: two numbers from 0 on are needed, the smaller first")
        if not 0 <= self.played_out <= 1:
            raise ValueError(f"--played-out {self.played_out}: a share from 0 to 1 is needed")
        for name in ("parallel", "max_plies"):
            if getattr(self, name) < 1:
                raise ValueError(f"--{name.replace('_', '-')} {getattr(self, name)}: must be at least 1")
        for name in ("balance", "win_score", "seed"):
            if getattr(self, name) < 0:
                raise ValueError(f"--{name.replace('_', '-')} {getattr(self, name)}: must not be below 0")
        if (self.output / GAMES).exists():
            raise ValueError(f"{self.output}: holds a match by the clock; use another -o")

    def second_limits(self) -> tuple[int, int]:
        """Nodes and depth of the second player: the first's where it has none of its own."""
        if self.second_nodes is None and self.second_depth is None:
            return self.nodes, self.depth
        return self.second_nodes or 0, self.second_depth or 0

    def plies(self) -> tuple[int, int]:
        """Random moves, at least and at most."""
        return self.random_plies or ((0, 0) if self.openings else FROM_START)

    def lines(self) -> tuple[str, ...]:
        """The openings, each once. ValueError if equal games would be needed to play so many."""
        if self.openings is None:
            lines: tuple[str, ...] = ("startpos",)
        else:
            lines = tuple(dict.fromkeys(read_openings(self.openings)))
        if not self.plies()[1] and 2 * len(lines) < self.games:
            raise ValueError(
                f"{self.openings or '--random-plies 0 0'}: {len(lines)} openings are good for {2 * len(lines)} games, "
                f"for equal openings give equal games; ask for so few --games, or add --random-plies 2 4"
            )
        return lines


def play_counted_match(match: CountedMatch) -> dict[str, Any]:
    """Play what is left of a match; its report. Raises as `produce` does."""
    match.check()
    first = read_player(match.first, match.first_option, match.nodes, match.depth, "--first-option")
    second = read_player(match.second, match.second_option, *match.second_limits(), "--second-option")
    lines = match.lines()
    standing = Standing(match.games // 2, match.sprt)
    task = _task(match, first.player, second.player, lines)
    jobs = ((number, number) for number in range(match.games // 2))
    place = Place(match.output, HCPE3, match.parallel)
    produce(place, _description(match, first, second, lines), task, jobs, referee=standing)
    report = standing.report()
    an_hour = report["nodes_per_second"] / max(report["nodes_a_move"], 1e-9) * 3600 * match.parallel
    if first.name(True) == second.name(True):
        report["remarks"].append("both players are the same, so each pair is one game played twice")
    return {
        **_names(first, second),
        **report,
        "positions_per_hour": round(an_hour),
        "parallel": match.parallel,
        "folder": str(match.output),
    }


def _task(
    match: CountedMatch, first: Player | PuctPlayer, second: Player | PuctPlayer, lines: tuple[str, ...]
) -> PairTask | PuctPairTask:
    """The pairs of two players of a kind. ValueError in words for two of different kinds."""
    ending = Ending(max_moves=match.max_plies, win_score=match.win_score)
    rest = (ending, lines, match.plies(), match.balance, match.played_out, match.seed)
    if isinstance(first, Player) and isinstance(second, Player):
        return PairTask(first, second, *rest)
    if isinstance(first, PuctPlayer) and isinstance(second, PuctPlayer):
        return PuctPairTask(first, second, *rest)
    raise ValueError(
        f"{match.first} and {match.second}: one is played by PUCT and one by alpha-beta, whose nodes do not compare; "
        "play them by the clock: --byoyomi MILLISECONDS"
    )


def _names(first: NamedPlayer, second: NamedPlayer) -> dict[str, str]:
    """What readers call the two: their networks, by no more of a path than tells them apart, and their options."""
    whole = first.name(False) == second.name(False)
    names = {"first": first.name(whole), "second": second.name(whole)}
    if first.name(True) == second.name(True):
        return {side: f"{side} {name}" for side, name in names.items()}
    return names


def _description(match: CountedMatch, first: NamedPlayer, second: NamedPlayer, lines: tuple[str, ...]) -> Description:
    """What decides which games are played; how many are, is none of it."""
    options = {
        "nodes": match.nodes,
        "depth": match.depth,
        **dict(zip(("second_nodes", "second_depth"), match.second_limits(), strict=True)),
        "first_option": first.chosen,
        "second_option": second.chosen,
        "openings": hashlib.sha256("\n".join(lines).encode()).hexdigest(),
        "random_plies": match.plies(),
        "balance": match.balance,
        "max_plies": match.max_plies,
        "win_score": match.win_score,
        "played_out": match.played_out,
        "seed": match.seed,
    }
    return Description("match", options, (), {"first": first.net, "second": second.net})
