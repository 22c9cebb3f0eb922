"""A match of two USI engines through ShogiArena, with Elo and its error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from experiments.arena.arena_games import ArenaGame, pair_results
from experiments.arena.tournament import UsiGames, play_engines
from experiments.elo.strength import measure_strength
from experiments.usi_client.engines import player_names

VERB = "match usi"


@dataclass(frozen=True)
class UsiMatch(UsiGames):
    """Options of a match of two USI engines."""

    first: str
    """Command of the first engine: a path, or `liteshogi` for this installation's, perhaps with arguments:
    'liteshogi puct model.onnx'."""
    second: str
    """Command of the second engine."""
    first_option: tuple[str, ...] = ()
    """NAME=VALUE options of the first engine."""
    second_option: tuple[str, ...] = ()
    """NAME=VALUE options of the second engine."""
    labels: tuple[str, str] = ("", "")
    """Names of the engines for readers; where empty, their own names and options."""


@dataclass(frozen=True)
class EngineTally:
    """Results of the first engine's games; failed games count for neither engine."""

    games: int
    wins: int
    draws: int
    losses: int
    points: float
    elo: float | None
    """Logistic Elo difference; None is infinite or unknown."""
    elo_low: float | None
    """Lower end of the 95 % interval of `elo`."""
    elo_high: float | None
    """Upper end of the 95 % interval of `elo`."""
    failed: int
    """Number of games that failed, which count for neither engine."""
    endings: dict[str, int]
    """Number of games by ShogiArena's word for the ending."""


@dataclass(frozen=True, kw_only=True)
class EngineMatchReport(EngineTally):
    """The report of a match of two USI engines."""

    first: str
    second: str
    remarks: tuple[str, ...]
    """Lines for readers."""


def play_usi_match(match: UsiMatch) -> EngineMatchReport:
    """Play the remaining games, and write all of them as KIF into `kif/` of the run; returns the report of all.

    Raises as `play_engines` does.
    """
    players = [(match.first, match.first_option), (match.second, match.second_option)]
    played = play_engines(
        match,
        VERB,
        players,
        lambda engines: [label or own for label, own in zip(match.labels, player_names(*engines), strict=True)],
        match.games,
    )
    first, second = played.names
    return EngineMatchReport(
        **vars(tally_games(played.games)), first=first, second=second, remarks=tuple(played.remarks)
    )


def tally_games(games: Sequence[ArenaGame]) -> EngineTally:
    """Count the first engine's results."""
    wins, draws, losses = (sum(one.points == points for one in games) for points in (1.0, 0.5, 0.0))
    strength = measure_strength(pair_results(games))
    return EngineTally(
        games=wins + draws + losses,
        wins=wins,
        draws=draws,
        losses=losses,
        points=wins + draws / 2,
        elo=strength.elo,
        elo_low=strength.low,
        elo_high=strength.high,
        failed=len(games) - wins - draws - losses,
        endings=dict(Counter(one.ending for one in games).most_common()),
    )
