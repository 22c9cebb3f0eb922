"""`liteshogi mate`: positions, or a file of problems with a summary by length, given to the mate solver."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tyro

from lite.amounts import amount
from lite.notation.games import read_starts
from liteshogi.commands.arguments import Json
from search.mate.problems import MateProblem, read_problems
from search.mate.solver import MateResult, MateStatus
from search.mate.summary import solve_problems, summarise


@dataclass(frozen=True)
class Command:
    """Prove a mate by checks for the side to move, or that there is none."""

    sfen: tyro.conf.Positional[tuple[str, ...]] = ()
    """Positions, each an SFEN or `startpos moves ...` in quotes."""
    file: Path | None = None
    """Problems: one such position a line, or one JSON object a line with "sfen" and perhaps "ply", the length of the
    mate (0: there is no mate in one); or the first positions of a KIF, KI2 or CSA file, whatever moves it has."""
    milliseconds: int = 1000
    """Time for each position."""
    megabytes: int = 64
    """Memory of the table, which all positions share."""
    json: Json = False

    def run(self) -> None:
        problems = [MateProblem(sfen, 0) for sfen in self.sfen]
        if self.file is not None:
            problems += _read_problems(self.file)
        results = []
        for result in solve_problems(problems, self.file, self.milliseconds, self.megabytes):
            results.append(result)
            if not self.json:
                print(in_words(result))
        summary = summarise(problems, results) if self.file is not None else []
        if self.json:
            figures = [_figures(*pair) for pair in zip(problems, results, strict=True)]
            print(json.dumps({"positions": figures, "summary": [asdict(row) for row in summary]}))
        elif summary:
            print("\n plies  problems  solved        %  as long as told  median nodes  slowest ms")
            for row in summary:
                plies = "?" if row.plies is None else row.plies
                print(
                    f"{plies:>6}  {row.problems:8d}  {row.solved:6d}  {100 * row.share:6.2f} % "
                    f"{row.as_told:16d}  {row.median_nodes:12d}  {1000 * row.slowest_seconds:10.1f}"
                )


def _read_problems(path: Path) -> list[MateProblem]:
    """The problems of a file, a game's first position, or lines. Raises OSError or ValueError in words."""
    starts = read_starts(path)
    return read_problems(path) if starts is None else [MateProblem(sfen, 0) for sfen in starts]


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


def in_words(result: MateResult) -> str:
    """What the solver found, in one line."""
    effort = f"({amount(result.nodes, 'node')}, {1000 * result.seconds:.1f} ms)"
    if result.status is MateStatus.MATE:
        shortest = "" if result.shortest else ", perhaps not the shortest"
        return f"mate in {result.plies}{shortest}: {' '.join(result.moves)} {effort}"
    if result.status is MateStatus.NO_MATE:
        return f"no mate by checks {effort}"
    return f"unknown: time ran out {effort}"
