"""The section of tunings: the numbers of the search over the games, in their own steps from the defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from experiments.drawing.pictures import NAMED_NUMBERS
from experiments.jobs.ledger import LandedJob
from experiments.report.charts import Row, lines
from experiments.report.section import Run, Section, Table, origin_of
from experiments.tuning.spsa import Spsa
from experiments.tuning.tune import Tuner, chosen_parameters
from lite.run_folder import read_lines

GAMES, STEPS = "games", "steps from the default"
HEAD = ("run", "parameter", "default", "value", "steps")


def tuning_section(runs: Sequence[Run]) -> Section:
    """Return the section of tunings. Raises OSError or ValueError for a run that cannot be read."""
    charts, cells = [], []
    for run in runs:
        options = run.record.options
        known = chosen_parameters(options["names"], int(options["nodes"]))
        # The search may have other defaults since.
        defaults = map(int, options["defaults"])
        parameters = [replace(one, default=default) for one, default in zip(known, defaults, strict=True)]
        pairs = int(options["games"]) // 2
        spsa = Spsa(parameters, pairs, options["gain"], int(options["seed"]))
        tuner = Tuner(spsa, pairs)
        for line in read_lines(run.path, LandedJob):
            tuner.see(line.job, line.counts)
        gone = {one.name: (spsa.values[one.name] - one.default) / one.step for one in parameters}
        farthest = sorted(parameters, key=lambda one: -abs(gone[one.name]))[:NAMED_NUMBERS]
        rows: list[Row] = [
            {
                "parameter": one.name,
                GAMES: tuner.games_a_point * number,
                STEPS: (values[one.name] - one.default) / one.step,
            }
            for number, values in enumerate(tuner.history, 1)
            for one in farthest
        ]
        if rows:
            of = f", {len(farthest)} of {len(parameters)}" if len(farthest) < len(parameters) else ""
            charts.append(lines(f"{run.name}: tuned numbers{of}", rows, GAMES, STEPS, "parameter", dots=False))
        for one in parameters:
            value = f"{spsa.values[one.name]:.2f}"
            cells.append([run.name, one.name, str(one.default), value, f"{gone[one.name]:+.2f}"])
    about = (
        "Parameters of the search over the pairs of games (SPSA): distance from the default, in steps. The chart has "
        f"at most {NAMED_NUMBERS} parameters, those that moved farthest."
    )
    return Section("Tunings", about, charts, [Table(HEAD, cells)], [origin_of(run) for run in runs])
