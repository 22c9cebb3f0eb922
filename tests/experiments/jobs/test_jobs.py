"""Jobs on threads: each runs once, few are drawn ahead, and a request to stop ends them at once."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
import time

import pytest

from experiments.jobs.jobs import run_jobs
from experiments.jobs.protocol import JobError, Product
from tests.experiments.jobs.toy import ToyTask, content


def numbered(jobs):
    return enumerate(jobs)


def test_every_job_returns_once():
    found = dict(run_jobs(ToyTask(0.001), numbered(range(50)), workers=3))
    assert found.keys() == set(range(50))
    assert all(product.content == content(number) for number, product in found.items())


def test_jobs_of_an_endless_supply_are_drawn_as_needed():
    drawn = itertools.count()
    jobs = ((number, number) for number in drawn)
    running = run_jobs(ToyTask(), jobs, workers=3)
    for taken in range(1, 21):
        next(running)
        assert next(drawn) - 2 * taken < 2 * 3 + taken  # the test itself draws one each time
    running.close()


def test_a_worker_is_opened_once_per_thread():
    threads, opened, together = set(), [], threading.Barrier(3)

    class Task(ToyTask):
        def open(self):
            opened.append(threading.current_thread())
            return self

        def run(self, job):
            if threading.current_thread() not in threads:
                threads.add(threading.current_thread())
                together.wait(60)  # otherwise two threads might complete all jobs before the third begins
            return Product(b"", {})

        def stop(self):
            pass

    assert len(list(run_jobs(Task(), numbered(range(30)), workers=3))) == 30
    assert len(opened) == len(set(opened)) == len(threads) == 3


def test_a_failure_names_the_job_after_returning_earlier_ones():
    running = run_jobs(ToyTask(), numbered([0, 1, -7, *range(3, 1000)]), workers=1)
    assert [next(running)[0], next(running)[0]] == [0, 1]
    with pytest.raises(JobError, match=r"job 2: IndexError: no board -7 \(.*toy\.py, line \d+\)$"):
        next(running)


def test_the_place_of_an_error_for_users_is_left_out():
    class Task(ToyTask):
        def open(self):
            raise ValueError("engine: ended before bestmove")

    with pytest.raises(JobError, match=r"^job 0: engine: ended before bestmove$"):
        list(run_jobs(Task(), numbered(range(3)), workers=1))


def test_an_error_while_opening_a_worker_is_a_failure():
    class Task(ToyTask):
        def open(self):
            raise MemoryError("no table")

    with pytest.raises(JobError, match="job 0: MemoryError: no table"):
        list(run_jobs(Task(), numbered(range(3)), workers=1))


def test_a_worker_that_stops_without_a_request_is_a_failure():
    class Task(ToyTask):
        def open(self):
            worker = super().open()
            worker.stop()
            return worker

    with pytest.raises(JobError, match="job 0: Stopped"):
        list(run_jobs(Task(), numbered(range(3)), workers=1))


def test_a_request_to_stop_ends_long_jobs_and_threads():
    before = threading.active_count()
    requested = threading.Event()
    timer = threading.Timer(0.3, requested.set)
    timer.start()
    assert not list(run_jobs(ToyTask(100), numbered(range(9)), workers=4, stop=requested.is_set))
    timer.join()
    assert threading.active_count() == before


def test_completed_jobs_are_returned_after_a_request_to_stop():
    """The first product is taken when all jobs are complete."""
    done, found, requested = [], [], []

    class Task(ToyTask):
        def open(self):
            return self

        def run(self, job):
            done.append(job)
            return Product(b"", {})

        def stop(self):
            pass

    for number, _ in run_jobs(Task(), numbered(range(6)), workers=3, stop=lambda: bool(requested)):
        while len(done) < 6:
            time.sleep(0.01)
        requested.append(True)
        found.append(number)
    assert sorted(found) == list(range(6))


def test_running_jobs_that_complete_are_returned_after_a_request_to_stop():
    stopped, requested = threading.Event(), threading.Event()

    class Patient:
        def open(self):
            return self

        def run(self, job):
            assert job == 0 or stopped.wait(20)
            return Product(b"", {})

        def stop(self):
            stopped.set()

    found = []
    for number, _ in run_jobs(Patient(), numbered(range(2)), workers=1, stop=requested.is_set):
        requested.set()
        found.append(number)
    assert found == [0, 1]


def test_a_closed_generator_leaves_no_threads():
    before = threading.active_count()
    running = run_jobs(ToyTask(0.05), numbered(itertools.count()), workers=4)
    next(running)
    running.close()
    assert threading.active_count() == before


def test_zero_workers_are_refused():
    with pytest.raises(ValueError, match="0 workers: at least 1"):
        next(run_jobs(ToyTask(), numbered([1]), workers=0))


@pytest.mark.parametrize("most", [0, 2])
def test_the_threads_that_the_system_starts_do_all_jobs(most, monkeypatch):
    start, begun = threading.Thread.start, []

    def limited(thread):
        if len(begun) == most:
            raise RuntimeError("can't start new thread")
        begun.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    running = run_jobs(ToyTask(), numbered(range(9)), workers=5)
    if most:
        assert sorted(number for number, _ in running) == list(range(9))
    else:
        with pytest.raises(OSError, match="threads"):
            next(running)


def test_ray_is_imported_only_on_request():
    script = (
        "import sys; sys.modules['ray'] = None\n"
        "from experiments.jobs.jobs import run_jobs\n"
        "from tests.experiments.jobs.toy import ToyTask\n"
        "assert len(list(run_jobs(ToyTask(), [(0, 0)], 1))) == 1\n"
        "try: next(run_jobs(ToyTask(), [(0, 0)], 1, 'auto'))\n"
        "except ModuleNotFoundError as error: print(error.name)\n"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "ray\n"
