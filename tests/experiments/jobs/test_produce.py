"""A data factory after kills, interruptions and a full disk: the same command resumes to the same data."""

from __future__ import annotations

import itertools
import json
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from experiments.jobs.produce import BARREN_JOBS, Place, produce
from experiments.jobs.protocol import JobError, Product
from lite.records.formats import record_files
from lite.run_folder import RESULTS, RunPlan, read_run
from tests.experiments.jobs import toy
from tests.experiments.jobs.toy import JOB, ToyTask, ToyWorker, jobs_of


def start(folder: Path, *arguments: object) -> subprocess.Popen[str]:
    """Start the toy program and wait until it works."""
    command = [sys.executable, toy.__file__, str(folder), *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


def lines_of(folder: Path) -> int:
    path = folder / RESULTS
    return path.read_bytes().count(b"\n") if path.exists() else 0


def check_whole(folder: Path, jobs: int) -> None:
    """Check that every job is in the shards once, at the place that the ledger names."""
    assert sorted(job for path in record_files([folder]) for job in jobs_of(path.read_bytes())) == list(range(jobs))
    lines = [json.loads(line) for line in (folder / RESULTS).read_text().splitlines()]
    assert sorted(line["job"] for line in lines) == list(range(jobs))
    for line in lines:
        raw = (folder / f"shard_{line['shard']:05}.hcpe").read_bytes()
        assert raw[line["start"] : line["stop"]] == toy.content(line["job"])
    record = read_run(folder)
    assert record.state == "done"
    assert record.totals["jobs"] == jobs
    assert record.totals["positions"] == sum(job % 5 for job in range(jobs))


@pytest.mark.parametrize("kills", [3, pytest.param(10, marks=pytest.mark.slow)])
def test_kills_lose_and_repeat_nothing(tmp_path, kills):
    folder, draw = tmp_path / "data", random.Random(5)
    for kill in range(kills):
        before = lines_of(folder)
        process = start(folder, 100_000, 2)
        end = time.monotonic() + 60
        while lines_of(folder) < before + draw.randrange(20) and time.monotonic() < end:
            time.sleep(draw.random() * 0.005)
        process.kill()
        process.communicate()
        assert kill == 0 or lines_of(folder) >= before
    jobs = lines_of(folder) + 50
    with start(folder, jobs, 1) as process:
        assert process.wait(60) == 0
    check_whole(folder, jobs)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are a matter of the system")
@pytest.mark.parametrize(
    "name", ["SIGINT", *(pytest.param(one, marks=pytest.mark.slow) for one in ("SIGTERM", "SIGHUP"))]
)
def test_a_signal_names_the_shard_and_the_run_resumes(tmp_path, name):
    with start(tmp_path, 100_000, 10) as process:
        end = time.monotonic() + 60
        while lines_of(tmp_path) < 10 and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(getattr(signal, name))
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "finished jobs are kept; run the same command again to resume" in errors
    assert not list(tmp_path.glob("*.part"))
    landed = lines_of(tmp_path)
    assert 10 <= sum(len(jobs_of(path.read_bytes())) for path in record_files([tmp_path])) == landed
    with start(tmp_path, landed + 50, 1) as process:
        assert process.wait(60) == 0
    check_whole(tmp_path, landed + 50)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are a matter of the system")
@pytest.mark.parametrize(("largest", "name"), [(6000, "shard_00000.hcpe.part"), (1500, RESULTS)])
def test_a_full_disk_is_reported_in_one_line_and_the_folder_stays_valid(tmp_path, largest, name):
    """A limit of the size of files simulates a full disk, for the records of the large job or for the ledger."""
    for _ in range(2):
        with start(tmp_path, 60, 0, largest) as process:
            _, errors = process.communicate(timeout=60)
        assert process.returncode == 1
        assert re.search(rf"File too large.*{tmp_path}/{name.replace('00000', '[0-9]+')}", errors.splitlines()[-1])
        assert "Traceback" not in errors
    with start(tmp_path, 60) as process:
        assert process.wait(60) == 0
    check_whole(tmp_path, 60)


def place(folder: Path, **changes) -> Place:
    return Place(folder, "hcpe", **changes)


def numbered(jobs):
    return enumerate(jobs)


def test_a_goal_ends_an_endless_supply(tmp_path):
    jobs = ((number, number) for number in itertools.count())
    report = produce(place(tmp_path), RunPlan("toy"), ToyTask(0.001), jobs, ("positions", 50))
    assert report.ended == "goal"
    assert 50 <= report.count("positions") < 100
    again = produce(place(tmp_path), RunPlan("toy"), ToyTask(), numbered(range(10**6)), ("positions", 50))
    assert again == report


class Nothing:
    """A filter that finds all positions made before, from a job on, or all but a few, or not in every n-th job."""

    def __init__(self, first: int, kept: float = 0, every: int = 1) -> None:
        self.first, self.kept, self.every = first, kept, every

    def recall(self) -> None:
        pass

    def __call__(self, product):
        job = struct.unpack_from(JOB, product.content)[0]
        new = job < self.first or job // 5 % self.every
        return product if new else Product(product.content, {"positions": self.kept})


def test_an_unreachable_goal_is_an_error(tmp_path):
    """Endless jobs that make only known positions would never end; a finite supply of them ends normally."""
    jobs = ((number, 5 * number + 4) for number in itertools.count())
    arguments = (RunPlan("toy"), ToyTask(), jobs, ("positions", 10**6), Nothing(200))
    with pytest.raises(ValueError, match=f"last {BARREN_JOBS} jobs .* 1,000,000 positions will not be reached"):
        produce(place(tmp_path / "endless"), *arguments)
    for made, kept in ((4, 0.02), (0, 0)):
        jobs = ((number, 5 * number + made) for number in itertools.count())
        with pytest.raises(ValueError, match="have made almost nothing"):
            produce(place(tmp_path / str(made)), *arguments[:2], jobs, ("positions", 10**6), Nothing(0, kept))
    jobs = ((number, 5 * number + 4) for number in itertools.count())
    report = produce(place(tmp_path / "now and then"), *arguments[:2], jobs, ("positions", 200), Nothing(0, every=2))
    assert report.ended == "goal"
    some = ((number, 5 * number + 4) for number in range(99))
    report = produce(place(tmp_path / "some"), *arguments[:2], some, *arguments[3:], total=99)
    assert (report.ended, report.count("jobs"), report.count("positions")) == ("jobs", 99, 4 * 40)


def test_a_larger_goal_extends_a_run(tmp_path):
    for goal in (20, 40):
        report = produce(place(tmp_path), RunPlan("toy"), ToyTask(), numbered(range(10**6)), ("jobs", goal))
        assert goal <= report.count("jobs") < goal + 10
    ordered = place(tmp_path / "ordered", in_order=True)
    report = produce(ordered, RunPlan("toy"), ToyTask(), numbered(range(99)), ("jobs", 7))
    assert report.count("jobs") == 7  # exactly the job that reaches the goal is the last
    assert produce(ordered, RunPlan("toy"), ToyTask(), numbered(range(9))).count("jobs") == 9
    check_whole(ordered.folder, 9)


def test_a_limit_of_bytes_ends_a_run(tmp_path):
    report = produce(place(tmp_path, max_bytes=2000), RunPlan("toy"), ToyTask(), numbered(range(1000)))
    assert report.ended == "max_bytes"
    assert 1800 < report.count("bytes") <= 2000
    assert sum(path.stat().st_size for path in record_files([tmp_path])) == report.count("bytes")
    report = produce(place(tmp_path), RunPlan("toy"), ToyTask(), numbered(range(100)))
    assert report.ended == "jobs"
    check_whole(tmp_path, 100)
    full = place(tmp_path / "full", max_bytes=len(toy.content(0)))
    assert produce(full, RunPlan("toy"), ToyTask(), numbered(range(1))).count("jobs") == 1


class Counter:
    """A referee that ends the work after a number of jobs."""

    total = None

    def __init__(self, enough: int) -> None:
        self.enough, self.seen = enough, dict[int, int]()

    def see(self, number, counts):
        assert number not in self.seen
        self.seen[number] = counts["positions"]

    def has_enough(self):
        return len(self.seen) >= self.enough

    def measure(self):
        return len(self.seen), "jobs"


def test_a_referee_sees_every_job_once_and_ends_the_work(tmp_path):
    for enough in (20, 60, 60):
        referee = Counter(enough)
        report = produce(place(tmp_path), RunPlan("toy"), ToyTask(), numbered(range(1000)), referee=referee)
        assert report.ended == "referee"
        assert enough <= report.count("jobs") < enough + 20
        assert report.count("jobs") == len(referee.seen)
        assert report.count("positions") == sum(number % 5 for number in referee.seen) == sum(referee.seen.values())


def test_a_complete_folder_is_reported_and_its_results_are_returned(tmp_path, capsys):
    said = []
    for jobs in (5, 9, 9):
        produce(place(tmp_path), RunPlan("toy"), ToyTask(), numbered(range(jobs)), total=jobs, others="ask for more")
        said.append(capsys.readouterr().err)
    assert said[:2] == ["", ""]
    (line,) = said[2].splitlines()
    assert line.startswith(f"{tmp_path}: complete (9 of 9 jobs, ")
    assert line.endswith(", so nothing is added; ask for more")
    assert "positions/s" not in line
    referee = Counter(9)
    produce(place(tmp_path), RunPlan("toy"), ToyTask(), numbered(itertools.count()), referee=referee)
    assert capsys.readouterr().err == f"{tmp_path}: complete (jobs), so nothing is added\n"


def test_a_disk_without_room_refuses_work_and_not_the_results_of_a_complete_folder(tmp_path, monkeypatch):
    report = produce(place(tmp_path), RunPlan("toy"), ToyTask(), numbered(range(9)))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1_900_000_000))
    assert produce(place(tmp_path), RunPlan("toy"), ToyTask(), numbered(range(9))) == report
    with pytest.raises(OSError, match="make room"):
        produce(place(tmp_path), RunPlan("toy"), ToyTask(100), numbered(range(10)))


