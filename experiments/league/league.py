"""Who plays a league and how: in this process where all are this engine's networks, else through ShogiArena."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.arena.results import Result, pair_results, seat_names
from experiments.arena.tournament import UsiGames, play_engines
from experiments.drawing.pictures import draw_ratings
from experiments.elo.ratings import Meeting
from experiments.league.in_process import meetings_of, play_counted_league
from experiments.league.participant import Participant, unique_names
from experiments.league.ratings_table import standings
from experiments.matches.counted_games import CountedGames
from experiments.network_kinds import as_player
from search.system.files import write_atomically
from search.system.metadata import json_bytes

PICTURE, STANDINGS = "ratings.png", "league.json"
"""In the folder of the run; the latter is the report, and the `names` of all players by their numbers."""


def play_league(
    rules: CountedGames | UsiGames, participants: Sequence[Participant], gauntlet: bool = False
) -> dict[str, Any]:
    """Play what is left of a league, every two players or the first against all others; see `standings`.

    Raises OSError or ValueError in words; KeyboardInterrupt if it was stopped: the same call goes on.
    """
    names = unique_names(participants)
    remarks: list[str] = []
    if isinstance(rules, CountedGames):
        meetings = play_counted_league(rules, participants, names, gauntlet)
    else:
        meetings, remarks = _play_through_arena(rules, participants, names, gauntlet)
    report = standings(names, meetings)
    write_atomically(rules.output / STANDINGS, json_bytes({"names": names, **report}))
    draw_ratings(report["players"], rules.output / PICTURE)
    return {**report, "remarks": report["remarks"] + remarks, "folder": str(rules.output)}


def _play_through_arena(
    rules: UsiGames, participants: Sequence[Participant], names: list[str], gauntlet: bool
) -> tuple[list[Meeting], list[str]]:
    players = []
    for one in participants:
        command, options = as_player(one.command)
        players.append((command, (*options, *one.options)))
    pairings = meetings_of(len(players), gauntlet)
    _, results, remarks = play_engines(rules, players, lambda _: names, rules.games * len(pairings), gauntlet)
    return count_meetings(results, len(players), pairings), remarks


def count_meetings(results: Sequence[Result], players: int, pairings: Sequence[tuple[int, int]]) -> list[Meeting]:
    """What ShogiArena's games make of every meeting; failed games are left out."""
    seats = seat_names(players)
    meetings = []
    for first, second in pairings:
        own = [one for one in results if one.players == (seats[first], seats[second])]
        draws = sum(one.points == 0.5 for one in own)
        meetings.append(Meeting(first, second, tuple(pair_results(own)), draws))
    return meetings
