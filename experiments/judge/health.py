"""The soundness of a search's scores: on balanced positions against a teacher's, and searched again.

A search that prunes replies to its moves is too optimistic: its scores are above a teacher's where neither side is
better. Scores that alternate with the depth's parity are another fault. And a mate, or a draw, must still be found by
the next search, which has the first one's table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.games.game_position import GamePosition
from experiments.jobs.produce import Place, gather
from experiments.jobs.protocol import JobLine, Product
from experiments.judge.choosers import Choice, Judged, choose_in_game, read_judged
from experiments.judge.losses import clipped, mean_and_error
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
FROM_DEPTH = 4
"""Least depth whose change from the depth before is reported: the first depths are hardly searches."""


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


@dataclass(frozen=True, kw_only=True)
class BalancedSearches(JobLine, kind="balanced position"):
    """Searches of a balanced position."""

    found: tuple[tuple[tuple[int, str], ...], ...]
    """(Score, move) by variant and nodes."""
    long_move: str
    """Move of the long search."""
    depths: tuple[tuple[int, int], ...]
    """(Depth, score) of each depth of the long search."""


@dataclass(frozen=True, kw_only=True)
class SearchedAgain(JobLine, kind="searched again"):
    """Scores of a search, of the same search repeated with the table that it left, and of a long one with an empty
    table."""

    position: str
    first: int
    """Score of the first search."""
    move: str
    """Best move of the first search."""
    again: int
    """Score of the second search."""
    again_move: str
    """Best move of the second search."""
    afresh: int
    """Score of the long search; if the first search found no mate, the score of the first."""


@dataclass(frozen=True)
class ScoreLevel:
    """Level of scores, centipawns."""

    mean: float
    """Mean score."""
    error: float | None
    """Standard error of `mean`; None for a single position."""
    positive: float
    """Share of scores above 0."""


@dataclass(frozen=True)
class SearchHealth:
    """Scores of balanced positions by searches of `nodes` nodes, against the teacher's."""

    nodes: int
    mean: float
    error: float | None
    positive: float
    """Share of scores above 0."""
    sign_accuracy: float
    """Share of scores with the teacher's sign."""
    rmse: float
    """Root of the mean squared difference from the teacher's scores."""
    as_long: float
    """Share of moves that equal the long search's."""


@dataclass(frozen=True)
class VariantHealth:
    """The searches of a variant of the engine."""

    name: str
    nodes: tuple[SearchHealth, ...]


@dataclass(frozen=True)
class DepthStep:
    """Change of the score from a depth to the next, centipawns."""

    to_depth: int
    mean: float
    """Mean change."""
    error: float | None
    """Standard error of `mean`; None for a single position."""
    size: float
    """Mean absolute change of the score."""


@dataclass(frozen=True)
class AgainCounts:
    """Findings of the first searches near games' ends, and how many later searches confirmed."""

    mates: int
    """Number of first searches that found a mate."""
    mates_kept: int
    """Number of these mates that the second search finds with the first one's table."""
    mates_as_short: int
    """Number of these mates that the second search finds in at most as many plies."""
    mates_found_afresh: int
    """Number of these mates that the long search finds with an empty table."""
    lost: tuple[SearchedAgain, ...]
    """Searches whose mate a later search does not find."""
    draws: int
    """Number of first searches with a score of 0."""
    draws_kept: int
    """Number of these scores that the second search repeats."""
    others: int
    """Number of first searches with another score."""
    moves_kept: int
    """Number of other positions whose move stays."""
    change: tuple[float, float | None] | None
    """Mean absolute change of the other positions' scores, centipawns, and its standard error, which is None for a
    single position; None without others."""


@dataclass(frozen=True)
class HealthReport:
    """The soundness of a search."""

    engine: str
    positions: int
    teacher: ScoreLevel
    long_nodes: int
    variants: tuple[VariantHealth, ...]
    steps: tuple[DepthStep, ...]
    again: AgainCounts


