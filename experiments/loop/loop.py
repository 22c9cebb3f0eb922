"""Reinforcement: a network plays, learns from its own searches, and is replaced by what beats it, again and again.

Everything is in one folder. Each generation is a row of stages, each of which is done once and goes on where it was
cut, so the loop itself has no state but the ledger of stages.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from experiments.jobs.description import Description
from experiments.loop.generation import Generation
from experiments.loop.generation_table import describe_generation, in_words
from experiments.loop.options import MATERIAL, Loop
from experiments.loop.stages import LEDGER, Ledger
from lite.training.log import clock
from lite.training.options import ValueTraining
from search.evaluation.material import material_network
from search.evaluation.network_file import save_network
from search.system.folder_lock import FolderLock


def run_loop(loop: Loop, training: ValueTraining) -> dict[str, Any]:
    """Go on until there are so many generations; {folder, best: its network's file, generations: a row each}.

    `training` says how a candidate is trained; its data, output and first weights are the loop's. Raises OSError or
    ValueError in words, KeyboardInterrupt at Ctrl-C: what is done is kept, and the same call goes on.
    """
    loop.check()
    replace(training, data=(loop.output,)).check()
    if training.max_steps is not None or training.overwrite:
        raise ValueError("max-steps and overwrite are not for a loop, which trains each network to its end")
    told = loop.told(training)
    with FolderLock(loop.output):
        ledger = Ledger(loop.output / LEDGER)
        if MATERIAL in (loop.first, *loop.against):
            save_network(material_network(), loop.file_of(MATERIAL))
        description = Description("loop", told, loop.yardstick, loop.nets())
        description.begin(loop.output, empty=not ledger.stages)
        generations = [Generation(loop, ledger, number) for number in range(loop.generations + 1)]
        best = generations[0]
        best.begin()
        for generation in generations[1:]:
            number, done = generation.number, len(ledger.stages)
            if loop.keep is not None and number > loop.keep:
                generations[number - loop.keep].remove_records()
            if generation.make(best, generations[max(number - loop.window + 1, 1) : number], training):
                best = generation
            if len(ledger.stages) > done:
                _tell(loop, ledger, number)
            description.update(_totals(ledger, number))
    return {
        "folder": str(loop.output),
        "best": str(best.net),
        "generations": [describe_generation(ledger, number) for number in range(loop.generations + 1)],
    }


def _tell(loop: Loop, ledger: Ledger, number: int) -> None:
    """What came of a generation, and how long the others will take if they are like those so far."""
    left = sum(ledger.seconds(done) for done in range(1, number + 1)) / number * (loop.generations - number)
    words = f", {clock(left)} left for {loop.generations - number} more" if number < loop.generations else ""
    print(in_words(describe_generation(ledger, number)) + words, file=sys.stderr, flush=True)


def _totals(ledger: Ledger, number: int) -> dict[str, int]:
    rows = [describe_generation(ledger, one) for one in range(1, number + 1)]
    return {
        "generations": number,
        "accepted": sum(row["accepted"] for row in rows),
        "games": sum(row["games"] for row in rows),
        "positions": sum(row["positions"] for row in rows),
    }
