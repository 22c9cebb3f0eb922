"""One page of runs: each run folder's verb names the section that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.arena.engine_match import VERB as USI_MATCH
from experiments.csa.play import VERB as FLOODGATE
from experiments.jobs.progress import CountedProgress
from experiments.judge.judged_match import VERB as JUDGED_MATCH
from experiments.judge.losses import VERB as JUDGED_MOVES
from experiments.language.catalogue import label, reader, reading
from experiments.language.english import ENGLISH
from experiments.league.in_process import VERB as LEAGUE
from experiments.league.league import USI_VERB as USI_LEAGUE
from experiments.loop.loop import VERB as LOOP
from experiments.matches.in_process_match import VERB as MATCH
from experiments.report.charts import draw_png
from experiments.report.judged_match_section import judged_match_section
from experiments.report.judgement_section import judgement_section
from experiments.report.league_section import league_section
from experiments.report.loop_section import loop_section
from experiments.report.match_section import match_section
from experiments.report.nets_section import nets_section
from experiments.report.report_page import as_page
from experiments.report.section import UNREADABLE, Run, Section
from experiments.report.server_section import server_section
from experiments.report.training_section import VERBS as TRAININGS
from experiments.report.training_section import training_section
from experiments.report.tuning_section import tuning_section
from experiments.sweep.sweep import VERB as SWEEP
from experiments.tuning.tune import VERB as TUNE
from lite.datasets.description import short_names
from lite.run_folder import RECORD, read_run
from search.system.files import check_output, write_atomically

MakeSection = Callable[[Sequence[Run]], Section]

SECTIONS: Mapping[MakeSection, tuple[str, ...]] = {
    nets_section: (SWEEP,),
    loop_section: (LOOP,),
    league_section: (LEAGUE, USI_LEAGUE),
    match_section: (MATCH, USI_MATCH),
    judged_match_section: (JUDGED_MATCH,),
    server_section: (FLOODGATE,),
    judgement_section: (JUDGED_MOVES,),
    tuning_section: (TUNE,),
    training_section: TRAININGS,
}
"""Sections in the order of the page, with the verbs of their runs."""
TRANSLATED = (league_section, match_section, server_section)
"""Sections in the reader's language; the others are English."""


@dataclass(frozen=True)
class Report:
    """Options of a page."""

    runs: tuple[Path, ...]
    """Run folders, or folders that hold runs at any depth."""
    output: Path = Path("report.html")
    """HTML file of the page to write."""
    png: bool = False
    """Draw each chart also as a PNG beside the page."""
    overwrite: bool = False


@dataclass(frozen=True)
class Written:
    """A page that has been written."""

    page: Path
    runs: tuple[Path, ...]
    charts: tuple[str, ...]
    """Titles of the charts."""
    pictures: tuple[Path, ...]


def write_report(report: Report) -> Written:
    """Write the page in the reader's language. Raises OSError, or ValueError for a folder without a run, a damaged run,
    or a page that exists."""
    if not report.runs:
        raise ValueError("no run: name run folders, or folders of such")
    check_output(report.output, (".html",), report.overwrite)
    found = find_runs(report.runs)
    sections = read_sections(found)
    charts = [chart for section in sections for chart in section.charts]
    drawn = charts if report.png else []
    pictures = [report.output.with_name(f"{report.output.stem}-{number:02}.png") for number in range(1, len(drawn) + 1)]
    for path in pictures:
        check_output(path, (".png",), report.overwrite)
    with CountedProgress("charts drawn") as watch:
        for number, (path, chart) in enumerate(zip(pictures, drawn, strict=True), 1):
            write_atomically(path, draw_png(chart))
            watch(number, len(drawn))
    title = f"LiteShogi: {label(', ').join(section.title.lower() for section in sections)}"
    page = as_page(title, sections, {number: path.name for number, path in enumerate(pictures)})
    write_atomically(report.output, page.encode(errors="backslashreplace"))
    return Written(
        report.output,
        tuple(run.path for run in found),
        tuple(chart.title for chart in charts),
        tuple(pictures),
    )


def find_runs(paths: Sequence[Path], shown: bool = True) -> list[Run]:
    """Return the runs among folders, each once; for a folder that is no run itself, those below it.

    `shown`: only runs that have a section. Raises OSError, or ValueError for a path without a run.
    """
    verbs = {verb for verbs in SECTIONS.values() for verb in verbs} if shown else None
    found: dict[Path, Path] = {}  # as they were given, by where they are
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"{path}: there is no such run")
        if not path.is_dir():
            raise ValueError(f"{path}: not a run folder; name a folder with a {RECORD}, or a folder of such")
        inside = list(_runs_below(path))
        if not inside:
            read_run(path)  # says what the folder is instead
        known = [one for one in inside if verbs is None or read_run(one).verb in verbs]
        if not known:
            has = ", ".join(dict.fromkeys(read_run(one).verb for one in inside))
            raise ValueError(f"{path}: no run that a report shows: it has {has}")
        for one in known:
            found.setdefault(one.resolve(), one)
    return [
        Run(name, path, read_run(path)) for name, path in zip(short_names(found.values()), found.values(), strict=True)
    ]


def _runs_below(folder: Path) -> Iterator[Path]:
    """Yield a folder if it is a run, else the runs below it. Runs inside a run are its parts; a link is followed if it
    leads to a run."""
    if (folder / RECORD).exists():
        yield folder
    else:
        for path in sorted(folder.iterdir()):
            if path.is_dir() and (not path.is_symlink() or (path / RECORD).exists()):
                yield from _runs_below(path)


def read_sections(runs: Sequence[Run]) -> list[Section]:
    """Return the sections of runs. Raises OSError, or ValueError, whatever their files hold."""
    sections = []
    for make, verbs in SECTIONS.items():
        if own := [run for run in runs if run.record.verb in verbs]:
            with reading(reader() if make in TRANSLATED else ENGLISH):
                sections.append(_section(make, own))
    return sections


def _section(make: MakeSection, runs: Sequence[Run]) -> Section:
    try:
        return make(runs)
    except UNREADABLE as error:
        if len(runs) > 1:
            for run in runs:  # names the run at fault, where it is one alone
                _section(make, [run])
        paths = ", ".join(str(run.path) for run in runs)
        if str(error).startswith(tuple(str(run.path) for run in runs)):
            raise
        raise ValueError(f"{paths}: cannot be shown ({error!r:.200}); leave it out, or restore its files") from None
