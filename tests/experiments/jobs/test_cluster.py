"""Jobs on a Ray cluster of two nodes on this machine: every job is stored once if nodes or processes are lost."""

from __future__ import annotations

import importlib
import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from experiments.jobs.jobs import run_jobs
from experiments.jobs.protocol import JobError, Product
from tests.experiments.jobs.test_produce import check_whole, lines_of, start
from tests.experiments.jobs.toy import ToyTask, content

pytestmark = pytest.mark.slow
SAMPLE = Path(__file__).parents[3] / "experiments" / "sample" / "valid_sample.hcpe3"


@pytest.fixture
def node(cluster: Any) -> Iterator[Any]:
    """A second node, with two CPUs."""
    made = cluster.add_node(num_cpus=2)
    yield made
    if made in cluster.worker_nodes:
        cluster.remove_node(made)


def wait_for_lines(process: subprocess.Popen[str], folder: Path, count: int) -> None:
    end = time.monotonic() + 200
    while lines_of(folder) < count:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.timeout(600)
def test_a_lost_node_loses_no_job(cluster, node, tmp_path):
    with start(tmp_path, 300, 50, 0, cluster.address) as process:
        wait_for_lines(process, tmp_path, 60)
        cluster.remove_node(node, allow_graceful=False)
        left = lines_of(tmp_path)
        figures, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert left < 200
    assert not figures, "standard output is for figures only"
    check_whole(tmp_path, 300)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_the_run_but_not_the_cluster_and_it_resumes(cluster, node, tmp_path, name):
    with start(tmp_path, 60, 200, 0, cluster.address) as process:
        wait_for_lines(process, tmp_path, 6)
        process.send_signal(getattr(signal, name))
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "run the same command again to resume" in errors
    assert not list(tmp_path.glob("*.part"))
    assert 6 <= lines_of(tmp_path) < 60
    with start(tmp_path, 60) as process:
        assert process.wait(60) == 0
    check_whole(tmp_path, 60)


@dataclass(frozen=True)
class Fragile:
    """A task that kills its process at job 5, the first time or always."""

    mark: Path
    always: bool

    def open(self) -> Fragile:
        with open(self.mark.with_name("opened"), "a") as file:
            print(os.getpid(), file=file)
        return self

    def run(self, job: int) -> Product:
        if job == 5 and (self.always or not self.mark.exists()):
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return Product(content(job) * 10_000, {})

    def stop(self) -> None:
        pass


def test_a_lost_process_loses_no_job_and_a_worker_opens_once(cluster, node, tmp_path):
    """The products are too large for messages of Ray."""
    found = dict(run_jobs(Fragile(tmp_path / "died", False), enumerate(range(40)), 1, cluster.address))
    assert found.keys() == set(range(40))
    assert all(product.content == content(number) * 10_000 for number, product in found.items())
    assert (tmp_path / "died").exists()
    opened = (tmp_path / "opened").read_text().split()
    assert len(opened) == len(set(opened)) < 20


def test_a_job_that_always_kills_its_process_is_named(cluster, tmp_path, monkeypatch):
    pytest.importorskip("ray")
    monkeypatch.setattr("experiments.jobs.cluster.LOSSES", 2)
    with pytest.raises(JobError, match="job 5: "):
        list(run_jobs(Fragile(tmp_path / "died", True), enumerate(range(12)), 1, cluster.address))


def test_a_failure_names_the_job_and_its_place(cluster):
    with pytest.raises(JobError, match=r"job 3: IndexError: no board -7 \(.*toy\.py, line \d+\)$"):
        list(run_jobs(ToyTask(), enumerate([0, 1, 2, -7]), 1, cluster.address))


