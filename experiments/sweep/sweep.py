"""A sweep: points side by side, each kept when it is done; called again, the same sweep goes on where it was cut."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from experiments.elo.strength import in_words
from experiments.factory.cut import cut_evenly
from experiments.jobs.jobs import run_jobs
from experiments.jobs.progress import Progress
from experiments.jobs.results import NET, Line, Results
from experiments.jobs.toml_file import typed
from experiments.sweep.budgets import budgets_as_markdown
from experiments.sweep.configuration import Configuration, Measures, Play, Point, read_configuration
from experiments.sweep.effects import effects_as_markdown, pairs_of
from experiments.sweep.games import check_play, play_games, refuse_other_play
from experiments.sweep.sampler import Sampler
from experiments.sweep.table import as_markdown, sweep_nets
from experiments.sweep.work import POINTS, SweepTask, cut_of, parse_product
from experiments.timing import machine_cores
from lite.amounts import amount
from lite.datasets.provenance import sha256_of
from search.evaluation.shipped import network_file
from search.system.bounds import MOST_AT_ONCE, check_numbers
from search.system.files import write_atomically
from search.system.folder_lock import FolderLock
from search.system.interrupt import ends_as_interrupts, interrupt_flag

CONFIGURATION, RESULTS, TABLE = "sweep.toml", "points.jsonl", "table.md"
"""In the folder of the sweep."""
MEASURES = ("measures", "all")
"""Kind and name of the line that tells what nets are measured on."""


@dataclass(frozen=True)
class Sweep:
    """Which sweep, and where."""

    configuration: Path
    """TOML: options of all trainings, what they are measured on, and the points: a grid, a list, or samplers'."""
    output: Path = Path("runs/sweep")
    """Folder of the sweep: called again, it goes on."""
    workers: int | None = None
    """Points at a time: one for each core but that for timing, unless their trainings use more."""
    ray: str | None = None
    """Address of a Ray cluster whose machines work instead, or `auto`; they need LiteShogi installed, and to see the
    same files by the same names."""
    games: bool = True
    """Play, when all points are done."""


def run_sweep(sweep: Sweep) -> dict[str, Any]:
    """Do what is not done yet; {folder, points, failed: {label: why}, table}.

    Raises OSError or ValueError in words, KeyboardInterrupt when it was stopped: what is done is kept.
    """
    configuration = read_configuration(sweep.configuration)
    workers = _workers(sweep, configuration)
    play = configuration.play if sweep.games else None
    if play is not None:
        check_play(play, sweep.configuration, sweep.output)
    with FolderLock(sweep.output):
        results = Results(sweep.output / RESULTS)
        _check_files(sweep, configuration, results)
        if play is not None:
            refuse_other_play(results, play, sweep.output)
        _keep_configuration(sweep, configuration, results)
        _describe(configuration, results)
        failed = _work(sweep, configuration, workers, results)
        if play is not None:
            _play(sweep, configuration, play, results)
        _keep_tables(sweep, results)
    points = sum(kind == NET for kind, _, _ in results.lines)
    return {
        "folder": str(sweep.output),
        "points": points,
        "failed": failed,
        "table": str(sweep.output / TABLE),
    }


def _work(sweep: Sweep, configuration: Configuration, workers: int, results: Results) -> dict[str, str]:
    """All points; why some failed, by their labels."""
    failed: dict[str, str] = {}
    tell, source = _points(configuration, sweep.output, results)
    under_way: dict[int, Point] = {}

    def keep(point: Point, line: Line) -> None:
        """What has come of a point, or {failed: why}."""
        if "failed" in line:
            failed[point.label] = line["failed"]
            results.add("failed", point.name, point.seed, {"label": point.label, "why": line["failed"]})
        else:
            results.add(NET, point.name, point.seed, line)
        _keep_tables(sweep, results)
        tell(point, None if "failed" in line else line)
        said = line.get("failed") or f"d1-RMSE {line['d1_rmse']:.4f}, {line['evaluation_ns']:.0f} ns"
        print(f"{point.label}, seed {point.seed}: {said}", file=sys.stderr, flush=True)

    def jobs() -> Iterator[tuple[int, Point]]:
        for number, point in enumerate(source):
            try:
                _cut(point, sweep.output)
            except (OSError, ValueError) as error:
                keep(point, {"failed": str(error)})
                continue
            under_way[number] = point
            yield number, point

    def measure() -> tuple[int, str]:
        done = sum(kind == NET for kind, _, _ in results.lines)
        return done, f"{amount(done, 'point')} done, {len(failed)} failed"

    task = SweepTask(sweep.output, configuration.measures)
    with interrupt_flag() as interrupted, Progress(None, measure) as progress:
        with closing(run_jobs(task, jobs(), workers, sweep.ray, interrupted)) as coming:
            for number, product in coming:
                keep(under_way.pop(number), parse_product(product))
                progress.show()
        if interrupted():
            print(f"{sweep.output}: what is done is kept; the same command goes on", file=sys.stderr)
            raise KeyboardInterrupt
    return failed


