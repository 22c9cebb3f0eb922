"""The judge: a stronger engine's long search of a position, asked through pipes and remembered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from experiments.games.game_position import GamePosition
from experiments.jobs.produce import Place
from experiments.jobs.protocol import Stopped
from experiments.judge.answers import Answer, Answers, Opinion
from experiments.usi_client.engines import Engine, ask_engine
from experiments.usi_client.identity import configured_condition
from experiments.usi_client.searcher import Searcher, why_no_score
from lite.datasets.provenance import sha256_of
from lite.records.formats import HCPE
from lite.run_folder import Line
from search.rules.movegen import list_moves
from search.score import MATE
from search.system.bounds import MOST_AT_ONCE, check_numbers
from search.system.cores import usable_cores


@dataclass(frozen=True)
class Judging:
    """The judge and its effort."""

    judge: str
    """Command of the USI engine that judges."""
    judge_option: tuple[str, ...] = ()
    """NAME=VALUE options of the judge; give it one thread, because `workers` judges run at a time."""
    judge_nodes: int = 500_000
    """Nodes of each of the judge's searches."""
    answers: Path = Path("runs/judge/answers")
    """Folder of the judge's answers; a position that has one there is not searched again."""
    workers: int = field(default_factory=usable_cores)
    """Jobs at a time on this machine, each with a judge of its own."""
    ray: str | None = None
    """Address of a Ray cluster whose CPUs work instead, or `auto`. Its machines need LiteShogi and the judge installed
    at the same places."""

    def open(self) -> Judge:
        """Start the judge to learn its identity, and read its answers. Raises OSError or ValueError."""
        check_numbers(self, "judge_nodes")
        check_numbers(self, "workers", most=MOST_AT_ONCE)
        return Judge(ask_engine(self.judge, self.judge_option), self.judge_nodes, self.answers)

    def place(self, folder: Path) -> Place:
        """Return where judged work is done and kept."""
        return Place(folder, HCPE, self.workers, self.ray)


class Judge:
    """An engine and its answers; `seat` gives each thread a process of it. A context manager."""

    def __init__(self, engine: Engine, nodes: int, answers: Path) -> None:
        self.engine, self.nodes = engine, nodes
        self.identity = configured_condition(engine, {path: sha256_of(path) for path in engine.files()})
        """{name, arguments, options, files}, for this project's own engine also `signature`: what decides its
        answers."""
        self.answers = Answers(answers, self.identity)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.answers.close()

    @property
    def conditions(self) -> Mapping[str, object]:
        """Conditions of a run that asks this judge."""
        return {"judge": self.identity}

    def seat(self) -> Seat:
        """Return a seat for one thread."""
        return Seat(self)

    def keep(self, line: Line) -> None:
        """Keep an answer that another machine has found."""
        if isinstance(line, Answer):
            self.answers.enter(line)

    def fresh(self) -> tuple[Answer, ...]:
        """Take the answers that this copy of the judge has no folder for."""
        found, self.answers.fresh = self.answers.fresh, []
        return tuple(found)


class Seat:
    """The answers for one thread: known ones, else those of an engine's process, which starts when it is first
    needed."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._searcher: Searcher | None = None
        self._stopped = False

    def stop(self) -> None:
        """End the search under way, from any thread; `ask` raises Stopped."""
        self._stopped = True
        if self._searcher is not None:
            self._searcher.stop()

    def fresh(self) -> tuple[Answer, ...]:
        """Take the answers that have no folder here, for the product of a job."""
        return self._judge.fresh()

    def ask(self, position: GamePosition) -> Opinion:
        """Return the result of a search with the judge's number of nodes and an empty table; a mated mover needs no
        search."""
        nodes, answers = self._judge.nodes, self._judge.answers
        if (known := answers.find(position.text, nodes)) is not None:
            return known
        if self._stopped:
            raise Stopped
        if not list_moves(position.set_up()):
            return Opinion("resign", -MATE)
        if self._searcher is None:
            self._searcher = Searcher(self._judge.engine)
        self._searcher.forget()
        answer = self._searcher.search(position.text, f"nodes {nodes}")
        if self._stopped:
            raise Stopped  # an interrupted search is no answer
        if answer.score is None:
            raise ValueError(f"the judge gave no score of {position.text} ({why_no_score('judge_option')})")
        answers.enter(Answer(position.text, nodes, answer.move, answer.score))
        return Opinion(answer.move, answer.score)

    def value(self, position: GamePosition, move: str) -> tuple[int, str]:
        """Return (a move's score for its player by a search of the position after it, the reply found there)."""
        if move in ("resign", "win"):
            return (-MATE if move == "resign" else MATE), ""
        found = self.ask(position.after(move))
        return -found.score, found.move
