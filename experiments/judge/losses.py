"""Loss a move: what an engine's choice loses against a stronger engine's, by that one's long searches.

Positions come one a game, so that the moves judged are independent of each other. The judge searches the position, then
what its own move and what the judged one lead to, each with the same nodes and an empty table; the loss is the
difference of the two scores, so a choice that the judge comes to like better than its own has a loss below zero, and
noise of its scores cancels on average. Scores are cut at CLIP, beyond which a game is decided.

The judge's answers are kept, the choices are not: they take little of the time, another version of the search is to
choose anew, and one thread that is told nodes chooses the same again, so that a run goes on to the figures of a whole
one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.games.game_position import GamePosition, read_positions
from experiments.jobs.crew import product_of, work_through
from experiments.jobs.protocol import Product
from experiments.judge.choosers import Judged, choose_in_game, read_judged
from experiments.judge.judge import Judge, Judging
from lite.datasets.provenance import digests_of
from lite.program import program
from search.rules.sfen import get_sfen
from search.system.bounds import check_numbers

CLIP = 1500
"""Centipawns."""
OVER = (100, 200, 400)
"""Losses whose share is told, centipawns."""
WORST = 20
"""Losses that are shown."""


@dataclass(frozen=True)
class LossOptions:
    """Whose moves are judged, and where."""

    engine: str
    positions: Path
    nodes: int = 5000
    """Nodes of the judged engine's searches."""
    option: tuple[str, ...] = ()
    """NAME=VALUE options of the judged engine; in process USI_Hash, FV_SCALE, Draw_Value_Black and _White, the search's
    parameters, and its steps to be left out, as skip_null_move=true."""
    earlier: int = 0
    """The judged engine searches this many of its turns before in the game first, so that its table and histories are
    those of a game; 0: they are empty."""
    each_step: bool = False
    """Judge also what is chosen with each step of the search left out; in process."""
    count: int | None = None
    """Judge only the first of the positions."""


def measure_losses(options: LossOptions, judging: Judging) -> dict[str, Any]:
    """The report: {engine, judge, judge_nodes, clip, variants, worst, positions, made_by, files}. Raises OSError or
    ValueError.

    `variants` is a list of {name, loss, error, over_100, over_200, over_400, as_judge}, and of all but the first with
    {difference, difference_error} from the first; losses in centipawns. `positions` holds for each one what was chosen
    and the judge's scores and replies, `worst` those of the first variant's greatest losses; `files` are the digests of
    players, judge and positions.
    """
    check_numbers(options, "nodes", "count")
    check_numbers(options, "earlier", least=0)
    positions = read_positions(options.positions, options.count)
    judged = read_judged(options.engine, options.option, options.nodes, options.each_step)
    judge = judging.open()
    task = LossTask(judged, judge, options.earlier)
    rows = work_through(task, positions, len(positions), judging.workers, "positions", goes_on=True)
    losses = np.array([row["losses"] for row in rows], float).T
    agreed = np.array([[move == row["best_move"] for move in row["moves"]] for row in rows]).T
    worst = sorted(rows, key=lambda row: -row["losses"][0])[:WORST]
    return {
        "engine": judged.name,
        "judge": judge.engine.id_name,
        "judge_nodes": judge.nodes,
        "earlier": options.earlier,
        "clip": CLIP,
        "variants": [
            _figures(name, losses[place], losses[0] if place else None, agreed[place])
            for place, name in enumerate(judged.variants)
        ],
        "worst": [row for row in worst if row["losses"][0] > 0],
        "positions": rows,
        "made_by": program(),
        "files": digests_of((*judged.files(), *judge.engine.files(), options.positions)),
    }


def _figures(name: str, losses: np.ndarray, first: np.ndarray | None, agreed: np.ndarray) -> dict[str, Any]:
    mean, error = mean_and_error(losses)
    figures = {"name": name, "loss": mean, "error": error}
    figures |= {f"over_{limit}": round(float((losses > limit).mean()), 4) for limit in OVER}
    figures["as_judge"] = round(float(agreed.mean()), 4)
    if first is not None:
        figures["difference"], figures["difference_error"] = mean_and_error(losses - first)
    return figures


def mean_and_error(values: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """The mean and its standard error, rounded to a tenth."""
    found = np.asarray(values, float)
    error = found.std(ddof=1) / math.sqrt(len(found)) if len(found) > 1 else 0.0
    return round(float(found.mean()), 1), round(float(error), 1)


@dataclass(frozen=True)
class LossTask:
    """Positions to have moves chosen in, and judged."""

    judged: Judged
    judge: Judge
    earlier: int

    def open(self) -> LossWorker:
        return LossWorker(self)


class LossWorker:
    """One thread's player and judge."""

    def __init__(self, task: LossTask) -> None:
        self._task = task
        self._chooser = task.judged.open()
        self._seat = task.judge.seat()

    def stop(self) -> None:
        self._chooser.stop()
        self._seat.stop()

    def run(self, job: GamePosition) -> Product:
        """{position, sfen, best_move, best, moves, scores, replies, losses}, the last four by the player's variants."""
        task = self._task
        best_move = self._seat.ask(job).move
        moves = [
            choose_in_game(self._chooser, job, task.judged.nodes, task.earlier, place).move
            for place in range(len(task.judged.variants))
        ]
        best, _ = self._seat.value(job, best_move)
        scores, replies = zip(*[self._seat.value(job, move) for move in moves], strict=True)
        return product_of(
            {
                "position": job.text,
                "sfen": get_sfen(job.set_up()),
                "best_move": best_move,
                "best": best,
                "moves": moves,
                "scores": scores,
                "replies": replies,
                "losses": [clipped(best) - clipped(score) for score in scores],
            }
        )


def clipped(score: int) -> int:
    """Within what a game is not yet decided by."""
    return max(-CLIP, min(CLIP, score))