def test_a_machine_with_other_sources_is_refused(cluster, monkeypatch):
    """The collecting machine has another digest of the sources than the node."""
    module = pytest.importorskip("experiments.jobs.cluster")
    here = module._Site(digest="of another version")
    monkeypatch.setattr(module, "_Site", lambda: here)
    with pytest.raises(
        JobError, match=r"job 0: \S+ has other sources of LiteShogi than \S+: install the same on both$"
    ):
        list(run_jobs(ToyTask(), enumerate(range(3)), 1, cluster.address))


def test_an_error_names_a_machine_that_cannot_read_a_job(cluster, monkeypatch, tmp_path, capfd):
    """The node lacks the module of the job."""
    (tmp_path / "not_there.py").write_text("class Job: pass")
    monkeypatch.syspath_prepend(str(tmp_path))
    job = importlib.import_module("not_there").Job()
    wanted = (
        r"job \d: [\d.]+: ModuleNotFoundError: No module named 'not_there'; is the same LiteShogi installed there\?$"
    )
    with pytest.raises(JobError, match=wanted):
        list(run_jobs(ToyTask(), enumerate([job] * 3), 1, cluster.address))
    assert capfd.readouterr().err == ""


class Caches:
    """A task that returns the directory of compiled code in a process of the cluster."""

    def open(self) -> Caches:
        return self

    def run(self, job: int) -> Product:
        from search.compiling.jit import CACHE_DIRECTORY

        return Product(str(CACHE_DIRECTORY.parent).encode())

    def stop(self) -> None:
        pass


def test_compiled_code_is_stored_in_the_directory_of_the_user(cluster, monkeypatch, tmp_path):
    """Ray itself was started with another directory."""
    monkeypatch.setenv("LITESHOGI_CACHE", str(tmp_path))
    ((_, product),) = run_jobs(Caches(), [(0, 0)], 1, cluster.address)
    assert product.content == str(tmp_path.resolve()).encode()


def test_jobs_of_an_endless_supply_are_drawn_as_needed(cluster, node):
    drawn = itertools.count()
    with closing(run_jobs(ToyTask(), ((number, number) for number in drawn), 1, cluster.address)) as running:
        for _ in range(10):
            next(running)
        assert next(drawn) < 10 + 2 * 3 + 1


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nonsense", "no.such.host.invalid:6379"])
def test_a_missing_cluster_is_reported_in_one_line(address):
    pytest.importorskip("ray")
    with pytest.raises(ConnectionError, match=rf"Ray at {address}: no cluster answers there \(.*\); start one"):
        list(run_jobs(ToyTask(), enumerate([0]), 1, address))


@pytest.mark.timeout(600)
def test_a_cluster_makes_the_records_that_threads_make(cluster, node, tmp_path):
    """The verb runs in its own process, and a node is lost meanwhile."""
    command = [
        *(sys.executable, "-m", "liteshogi", "expand", str(SAMPLE)),
        *("--label", "search", "--nodes", "200", "--random", "1", "--tree", "1", "--settled", "0.3", "-o"),
    ]
    with subprocess.Popen(
        [*command, str(tmp_path / "ray"), "--ray", cluster.address], stdout=subprocess.DEVNULL
    ) as made:
        wait_for_lines(made, tmp_path / "ray", 2)
        cluster.remove_node(node, allow_graceful=False)
        left = lines_of(tmp_path / "ray")
        assert made.wait(300) == 0
    assert left < lines_of(tmp_path / "ray")
    subprocess.run([*command, str(tmp_path / "threads")], check=True, stdout=subprocess.DEVNULL)
    one, other = (records_of(tmp_path / name) for name in ("ray", "threads"))
    assert len(one) == len(set(one)) > 5_000
    # If two jobs label one position, the first to finish is stored.
    assert {record[:32] for record in one} == {record[:32] for record in other}
    assert len(set(one) & set(other)) > 0.99 * len(one)


def records_of(folder: Path) -> list[bytes]:
    """Return the 38 bytes of each record."""
    raw = b"".join(path.read_bytes() for path in sorted(folder.glob("*.hcpe")))
    return [raw[at : at + 38] for at in range(0, len(raw), 38)]
