"""`liteshogi mate`: solve mate problems, with a summary by length for a file of problems."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import tyro

from lite.amounts import amount
from lite.notation.games import read_starts
from liteshogi.commands.arguments import Json
from search.mate.problems import MateProblem, read_problems
from search.mate.solver import MateResult, MateStatus
from search.mate.summary import MateSummary, solve_problems, summarise


@dataclass(frozen=True)
class SolvedPosition:
    """A position and the solver's result."""

    sfen: str
    """The position as it was given."""
    status: MateStatus
    """Whether a mate or its absence was proved, or the search was stopped before."""
    plies: int
    """Length of the mate in plies; 0 without a mate."""
    moves: tuple[str, ...]
    """The mate in USI moves."""
    shortest: bool
    """Whether it is proved that no mate is shorter."""
    nodes: int
    """Number of positions visited."""
    seconds: float
    """Wall time."""


@dataclass(frozen=True)
class Solved:
    """Results for all positions, and their summary."""

    positions: tuple[SolvedPosition, ...]
    """Results in the order of the positions."""
    summary: tuple[MateSummary, ...]
    """Results by the length of mate that the file gives; empty without a file."""


@dataclass(frozen=True)
class Command:
    """Solve a mate problem: find the shortest mate or prove that there is none.

    Every move of the attacker gives check. The side to move attacks.
    """

    sfen: tyro.conf.Positional[tuple[str, ...]] = ()
    """Positions, each in quotes: an SFEN or `startpos`, optionally with `moves 7g7f ...`."""
    file: Path | None = None
    """File of problems: one position per line, or one JSON object per line with "sfen" and optionally "ply", the length
    of the mate (0 means that there is no mate in one). Of a KIF, KI2 or CSA file the first position of each game."""
    milliseconds: int = 1000
    """Time limit per position in milliseconds."""
    megabytes: int = 64
    """Size of the hash table in megabytes; all positions share it."""
    json: Json = False

    def run(self) -> None:
        problems = [MateProblem(sfen, 0) for sfen in self.sfen]
        if self.file is not None:
            problems += _read_problems(self.file)
        results = []
        for result in solve_problems(problems, self.file, self.milliseconds, self.megabytes):
            results.append(result)
            if not self.json:
                print(as_text(result))
        summary = summarise(problems, results) if self.file is not None else []
        if self.json:
            solved = tuple(_solved(*pair) for pair in zip(problems, results, strict=True))
            print(json.dumps(asdict(Solved(solved, tuple(summary))), default=lambda status: status.value))
        elif summary:
            print(f"\n{summary_as_text(summary)}")


def _read_problems(path: Path) -> list[MateProblem]:
    """Return the problems of a file of lines, or the first positions of its games. Raises OSError or ValueError."""
    starts = read_starts(path)
    return read_problems(path) if starts is None else [MateProblem(sfen, 0) for sfen in starts]


def _solved(problem: MateProblem, result: MateResult) -> SolvedPosition:
    return SolvedPosition(
        sfen=problem.sfen,
        status=result.status,
        plies=result.plies,
        moves=result.moves,
        shortest=result.shortest,
        nodes=result.nodes,
        seconds=round(result.seconds, 6),
    )


def summary_as_text(summary: list[MateSummary]) -> str:
    """Return the table of results by the length of mate that the file gives, `?` where it gives none."""
    lines = [" plies  problems  mate found        %  as long as given  no mate  unknown  median nodes  slowest ms"]
    for row in summary:
        plies, found = "?" if row.plies is None else row.plies, row.problems - row.no_mate - row.unknown
        lines.append(
            f"{plies:>6}  {row.problems:8d}  {found:10d}  {100 * found / row.problems:6.2f} % "
            f"{row.as_told:17d} {row.no_mate:8d} {row.unknown:8d}  {row.median_nodes:12d}  "
            f"{1000 * row.slowest_seconds:10.1f}"
        )
    return "\n".join(lines)


def as_text(result: MateResult) -> str:
    """Return a result in one line."""
    effort = f"({amount(result.nodes, 'node')}, {1000 * result.seconds:.1f} ms)"
    if result.status is MateStatus.MATE:
        shortest = "" if result.shortest else ", perhaps not the shortest"
        return f"mate in {result.plies}{shortest}: {' '.join(result.moves)} {effort}"
    if result.status is MateStatus.NO_MATE:
        return f"no mate by checks {effort}"
    return f"unknown: the time limit was reached {effort}"
