"""Matches in process: two players of this engine play pairs of games from balanced openings, on all cores or on Ray.

Matches by the clock and with other engines are played by `experiments.arena.engine_match`, more than two players by
`experiments.league`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path

from experiments.elo.sprt import Sprt
from experiments.jobs.produce import produce
from experiments.matches.in_process_games import MORE_GAMES, OTHER_GAMES, InProcessGames
from experiments.matches.named_player import NamedPlayer, names_of_two, read_player
from experiments.matches.standing import Standing, StandingReport
from lite.datasets.plan import plan_run
from lite.run_folder import RunPlan
from search.system.bounds import check_numbers

VERB = "match"


@dataclass(frozen=True)
class Match(InProcessGames):
    """Options of a match in process."""

    first: str
    """The first player's network: a file, or the name of a shipped one."""
    second: str
    """The second player's network: a file, or the name of a shipped one."""
    second_nodes: int | None = None
    """Nodes per move of the second player, 0 for no limit; without it, as the first player's."""
    second_depth: int | None = None
    """Depth per move of the second player, 0 for no limit; without it, as the first player's."""
    first_option: tuple[str, ...] = ()
    """NAME=VALUE options of the first player."""
    second_option: tuple[str, ...] = ()
    """NAME=VALUE options of the second player."""
    labels: tuple[str, str] = ("", "")
    """Names of the players for readers; where empty, their networks and options."""
    sprt: Sprt | None = None
    """Test that may end the match before all games are played."""

    def limits(self) -> tuple[tuple[int, int], ...]:
        """Return (nodes, depth) of both players."""
        nodes = self.nodes if self.second_nodes is None else self.second_nodes
        depth = self.depth if self.second_depth is None else self.second_depth
        return (self.nodes, self.depth), (nodes, depth)

    def check(self) -> None:
        """Raise OptionError for options that cannot be used."""
        check_numbers(self, "second_nodes", "second_depth", least=0)
        super().check()


@dataclass(frozen=True, kw_only=True)
class MatchReport(StandingReport):
    """Figures of a match in process."""

    first: str
    """Name of the first player for readers."""
    second: str
    """Name of the second player for readers."""
    positions_per_hour: int
    """Positions per hour at `nodes_per_second` on `parallel` free cores."""
    parallel: int
    folder: Path


def play_match(match: Match) -> MatchReport:
    """Play the remaining games of a match; returns the report of all. Raises as `produce` does."""
    match.check()
    limits, second_limits = match.limits()
    first = read_player(match.first, match.first_option, *limits)
    second = read_player(match.second, match.second_option, *second_limits)
    lines = match.lines()
    standing = Standing(match.games // 2, match.sprt)
    task = match.task(first, second, lines)
    jobs = ((number, number) for number in range(match.games // 2))
    others = OTHER_GAMES if match.sprt else MORE_GAMES  # a test that has decided is not extended
    produce(match.place(), _plan(match, first, second, lines), task, jobs, referee=standing, others=others)
    report = standing.report()
    per_hour = report.nodes_per_second / max(report.nodes_per_move, 1e-9) * 3600 * match.parallel
    if first.name(True) == second.name(True) and not first.draws_moves:
        same = "both players are the same, so each pair is one game played twice"
        report = replace(report, remarks=(*report.remarks, same))
    names = names_of_two(first, second, match.labels)
    return MatchReport(
        **vars(report),
        first=names[0],
        second=names[1],
        positions_per_hour=round(per_hour),
        parallel=match.parallel,
        folder=match.output,
    )


def _plan(match: Match, first: NamedPlayer, second: NamedPlayer, lines: tuple[str, ...]) -> RunPlan:
    limits = dict(zip(("second_nodes", "second_depth"), match.limits()[1], strict=True))
    players = {**limits, "first_option": first.deciding, "second_option": second.deciding}
    test = None if match.sprt is None else asdict(match.sprt)
    return plan_run(
        VERB,
        match.deciding(lines, players),
        goal={"games": match.games, "sprt": test, "players": names_of_two(first, second, match.labels)},
        nets={"first": first.net, "second": second.net},
        conditions=first.conditions,
    )
