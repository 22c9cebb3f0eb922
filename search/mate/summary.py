"""Many problems given to the mate solver, and what came of them by length."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from search.mate.problems import MateProblem
from search.mate.solver import MateResult, MateSolver, MateStatus
from search.system.bounds import check_number


def solve_problems(
    problems: Sequence[MateProblem], file: Path | None = None, milliseconds: int = 1000, megabytes: int = 64
) -> Iterator[MateResult]:
    """The solver's result for each problem in turn, so long for each, all with one table.

    ValueError names the line of the `file` whose problem cannot be set up.
    """
    check_number("milliseconds", milliseconds, most=None)
    if not problems:
        what = "give an SFEN in quotes, or --file" if file is None else f"{file} holds none"
        raise ValueError(f"no position: {what}")
    solver = MateSolver(megabytes)
    for number, problem in enumerate(problems, 1):
        try:
            yield solver.solve(problem.sfen, milliseconds=milliseconds)
        except ValueError as error:
            place = f"{file}: line {problem.line}: " if problem.line else ""
            raise ValueError(f"{place}{error}") from None
        if number % 500 == 0:
            print(f"{number} of {len(problems)} positions", file=sys.stderr)


def summarise(problems: list[MateProblem], results: list[MateResult]) -> list[dict[str, Any]]:
    """One row for each length of mate that the problems name: how many were solved, and how hard it was.

    Solved is a proved mate of any length; where the length is told as 0, that no mate in one was found; where none is
    told, that a mate was proved or refuted.
    """
    rows = []
    for plies in sorted({problem.plies for problem in problems}, key=lambda told: -1 if told is None else told):
        group = [result for problem, result in zip(problems, results, strict=True) if problem.plies == plies]
        if plies is None:
            solved = [result for result in group if result.status is not MateStatus.UNKNOWN]
        elif plies == 0:
            solved = [result for result in group if result.plies != 1]
        else:
            solved = [result for result in group if result.status is MateStatus.MATE]
        rows.append(
            {
                "plies": plies,
                "problems": len(group),
                "solved": len(solved),
                "share": round(len(solved) / len(group), 4),
                "as_told": sum(result.plies == plies for result in solved),
                "no_mate": sum(result.status is MateStatus.NO_MATE for result in group),
                "unknown": sum(result.status is MateStatus.UNKNOWN for result in group),
                "median_nodes": int(statistics.median(result.nodes for result in group)),
                "slowest_seconds": round(max(result.seconds for result in group), 4),
            }
        )
    return rows
