"""The table of a league: ratings, points and meetings, in the layout of Ordo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.elo.ratings import Meeting, rate


@dataclass(frozen=True)
class PlayerRow:
    """Figures of a player of a league."""

    name: str
    elo: float
    """Rating; the mean of all players is 0."""
    error: float
    """Half of the 95 % interval of `elo`, in Elo."""
    points: float
    games: int
    share: float | None
    """Share of the points of the player's games; None without a game."""
    superiority: float | None
    """Chance that the player is stronger than the next one; None for the last, and where one of both has no game."""
    wins: int
    draws: int
    losses: int
    draw_share: float | None
    """Share of draws; None without a game."""


@dataclass(frozen=True)
class MeetingRow:
    """Figures of the games of two players; wins, losses and points are the first's."""

    first: str
    second: str
    games: int
    points: float
    wins: int
    draws: int
    losses: int
    pentanomial: tuple[int, ...]
    """Pairs of games with 0, 1/2, 1, 1 1/2 and 2 points."""


@dataclass(frozen=True)
class Standings:
    """The state of a league."""

    players: tuple[PlayerRow, ...]
    """Players, the strongest first."""
    meetings: tuple[MeetingRow, ...]
    """Meetings that have begun."""
    games: int
    remarks: tuple[str, ...]
    """Lines for readers."""


def standings(names: Sequence[str], meetings: Sequence[Meeting]) -> Standings:
    """Return the standings of the players by their meetings."""
    met = [one for one in meetings if one.games]
    ratings = rate(len(names), met)
    order = sorted(range(len(names)), key=lambda player: -ratings.elo[player])
    played = {player for one in met for player in (one.first, one.second)}
    rows = []
    for player, following in zip(order, [*order[1:], None], strict=True):
        own = [one for one in met if one.first == player]
        others = [one for one in met if one.second == player]
        games = sum(one.games for one in (*own, *others))
        draws = sum(one.draws for one in (*own, *others))
        points = sum(one.points for one in own) + sum(one.games - one.points for one in others)
        rows.append(
            PlayerRow(
                name=names[player],
                elo=float(ratings.elo[player]),
                error=ratings.error(player),
                points=points,
                games=games,
                share=points / games if games else None,
                superiority=None
                if following is None or not {player, following} <= played
                else ratings.superiority(player, following),
                wins=sum(one.wins for one in own) + sum(one.losses for one in others),
                draws=draws,
                losses=sum(one.losses for one in own) + sum(one.wins for one in others),
                draw_share=draws / games if games else None,
            )
        )
    remarks: tuple[str, ...] = ()
    if not ratings.bounded:
        remarks = (
            "the games do not bound every difference (some players have no point against the others): the ratings "
            "assume one more draw in every meeting",
        )
    return Standings(
        tuple(rows),
        tuple(
            MeetingRow(
                names[one.first],
                names[one.second],
                one.games,
                one.points,
                one.wins,
                one.draws,
                one.losses,
                tuple(one.pentanomial()),
            )
            for one in met
        ),
        sum(one.games for one in met),
        remarks,
    )


def table_text(players: Sequence[PlayerRow]) -> str:
    """Return the players' rows as text: rating, error, points, games, % of the points, chance of being stronger than
    the next player in %, wins, draws, losses, % of draws."""
    width = max(len("PLAYER"), *(len(row.name) for row in players))
    lines = [f"   # {'PLAYER':{width}} :  RATING  ERROR  POINTS  PLAYED   (%)  CFS(%)     W     D     L  D(%)"]
    for place, row in enumerate(players, 1):
        chance = "---" if row.superiority is None else f"{100 * row.superiority:.0f}"
        lines.append(
            f"{place:4d} {row.name:{width}} : {row.elo:7.1f} {row.error:6.1f} {row.points:7.1f} "
            f"{row.games:7d} {_whole_percent(row.share):>5} {chance:>7} {row.wins:5d} {row.draws:5d} "
            f"{row.losses:5d} {_whole_percent(row.draw_share):>5}"
        )
    return "\n".join(lines)


def meetings_text(meetings: Sequence[MeetingRow]) -> str:
    """Return a line per meeting: the first player's wins, draws and losses, and pairs with 0, 1/2, 1, 1 1/2 and 2
    points."""
    width = max((len(f"{one.first} - {one.second}") for one in meetings), default=0)
    return "\n".join(
        f"{one.first + ' - ' + one.second:{width}} : {one.wins:4d} -{one.draws:4d} -{one.losses:4d}  "
        f"{_whole_percent(one.points / one.games):>4} %  pairs {', '.join(map(str, one.pentanomial))}"
        for one in meetings
    )


def _whole_percent(share: float | None) -> str:
    return "---" if share is None else f"{100 * share:.0f}"
