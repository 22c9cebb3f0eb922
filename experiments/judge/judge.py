"""The judge: a stronger engine's long search of a position, asked through pipes and remembered."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.games.game_position import GamePosition
from experiments.jobs.protocol import Stopped
from experiments.judge.answers import Ledger, Opinion
from experiments.usi_client.engines import Engine, ask_engine
from experiments.usi_client.identity import identity_of
from experiments.usi_client.searcher import Searcher, why_no_score
from lite.datasets.provenance import sha256_of
from search.rules.movegen import list_moves
from search.score import MATE
from search.system.bounds import MOST_AT_ONCE, check_numbers
from search.system.cores import usable_cores


@dataclass(frozen=True)
class Judging:
    """Who judges, and how long."""

    judge: str
    """Command of a USI engine."""
    judge_option: tuple[str, ...] = ()
    """NAME=VALUE options of it; one thread is best: there are `workers` of it."""
    judge_nodes: int = 500_000
    """Nodes of each of its searches."""
    ledger: Path = Path("runs/judge/ledger.jsonl")
    """File of its answers: what is there is not asked again."""
    workers: int = field(default_factory=usable_cores)
    """Positions at a time."""

    def open(self) -> Judge:
        """Ask the engine who it is, and read what it has said. Raises OSError or ValueError in words."""
        check_numbers(self, "judge_nodes")
        check_numbers(self, "workers", most=MOST_AT_ONCE)
        return Judge(ask_engine(self.judge, self.judge_option), self.judge_nodes, self.ledger)


class Judge:
    """An engine and its answers; `seat` gives each thread a process of it."""

    def __init__(self, engine: Engine, nodes: int, ledger: Path) -> None:
        self.engine, self.nodes = engine, nodes
        self.identity = _identity(engine)
        """{name, arguments, options, files}, and `signature` of this project's own: what makes its answers its own."""
        self.ledger = Ledger(ledger, self.identity)

    def seat(self) -> Seat:
        """For one thread."""
        return Seat(self)


class Seat:
    """Answers from the ledger, or else from a process that is started when it is first needed."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._searcher: Searcher | None = None
        self._stopped = False

    def stop(self) -> None:
        """End the search under way, from any thread; `ask` raises Stopped."""
        self._stopped = True
        if self._searcher is not None:
            self._searcher.stop()

    def ask(self, position: GamePosition) -> Opinion:
        """What a search of the judge's nodes with nothing in its table finds; a mated mover is told without one."""
        nodes, ledger = self._judge.nodes, self._judge.ledger
        if (known := ledger.find(position.text, nodes)) is not None:
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
            raise Stopped  # what was cut is no answer
        if answer.score is None:
            raise ValueError(f"the judge told no score of {position.text} ({why_no_score('--judge-option')})")
        opinion = Opinion(answer.move, answer.score)
        ledger.enter(position.text, nodes, opinion)
        return opinion

    def value(self, position: GamePosition, move: str) -> tuple[int, str]:
        """What a move is worth to its player by a search of what it leads to, and the answer found there."""
        if move in ("resign", "win"):
            return (-MATE if move == "resign" else MATE), ""
        found = self.ask(position.after(move))
        return -found.score, found.move


def _identity(engine: Engine) -> dict[str, Any]:
    digests = {path: sha256_of(path) for path in engine.files()}
    return {**identity_of(engine, digests), "arguments": engine.arguments, "options": engine.options}
