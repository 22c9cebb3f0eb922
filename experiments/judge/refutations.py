"""From how many nodes on a search sees what is wrong with a bad move, as it is and with each of its steps left out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.games.game_position import GamePosition
from experiments.jobs.crew import product_of, work_through
from experiments.jobs.protocol import Product
from experiments.judge.choosers import Judged, choose_in_game, read_judged
from experiments.judge.losses import clipped
from search.system.bounds import MOST_AT_ONCE, check_numbers
from search.system.metadata import parse_json

NODES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)
"""Where it is counted what is seen; at the most nodes, too."""


@dataclass(frozen=True)
class RefutationOptions:
    """Which search is to see, and what."""

    engine: str
    report: Path
    most_nodes: int = 300_000
    """Nodes of each search."""
    option: tuple[str, ...] = ()
    """NAME=VALUE options of the engine."""
    each_step: bool = False
    """Search also with each step left out; in process."""
    workers: int = 1
    """Searches at a time."""


def find_refutations(options: RefutationOptions) -> dict[str, Any]:
    """{engine, nodes, variants, moves}. A refutation is seen from the first depth on after which every score of the
    answering side is nearer to the judge's after the bad move than to that after the best one.

    `variants` is a list of {name, seen}, how many are seen at each of `nodes`; `moves` one of {position, sfen, move,
    reply, loss, seen_from}, the last by the variants, None where `most_nodes` do not show it. Raises OSError or
    ValueError in words.
    """
    check_numbers(options, "most_nodes")
    check_numbers(options, "workers", most=MOST_AT_ONCE)
    rows = read_worst(options.report)
    judged = read_judged(options.engine, options.option, options.most_nodes, options.each_step)
    names = judged.variants
    jobs = [(row, variant) for row in rows for variant in range(len(names))]
    task = RefutationTask(judged)
    seen = work_through(task, jobs, len(jobs), options.workers, "searches", goes_on=False)
    table = [seen[first : first + len(names)] for first in range(0, len(seen), len(names))]
    nodes = [*(limit for limit in NODES if limit < options.most_nodes), options.most_nodes]
    counts = [
        [sum(row[variant] is not None and row[variant] <= limit for row in table) for limit in nodes]
        for variant in range(len(names))
    ]
    return {
        "engine": judged.name,
        "nodes": nodes,
        "variants": [{"name": name, "seen": count} for name, count in zip(names, counts, strict=True)],
        "moves": [
            {
                "position": row["position"],
                "sfen": row["sfen"],
                "move": row["moves"][0],
                "reply": row["replies"][0],
                "loss": row["losses"][0],
                "seen_from": found,
            }
            for row, found in zip(rows, table, strict=True)
        ],
    }


def read_worst(path: Path) -> list[dict[str, Any]]:
    """The worst moves of a report of `judge moves --json`. Raises OSError, or ValueError that names the file."""
    try:
        rows: list[dict[str, Any]] = parse_json(path.read_text(encoding="utf-8"))["worst"]
        for row in rows:
            for name in ("position", "sfen", "best", "moves", "scores", "replies", "losses"):
                row[name]
            row["moves"][0]
    except (ValueError, LookupError, TypeError):
        raise ValueError(f"{path}: no report of losses; write one by liteshogi judge moves ... --json") from None
    rows = [row for row in rows if row["moves"][0] not in ("resign", "win")]  # nothing answers those
    if not rows:
        raise ValueError(f"{path}: tells of no move that loses anything")
    return rows


@dataclass(frozen=True)
class RefutationTask:
    """Bad moves to be seen through."""

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

    def run(self, job: tuple[dict[str, Any], int]) -> Product:
        """Nodes from which a variant sees the refutation of a report's row, or None."""
        row, variant = job
        behind = GamePosition.parse(row["position"]).after(row["moves"][0])
        wanted = -(clipped(row["best"]) + clipped(row["scores"][0])) / 2
        found = choose_in_game(self._chooser, behind, self._nodes, 0, variant)
        return product_of(seen_from(found.trace, wanted))


def seen_from(trace: list[tuple[int, int, int]], wanted: float) -> int | None:
    """Nodes of the first depth from which on no score is below what is wanted."""
    found = None
    for _, nodes, score in reversed(trace):
        if clipped(score) < wanted:
            break
        found = nodes
    return found
