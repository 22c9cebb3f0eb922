"""The table of a league, as Ordo prints it and the field reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.elo.ratings import Meeting, rate


def standings(names: Sequence[str], meetings: Sequence[Meeting]) -> dict[str, Any]:
    """{players, meetings, games, remarks}: the players from the strongest down, and every meeting that has begun.

    Of a player: name, elo (the mean of all is 0), error (half of the 95 % interval), points, games, share (of the
    points), superiority (the chance that it is stronger than the next; None of the last), wins, draws, losses,
    draw_share. Of a meeting: first, second, games, points, wins, draws, losses (the first's), pentanomial.
    """
    met = [one for one in meetings if one.games]
    ratings = rate(len(names), met)
    order = sorted(range(len(names)), key=lambda player: -ratings.elo[player])
    rows = []
    for player, following in zip(order, [*order[1:], None], strict=True):
        own = [one for one in met if one.first == player]
        others = [one for one in met if one.second == player]
        games = sum(one.games for one in (*own, *others))
        draws = sum(one.draws for one in (*own, *others))
        points = sum(one.points for one in own) + sum(one.games - one.points for one in others)
        rows.append(
            {
                "name": names[player],
                "elo": float(ratings.elo[player]),
                "error": ratings.error(player),
                "points": points,
                "games": games,
                "share": points / games if games else None,
                "superiority": None if following is None else ratings.superiority(player, following),
                "wins": sum(one.wins for one in own) + sum(one.losses for one in others),
                "draws": draws,
                "losses": sum(one.losses for one in own) + sum(one.wins for one in others),
                "draw_share": draws / games if games else None,
            }
        )
    remarks = []
    if not ratings.bounded:
        remarks.append(
            "the games do not bound every difference (some have had no point of the others): one draw more is thought "
            "of in every meeting"
        )
    return {
        "players": rows,
        "meetings": [
            {
                "first": names[one.first],
                "second": names[one.second],
                "games": one.games,
                "points": one.points,
                "wins": one.wins,
                "draws": one.draws,
                "losses": one.losses,
                "pentanomial": one.pentanomial(),
            }
            for one in met
        ],
        "games": sum(one.games for one in met),
        "remarks": remarks,
    }


def table_text(players: Sequence[dict[str, Any]]) -> str:
    """The players' rows: rating, error, points, games played, % of the points, chance that each is stronger than the
    next in %, wins, draws, losses, % of draws."""
    width = max(len("PLAYER"), *(len(row["name"]) for row in players))
    lines = [f"   # {'PLAYER':{width}} :  RATING  ERROR  POINTS  PLAYED   (%)  CFS(%)     W     D     L  D(%)"]
    for place, row in enumerate(players, 1):
        chance = "---" if row["superiority"] is None else f"{100 * row['superiority']:.0f}"
        lines.append(
            f"{place:4d} {row['name']:{width}} : {row['elo']:7.1f} {row['error']:6.1f} {row['points']:7.1f} "
            f"{row['games']:7d} {_percent(row['share']):>5} {chance:>7} {row['wins']:5d} {row['draws']:5d} "
            f"{row['losses']:5d} {_percent(row['draw_share']):>5}"
        )
    return "\n".join(lines)


def meetings_text(meetings: Sequence[dict[str, Any]]) -> str:
    """A line for each meeting: wins, draws and losses of the first, and pairs with 0, 1/2, 1, 1 1/2 and 2 points."""
    width = max((len(f"{one['first']} - {one['second']}") for one in meetings), default=0)
    return "\n".join(
        f"{one['first'] + ' - ' + one['second']:{width}} : {one['wins']:4d} -{one['draws']:4d} -{one['losses']:4d}  "
        f"{_percent(one['points'] / one['games']):>4} %  pairs {', '.join(map(str, one['pentanomial']))}"
        for one in meetings
    )


def _percent(share: float | None) -> str:
    return "---" if share is None else f"{100 * share:.0f}"
