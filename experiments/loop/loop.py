"""Reinforcement: in each generation a network plays, learns from its searches, and may be replaced by a better one.

Everything is in one folder. Each generation is a row of stages, each of which is done once and resumes by itself, so
the loop's only state is the list of stages that are done.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from experiments.loop.generation import Generation
from experiments.loop.generation_table import GenerationRow, describe_generation, row_text
from experiments.loop.options import MATERIAL, Loop
from experiments.loop.stages import GATE, Stages
from lite.datasets.plan import plan_run
from lite.progress_line import clock
from lite.run_folder import RunPlan, RunWriter
from lite.training.options import ValueTraining
from search.evaluation.material import material_network
from search.evaluation.network_file import save_network
from search.system.options import OptionError

VERB = "loop"
UNSUITABLE = {
    "max_steps": "trains each network to its end",
    "overwrite": "trains each network to its end",
    "correct": "replaces its networks; a correction suits the one that it was trained for",
    "net_cp_per_logit": "learns the scores of its own networks, whose scale must be that of the scores",
}
"""Options of a training that a loop refuses, with the reasons."""


@dataclass(frozen=True)
class LoopReport:
    """The generations of a loop."""

    folder: Path
    best: Path
    """File of the best network."""
    generations: tuple[GenerationRow, ...]


def run_loop(loop: Loop, training: ValueTraining) -> LoopReport:
    """Work until the loop has its number of generations, if it has fewer; the same call resumes.

    `training` says how a candidate is trained; its data, output and first weights are the loop's. Raises OSError or
    ValueError, and KeyboardInterrupt at Ctrl-C: finished stages are kept.
    """
    loop.check()
    replace(training, data=(loop.output,)).check()
    for name, reason in UNSUITABLE.items():
        if getattr(training, name) != getattr(ValueTraining, name):
            raise OptionError(f"`{name}`: leave it out in a loop, which {reason}", name)
    with RunWriter(loop.output, _plan(loop, training)) as run:
        if MATERIAL in (loop.first, *loop.against):
            save_network(material_network(), loop.file_of(MATERIAL))
        stages = Stages(loop.output, run)
        reached = max((one.generation for one in stages.done if one.stage == GATE), default=0)
        last = max(loop.generations, reached)
        generations = [Generation(loop, stages, number) for number in range(last + 1)]
        best = generations[0]
        best.begin()
        run.add_product(best.net)
        for generation in generations[1:]:
            number, done = generation.number, len(stages.done)
            if loop.keep is not None and number > loop.keep:
                generations[number - loop.keep].remove_records()
            if generation.make(best, generations[max(number - loop.window + 1, 1) : number], training):
                best = generation
            if len(stages.done) > done:
                run.add_product(generation.net)
                _report(loop, stages, number)
            run.update(_totals(stages, number))
    return LoopReport(
        loop.output,
        best.net,
        tuple(describe_generation(stages, number) for number in range(last + 1)),
    )


def _plan(loop: Loop, training: ValueTraining) -> RunPlan:
    """Return the plan of the loop, whose folder may be another run's and is left as it is."""
    own = Path(loop.file_of(MATERIAL))
    with TemporaryDirectory() as place:
        copy = Path(place) / own.name
        save_network(material_network(), copy)
        plan = plan_run(
            VERB,
            loop.deciding(training),
            goal={"generations": loop.generations},
            sources={"yardstick": loop.yardstick},
            nets={role: copy if net == own else net for role, net in loop.nets().items()},
        )
    places = {str(copy.absolute()): str(own.absolute())}
    return replace(plan, files={places.get(path, path): digest for path, digest in plan.files.items()})


def _report(loop: Loop, stages: Stages, number: int) -> None:
    """Print a generation's figures, and the time left if the others take as long as those so far."""
    left = sum(stages.seconds(done) for done in range(1, number + 1)) / number * (loop.generations - number)
    words = f", {clock(left)} left for {loop.generations - number} more" if number < loop.generations else ""
    print(row_text(describe_generation(stages, number)) + words, file=sys.stderr, flush=True)


def _totals(stages: Stages, number: int) -> dict[str, int | float]:
    rows = [describe_generation(stages, one) for one in range(1, number + 1)]
    return {
        "generations": number,
        "accepted": sum(bool(row.accepted) for row in rows),
        "games": sum(row.games or 0 for row in rows),
        "positions": sum(row.positions or 0 for row in rows),
    }