def _play(sweep: Sweep, configuration: Configuration, play: Play, results: Results) -> None:
    """All games, two matches a net, each on all cores."""
    with ends_as_interrupts():
        for games in play_games(results, play, configuration.measures, sweep.output):
            _keep_tables(sweep, results)
            label = results.lines[NET, games["name"], games["seed"]]["label"]
            standing = in_words(games["elo"], games["elo_low"], games["elo_high"])
            print(f"{label}, seed {games['seed']}, {games['kind']}: {standing}", file=sys.stderr, flush=True)


def _keep_tables(sweep: Sweep, results: Results) -> None:
    """All nets; which is best for so many nanoseconds; what one option does."""
    nets = sweep_nets(results)
    tables = [as_markdown(results)]
    tables += [budgets_as_markdown(nets)] if nets else []
    tables += [effects_as_markdown(pairs)] if (pairs := pairs_of(nets)) else []
    write_atomically(sweep.output / TABLE, "\n".join(tables).encode())


def _points(
    configuration: Configuration, folder: Path, results: Results
) -> tuple[Callable[[Point, Line | None], None], Iterator[Point]]:
    """(Who is told what came of a point, those that are not done)."""
    listed = []
    for point in configuration.listed:
        line = results.find(NET, point.name, point.seed)
        if line is None:
            listed.append(point)
        elif point.net and line["sha256"] != sha256_of(network_file(point.net)):
            raise ValueError(f"{folder}: {point.name} has been measured with another net than {point.net}; rename it")
    if configuration.search == "grid":
        known = {(point.name, point.seed) for point in configuration.listed}
        grid = {(point.name, point.seed): point for point in configuration.grid()}
        rest = [point for key, point in grid.items() if key not in known and results.find(NET, *key) is None]
        return lambda *_: None, iter((*listed, *rest))
    sampler = Sampler(configuration, folder, results)

    def chosen() -> Iterator[Point]:
        yield from listed
        yield from sampler.points()

    return sampler.tell, chosen()


def _cut(point: Point, folder: Path) -> None:
    """The positions that a point learns from, where they are a part of its data."""
    if (cut := cut_of(point, folder)) is not None and not cut.exists():
        cut_evenly([Path(name) for name in point.options["data"]], point.options["positions"], cut)


def _workers(sweep: Sweep, configuration: Configuration) -> int:
    if sweep.workers is not None:
        check_numbers(sweep, "workers", most=MOST_AT_ONCE)
        return sweep.workers
    return max(1, len(machine_cores()[0]) // int(configuration.train.get("threads", 1)))


def _keep_configuration(sweep: Sweep, configuration: Configuration, results: Results) -> None:
    """Beside the results; ValueError if those that are there were measured otherwise."""
    measured = any(kind == NET for kind, _, _ in results.lines) or any((sweep.output / POINTS).glob("*/tests.json"))
    before, given = _measures_before(sweep.output, results), configuration.measures
    if measured and before not in (None, given):
        raise ValueError(f"{sweep.output}: its points were measured with {before}, not {given}; use another -o")
    if results.find(*MEASURES) is None or before != given:
        results.add(*MEASURES, 0, {"of": asdict(given)})
    write_atomically(sweep.output / CONFIGURATION, sweep.configuration.read_bytes())


def _measures_before(folder: Path, results: Results) -> Measures | None:
    """By the last line that tells them; the configuration beside may have been edited since. It is asked where the
    sweep was begun by a version that kept no such line."""
    if line := results.find(*MEASURES):
        return typed(Measures, line["of"], str(folder / RESULTS))
    kept = folder / CONFIGURATION
    return read_configuration(kept).measures if kept.exists() else None


def _check_files(sweep: Sweep, configuration: Configuration, results: Results) -> None:
    """ValueError for one of another content than when it was described: nets that learnt from it or were measured on it
    could not be compared with others. What has gone is of no harm to what is done."""
    for name in _files(configuration):
        if results.has_changed(name, Path(name)):
            raise ValueError(
                f"{name}: has changed since the sweep of {sweep.output} was begun; restore it, or use another -o"
            )


def _describe(configuration: Configuration, results: Results) -> None:
    """Digests of what is learnt from and measured on, and the program; once for each that is there."""
    for name in _files(configuration):
        results.describe(name, Path(name))


def _files(configuration: Configuration) -> Iterable[str]:
    """All that nets learn from and are measured on, each once."""
    measures = configuration.measures
    recorded = [measures.recorded] if measures.recorded else []
    return dict.fromkeys((*measures.valid, *measures.yardstick, *recorded, *_data(configuration)))


def _data(configuration: Configuration) -> Iterator[str]:
    """Every set that a point may learn from."""
    found: list[Any] = [configuration.train.get("data", [])]
    found += [point.options.get("data", []) for point in configuration.listed]
    for space in configuration.spaces:
        choices = space.get("data", ())
        found += choices if isinstance(choices, tuple) else ()
    for one in found:
        yield from one
