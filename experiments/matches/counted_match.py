"""Two players of this engine, by alpha-beta or by PUCT, play from balanced openings in pairs, here and on all cores.

What plays by the clock, or is another engine, plays through `experiments.arena.engine_match`; more than two through
`experiments.league`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from experiments.elo.sprt import Sprt
from experiments.jobs.description import Description
from experiments.jobs.produce import produce
from experiments.matches.counted_games import CountedGames
from experiments.matches.named_player import NamedPlayer, read_player
from experiments.matches.standing import Standing
from search.system.bounds import check_numbers


@dataclass(frozen=True)
class CountedMatch(CountedGames):
    """Who plays, and how."""

    first: str
    """A network's file or `default`."""
    second: str
    """Likewise."""
    second_nodes: int | None = None
    """The second player's, where it has others."""
    second_depth: int | None = None
    """Likewise."""
    first_option: tuple[str, ...] = ()
    second_option: tuple[str, ...] = ()
    labels: tuple[str, str] = ("", "")
    """What readers call the players; empty: by what they are."""
    sprt: Sprt | None = None
    """The test that may end the match before its games are played."""

    def limits(self) -> tuple[tuple[int, int], ...]:
        """Nodes and depth of both players: the second has the first's where it has none of its own."""
        first = (self.nodes, self.depth)
        if self.second_nodes is None and self.second_depth is None:
            return first, first
        return first, (self.second_nodes or 0, self.second_depth or 0)

    def check(self) -> None:
        check_numbers(self, "second_nodes", "second_depth", least=0)
        super().check()


def play_counted_match(match: CountedMatch) -> dict[str, Any]:
    """Play what is left of a match; its report for JSON. Raises OSError or ValueError in words.

    Of the games that count, in the first player's view:
    first, second: what readers call the players. games; wins, draws, losses; points: 1 a win and 1/2 a draw; as_black,
    as_white: {wins, draws, losses} with that colour. pentanomial: pairs of games with 0, 1/2, 1, 1 1/2 and 2 points.
    elo: logistic, elo_low and elo_high the ends of its 95 % interval; None is infinite or not known.

    Of black's games whoever plays them: black_share: points a game, 0 to 1; black_elo, black_elo_low, black_elo_high.

    endings: {how: games that ended so}. positions: moves that were searched; nodes_a_move: their mean; nodes_of_first,
    nodes_of_second: sums; nodes_per_second: of CPU time. positions_per_hour: at that speed on `parallel` free cores.
    called_and_played_out: games that the scores would have ended, played to their end instead; called_wrongly: those of
    them that ended otherwise. games_beyond: games in the folder that do not count. sprt, with a test: its options, llr
    (the log-likelihood ratio), the bounds lower and upper, and the verdict (`elo0`, `elo1` or empty). remarks: lines
    for readers. folder: the run's path.
    """
    match.check()
    limits, second_limits = match.limits()
    first = read_player(match.first, match.first_option, *limits, "--first-option")
    second = read_player(match.second, match.second_option, *second_limits, "--second-option")
    lines = match.lines()
    standing = Standing(match.games // 2, match.sprt)
    task = match.task(first, second, lines)
    jobs = ((number, number) for number in range(match.games // 2))
    produce(match.place(), _description(match, first, second, lines), task, jobs, referee=standing)
    report = standing.report()
    an_hour = report["nodes_per_second"] / max(report["nodes_a_move"], 1e-9) * 3600 * match.parallel
    if first.name(True) == second.name(True):
        report["remarks"].append("both players are the same, so each pair is one game played twice")
    return {
        **_names(match, first, second),
        **report,
        "positions_per_hour": round(an_hour),
        "parallel": match.parallel,
        "folder": str(match.output),
    }


def _names(match: CountedMatch, first: NamedPlayer, second: NamedPlayer) -> dict[str, str]:
    """What readers call the two: by their labels, or their networks, by no more of a path than tells them apart, and
    their options."""
    whole = first.name(False) == second.name(False)
    names = {"first": first.name(whole), "second": second.name(whole)}
    if first.name(True) == second.name(True):
        names = {side: f"{side} {name}" for side, name in names.items()}
    return {side: label or name for label, (side, name) in zip(match.labels, names.items(), strict=True)}


def _description(match: CountedMatch, first: NamedPlayer, second: NamedPlayer, lines: tuple[str, ...]) -> Description:
    limits = dict(zip(("second_nodes", "second_depth"), match.limits()[1], strict=True))
    players = {**limits, "first_option": first.chosen, "second_option": second.chosen}
    nets = {"first": first.net, "second": second.net}
    test = None if match.sprt is None else asdict(match.sprt)
    counted = {"games": match.games, "sprt": test, "players": _names(match, first, second)}
    return Description("match", match.described(lines, players), (), nets, counted, first.signature)
