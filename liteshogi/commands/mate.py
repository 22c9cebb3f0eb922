"""`liteshogi mate`: solve mate problems, with a summary by length for a file of problems."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import tyro

from experiments.jobs.progress import Progress
from experiments.language.choose import Language, words_for
from experiments.language.english import ENGLISH
from experiments.language.japanese import JAPANESE
from experiments.language.japanese_game import is_japanese_game
from experiments.language.words import Words
from lite.notation.columns import columns_of
from lite.notation.games import read_starts
from lite.notation.move_text import line_text
from liteshogi.commands.arguments import Json
from liteshogi.json_output import json_text
from search.mate.problems import MateProblem, read_problems, set_problem
from search.mate.solver import MateResult, MateSolver, MateStatus
from search.mate.summary import MateSummary, solve_problems, summarise
from search.mate.tsume_length import tsume_plies_of
from search.rules.position import new_position


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
    """Wall time in seconds."""
    tsume_plies: int | None = None
    """Length without futile interpositions (無駄合); None if it was not requested or not found."""


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
    hash_mb: int = 64
    """Size of the hash table in megabytes; all positions share it."""
    tsume: bool = False
    """Also report the length as tsume shogi counts it, without futile interpositions (無駄合). A drop is futile if the
    checker captures it and the attacker, without using the captured piece, mates as fast as without the drop."""
    language: Language = "auto"
    """Language of texts and errors: ja, en, or auto. auto is Japanese if the system's locale is Japanese or `file` is a
    KIF or KI2 file."""
    json: Json = False

    @property
    def words(self) -> Words:
        """Return the texts of the reader's language."""
        return words_for(self.language, self.file is not None and is_japanese_game(self.file))

    def run(self) -> None:
        words = self.words
        solver = MateSolver(self.hash_mb) if self.tsume else None
        problems = [MateProblem(sfen, 0) for sfen in self.sfen]
        if self.file is not None:
            problems += _read_problems(self.file)
        results: list[MateResult] = []
        counted: list[int | None] = []
        # Results that are printed in a terminal are its progress.
        is_seen = not self.json and sys.stdout.isatty()
        progress = Progress(len(problems), lambda: (len(counted), f"{len(counted)} of {len(problems)} positions"))
        context: AbstractContextManager[object] = nullcontext() if is_seen else progress
        with context:
            for result in solve_problems(problems, self.file, self.milliseconds, self.hash_mb):
                results.append(result)
                tsume_plies = None
                if solver is not None and result.status is MateStatus.MATE:
                    tsume_plies = tsume_plies_of(solver, problems[len(counted)].sfen, self.milliseconds)
                counted.append(tsume_plies)
                if not self.json:
                    print(as_text(result, words, problems[len(results) - 1].sfen))
                    if solver is not None and result.status is MateStatus.MATE:
                        unknown = words.tsume_unknown
                        print(words.tsume.format(plies=tsume_plies) if tsume_plies is not None else unknown)
                if not is_seen:
                    progress.show()
        summary = summarise(problems, results) if self.file is not None else []
        if self.json:
            solved = tuple(_solved(*one) for one in zip(problems, results, counted, strict=True))
            print(json_text(Solved(solved, tuple(summary))))
        elif summary:
            print(f"\n{summary_as_text(summary, words)}")


def _read_problems(path: Path) -> list[MateProblem]:
    """Return the problems of a file of lines, or the first positions of its games. Raises OSError or ValueError."""
    starts = read_starts(path)
    return read_problems(path) if starts is None else [MateProblem(sfen, 0) for sfen in starts]


def _solved(problem: MateProblem, result: MateResult, tsume_plies: int | None) -> SolvedPosition:
    return SolvedPosition(
        sfen=problem.sfen,
        status=result.status,
        plies=result.plies,
        moves=result.moves,
        shortest=result.shortest,
        nodes=result.nodes,
        seconds=round(result.seconds, 6),
        tsume_plies=tsume_plies,
    )


def summary_as_text(summary: list[MateSummary], words: Words = ENGLISH) -> str:
    """Return the table of results by the length of mate that the file gives, `?` where it gives none."""
    rows = [words.mate_columns]
    for row in summary:
        found = row.problems - row.no_mate - row.unknown
        rows.append(
            (
                "?" if row.plies is None else str(row.plies),
                str(row.problems),
                str(found),
                f"{100 * found / row.problems:.2f} %",
                str(row.as_stated),
                str(row.no_mate),
                str(row.unknown),
                str(row.median_nodes),
                f"{1000 * row.slowest_seconds:.1f}",
            )
        )
    widths = [max(map(columns_of, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(" " * (width - columns_of(text)) + text for text, width in zip(row, widths, strict=True))
        for row in rows
    )


def as_text(result: MateResult, words: Words, sfen: str) -> str:
    """Return the result for a position in one line, with USI moves or, in Japanese, with those of a game record."""
    effort = words.effort.format(nodes=result.nodes, milliseconds=f"{1000 * result.seconds:.1f}")
    if result.status is MateStatus.MATE:
        text = words.mate_found if result.shortest else words.mate_perhaps
        return text.format(plies=result.plies, moves=_moves_text(sfen, result.moves, words), effort=effort)
    return (words.no_mate if result.status is MateStatus.NO_MATE else words.mate_unknown).format(effort=effort)


def _moves_text(sfen: str, moves: tuple[str, ...], words: Words) -> str:
    if words is not JAPANESE:
        return " ".join(moves)
    pos = new_position()
    set_problem(pos, sfen)
    return line_text(pos, moves)
