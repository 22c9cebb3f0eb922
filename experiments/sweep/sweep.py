"""Run a plan: make sets, train and measure points in parallel, play games, draw tables and pictures.

Every result is written as soon as it is known. The same call resumes an interrupted sweep.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path
from typing import Any

from experiments.elo.strength import elo_text
from experiments.jobs.jobs import run_jobs
from experiments.jobs.progress import Progress
from experiments.jobs.workforce import Workforce
from experiments.network_kinds.kind import Kind, UnplayableNetwork, UnsuitableNetwork, kind_of
from experiments.sweep.checked_plan import check_effects, plan_of
from experiments.sweep.columns import with_error
from experiments.sweep.data import choose_positions
from experiments.sweep.games import Tournament, check_play, refuse_other_play
from experiments.sweep.isolated import Isolated
from experiments.sweep.plan import Plan, Point
from experiments.sweep.plan_file import is_shipped_plan, merged, read_change, read_entries
from experiments.sweep.results import Failed, File, NetResult, Results, StepTimes, titled
from experiments.sweep.sampler import Sampler
from experiments.sweep.sets import make_sets, require_measures
from experiments.sweep.summary import fill_page, read_page, summary
from experiments.sweep.timing import StepsRun, alone, machine_cores
from experiments.sweep.unchanged import refuse_changes, unchanged_files
from experiments.sweep.work import PROGRESS, STAGE, Place, PointTask, place_of, result_of
from lite.amounts import amount
from lite.datasets.provenance import digest_of
from lite.progress_line import clock
from lite.run_folder import RunPlan, RunWriter
from search.evaluation.network_file import load_network
from search.evaluation.shipped import network_file
from search.system.bounds import MOST_AT_ONCE, check_numbers
from search.system.files import message_of, write_atomically
from search.system.interrupt import ends_as_interrupts, interrupt_flag

SAMPLE = Path(__file__).parents[1] / "sample"
SAMPLES = ((SAMPLE / "teacher_sample.hcpe3",), (SAMPLE / "valid_sample.hcpe3",))
"""Games to learn from and held-out games that come with the package."""
VERB = "sweep"
TABLE = "table.md"
"""File of the tables in the folder of the plan."""


@dataclass(frozen=True)
class Sweep:
    """Options of a sweep."""

    plan: Path
    """TOML file that lists the networks to train, their measures and their games; or the name of a plan that comes with
    the package."""
    data: tuple[Path, ...] = ()
    """Records to learn from, in place of the plan's `train.data`. A plan of the package that names no games defaults to
    the sample games."""
    valid: tuple[Path, ...] = ()
    """Held-out games to measure on, in place of the plan's `measure.valid`; the sample games as for `data`."""
    yardstick: tuple[Path, ...] = ()
    """Held-out positions with scores of long searches, for d1-RMSE, in place of the plan's `measure.yardstick`."""
    change: tuple[str, ...] = ()
    """Entries of the plan to replace, each KEY=VALUE: `train.epochs=2`, `play.games=60`, `seeds=[0]`."""
    output: Path = Path("runs/sweep")
    """Folder of the sweep. The same command resumes an interrupted one."""
    workers: int | None = None
    """Points at a time; without it one per core but the core for timing, fewer if their trainings use several."""
    ray: str | None = None
    """Address of a Ray cluster that works instead, or `auto`. Its machines need LiteShogi installed and must see the
    same files by the same names."""
    games: bool = True
    """Play the plan's games when all points are done."""
    page: Path | None = None
    """Markdown page whose tables, each between `<!-- table NAME -->` and `<!-- end -->`, are replaced, too."""

    def entries(self) -> dict[str, Any]:
        """Return the plan's entries with what these options replace. Raises OSError, ValueError."""
        given: dict[str, Any] = {}
        entries = read_entries(self.plan)
        wants_games = is_shipped_plan(self.plan) and "valid" not in entries["measure"]
        sample = SAMPLES if wants_games else ((), ())
        for section, name, files in (
            ("train", "data", self.data or sample[0]),
            ("measure", "valid", self.valid or sample[1]),
            ("measure", "yardstick", self.yardstick),
        ):
            if files:
                given = merged(given, {section: {name: [str(path) for path in files]}})
        for text in self.change:
            given = merged(given, read_change(text))
        return merged(entries, given)


