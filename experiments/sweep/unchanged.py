"""Refuse to resume a sweep whose files, measures, sets, options or networks differ from those of its results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from experiments.sweep.entries import Measures
from experiments.sweep.plan import Plan
from experiments.sweep.results import File, Games, Measured, NetResult, Results, StepTimes, difference
from experiments.sweep.work import OPTIONS, POINTS, Place, refuse_other_options
from lite.datasets.provenance import sha256_of
from lite.run_folder import find_run, read_lines
from search.evaluation.shipped import network_file
from search.system.options import OptionError

MEASURES = "measures"
"""Name of the result that holds the measures of the networks."""


def unchanged_files(digests: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return {path: digest} of all files that results depend on; files that have gone keep their digests.

    digests: of the files that the plan names. Raises OptionError for a file that has changed since results of `folder`
    were made with it."""
    before = find_run(folder)
    kept = before.files if before is not None and _has_results(folder) else {}
    found = {}
    for name, digest in digests.items():
        found[path := str(Path(name).absolute())] = digest
        if kept.get(path, digest) != digest:
            raise OptionError(
                f"{name}: has changed since results of {folder} were made with it; restore it, or choose another "
                "`output`",
                "output",
            )
    return {**kept, **found}


def _has_results(folder: Path) -> bool:
    """Return whether a folder has anything that was made with the files: more than failures."""
    steps = (path for path in (folder / POINTS).glob("*/*.json") if path.name != OPTIONS)
    return any(steps) or any(read_lines(folder, NetResult, Games, StepTimes, File))


def refuse_changes(plan: Plan, place: Place, results: Results) -> None:
    """Keep the plan's measures. Raise ValueError for results of other measures, sets, options or networks."""
    _refuse_other_measures(plan.measure, place.folder, results)
    for made in results.all(File):
        entry = plan.data.get(made.name)
        if entry and made.made_of and (words := difference(made.made_of, entry)):
            raise OptionError(
                f"{place.folder}: {made.name} was made with {words}; rename the set, or choose another `output`",
                "output",
            )
    for point in plan.listed:
        if (folder := place.point(point)).exists():
            refuse_other_options(point, folder)
        net = results.find(NetResult, *point.key)
        if net and point.net and net.sha256 != sha256_of(network_file(point.net)):
            raise ValueError(
                f"{place.folder}: {point.name} was measured with another network than {point.net}; rename it"
            )


def _refuse_other_measures(measures: Measures, folder: Path, results: Results) -> None:
    """Keep a plan's measures in its results. Raises OptionError where points were measured with others."""
    before = results.find(Measured, MEASURES)
    if before is not None and before.of == measures:
        return
    measured = results.all(NetResult) or any((folder / POINTS).glob("*/test.json"))
    if before is not None and measured:
        others = ", ".join(
            f"{one.name} {getattr(before.of, one.name)!r}, not {getattr(measures, one.name)!r}"
            for one in fields(Measures)
            if getattr(before.of, one.name) != getattr(measures, one.name)
        )
        raise OptionError(
            f"{folder}: its points were measured with {others}; restore that, or choose another `output`", "output"
        )
    results.add(Measured(MEASURES, 0, of=measures))
