"""Leagues: in this process where all players are this engine's networks, else through ShogiArena."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.arena.arena_games import ArenaGame, pair_results, seat_names
from experiments.arena.tournament import UsiGames, play_engines
from experiments.drawing.pictures import draw_ratings
from experiments.elo.ratings import Meeting
from experiments.language.catalogue import label
from experiments.league.in_process import meetings_of, play_league_in_process
from experiments.league.participant import Participant, unique_names
from experiments.league.ratings_table import Standings, standings
from experiments.matches.in_process_games import InProcessGames
from experiments.network_kinds.player_command import as_player

PICTURE = "ratings.png"
"""Picture in the folder of the run."""
USI_VERB = "league usi"


@dataclass(frozen=True)
class LeagueReport(Standings):
    """The report of a league."""

    folder: Path


def play_league(
    rules: InProcessGames | UsiGames, participants: Sequence[Participant], gauntlet: bool = False, neighbours: int = 0
) -> LeagueReport:
    """Play the remaining games of a league: every two players, or with `gauntlet` the first against all others.

    With `neighbours` above 0, which is for games in process, players meet only if they are at most so many places
    apart. Raises OSError or ValueError, and KeyboardInterrupt if it was stopped: the same call resumes.
    """
    names = unique_names(participants)
    remarks: list[str] = []
    if isinstance(rules, InProcessGames):
        meetings = play_league_in_process(rules, participants, names, gauntlet, neighbours)
    else:
        meetings, remarks = _play_through_arena(rules, participants, names, gauntlet)
    found = standings(names, meetings)
    draw_ratings(found.players, rules.output / PICTURE, label("Elo (mean 0)"))
    return LeagueReport(found.players, found.meetings, found.games, (*found.remarks, *remarks), rules.output)


def _play_through_arena(
    rules: UsiGames, participants: Sequence[Participant], names: list[str], gauntlet: bool
) -> tuple[list[Meeting], list[str]]:
    players = [as_player(one.command, one.options) for one in participants]
    pairings = meetings_of(len(players), gauntlet)
    played = play_engines(rules, USI_VERB, players, lambda _: names, rules.games * len(pairings), gauntlet)
    return count_meetings(played.games, len(players), pairings), played.remarks


def count_meetings(games: Sequence[ArenaGame], players: int, pairings: Sequence[tuple[int, int]]) -> list[Meeting]:
    """Return the meetings of ShogiArena's games; failed games are left out."""
    seats = seat_names(players)
    meetings = []
    for first, second in pairings:
        own = [one for one in games if one.players == (seats[first], seats[second])]
        draws = sum(one.points == 0.5 for one in own)
        meetings.append(Meeting(first, second, tuple(pair_results(own)), draws))
    return meetings
