"""The nodes that a search needs to see the refutation of a bad move: the whole search, and without each of its
steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.games.game_position import GamePosition
from experiments.jobs.produce import Place, gather
from experiments.jobs.protocol import JobLine, Product
from experiments.judge.choosers import Judged, choose_in_game, read_judged
from experiments.judge.losses import VERB as JUDGED_VERB
from experiments.judge.losses import JudgedPosition, worst_of
from experiments.judge.statistics import clipped
from lite.datasets.plan import plan_run
from lite.records.formats import HCPE
from lite.run_folder import RESULTS, read_lines, read_run
from search.system.bounds import MOST_AT_ONCE, check_numbers
from search.system.options import OptionError

VERB = "judge refutations"
NODES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)
"""Nodes at which seen refutations are counted, besides `most_nodes`."""


@dataclass(frozen=True)
class RefutationOptions:
    """Options of looking for refutations."""

    engine: str
    """A network's file or shipped name, which searches in process, or the command of a USI engine."""
    judged: Path
    """Folder of a `judge moves` run, whose worst moves are to be refuted."""
    most_nodes: int = 300_000
    """Nodes of each search."""
    option: tuple[str, ...] = ()
    """NAME=VALUE options of the engine."""
    each_step: bool = False
    """Search also with each step left out; in process."""
    workers: int = 1
    """Searches at a time on this machine."""
    ray: str | None = None
    """Address of a Ray cluster whose CPUs search instead, or `auto`. Its machines need LiteShogi installed."""
    output: Path = Path("runs/judge/refutations")
    """Folder of the run; the same command resumes an interrupted run."""


@dataclass(frozen=True, kw_only=True)
class Refutation(JobLine, kind="refutation"):
    """A variant's search after a bad move."""

    seen_from: int | None
    """Nodes from which the refutation is seen; None if it is not."""


@dataclass(frozen=True)
class SeenCount:
    """Refutations that a variant sees."""

    name: str
    seen: tuple[int, ...]
    """Number of refutations seen at each of the report's `nodes`."""


@dataclass(frozen=True)
class RefutedMove:
    """A bad move and the nodes from which its refutation is seen."""

    position: str
    sfen: str
    move: str
    """The bad move."""
    reply: str
    """The judge's reply, which refutes it."""
    loss: int
    """Loss of the move by the judge's scores, centipawns."""
    seen_from: tuple[int | None, ...]
    """Nodes from which each variant sees the refutation; None where `most_nodes` are too few."""


@dataclass(frozen=True)
class RefutationReport:
    """The refutations that an engine sees."""

    engine: str
    nodes: tuple[int, ...]
    variants: tuple[SeenCount, ...]
    moves: tuple[RefutedMove, ...]


def find_refutations(options: RefutationOptions) -> RefutationReport:
    """Search the positions after bad moves; the same call resumes. Raises OSError or ValueError.

    A refutation is seen from the first depth on after which every score of the replying side is nearer to the judge's
    score after the bad move than to its score after the best move.
    """
    check_numbers(options, "most_nodes")
    check_numbers(options, "workers", most=MOST_AT_ONCE)
    rows = read_worst(options.judged)
    judged = read_judged(options.engine, options.option, options.most_nodes, options.each_step)
    names = judged.variants
    jobs = [(row, variant) for row in rows for variant in range(len(names))]
    plan = plan_run(
        VERB,
        {name: getattr(options, name) for name in ("most_nodes", "option", "each_step")},
        sources={"judged": [options.judged / RESULTS]},
        nets=judged.nets,
        conditions=judged.conditions,
        others=judged.files(),
    )
    place = Place(options.output, HCPE, options.workers, options.ray)
    found = gather(place, plan, RefutationTask(judged), enumerate(jobs), (Refutation,), len(jobs), "searches")
    seen = [line.seen_from for line in found]
    table = [tuple(seen[first : first + len(names)]) for first in range(0, len(seen), len(names))]
    nodes = (*(limit for limit in NODES if limit < options.most_nodes), options.most_nodes)
    return RefutationReport(
        judged.name,
        nodes,
        tuple(SeenCount(name, _counts([row[variant] for row in table], nodes)) for variant, name in enumerate(names)),
        tuple(
            RefutedMove(row.position, row.sfen, row.moves[0], row.replies[0], row.losses[0], places)
            for row, places in zip(rows, table, strict=True)
        ),
    )


def _counts(seen: Sequence[int | None], nodes: Sequence[int]) -> tuple[int, ...]:
    return tuple(sum(one is not None and one <= limit for one in seen) for limit in nodes)


def read_worst(folder: Path) -> list[JudgedPosition]:
    """Return the worst moves of a run of judged moves. Raises OSError, or ValueError that names the folder."""
    if (verb := read_run(folder).verb) != JUDGED_VERB:
        raise OptionError(f"`judged` {folder}: a run of {verb}; name a folder of {JUDGED_VERB}", "judged")
    rows = list(read_lines(folder, JudgedPosition))
    for row in rows:
        if not (row.moves and len(row.moves) == len(row.scores) == len(row.replies) == len(row.losses)):
            raise ValueError(f"{folder / RESULTS}: job {row.job}: its moves, scores, replies and losses do not match")
    worst = [row for row in worst_of(rows) if row.moves[0] not in ("resign", "win")]  # no move replies to those
    if not worst:
        raise OptionError(f"`judged` {folder}: has no move that loses anything; judge more positions", "judged")
    return worst


@dataclass(frozen=True)
class RefutationTask:
    """Everything a worker needs to search after bad moves."""

    judged: Judged

    def open(self) -> RefutationWorker:
        return RefutationWorker(self)


class RefutationWorker:
    """One thread's player."""

    def __init__(self, task: RefutationTask) -> None:
        self._nodes = task.judged.nodes
        self._chooser = task.judged.open()

    def stop(self) -> None:
        self._chooser.stop()

    def run(self, job: tuple[JudgedPosition, int]) -> Product:
        """Return the nodes from which a variant sees the refutation of a position's move. Raises Stopped."""
        row, variant = job
        behind = GamePosition.parse(row.position).after(row.moves[0])
        wanted = -(clipped(row.best) + clipped(row.scores[0])) / 2
        found = choose_in_game(self._chooser, behind, self._nodes, 0, variant)
        return Product(line=Refutation(job=0, seen_from=seen_from(found.trace, wanted)))


def seen_from(trace: list[tuple[int, int, int]], wanted: float) -> int | None:
    """Return the nodes of the first depth from which on no score is below `wanted`."""
    found = None
    for _, nodes, score in reversed(trace):
        if clipped(score) < wanted:
            break
        found = nodes
    return found
