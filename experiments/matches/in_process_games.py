"""Rules of games in process: limited by nodes or depth, in pairs from balanced openings.

So the result depends neither on the machine nor on its load: equal commands play equal games.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from experiments.factory.selfplay import check_random_plies
from experiments.games.openings import read_openings
from experiments.games.player import Ending, PuctPlayer
from experiments.jobs.produce import Place
from experiments.matches.named_player import NamedPlayer
from experiments.matches.pair import PairSettings, openings_of
from experiments.matches.pair_task import PairTask
from lite.amounts import amount
from lite.records.formats import HCPE3
from search.system.bounds import MOST_AT_ONCE, check_number, check_numbers, check_share, check_used
from search.system.cores import usable_cores
from search.system.options import OptionError
from search.system.paths import take_paths

FROM_START = (6, 12)
"""Random plies without a file of openings."""
OTHER_GAMES = "another seed in another folder plays other games"
"""Advice on how to get games other than those of a complete folder."""
MORE_GAMES = "more games extend it, another seed in another folder plays others"
"""Advice on how to get games other than those of a complete folder in which all requested games were played."""
DRAWN, REPEATED = 1000, 0.1
"""Most of the openings that may repeat an earlier one, as a share of the first 1,000: pairs count as independent."""


@dataclass(frozen=True, kw_only=True)
class InProcessGames:
    """Options that all games of a run share."""

    nodes: int = 0
    """Nodes per move; 0 means no limit. A search always finishes its first iteration, so it may exceed a limit below
    500 by up to about 2,000 nodes."""
    depth: int = 0
    """Depth per move; 0 means no limit."""
    games: int = 1000
    """Games between each two players; an even number, as every opening is played with both colours. With a test, the
    largest number of games."""
    openings: Path | None = None
    """File of openings; without it, games begin with random moves from the start position."""
    random_plies: tuple[int, int] | None = None
    """Random moves played after the opening: least and most."""
    balance: int = 100
    """Largest evaluation for either side after random moves by the first player's network, centipawns. If none of 1,000
    openings is that even, the most even one is played."""
    max_moves: int = 320
    """Move number at which a game is drawn, opening included."""
    win_score: int = 0
    """Score in centipawns at which a game is won when both players have agreed for 8 consecutive plies; 0 means that
    games are played to their end."""
    played_out: float = 0.05
    """Share of the games adjudicated by score that are played to their end instead, to measure how often the scores are
    wrong."""
    parallel: int = field(default_factory=usable_cores)
    """Games at a time on this machine."""
    ray: str | None = None
    """Address of a Ray cluster whose CPUs play instead, or `auto`. Its machines need LiteShogi installed."""
    seed: int = 1
    """Seed of the order of the openings, of the random moves, and of the moves that levels draw."""
    output: Path = Path("runs/match")
    """Folder of the run; the same command resumes an interrupted run."""

    def __post_init__(self) -> None:
        take_paths(self)

    def limits(self) -> tuple[tuple[int, int], ...]:
        """Return (nodes, depth) of each player that has limits of its own."""
        return ((self.nodes, self.depth),)

    def check(self) -> None:
        """Raise OptionError for options that cannot be used."""
        check_numbers(self, "nodes", "depth", least=0)
        if not all(map(any, self.limits())):
            raise OptionError("`nodes`, `depth`: a move of each player needs a limit above 0", "nodes", "depth")
        check_pairs("games", self.games)
        least, most = self.plies()
        check_random_plies((least, most))
        if not most and self.balance != InProcessGames.balance:
            raise OptionError(
                f"`balance` {self.balance}: has no effect without `random_plies`, as openings are not evaluated",
                "balance",
                "random_plies",
            )
        check_used(self, "played_out", "win_score")
        check_share("played_out", self.played_out)
        check_numbers(self, "parallel", most=MOST_AT_ONCE)
        check_numbers(self, "max_moves")
        check_numbers(self, "balance", "win_score", least=0)
        check_numbers(self, "seed", least=0, most=None)

    def plies(self) -> tuple[int, int]:
        """Return the least and most random moves."""
        return self.random_plies or ((0, 0) if self.openings else FROM_START)

    def ending(self) -> Ending:
        """Return the rules by which games end."""
        return Ending(max_moves=self.max_moves, win_score=self.win_score)

    def lines(self) -> tuple[str, ...]:
        """Return the openings, each once. Raises OptionError if games would repeat, or as `distinct_openings`."""
        lines = self.distinct_openings()
        self.check_lines(lines)
        return lines

    def distinct_openings(self) -> tuple[str, ...]:
        """Return the openings, each once, however few.

        Raises OSError, or ValueError that names a line from which no game can be played, before any game is played."""
        if self.openings is None:
            return ("startpos",)
        behind = replace(self.ending(), max_moves=self.max_moves - self.plies()[0])  # random moves count, too
        return tuple(dict.fromkeys(read_openings(self.openings, behind)))

    def check_lines(self, lines: tuple[str, ...]) -> None:
        """Raise OptionError if `games` games from these openings would include equal ones."""
        if not self.plies()[1] and 2 * len(lines) < self.games:
            place = "`random_plies` 0 0" if self.openings is None else f"`openings` {self.openings}"
            raise OptionError(
                f"{place}: {amount(len(lines), 'opening')}, enough for {2 * len(lines)} games, as equal openings give "
                "equal games; reduce `games`, give more openings, or set `random_plies` to 2 4",
                "openings",
                "random_plies",
                "games",
            )
        if (share := self._repeated(lines)) > REPEATED:
            least, most = self.plies()
            raise OptionError(
                f"`random_plies` {least} {most}: {share:.0%} of the openings would repeat, and equal openings give "
                "equal games; reduce `games`, or play more random moves",
                "random_plies",
                "games",
            )

    def _repeated(self, lines: tuple[str, ...]) -> float:
        """Return the share of the first openings that equal an earlier one, before unbalanced ones are dropped."""
        plies, drawn = self.plies(), min(self.games // 2, DRAWN)
        if not plies[1]:
            return 0.0
        openings = {
            openings_of(lines, number, plies, self.seed).draw(np.random.default_rng((self.seed, number)))
            for number in range(drawn)
        }
        return 1 - len(openings) / drawn

    def place(self) -> Place:
        """Return where the games are played and kept."""
        return Place(self.output, HCPE3, self.parallel, self.ray)

    def task(self, first: NamedPlayer, second: NamedPlayer, lines: tuple[str, ...]) -> PairTask:
        """Return the task of playing pairs of two players. Raises OptionError if their nodes do not compare."""
        if isinstance(first.player, PuctPlayer) != isinstance(second.player, PuctPlayer):
            raise OptionError(
                f"{first.net} and {second.net}: one is played by PUCT and one by alpha-beta, whose nodes do not "
                "compare; play them by the clock with `byoyomi` MILLISECONDS",
                "byoyomi",
            )
        settings = PairSettings(self.ending(), lines, self.plies(), self.balance, self.played_out, self.seed)
        return PairTask(first.player, second.player, settings)

    def deciding(self, lines: tuple[str, ...], players: Mapping[str, object]) -> Mapping[str, object]:
        """Return the options that decide which games are played, with those of the players; not how many are played."""
        return {
            "nodes": self.nodes,
            "depth": self.depth,
            **players,
            "openings": hashlib.sha256("\n".join(lines).encode()).hexdigest(),
            "random_plies": self.plies(),
            "balance": self.balance,
            "max_moves": self.max_moves,
            "win_score": self.win_score,
            "played_out": self.played_out,
            "seed": self.seed,
        }


def check_pairs(name: str, games: int) -> None:
    """Raise OptionError unless the games of field `name` are pairs, one or more, in which the players change sides."""
    check_number(name, games, least=2, most=None)
    if games % 2:
        raise OptionError(f"`{name}` {games}: must be even, as openings are played in pairs", name)
