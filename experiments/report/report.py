"""Runs of any kind, told by what lies in them, made into one page."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.report.charts import draw_png
from experiments.report.comparison_section import comparison_section, is_comparison, is_recipe, recipe_section
from experiments.report.judged_match_section import is_judged_match, judged_section
from experiments.report.judgement_section import is_judgement, judgement_section
from experiments.report.league_section import is_league, league_section
from experiments.report.loop_section import is_loop, loop_section
from experiments.report.match_section import is_counted_match, is_timed_match, match_section
from experiments.report.page import as_page
from experiments.report.section import UNREADABLE, Section
from experiments.report.sweep_section import is_sweep, sweep_section
from experiments.report.training_section import is_training, training_section
from lite.datasets.description import DESCRIPTION
from search.system.files import check_output, complaints_about, write_atomically
from search.system.metadata import parse_json

KNOWN = (
    "a folder of a sweep, a training, a match, a judged match, a league, a loop or a recipe (plan.toml and "
    "results.jsonl), a file with what `liteshogi compare --json` or `judge moves --json` prints, or a folder of such"
)


@dataclass(frozen=True)
class Kind:
    """Runs of one kind and their section."""

    of: Callable[[Path], bool]
    section: Callable[[Mapping[str, Path]], Section]


def _from_files(section: Callable[[Mapping[str, Any]], Section]) -> Callable[[Mapping[str, Path]], Section]:
    return lambda runs: section({name: read_json(path) for name, path in runs.items()})


KINDS = (
    Kind(is_sweep, sweep_section),
    Kind(is_recipe, recipe_section),
    Kind(lambda path: path.is_file() and is_comparison(read_json(path)), _from_files(comparison_section)),
    Kind(is_training, training_section),
    Kind(is_loop, loop_section),
    Kind(is_league, league_section),
    Kind(lambda path: is_counted_match(path) or is_timed_match(path), match_section),
    Kind(is_judged_match, judged_section),
    Kind(lambda path: path.is_file() and is_judgement(read_json(path)), _from_files(judgement_section)),
)
"""In the order of the page."""


@dataclass(frozen=True)
class Report:
    """Which runs a page is of."""

    runs: tuple[Path, ...]
    """Folders and files of runs, or folders of such."""
    output: Path = Path("report.html")
    """The page."""
    png: bool = False
    """Draw each chart as a PNG, too, beside the page."""
    overwrite: bool = False


def write_report(report: Report) -> dict[str, Any]:
    """Write the page; {page, runs: [path], charts: [title], pictures: [path]}.

    Raises OSError, or ValueError in words, for what is no run, cannot be read, or is there already.
    """
    if not report.runs:
        raise ValueError("no run: name folders and files of runs, or folders of such")
    check_output(report.output, (".html",), report.overwrite)
    found = find_runs(report.runs)
    sections = read_sections(found)
    charts = [chart for section in sections for chart in section.charts]
    drawn = charts if report.png else []
    pictures = [report.output.with_name(f"{report.output.stem}-{number:02}.png") for number in range(1, len(drawn) + 1)]
    for path in pictures:
        check_output(path, (".png",), report.overwrite)
    for path, chart in zip(pictures, drawn, strict=True):
        write_atomically(path, draw_png(chart))
    title = f"LiteShogi: {', '.join(section.title.lower() for section in sections)}"
    page = as_page(title, sections, {number: path.name for number, path in enumerate(pictures)})
    write_atomically(report.output, page.encode(errors="backslashreplace"))
    return {
        "page": str(report.output),
        "runs": [str(path) for paths in found.values() for path in paths],
        "charts": [chart.title for chart in charts],
        "pictures": list(map(str, pictures)),
    }


def read_sections(found: dict[Kind, list[Path]]) -> list[Section]:
    """What is told of runs, kind by kind. Raises OSError, or ValueError in words, whatever their files hold."""
    names = _names([path for runs in found.values() for path in runs])
    return [_section(kind, {names[path]: path for path in found[kind]}) for kind in KINDS if kind in found]


def _section(kind: Kind, runs: dict[str, Path]) -> Section:
    try:
        return kind.section(runs)
    except UNREADABLE as error:
        told = (f"{', '.join(runs)}: ", *(f"{name}: " for name in runs), *map(str, runs.values()))
        if str(error).startswith(told):
            raise
        if len(runs) > 1:
            for name, path in runs.items():  # the one that it is of, where it is of one
                _section(kind, {name: path})
        paths = ", ".join(map(str, runs.values()))
        raise ValueError(f"{paths}: cannot be told of ({error!r:.200}); leave it out, or restore its files") from None


def find_runs(paths: Sequence[Path]) -> dict[Kind, list[Path]]:
    """The runs among files and folders, each once; of a folder that is none itself those in it."""
    found: dict[Kind, list[Path]] = {}
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"{path}: there is no such run")
        inside = [path] if path.is_file() or _kind_of(path) else sorted(path.iterdir())
        runs = [(kind, one) for one in inside if (kind := _kind_of(one))]
        if not runs:
            about = ": it holds data, of which `liteshogi stat` tells" if (path / DESCRIPTION).is_file() else ""
            raise ValueError(f"{path}: no run that a report can tell of{about}; give {KNOWN}")
        for kind, one in runs:
            if one not in found.setdefault(kind, []):
                found[kind].append(one)
    return found


def _kind_of(path: Path) -> Kind | None:
    if path.is_file() and path.suffix != ".json":
        return None
    return next((kind for kind in KINDS if kind.of(path)), None)


def read_json(path: Path) -> Any:
    """What a file of a run holds. Raises OSError or ValueError in words."""
    with complaints_about(path):
        text = path.read_bytes()
    try:
        return parse_json(text.decode())
    except ValueError as error:
        raise ValueError(f"{path}: not a JSON file ({error}); make it again, or leave it out") from None


def _names(paths: Sequence[Path]) -> dict[Path, str]:
    """Each by its last part, or by as many of the last as it takes to tell all of them apart."""
    whole = [path.absolute().parts for path in paths]
    for length in range(1, max(map(len, whole), default=1) + 1):
        names = [os.sep.join(parts[-length:]) for parts in whole]
        if len(set(names)) == len(names):
            break
    return dict(zip(paths, names, strict=True))