@dataclass(frozen=True)
class SweepReport:
    """The result of a sweep."""

    folder: str
    points: int
    """Points that are done."""
    failed: Mapping[str, str]
    """Reasons why points and games failed, by their labels, with the seed unless it is 0."""
    table: str
    """The file of tables."""
    matches_failed: bool = False
    """Whether matches were left to play and none could be played."""


def run_sweep(sweep: Sweep) -> SweepReport:
    """Do the remaining work of a plan. Raises OSError, ValueError, or KeyboardInterrupt; results are kept."""
    entries = sweep.entries()
    plan = plan_of(entries, str(sweep.plan))
    _check(sweep, plan)
    digests = {name: digest_of(Path(name)) for name in plan.files() if Path(name).exists()}
    goal = {"plan": entries, "file": str(sweep.plan)}
    record = RunPlan(VERB, goal=goal, files=unchanged_files(digests, sweep.output))
    with RunWriter(sweep.output, record) as writer:
        return _Run(sweep, plan, digests, writer, Results.of(writer)).do()


def _check(sweep: Sweep, plan: Plan) -> None:
    """Raise OSError or ValueError for a plan that cannot be carried out, before anything is written."""
    if sweep.workers is not None:
        check_numbers(sweep, "workers", most=MOST_AT_ONCE)
    try:
        check_effects(plan, sweep.games)
    except ValueError as error:
        raise ValueError(f"{sweep.plan}: {error}") from None
    if sweep.games and plan.playing is not None:
        check_play(plan.playing, str(sweep.plan), sweep.output)
    if sweep.page is not None:
        read_page(sweep.page, plan)


def _check_peer(point: Point, plan_file: Path) -> None:
    """Raise OSError or ValueError for a network made elsewhere that cannot be measured and timed."""
    if not network_file(point.net).exists():
        raise FileNotFoundError(f"{plan_file}: peer {point.name!r}: {point.net}: no such network")
    kind = kind_of(point.net)
    if kind is Kind.POLICY_VALUE_ONNX:
        raise UnsuitableNetwork(point.net, kind, "which a sweep measures only where it has trained it")
    if kind is not Kind.FOLDED:
        raise UnplayableNetwork(point.net, kind)
    load_network(point.net)