def examine(options: HealthOptions) -> HealthReport:
    """Examine a search; the same call resumes. Raises OSError or ValueError, KeyboardInterrupt."""
    if not options.nodes:
        raise OptionError("`nodes`: at least one number is needed", "nodes")
    check_numbers(options, "nodes", "count")
    if list(options.nodes) != sorted(set(options.nodes)):
        raise OptionError(f"`nodes` {' '.join(map(str, options.nodes))}: must rise", "nodes")
    check_number("long_nodes", options.long_nodes, options.nodes[-1])
    check_numbers(options, "balance", least=0)
    check_numbers(options, "workers", most=MOST_AT_ONCE)
    check_numbers(options, "seed", least=0, most=None)
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
    kinds: tuple[type[JobLine], ...] = (BalancedSearches, SearchedAgain)
    lines = gather(place, plan, task, enumerate(jobs), kinds, len(jobs), "positions")
    labels = np.array([label for _, label in balanced], float)
    made = [line for line in lines if isinstance(line, BalancedSearches)]
    again = [line for line in lines if isinstance(line, SearchedAgain)]
    return HealthReport(
        judged.name,
        len(balanced),
        _level(labels),
        options.long_nodes,
        tuple(
            VariantHealth(name, tuple(_by_nodes(options.nodes, [row.found[variant] for row in made], made, labels)))
            for variant, name in enumerate(judged.variants)
        ),
        tuple(_steps([row.depths for row in made])),
        _again(again),
    )


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


def _level(scores: np.ndarray) -> ScoreLevel:
    return ScoreLevel(*mean_and_error(scores), round(float((scores > 0).mean()), 4))


def _by_nodes(
    nodes: Sequence[int],
    found: Sequence[Sequence[tuple[int, str]]],
    made: Sequence[BalancedSearches],
    labels: np.ndarray,
) -> Iterator[SearchHealth]:
    """Yield a row for each number of nodes; `found` holds (score, move) by position and nodes."""
    for place, limit in enumerate(nodes):
        scores = np.array([clipped(one[place][0]) for one in found], float)
        agreed = [one[place][1] == row.long_move for one, row in zip(found, made, strict=True)]
        yield SearchHealth(
            limit,
            **vars(_level(scores)),
            sign_accuracy=round(float((np.sign(scores) == np.sign(labels)).mean()), 4),
            rmse=round(float(np.sqrt(((scores - labels) ** 2).mean())), 1),
            as_long=round(float(np.mean(agreed)), 4),
        )


def _steps(traces: Sequence[Sequence[tuple[int, int]]]) -> Iterator[DepthStep]:
    """Yield the change of the score from depth to depth, where at least half of the positions have scores of both; the
    traces hold (depth, score)."""
    scores = [dict(trace) for trace in traces]
    for depth in range(FROM_DEPTH, 1 + max((depth for found in scores for depth in found), default=0)):
        pairs = [(found[depth - 1], found[depth]) for found in scores if {depth - 1, depth} <= found.keys()]
        if 2 * len(pairs) < len(traces):
            continue
        changes = np.array([clipped(after) - clipped(before) for before, after in pairs], float)
        yield DepthStep(depth, *mean_and_error(changes), round(float(np.abs(changes).mean()), 1))


def _again(made: Sequence[SearchedAgain]) -> AgainCounts:
    """Count the findings of the first searches, and those that the second and the long ones confirmed."""
    mates = [row for row in made if is_mate(row.first)]
    draws = [row for row in made if row.first == 0]
    rest = [row for row in made if not is_mate(row.first) and row.first != 0]
    changes = [abs(clipped(row.again) - clipped(row.first)) for row in rest]
    return AgainCounts(
        mates=len(mates),
        mates_kept=sum(_same_mate(row.first, row.again) for row in mates),
        mates_as_short=sum(_same_mate(row.first, row.again) and abs(row.again) >= abs(row.first) for row in mates),
        mates_found_afresh=sum(_same_mate(row.first, row.afresh) for row in mates),
        lost=tuple(row for row in mates if not all(_same_mate(row.first, one) for one in (row.again, row.afresh))),
        draws=len(draws),
        draws_kept=sum(row.again == 0 for row in draws),
        others=len(rest),
        moves_kept=sum(row.move == row.again_move for row in rest),
        change=mean_and_error(changes) if changes else None,
    )


def _same_mate(first: int, other: int) -> bool:
    return is_mate(other) and (first > 0) == (other > 0)


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
