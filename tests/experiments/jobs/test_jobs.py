"""Jobs on threads: all of them once, no more drawn than is useful, and an end at once when one is wanted."""

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


def test_every_job_comes_back_once():
    found = dict(run_jobs(ToyTask(0.001), numbered(range(50)), workers=3))
    assert found.keys() == set(range(50))
    assert all(product.content == content(number) for number, product in found.items())


def test_an_endless_supply_is_drawn_as_it_is_used():
    drawn = itertools.count()
    jobs = ((number, number) for number in drawn)
    running = run_jobs(ToyTask(), jobs, workers=3)
    for taken in range(1, 21):
        next(running)
        assert next(drawn) - 2 * taken < 2 * 3 + taken  # the probe draws one each time, too
    running.close()


def test_a_worker_is_opened_once_a_thread():
    threads, opened, together = set(), [], threading.Barrier(3)

    class Task(ToyTask):
        def open(self):
            opened.append(threading.current_thread())
            return self

        def run(self, job):
            if threading.current_thread() not in threads:
                threads.add(threading.current_thread())
                together.wait(60)  # else two might have done all before the third begins
            return Product(b"", {})

        def stop(self):
            pass

    assert len(list(run_jobs(Task(), numbered(range(30)), workers=3))) == 30
    assert len(opened) == len(set(opened)) == len(threads) == 3


def test_a_failure_names_the_job_and_what_came_before_it_comes():
    running = run_jobs(ToyTask(), numbered([0, 1, -7, *range(3, 1000)]), workers=1)
    assert [next(running)[0], next(running)[0]] == [0, 1]
    with pytest.raises(JobError, match=r"job 2: IndexError: no board -7 \(.*toy\.py, line \d+\)$"):
        next(running)


def test_a_worker_that_cannot_open_is_a_failure():
    class Task(ToyTask):
        def open(self):
            raise MemoryError("no table")

    with pytest.raises(JobError, match="job 0: MemoryError: no table"):
        list(run_jobs(Task(), numbered(range(3)), workers=1))


def test_a_worker_that_stops_unasked_is_a_failure():
    class Task(ToyTask):
        def open(self):
            worker = super().open()
            worker.stop()
            return worker

    with pytest.raises(JobError, match="job 0: Stopped"):
        list(run_jobs(Task(), numbered(range(3)), workers=1))


def test_a_wish_to_stop_ends_long_jobs_and_threads():
    before = threading.active_count()
    wished = threading.Event()
    timer = threading.Timer(0.3, wished.set)
    timer.start()
    assert not list(run_jobs(ToyTask(100), numbered(range(9)), workers=4, stop=wished.is_set))
    timer.join()
    assert threading.active_count() == before


def test_what_is_whole_comes_after_a_wish_to_stop():
    """The first product is taken late, when all are whole."""
    done, found, wished = [], [], []

    class Task(ToyTask):
        def open(self):
            return self

        def run(self, job):
            done.append(job)
            return Product(b"", {})

        def stop(self):
            pass

    for number, _ in run_jobs(Task(), numbered(range(6)), workers=3, stop=lambda: bool(wished)):
        while len(done) < 6:
            time.sleep(0.01)
        wished.append(True)
        found.append(number)
    assert sorted(found) == list(range(6))


def test_what_is_under_way_and_can_be_ended_well_comes_too():
    told, wished = threading.Event(), threading.Event()

    class Patient:
        def open(self):
            return self

        def run(self, job):
            assert job == 0 or told.wait(20)
            return Product(b"", {})

        def stop(self):
            told.set()

    found = []
    for number, _ in run_jobs(Patient(), numbered(range(2)), workers=1, stop=wished.is_set):
        wished.set()
        found.append(number)
    assert found == [0, 1]


def test_a_closed_generator_leaves_no_threads():
    before = threading.active_count()
    running = run_jobs(ToyTask(0.05), numbered(itertools.count()), workers=4)
    next(running)
    running.close()
    assert threading.active_count() == before


def test_no_workers_do_nothing():
    with pytest.raises(ValueError, match="0 workers: at least 1"):
        next(run_jobs(ToyTask(), numbered([1]), workers=0))


def test_ray_is_imported_where_it_is_asked_for():
    script = (
        "import sys; sys.modules['ray'] = None\n"
        "from experiments.jobs.jobs import run_jobs\n"
        "from tests.experiments.jobs.toy import ToyTask\n"
        "assert len(list(run_jobs(ToyTask(), [(0, 0)], 1))) == 1\n"
        "try: next(run_jobs(ToyTask(), [(0, 0)], 1, 'auto'))\n"
        "except ModuleNotFoundError as error: print(error.name)\n"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "ray\n"
