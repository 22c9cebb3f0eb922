"""Games of a plan's networks against a common opponent: at equal nodes, at equal time, or by the clock.

Equal time is counted in nodes: each network searches as many as its measured speed allows in the time that the opponent
takes for its own. So a busy machine does not matter. Playouts of a residual network do not compare with nodes; its
opponent has a fixed depth.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from experiments.arena.engine_match import EngineMatchReport, UsiMatch, play_usi_match
from experiments.arena.process import check_arena
from experiments.matches.in_process_match import Match, MatchReport, play_match
from experiments.network_kinds.kind import Kind, kind_of
from experiments.network_kinds.player_command import as_player
from experiments.sweep.columns import rows_of
from experiments.sweep.entries import Play
from experiments.sweep.isolated import Isolated
from experiments.sweep.plan import Plan
from experiments.sweep.results import Failed, Games, NetResult, Results, SpeedOf, Standing, games_key
from experiments.sweep.timing import ALIKE, machine_cores, speed_ratio
from lite.datasets.provenance import sha256_of
from search.evaluation.network_file import load_network
from search.evaluation.nnue_identification import MissingSetting
from search.evaluation.shipped import is_shipped, network_file
from search.score import MAX_PLY
from search.system.bounds import check_numbers
from search.system.options import OptionError

MATCHES = "matches"
"""Folder of the games in that of the plan."""
PATIENCE = 60_000
"""Milliseconds per move of games that are counted in playouts: more than either player takes."""
OPPONENT_NODES = 200_000
"""Nodes per move at most of an opponent of a fixed depth: ten times what depth 9 takes, but where one side is all but
mated its extensions may have no end."""
_DECIDING = {
    "nodes": ("nodes", "win_score"),
    "time": ("nodes", "win_score"),
    "playouts": ("playouts", "opponent_depth"),
    "clock": ("byoyomi",),
}
"""Options of Play that decide the games of one way, beside those that decide all games."""


def near_front(nets: Sequence[NetResult], near: float) -> list[NetResult]:
    """Return networks whose d1-RMSE is at most `near` above the best of all that cost no more, the cheapest first.

    Networks that were not timed cost as much as each other."""
    found: list[NetResult] = []
    best = float("inf")
    for _, error, net in sorted(((*_worth(net), net) for net in nets), key=lambda one: one[:2]):
        best = min(best, error)
        if error <= best + near:
            found.append(net)
    return found


def players_of(plan: Plan, play: Play, nets: Sequence[NetResult]) -> list[NetResult]:
    """Return the networks that play, of `nets` in the order of the plan."""
    firsts: dict[str, NetResult] = {}
    for net in nets:
        firsts.setdefault(net.name, net)
    if play.who != "front":
        named = {point.name for point in plan.listed if point.plays}
        return [net for net in firsts.values() if play.who == "all" or net.name in named]
    # Networks that learnt from more positions, or from fewer for a curve over positions, do not show the effect of
    # options. Nanoseconds of different machines do not compare, so each machine has a front of its own.
    machines: dict[str, list[NetResult]] = defaultdict(list)
    for net in of_most_positions(nets):
        machines[net.machine].append(net)
    front = [net for group in machines.values() for net in near_front(group, play.near)]
    return [*front, *(net for net in nets if not net.options)]


def of_most_positions(nets: Sequence[NetResult]) -> list[NetResult]:
    """Return the plan's own networks that compare: those that learnt from as many positions as any of them."""
    own = [net for net in nets if net.options]
    most = max(map(_positions, own), default=0.0)
    return [net for net in own if _positions(net) == most]


def _positions(net: NetResult) -> float:
    """Return the number of training positions; infinite means all data."""
    return float(net.options.get("positions") or "inf")


def _worth(net: NetResult) -> tuple[float, float]:
    """Return nanoseconds of an evaluation and d1-RMSE, infinite where not measured."""
    cost = net.timed.evaluation_ns if net.timed else float("inf")
    error = net.tested.d1_rmse
    return cost, float("inf") if error is None else error


def check_play(play: Play, place: str, folder: Path) -> None:
    """Raise OSError, MissingSetting, or ValueError that begins with `place`, if these games cannot be played, before
    any training."""
    match = _in_process(play.opponent, play, play.nodes, folder / MATCHES)
    try:
        if not is_shipped(play.opponent) and not Path(play.opponent).exists():
            raise ValueError(f"opponent: {play.opponent}: no such network")
        load_network(play.opponent)
        check_numbers(play, "nodes", "playouts", "byoyomi")
        check_numbers(play, "opponent_depth", most=MAX_PLY)
        match.check()
        match.lines()
        if not play.by or len(set(play.by)) < len(play.by):
            raise ValueError("by: name at least one way, and none twice")
        if not play.near >= 0:
            raise OptionError(f"`near` {play.near}: must be 0 or more", "near")
        if "clock" in play.by:
            check_arena()
    except MissingSetting:
        raise
    except ValueError as error:
        raise ValueError(f"{place}: play: {error}") from None


def refuse_other_play(results: Results, play: Play, folder: Path) -> None:
    """Raise ValueError where games of the folder were played with other options, opponents or openings."""
    given, digests = asdict(play), digests_of(play)
    for games in results.all(Games):
        for name, value in games.play.items():
            if value != given.get(name):
                raise OptionError(
                    f"{folder}: its games were played with {name} = {value!r}, not {given.get(name)!r}; restore that, "
                    "or choose another `output`",
                    "output",
                )
        for name, digest in games.digests.items():
            if digest != digests.get(name):
                raise OptionError(
                    f"{given[name]}: has changed since games of {folder} were played with it; restore it, or choose "
                    "another `output`",
                    "output",
                )