@dataclass
class _Run:
    """A sweep under way."""

    sweep: Sweep
    plan: Plan
    digests: Mapping[str, str]
    """Digests of the files that the plan does not make."""
    writer: RunWriter
    results: Results
    failed: dict[str, str] = field(default_factory=dict)
    unmade: Mapping[str, str] = field(default_factory=dict)
    """Reasons why sets could not be made."""

    @property
    def folder(self) -> Path:
        return self.sweep.output

    @property
    def place(self) -> Place:
        return place_of(self.plan, self.folder)

    def do(self) -> SweepReport:
        """Do the remaining work, and keep it in `results`."""
        plan, results = self.plan, self.results
        refuse_changes(plan, self.place, results)
        play = plan.playing if self.sweep.games else None
        if play is not None:
            refuse_other_play(results, play, self.folder)
        source = _Source(plan, self.folder, results)
        if source.work:
            for point in source.left:
                if point.net:
                    _check_peer(point, self.sweep.plan)
            self.unmade = make_sets(plan, source.learnt(), self.place, results, Workforce(ray=self.sweep.ray))
            require_measures(plan.measure, self.place)
        self._do_points(source)
        self._time_steps()
        matches_failed = False
        if play is not None:
            matches_failed = self._play(Tournament(plan, play, results, self.folder, self.sweep.ray))
        self._keep_tables()
        if self.sweep.page is not None:
            fill_page(self.sweep.page, plan, results)
        done, table = len(results.all(NetResult)), str(self.folder / TABLE)
        return SweepReport(str(self.folder), done, self.failed, table, matches_failed)

    def _do_points(self, source: _Source) -> None:
        done = set(source.done)
        failed: set[tuple[str, int]] = set()
        under_way: dict[int, Point] = {}
        numbers = count(1)

        def measure() -> tuple[int, str]:
            stages = [f"{point.label}: {self._stage(point)}" for point in list(under_way.values())[: self._workers()]]
            words = f"{len(done)} of {amount(source.total, 'point')}, {len(failed)} failed; {', '.join(stages)}"
            return len(done) + len(failed), words.removesuffix("; ")

        def keep(point: Point, found: NetResult | Failed) -> None:
            if isinstance(found, Failed):
                self.failed[titled(point.label, point.seed)] = found.why
                failed.add(point.key)
            else:
                done.add(point.key)
                found = replace(found, data=self._digests(point))
            self.results.add(found)
            if isinstance(found, NetResult) and not point.net and Path(found.net).exists():
                self.writer.add_product(Path(found.net))
            self._keep_tables()
            source.see(point, found if isinstance(found, NetResult) else None)
            progress.say(f"{point.label}, seed {point.seed}: {_in_brief(found)}")
            if isinstance(found, NetResult) and found.trained:
                for warning in found.trained.warnings:
                    progress.say(f"warning: {point.label}, seed {point.seed}: {warning}")

        def jobs(points: Iterable[Point]) -> Iterator[tuple[int, Point]]:
            for point in points:
                try:
                    self._prepare(point)
                except (OSError, ValueError) as error:
                    keep(point, Failed(point.name, point.seed, label=point.label, why=message_of(error)))
                    continue
                number = next(numbers)
                under_way[number] = point
                yield number, point

        task = PointTask(self.place, self.plan.measure)
        with interrupt_flag() as interrupted, Progress(source.total, measure) as progress:
            for wave in source.waves():  # a point begins from the network of one of an earlier wave
                running = run_jobs(task, jobs(wave), self._workers(), self.sweep.ray, interrupted, progress.show)
                with closing(running) as coming:
                    for number, product in coming:
                        keep(under_way.pop(number), result_of(product))
                        progress.show()
                if interrupted():
                    progress.say(f"{self.folder}: results are kept; the same command resumes")
                    raise KeyboardInterrupt

    def _prepare(self, point: Point) -> None:
        """Cut the positions that a point learns from.

        Raises OSError or ValueError, also if the point that it begins from has failed."""
        if point.after and self.results.find(NetResult, point.after, point.seed) is None:
            raise ValueError(f"{point.after}, seed {point.seed}, from which it begins, is not trained")
        for name in point.options.get("data", ()):
            if name in self.unmade:
                raise ValueError(f"{name}, which it learns from, could not be made: {self.unmade[name]}")
        if (cut := self.place.cut(point)) is not None and not cut.exists():
            data = [self.place.of(name) for name in point.options["data"]]
            choose_positions(data, int(point.options["positions"]), cut)

    def _digests(self, point: Point) -> dict[str, str]:
        """Return the digests of a point's training data: sets that are made again may differ."""
        made = {file.name: file.of.sha256 for file in self.results.all(File)}
        known = {**self.digests, **made}
        return {name: known[name] for name in point.options.get("data", ()) if name in known}

    def _stage(self, point: Point) -> str:
        folder = self.place.point(point)
        try:
            stage, begun = (folder / STAGE).read_text(encoding="utf-8"), (folder / STAGE).stat().st_mtime
        except OSError:
            return "waits"
        words = f"{stage} for {clock(time.time() - begun)}"
        with suppress(OSError):
            words += f" ({(folder / PROGRESS).read_text(encoding='utf-8')})"
        return words

    def _workers(self) -> int:
        if self.sweep.workers is not None:
            return self.sweep.workers
        return max(1, len(machine_cores()[0]) // self.plan.most_threads)

    def _time_steps(self) -> None:
        """Time training steps of the first seed of every network in turn, if the plan requests it and some are new."""
        firsts: dict[str, Point] = {}
        for point in self.plan.known_points():
            if not point.net and self.results.find(NetResult, *point.key):
                firsts.setdefault(point.name, point)
        kept = self.results.find(StepTimes, "steps")
        if not self.plan.measure.step_rounds or (kept and set(kept.microseconds) == set(firsts)):
            return
        trainings = {name: self.place.training(point, ()) for name, point in firsts.items()}
        print("timing training steps", file=sys.stderr, flush=True)
        with ends_as_interrupts(), alone(isolated := Isolated(machine_cores()[1])):
            found = isolated.run(StepsRun(trainings, self.plan.measure.step_rounds))
        self.results.add(StepTimes("steps", 0, microseconds=found))

    def _play(self, tournament: Tournament) -> bool:
        """Play all games, match after match, each on all cores; returns whether there were some and all failed."""
        total, number, failed, begun = len(tournament.left()), 0, 0, time.monotonic()

        def begin(label: str) -> None:
            left = (time.monotonic() - begun) / number * (total - number) if number else 0.0
            words = f", {clock(left)} left" if number else ""
            print(f"match {number + 1} of {total}: {label}: begins{words}", file=sys.stderr, flush=True)

        with ends_as_interrupts():
            for found in tournament.play_all(begin):
                number += 1
                self._keep_tables()
                if isinstance(found, Failed):
                    self.failed[found.label] = said = found.why
                    failed += 1
                else:
                    one = found.standing
                    said = elo_text(one.elo, one.elo_low, one.elo_high)
                print(f"match {number} of {total}: {found.label}: {said}", file=sys.stderr, flush=True)
        return 0 < failed == number

    def _keep_tables(self) -> None:
        write_atomically(self.folder / TABLE, summary(self.plan, self.results).encode())


class _Source:
    """The points that are not done, wave by wave."""

    def __init__(self, plan: Plan, folder: Path, results: Results) -> None:
        self._plan = plan
        known = plan.known_points()
        self.left = [point for point in known if results.find(NetResult, *point.key) is None]
        """The points that are known before any is done."""
        self.sampler = None if plan.search == "grid" else Sampler(plan, folder, results)
        self.done = {point.key for point in known if results.find(NetResult, *point.key)}
        """Keys of the points that were done before."""
        if self.sampler is not None:
            self.done |= self.sampler.done()
        self.total = len(known) + (plan.points if self.sampler else 0)
        """Number of points, with those that are done."""
        self.work = bool(self.left) or (self.sampler is not None and self.sampler.chosen() < plan.points)

    def learnt(self) -> Iterable[str]:
        """Return the files and sets that points learn from; of a sampler's points all sets of the plan."""
        if self.sampler is not None:
            return self._plan.sets
        return [name for point in self.left for name in point.options.get("data", ())]

    def waves(self) -> Iterator[Iterable[Point]]:
        """Yield points in waves: those of a wave begin from networks of earlier ones."""
        depth: dict[tuple[str, int], int] = {}
        for point in self.left:
            depth[point.key] = depth.get((point.after, point.seed), -1) + 1 if point.after else 0
        for wave in range(max(depth.values(), default=0) + 1):
            of_wave = [point for point in self.left if depth[point.key] == wave]
            yield chain(of_wave, self.sampler.points() if self.sampler and not wave else ())

    def see(self, point: Point, net: NetResult | None) -> None:
        """Take in the result of a point; None means that it failed."""
        if self.sampler is not None:
            self.sampler.see(point, net)


def _in_brief(found: NetResult | Failed) -> str:
    if isinstance(found, Failed):
        return found.why
    tested, timed = found.tested, found.timed
    figures = (
        "" if tested.report.accuracy is None else f"accuracy {tested.report.accuracy_text()}",
        "" if tested.d1_rmse is None else f"d1-RMSE {with_error(tested.d1_rmse, tested.d1_rmse_error)}",
        "" if timed is None else f"{timed.evaluation_ns:.0f} ns",
    )
    return ", ".join(filter(None, figures))
