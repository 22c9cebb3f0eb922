"""The verb `mate`: solve positions given on the command line, or a file of problems with a summary by length."""

from __future__ import annotations

import dataclasses
import json
import statistics
import sys
from pathlib import Path
from typing import Annotated, Any

import tyro

from search.mate.problems import MateProblem, read_problems
from search.mate.solver import MateResult, MateSolver, MateStatus


@dataclasses.dataclass(frozen=True)
class Mate:
    """Prove a mate by checks for the side to move, or that there is none."""

    sfen: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """Positions, each an SFEN in quotes."""
    file: Path | None = None
    """Problems: one SFEN a line, or one JSON object a line with "sfen" and perhaps "ply", the length of the mate
    (0: there is no mate in one)."""
    milliseconds: int = 1000
    """Time for each position."""
    megabytes: int = 64
    """Memory of the table, which all positions share."""
    json: bool = False
    """Print one JSON object."""

    def run(self) -> None:
        if self.milliseconds < 1:
            raise ValueError(f"--milliseconds {self.milliseconds}: give at least 1")
        problems = [MateProblem(sfen, 0) for sfen in self.sfen]
        if self.file is not None:
            problems += read_problems(self.file)
        if not problems:
            raise ValueError("no position: give an SFEN in quotes, or --file")
        solver = MateSolver(self.megabytes)
        results = []
        for number, problem in enumerate(problems, 1):
            try:
                result = solver.solve(problem.sfen, milliseconds=self.milliseconds)
            except ValueError as error:
                place = f"{self.file}: line {problem.line}: " if problem.line else ""
                raise ValueError(f"{place}{error}") from None
            results.append(result)
            if not self.json:
                print(_in_words(result))
            elif number % 500 == 0:
                print(f"{number} of {len(problems)} positions", file=sys.stderr)
        summary = summarise(problems, results) if self.file is not None else []
        if self.json:
            print(
                json.dumps(
                    {"positions": [_figures(*pair) for pair in zip(problems, results, strict=True)], "summary": summary}
                )
            )
        elif summary:
            print("\n plies  problems  solved        %  as long as told  median nodes  slowest ms")
            for row in summary:
                plies = "?" if row["plies"] is None else row["plies"]
                print(
                    f"{plies:>6}  {row['problems']:8d}  {row['solved']:6d}  {100 * row['share']:6.2f} % "
                    f"{row['as_told']:16d}  {row['median_nodes']:12d}  {1000 * row['slowest_seconds']:10.1f}"
                )


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


def _figures(problem: MateProblem, result: MateResult) -> dict[str, Any]:
    return {
        "sfen": problem.sfen,
        "status": result.status.value,
        "plies": result.plies,
        "moves": list(result.moves),
        "shortest": result.shortest,
        "nodes": result.nodes,
        "seconds": round(result.seconds, 6),
    }


def _in_words(result: MateResult) -> str:
    effort = f"({result.nodes} nodes, {1000 * result.seconds:.1f} ms)"
    if result.status is MateStatus.MATE:
        shortest = "" if result.shortest else ", perhaps not the shortest"
        return f"mate in {result.plies}{shortest}: {' '.join(result.moves)} {effort}"
    if result.status is MateStatus.NO_MATE:
        return f"no mate by checks {effort}"
    return f"unknown: time ran out {effort}"
