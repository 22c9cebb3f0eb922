"""How games in process are played: counted in nodes or depth, in pairs from balanced openings.

So the result depends neither on the machine nor on what else it does: equal commands play equal games.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.games.openings import read_openings
from experiments.games.player import Ending, PuctPlayer
from experiments.jobs.produce import Place
from experiments.matches.named_player import NamedPlayer
from experiments.matches.pair import PairSettings, openings_of
from experiments.matches.pair_task import PairTask
from lite.amounts import amount
from lite.records.formats import HCPE3
from search.system.bounds import MOST_AT_ONCE, check_numbers, check_used
from search.system.cores import usable_cores
from search.system.paths import take_paths

FROM_START = (6, 12)
"""Random plies where no file of openings is given."""
DRAWN, REPEATED = 1000, 0.1
"""Of so many openings no larger share may be equal to others: pairs count as independent of each other."""


@dataclass(frozen=True, kw_only=True)
class CountedGames:
    """What all games of a run have in common."""

    nodes: int = 0
    """A move; 0: no limit. A search finishes its first iteration however few they are: of less than 500 nodes some take
    a few hundred more."""
    depth: int = 0
    """Likewise."""
    games: int = 1000
    """Of two players, an even number, for every opening is played with both colours. With a test these are the most."""
    openings: Path | None = None
    """File of openings; without it, random moves from the start position."""
    random_plies: tuple[int, int] | None = None
    """Random moves that are played on from there, at least and at most."""
    balance: int = 100
    """Centipawns that the first player's network may see for a side after random moves."""
    max_plies: int = 320
    """A game of so many moves is a draw."""
    win_score: int = 0
    """A game is won when both players have said so for 8 plies on end, centipawns; 0: it is played to its end."""
    played_out: float = 0.05
    """Share of the games so ended that are played on, to see how often the scores err."""
    parallel: int = field(default_factory=usable_cores)
    """Games at a time."""
    seed: int = 1
    """Order of the openings, and the random moves."""
    output: Path = Path("runs/match")
    """Folder of the run: called again, it goes on."""

    def __post_init__(self) -> None:
        take_paths(self)

    def limits(self) -> tuple[tuple[int, int], ...]:
        """Nodes and depth of each player that has its own."""
        return ((self.nodes, self.depth),)

    def check(self) -> None:
        """Raises ValueError in words for options that make no sense."""
        check_numbers(self, "nodes", "depth", least=0)
        if not all(map(any, self.limits())):
            raise ValueError("--nodes, --depth: a move of each player needs a limit, which is above 0")
        if self.games < 2 or self.games % 2:
            raise ValueError(f"--games {self.games}: an even number is needed, for openings are played in pairs")
        least, most = self.plies()
        if not 0 <= least <= most:
            raise ValueError(f"--random-plies {least} {most}: two numbers from 0 on are needed, the smaller first")
        if not most and self.balance != CountedGames.balance:
            raise ValueError(f"--balance {self.balance}: does nothing without --random-plies; openings are not judged")
        check_used(self, "played_out", "win_score")
        if not 0 <= self.played_out <= 1:
            raise ValueError(f"--played-out {self.played_out}: a share from 0 to 1 is needed")
        check_numbers(self, "parallel", most=MOST_AT_ONCE)
        check_numbers(self, "max_plies")
        check_numbers(self, "balance", "win_score", least=0)
        check_numbers(self, "seed", least=0, most=None)
        if (self.output / "games").exists():
            raise ValueError(f"{self.output}: holds a match through ShogiArena; use another -o")

    def plies(self) -> tuple[int, int]:
        """Random moves, at least and at most."""
        return self.random_plies or ((0, 0) if self.openings else FROM_START)

    def ending(self) -> Ending:
        """When a game is over."""
        return Ending(max_moves=self.max_plies, win_score=self.win_score)

    def lines(self) -> tuple[str, ...]:
        """The openings, each once. ValueError if equal games would be needed to play so many, or as `read_lines`."""
        lines = self.read_lines()
        self.check_lines(lines)
        return lines

    def read_lines(self) -> tuple[str, ...]:
        """The same, however many. Raises OSError, or ValueError that names a line from which no game can be played: it
        would else be found when others have been."""
        if self.openings is None:
            return ("startpos",)
        behind = replace(self.ending(), max_moves=self.max_plies - self.plies()[0])  # random moves count, too
        return tuple(dict.fromkeys(read_openings(self.openings, behind)))

    def check_lines(self, lines: tuple[str, ...]) -> None:
        """Raises ValueError if equal games would be needed to play so many from these openings, each of which is there
        once."""
        if not self.plies()[1] and 2 * len(lines) < self.games:
            raise ValueError(
                f"{self.openings or '--random-plies 0 0'}: {amount(len(lines), 'opening')}, good for "
                f"{2 * len(lines)} games, for equal openings give equal games; ask for so few, or give more openings "
                "(`match` has --random-plies 2 4, too)"
            )
        if (share := self._repeated(lines)) > REPEATED:
            least, most = self.plies()
            raise ValueError(
                f"--random-plies {least} {most}: {share:.0%} of the openings would come again, and equal openings give "
                "equal games; ask for fewer games, or more random moves"
            )

    def _repeated(self, lines: tuple[str, ...]) -> float:
        """The share of the first openings that another has been equal to, before any is thrown away as unbalanced."""
        plies, drawn = self.plies(), min(self.games // 2, DRAWN)
        if not plies[1]:
            return 0.0
        openings = {
            openings_of(lines, number, plies, self.seed).draw(np.random.default_rng((self.seed, number)))
            for number in range(drawn)
        }
        return 1 - len(openings) / drawn

    def place(self) -> Place:
        """Where the games land."""
        return Place(self.output, HCPE3, self.parallel)

    def task(self, first: NamedPlayer, second: NamedPlayer, lines: tuple[str, ...]) -> PairTask:
        """The pairs of two players. ValueError in words for two that do not compare."""
        if isinstance(first.player, PuctPlayer) != isinstance(second.player, PuctPlayer):
            raise ValueError(
                f"{first.net} and {second.net}: one is played by PUCT and one by alpha-beta, whose nodes do not "
                "compare; play them by the clock: --byoyomi MILLISECONDS"
            )
        settings = PairSettings(self.ending(), lines, self.plies(), self.balance, self.played_out, self.seed)
        return PairTask(first.player, second.player, settings)

    def described(self, lines: tuple[str, ...], players: Mapping[str, Any]) -> dict[str, Any]:
        """What decides which games are played, for a folder's description; how many are, is none of it."""
        return {
            "nodes": self.nodes,
            "depth": self.depth,
            **players,
            "openings": hashlib.sha256("\n".join(lines).encode()).hexdigest(),
            "random_plies": self.plies(),
            "balance": self.balance,
            "max_plies": self.max_plies,
            "win_score": self.win_score,
            "played_out": self.played_out,
            "seed": self.seed,
        }
