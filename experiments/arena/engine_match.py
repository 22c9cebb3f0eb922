"""Two USI engines play through ShogiArena, counted as Elo with error."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from experiments.arena.results import FIRST, SECOND, Result, pair_results
from experiments.arena.tournament import UsiGames, play_engines
from experiments.elo.strength import measure_strength
from experiments.usi_client.engines import player_names


@dataclass(frozen=True)
class Match(UsiGames):
    """Who plays, and how."""

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
    """What readers call them; empty: by what they say of themselves."""


def play_match(match: Match) -> dict[str, Any]:
    """Play what is left of the games, and write all of them as KIF into `kif/` of the run; the report of all.

    Raises as `play_engines` does.
    """
    players = [(match.first, match.first_option), (match.second, match.second_option)]
    names, results, remarks = play_engines(
        match,
        players,
        lambda engines: [label or own for label, own in zip(match.labels, player_names(*engines), strict=True)],
        match.games,
    )
    return {FIRST: names[0], SECOND: names[1], **count_results(results), "remarks": remarks}


def count_results(results: list[Result]) -> dict[str, Any]:
    """The first engine's games, wins, draws, losses, points, Elo and the ends of its 95 % interval; games that failed,
    and how often which word of ShogiArena's ended a game."""
    wins, draws, losses = (sum(one.points == points for one in results) for points in (1.0, 0.5, 0.0))
    strength = measure_strength(pair_results(results))
    return {
        "games": wins + draws + losses,
        "wins": wins,
        "draws": draws,
        "losses": losses,
        "points": wins + draws / 2,
        "elo": strength.elo,
        "elo_low": strength.low,
        "elo_high": strength.high,
        "failed": len(results) - wins - draws - losses,
        "endings": dict(Counter(one.ending for one in results).most_common()),
    }
