"""The soundness of a search's scores: on balanced positions against a teacher's, and searched again.

A search that prunes replies to its moves is too optimistic: its scores are above a teacher's where neither side is
better. Scores that alternate with the depth's parity are another fault. And a mate, or a draw, must still be found by
the next search, which has the first one's table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.games.game_position import GamePosition
from experiments.jobs.produce import Place, gather
from experiments.jobs.protocol import Product
from experiments.judge.choosers import Choice, Judged, choose_in_game, read_judged
from experiments.judge.health_report import BalancedSearches, HealthReport, SearchedAgain, health_report
from experiments.judge.selection import LEAD, RecordedGame, position_at, read_recorded
from lite.datasets.plan import plan_run
from lite.records.formats import HCPE
from search.rules.position import in_check
from search.rules.shogi import EMPTY, PROMOTE
from search.score import is_mate
from search.system.bounds import MOST_AT_ONCE, check_number, check_numbers
from search.system.options import OptionError

VERB = "judge health"
LATE = 24
"""Moves before a game's end from which on its positions are searched again."""


@dataclass(frozen=True)
class HealthOptions:
    """Options of examining a search."""

    engine: str
    """A network's file or shipped name, which searches in process, or the command of a USI engine."""
    games: tuple[Path, ...]
    """hcpe3 files or game files with scores, the teacher's, or folders of them."""
    nodes: tuple[int, ...] = (1_000, 4_000, 40_000)
    """Nodes of the searches that are compared with the teacher, rising."""
    long_nodes: int = 400_000
    """Nodes of the search whose moves the others are compared with; at least the largest of `nodes`."""
    count: int = 200
    """Number of balanced positions, one per game; as many positions near games' ends are searched again."""
    balance: int = 600
    """Largest teacher's score for either side, centipawns."""
    option: tuple[str, ...] = ()
    """NAME=VALUE options of the engine."""
    each_step: bool = False
    """Examine also the search with each of its steps left out; in process."""
    seed: int = 1
    """Seed of the choice of games and of positions in a game."""
    workers: int = 1
    """Positions at a time on this machine."""
    ray: str | None = None
    """Address of a Ray cluster whose CPUs search instead, or `auto`. Its machines need LiteShogi installed."""
    output: Path = Path("runs/judge/health")
    """Folder of the run; the same command resumes an interrupted run."""


def examine(options: HealthOptions) -> HealthReport:
    """Examine a search; the same call resumes. Raises OSError or ValueError, KeyboardInterrupt."""
    _check(options)
    judged = read_judged(options.engine, options.option, options.nodes[-1], options.each_step)
    games = list(read_recorded(options.games))
    order = np.random.default_rng(options.seed).permutation(len(games)).tolist()
    balanced = _first(options.count, (_balanced(games[place], options) for place in order))
    late = _first(options.count, (_late(games[place], options) for place in order))
    if not balanced:
        raise ValueError(f"{options.games[0]}: no balanced position")
    task = HealthTask(judged, options.nodes, options.long_nodes)
    jobs = [*(("balanced", position) for position, _ in balanced), *(("again", position) for position, _ in late)]
    names = ("nodes", "long_nodes", "count", "balance", "option", "each_step", "seed")
    plan = plan_run(
        VERB,
        {name: getattr(options, name) for name in names},
        games={"games": options.games},
        nets=judged.nets,
        conditions=judged.conditions,
        others=judged.files(),
    )
    place = Place(options.output, HCPE, options.workers, options.ray)
    kinds = (BalancedSearches, SearchedAgain)
    lines = gather(place, plan, task, enumerate(jobs), kinds, len(jobs), "positions")
    labels = [label for _, label in balanced]
    return health_report(judged.name, judged.variants, options.nodes, options.long_nodes, labels, lines)


def _check(options: HealthOptions) -> None:
    """Raise OptionError for options that cannot be used."""
    if not options.nodes:
        raise OptionError("`nodes`: at least one number is needed", "nodes")
    check_numbers(options, "nodes", "count")
    if list(options.nodes) != sorted(set(options.nodes)):
        raise OptionError(f"`nodes` {' '.join(map(str, options.nodes))}: must rise", "nodes")
    check_number("long_nodes", options.long_nodes, options.nodes[-1])
    check_numbers(options, "balance", least=0)
    check_numbers(options, "workers", most=MOST_AT_ONCE)
    check_numbers(options, "seed", least=0, most=None)


_Labelled = tuple[GamePosition, int]


def _first(count: int, found: Iterator[_Labelled | None]) -> list[_Labelled]:
    taken: list[_Labelled] = []
    for one in found:
        if one is not None:
            taken.append(one)
        if len(taken) == count:
            break
    return taken


def _balanced(game: RecordedGame, options: HealthOptions) -> _Labelled | None:
    """Return a balanced position of a game, not in check, in which neither a capture nor a promotion was best; None
    without such a position."""
    scored = (game.scores != 0) & (np.abs(game.scores.astype(int)) <= options.balance)
    plies = np.flatnonzero(scored & (np.arange(len(game.moves)) >= LEAD))
    for ply in np.random.default_rng((options.seed, game.number)).permutation(plies).tolist():
        position = position_at(game, ply)
        pos = position.set_up()
        best = int(game.moves[ply])
        if not in_check(pos) and pos["board"][best & 127] == EMPTY and not best & PROMOTE:
            return position, int(game.scores[ply])
    return None


def _late(game: RecordedGame, options: HealthOptions) -> _Labelled | None:
    """Return a position near a game's end; None for a short game."""
    ply = len(game.moves) - 1 - int(np.random.default_rng((options.seed, game.number)).integers(LATE))
    return (position_at(game, ply), 0) if ply >= LEAD else None


@dataclass(frozen=True)
class HealthTask:
    """Everything a worker needs to search positions; a job is (`balanced` or `again`, position)."""

    judged: Judged
    nodes: tuple[int, ...]
    long_nodes: int

    def open(self) -> HealthWorker:
        return HealthWorker(self)


class HealthWorker:
    """One thread's player."""

    def __init__(self, task: HealthTask) -> None:
        self._task = task
        self._chooser = task.judged.open()

    def stop(self) -> None:
        self._chooser.stop()

    def run(self, job: tuple[str, GamePosition]) -> Product:
        """Return the searches of a position. Raises Stopped."""
        kind, position = job
        return Product(line=self._examine(position) if kind == "balanced" else self._search_again(position))

    def _afresh(self, position: GamePosition, nodes: int, variant: int = 0) -> Choice:
        return choose_in_game(self._chooser, position, nodes, 0, variant)

    def _examine(self, position: GamePosition) -> BalancedSearches:
        long = self._afresh(position, self._task.long_nodes)
        found = [
            [self._afresh(position, nodes, place) for nodes in self._task.nodes]
            for place in range(len(self._task.judged.variants))
        ]
        return BalancedSearches(
            job=0,
            found=tuple(tuple((choice.score, choice.move) for choice in choices) for choices in found),
            long_move=long.move,
            depths=tuple((depth, score) for depth, _, score in long.trace),
        )

    def _search_again(self, position: GamePosition) -> SearchedAgain:
        nodes = self._task.nodes[-1]
        first = self._afresh(position, nodes)
        again = self._chooser.search(position, nodes)
        afresh = self._afresh(position, self._task.long_nodes).score if is_mate(first.score) else first.score
        return SearchedAgain(
            job=0,
            position=position.text,
            first=first.score,
            move=first.move,
            again=again.score,
            again_move=again.move,
            afresh=afresh,
        )