def deciding(play: Play, way: str) -> Mapping[str, object]:
    """Return the options that decide which games are played. `way`: nodes, time, playouts or clock."""
    return {name: getattr(play, name) for name in ("opponent", "games", "openings", *_DECIDING[way])}


def digests_of(play: Play) -> dict[str, str]:
    """Return the digests of the files that games depend on."""
    openings = {"openings": sha256_of(Path(play.openings))} if play.openings else {}
    return {"opponent": sha256_of(network_file(play.opponent)), **openings}


@dataclass
class Tournament:
    """The games of a plan's networks."""

    plan: Plan
    play: Play
    results: Results
    folder: Path
    ray: str | None = None

    def left(self) -> list[tuple[NetResult, str]]:
        """Return networks and ways of games that have not been played."""
        rows = rows_of(self.plan, self.results)
        nets = players_of(self.plan, self.play, [row.net for row in rows if not row.is_earlier])
        return [
            (net, by)
            for net in nets
            if net.net != self.play.opponent
            for by in self.play.by
            if self.results.games(net, by) is None and not (by == "time" and _is_residual(net))
        ]

    def play_all(self, begin: Callable[[str], None] = lambda label: None) -> Iterator[Games | Failed]:
        """Play the remaining games; keep and yield each result. Raises OSError, KeyboardInterrupt.

        begin: takes the label of each match before it is played."""
        for net, by in self.left():
            begin(f"{net.title}, games by {by}")
            found: Games | Failed
            try:
                found = self._played(net, by)
            except ValueError as error:
                found = Failed(*games_key(net, by), label=f"{net.title}, games by {by}", why=str(error))
            self.results.add(found)
            yield found

    def _played(self, net: NetResult, by: str) -> Games:
        play, place = self.play, self.folder / MATCHES / f"{net.name}-{net.seed}-{by}"
        begun, cpu = time.monotonic(), time.process_time()
        nodes, ratio, way = play.nodes, None, by
        if by == "time":
            ratio = self._speed_ratio(net)
            nodes = max(1, round(play.nodes * ratio))
        report: MatchReport | EngineMatchReport
        if by == "clock":
            report = play_usi_match(self._by_clock(net, place, play.byoyomi))
        elif _is_residual(net):
            nodes, way = play.playouts, "playouts"
            report = play_usi_match(self._by_playouts(net, place))
        else:
            report = play_match(_in_process(net.net, play, nodes, place, self.ray))
        return Games(
            *games_key(net, by),
            label=f"{net.title}, games by {by}",
            by=by,
            standing=standing_of(report),
            nodes=nodes,
            play=deciding(play, way),
            digests=digests_of(play),
            speed_ratio=ratio,
            seconds=round(time.monotonic() - begun, 1),
            cpu_seconds=round(time.process_time() - cpu, 1),
        )

    def _speed_ratio(self, net: NetResult) -> float:
        """Return the speed of a network's search over the opponent's, measured once.

        A second measurement gives other nodes per move, with which an interrupted match cannot resume. Raises
        ValueError for speeds that do not agree."""
        opponent = digests_of(self.play)["opponent"]
        kept = self.results.find(SpeedOf, *net.key)
        if kept is None or kept.opponent != opponent:
            found = speed_ratio(net.net, self.play.opponent, Isolated(machine_cores()[1]))
            if not found.agrees:
                raise ValueError(
                    f"the ratio of speeds is not known to {ALIKE:.0%} ({found.ratio:.3f} +- {found.error:.3f}), so "
                    "games at equal time would depend on chance; try again when the machine is less busy"
                )
            kept = SpeedOf(*net.key, ratio=round(found.ratio, 4), opponent=opponent)
            self.results.add(kept)
        return kept.ratio

    def _by_clock(self, net: NetResult, place: Path, byoyomi: int) -> UsiMatch:
        (first, first_option), (second, second_option) = as_player(net.net), as_player(self.play.opponent)
        return UsiMatch(
            first,
            second,
            games=self.play.games,
            byoyomi=byoyomi,
            openings=_openings(self.play),
            first_option=first_option,
            second_option=second_option,
            output=place,
        )

    def _by_playouts(self, net: NetResult, place: Path) -> UsiMatch:
        (first, _), (second, second_option) = as_player(net.net), as_player(self.play.opponent)
        limits = (f"DepthLimit={self.play.opponent_depth}", f"NodesLimit={OPPONENT_NODES}")
        return UsiMatch(
            first,
            second,
            games=self.play.games,
            byoyomi=PATIENCE,
            openings=_openings(self.play),
            first_option=(f"NodesLimit={self.play.playouts}", "Mate_Root_Search=0"),
            second_option=(*limits, *second_option),
            output=place,
        )


def standing_of(report: MatchReport | EngineMatchReport) -> Standing:
    """Return the first player's standing of a match's report."""
    return Standing(*(getattr(report, one.name) for one in fields(Standing)))


def _is_residual(net: NetResult) -> bool:
    return kind_of(net.net) is Kind.POLICY_VALUE_ONNX


def _openings(play: Play) -> Path | None:
    return Path(play.openings) if play.openings else None


def _in_process(network_path: str, play: Play, nodes: int, place: Path, ray: str | None = None) -> Match:
    return Match(
        first=network_path,
        second=play.opponent,
        nodes=nodes,
        second_nodes=play.nodes,
        games=play.games,
        openings=_openings(play),
        win_score=play.win_score,
        ray=ray,
        output=place,
    )
