"""The figures of a search's soundness, made from its searches of balanced positions and of positions searched again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.jobs.protocol import JobLine
from experiments.judge.statistics import clipped, mean_and_error
from search.score import is_mate

FROM_DEPTH = 4
"""Least depth whose change from the depth before is reported: the first depths are hardly searches."""


@dataclass(frozen=True, kw_only=True)
class BalancedSearches(JobLine, kind="quiet position"):
    """Searches of a balanced position; the kind is that of the lines of runs made before."""

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


def health_report(
    engine: str,
    variants: Sequence[str],
    nodes: Sequence[int],
    long_nodes: int,
    labels: Sequence[int],
    lines: Sequence[JobLine],
) -> HealthReport:
    """Return the figures of searches.

    variants, nodes: those of `BalancedSearches.found`. labels: the teacher's score of each balanced position, in the
    order of their lines.
    """
    balanced = [line for line in lines if isinstance(line, BalancedSearches)]
    teacher = np.array(labels, float)
    return HealthReport(
        engine=engine,
        positions=len(labels),
        teacher=_level(teacher),
        long_nodes=long_nodes,
        variants=tuple(
            VariantHealth(name, tuple(_by_nodes(nodes, [row.found[variant] for row in balanced], balanced, teacher)))
            for variant, name in enumerate(variants)
        ),
        steps=tuple(_steps([row.depths for row in balanced])),
        again=_again([line for line in lines if isinstance(line, SearchedAgain)]),
    )


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