def test_a_failed_job_keeps_the_others(tmp_path, capsys):
    with pytest.raises(JobError, match="job 20: IndexError: no board -20"):
        produce(place(tmp_path), RunPlan("toy"), ToyTask(), numbered([*range(20), -20, *range(21, 99)]))
    assert "run the same command again to resume" in capsys.readouterr().err
    record = read_run(tmp_path)
    assert record.state == "failed"
    assert record.totals["jobs"] == lines_of(tmp_path) > 0
    produce(place(tmp_path, workers=2), RunPlan("toy"), ToyTask(), numbered(range(99)))
    check_whole(tmp_path, 99)


class UnevenTask(ToyTask):
    """Some jobs take longer than those after them; one of them may fail."""

    def __init__(self, failing: int | None = None) -> None:
        self.failing = failing

    def open(self):
        return UnevenWorker(self.failing)


class UnevenWorker(ToyWorker):
    def __init__(self, failing: int | None) -> None:
        super().__init__(0)
        self.failing = failing

    def run(self, job):
        self._stopped.wait(job * 7 % 5 / 1000)
        return super().run(-1 if job == self.failing else job)


def test_in_order_workers_and_interruptions_do_not_change_the_files(tmp_path):
    def made(name: str, workers: int, failing: int | None = None) -> dict[str, bytes]:
        ordered = place(tmp_path / name, workers=workers, shard_bytes=500, in_order=True)
        jobs = ((number, number) for number in itertools.count())
        produce(ordered, RunPlan("toy"), UnevenTask(failing), jobs, ("positions", 150))
        return {
            path.name: path.read_bytes()
            for path in ordered.folder.glob("*")
            if path.name[0] == "s" or path.name == RESULTS
        }

    whole = made("one", 1)
    assert sorted(whole) == [RESULTS, *(f"shard_{number:05}.hcpe" for number in range(len(whole) - 1))]
    assert len(whole) > 5
    assert made("five", 5) == whole
    for failing in (3, 20, 47):
        with pytest.raises(JobError, match=f"job {failing}: "):
            made("cut", 4, failing)
    assert list((tmp_path / "cut").glob("*.part"))  # which the next run continues to fill
    assert made("cut", 3) == whole
