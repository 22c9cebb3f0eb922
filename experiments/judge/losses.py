"""Loss per move: how much worse an engine's choices are than a stronger engine's, by the latter's long searches.

Positions come one per game, so that the judged moves are independent of each other. The judge searches the position,
then the positions after its own move and after the judged one, each with the same nodes and an empty table. The loss is
the difference of the two scores. A choice that these searches rate above the judge's own move has a negative loss, and
noise of the scores cancels on average. Scores are limited to CLIP, beyond which a game is decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.games.game_position import GamePosition, read_positions
from experiments.jobs.produce import gather
from experiments.jobs.protocol import JobLine, Product
from experiments.judge.choosers import Judged, choose_in_game, read_judged
from experiments.judge.judge import Judge, Judging
from experiments.judge.statistics import CLIP, clipped, mean_and_error
from lite.datasets.plan import plan_run
from lite.run_folder import RunPlan
from search.rules.sfen import get_sfen
from search.system.bounds import check_numbers

VERB = "judge moves"
OVER = (100, 200, 400)
"""Losses whose share is reported, centipawns."""
WORST = 20
"""Number of the greatest losses that are shown."""


@dataclass(frozen=True)
class LossOptions:
    """Options of judging an engine's moves."""

    engine: str
    """A network's file or shipped name, which plays in process, or the command of a USI engine."""
    positions: Path
    """File of positions, one `sfen SFEN moves ...` per line, as `judge positions` writes it."""
    nodes: int = 5000
    """Nodes of the judged engine's searches."""
    option: tuple[str, ...] = ()
    """NAME=VALUE options of the judged engine; in process USI_Hash, FV_SCALE, Draw_Value_Black and _White, the search's
    parameters, and steps to leave out, as in skip_null_move=true."""
    earlier: int = 0
    """Number of its earlier turns in the game that the judged engine searches first, so that its table and histories
    are those of a game; 0 means that they are empty."""
    each_step: bool = False
    """Judge also the choices with each step of the search left out; in process."""
    count: int | None = None
    """Number of positions to judge, from the first on; without it, all."""
    output: Path = Path("runs/judge/moves")
    """Folder of the run; the same command resumes an interrupted run."""


@dataclass(frozen=True, kw_only=True)
class JudgedPosition(JobLine, kind="judged position"):
    """A position, the choices of the judged engine's variants, and the judge's scores."""

    position: str
    sfen: str
    best_move: str
    """The judge's move."""
    best: int
    """Score of the judge's move, by a search of the position after it."""
    moves: tuple[str, ...]
    """Choices by variant."""
    scores: tuple[int, ...]
    """Scores of the choices, by searches of the positions after them."""
    replies: tuple[str, ...]
    """The judge's replies to the choices."""
    losses: tuple[int, ...]
    """Losses of the choices, centipawns."""


@dataclass(frozen=True)
class VariantLoss:
    """Loss per move of a variant of the judged engine, centipawns with standard errors."""

    name: str
    """Name of the variant: the engine as it is, or without a step."""
    loss: float
    """Mean loss per move."""
    error: float | None
    """Standard error of `loss`; None for a single position."""
    over_100: float
    """Share of losses above 100 centipawns."""
    over_200: float
    """Share of losses above 200 centipawns."""
    over_400: float
    """Share of losses above 400 centipawns."""
    as_judge: float
    """Share of the choices that are the judge's move."""
    difference: float | None = None
    """Difference of the loss from the first variant's; None for the first."""
    difference_error: float | None = None
    """Standard error of `difference`; None for the first, and for a single position."""


@dataclass(frozen=True)
class LossReport:
    """The losses of an engine's moves."""

    engine: str
    judge: str
    judge_nodes: int
    earlier: int
    clip: int
    variants: tuple[VariantLoss, ...]
    positions: tuple[JudgedPosition, ...]

    @property
    def worst(self) -> list[JudgedPosition]:
        """Positions with the greatest losses of the first variant."""
        return worst_of(self.positions)


def measure_losses(options: LossOptions, judging: Judging) -> LossReport:
    """Judge an engine's choices in positions; the same call resumes. Raises as `gather` does."""
    check_numbers(options, "nodes", "count")
    check_numbers(options, "earlier", least=0)
    positions = read_positions(options.positions, options.count)
    judged = read_judged(options.engine, options.option, options.nodes, options.each_step)
    with judging.open() as judge:
        rows = gather(
            judging.place(options.output),
            _plan(options, judged, judge),
            LossTask(judged, judge, options.earlier),
            enumerate(positions),
            (JudgedPosition,),
            len(positions),
            "positions",
            keep=judge.keep,
        )
    kept = tuple(row for row in rows if row.job < len(positions))
    variants = variant_losses(judged.variants, kept)
    return LossReport(judged.name, judge.engine.id_name, judge.nodes, options.earlier, CLIP, variants, kept)


def _plan(options: LossOptions, judged: Judged, judge: Judge) -> RunPlan:
    deciding = {name: getattr(options, name) for name in ("nodes", "option", "earlier", "each_step")}
    return plan_run(
        VERB,
        deciding | {"judge_nodes": judge.nodes},
        goal={"count": options.count, "engine": judged.name, "variants": judged.variants},
        sources={"positions": [options.positions]},
        nets=judged.nets,
        conditions={**judged.conditions, **judge.conditions},
        others=[*judged.files(), *judge.engine.files()],
    )


def variant_losses(names: Sequence[str], rows: Sequence[JudgedPosition]) -> tuple[VariantLoss, ...]:
    """Return the losses per move by variant."""
    losses = np.array([row.losses for row in rows], float).T
    agreed = np.array([[move == row.best_move for move in row.moves] for row in rows]).T
    return tuple(
        _variant(name, losses[place], losses[0] if place else None, agreed[place]) for place, name in enumerate(names)
    )


def _variant(name: str, losses: np.ndarray, first: np.ndarray | None, agreed: np.ndarray) -> VariantLoss:
    over_100, over_200, over_400 = (round(float((losses > limit).mean()), 4) for limit in OVER)
    difference = (None, None) if first is None else mean_and_error(losses - first)
    as_judge = round(float(agreed.mean()), 4)
    return VariantLoss(name, *mean_and_error(losses), over_100, over_200, over_400, as_judge, *difference)


def worst_of(rows: Sequence[JudgedPosition]) -> list[JudgedPosition]:
    """Return the positions with the greatest losses of the first variant, at most WORST, all above 0."""
    worst = sorted(rows, key=lambda row: -row.losses[0])[:WORST]
    return [row for row in worst if row.losses[0] > 0]


@dataclass(frozen=True)
class LossTask:
    """Everything a worker needs to judge a player's choices; a job is a position."""

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
        """Return the position's choices with their losses. Raises Stopped."""
        task = self._task
        best_move = self._seat.ask(job).move
        moves = tuple(
            choose_in_game(self._chooser, job, task.judged.nodes, task.earlier, place).move
            for place in range(len(task.judged.variants))
        )
        best, _ = self._seat.value(job, best_move)
        scores, replies = zip(*[self._seat.value(job, move) for move in moves], strict=True)
        line = JudgedPosition(
            job=0,
            position=job.text,
            sfen=get_sfen(job.set_up()),
            best_move=best_move,
            best=best,
            moves=moves,
            scores=scores,
            replies=replies,
            losses=tuple(clipped(best) - clipped(score) for score in scores),
        )
        return Product(line=line, answers=self._seat.fresh())
