"""Solving many mate problems, and a summary by length of mate."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from search.mate.problems import MateProblem
from search.mate.solver import MateResult, MateSolver, MateStatus
from search.system.bounds import check_number
from search.system.options import OptionError


def solve_problems(
    problems: Sequence[MateProblem], file: Path | None = None, milliseconds: int = 1000, hash_mb: int = 64
) -> Iterator[MateResult]:
    """Yield the solver's result for each problem in order, with a time limit for each and one table for all.

    Raises ValueError that names the line of `file` whose problem cannot be set up.
    """
    check_number("milliseconds", milliseconds, most=None)
    if not problems:
        if file is not None:
            raise ValueError(f"{file}: holds no position")
        raise OptionError("no position: give an SFEN in quotes, or a `file`", "file")
    solver = MateSolver(hash_mb)
    for problem in problems:
        try:
            yield solver.solve(problem.sfen, milliseconds=milliseconds)
        except ValueError as error:
            place = f"{file}: line {problem.line}: " if problem.line else ""
            raise ValueError(f"{place}{error}") from None


@dataclass(frozen=True)
class MateSummary:
    """Results for the problems with one length of mate."""

    plies: int | None
    """Length of the mate according to the file, 0 for "no mate in one"; None if the file does not give it."""
    problems: int
    """Number of problems."""
    solved: int
    """Number of mates found; of problems without a mate in one, number of those in which none was found."""
    share: float
    """Share of solved problems."""
    as_stated: int
    """Number of mates that are as long as the file says."""
    no_mate: int
    """Number of problems that are proved to have no mate."""
    unknown: int
    """Number of problems whose search was stopped by its limit."""
    median_nodes: int
    """Median of the nodes per problem."""
    slowest_seconds: float
    """Longest time of a problem in seconds."""


def summarise(problems: list[MateProblem], results: list[MateResult]) -> list[MateSummary]:
    """Summarise the results by the length of mate that the problems name, one row per length.

    A problem is solved if a mate of any length is proved. If the file says 0 ("no mate in one"), it is solved if no
    mate in one is found.
    """
    rows = []
    for plies in sorted({problem.plies for problem in problems}, key=lambda length: -1 if length is None else length):
        group = [result for problem, result in zip(problems, results, strict=True) if problem.plies == plies]
        if plies == 0:
            solved = [result for result in group if result.plies != 1]
        else:
            solved = [result for result in group if result.status is MateStatus.MATE]
        rows.append(
            MateSummary(
                plies=plies,
                problems=len(group),
                solved=len(solved),
                share=round(len(solved) / len(group), 4),
                as_stated=sum(result.plies == plies for result in solved),
                no_mate=sum(result.status is MateStatus.NO_MATE for result in group),
                unknown=sum(result.status is MateStatus.UNKNOWN for result in group),
                median_nodes=int(statistics.median(result.nodes for result in group)),
                slowest_seconds=round(max(result.seconds for result in group), 4),
            )
        )
    return rows
