"""Jobs on a Ray cluster: each takes one CPU, and jobs of a lost node are done again on another.

The machines need nothing but Ray and this program, with the same sources as this machine, which each of them checks.
The task is sent to each once, and its worker stays open between jobs. Products come back to this machine, which alone
writes files.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import sys
import threading
import time
from collections import deque
from contextlib import ExitStack, redirect_stdout, suppress
from dataclasses import dataclass, field
from typing import Any

import ray

from experiments.jobs.protocol import Failure, Product, Task, Worker, failure_line
from search.compiling.source_digest import program_digest

LOSSES = 20
"""Times that a job may lose its process or node before the job itself counts as the cause."""
_ASK_SECONDS = 5.0
_opened: dict[str, Worker] = {}
"""In a process of the cluster: the open worker, by its task."""


class Cluster:
    """The CPUs of the cluster at an address. Raises ConnectionError if none answers there."""

    def __init__(self, task: Task, address: str) -> None:
        self._joined = ExitStack()
        # Ray reports lost nodes on stdout, where figures go.
        self._joined.enter_context(redirect_stdout(sys.stderr))
        before = signal.getsignal(signal.SIGTERM)
        os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")  # errors of jobs that are no longer awaited
        try:
            _knock(address)
            ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False, runtime_env=_environment())
        except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
            self._joined.close()
            why = str(error).strip().partition("\n")[0]
            raise ConnectionError(
                f"Ray at {address}: no cluster answers there ({why}); start one with `ray start --head`"
            ) from None
        self._joined.callback(ray.shutdown)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)  # Ray has replaced the handler
        # In a tuple: an object that is passed by itself is sent along with every job.
        self._task = (ray.put(task),)
        self._here = _Site()
        self._do = ray.remote(num_cpus=1, max_retries=LOSSES)(_do)
        self._numbers: dict[Any, int] = {}
        self._back: deque[tuple[int, Product | Failure]] = deque()
        self._capacity, self._asked = 0, float("-inf")

    def capacity(self) -> int:
        """Return two for each CPU. Callers call this again at intervals, because machines come and go."""
        if time.monotonic() - self._asked >= _ASK_SECONDS:
            self._asked = time.monotonic()
            self._capacity = 2 * max(1, int(ray.cluster_resources().get("CPU", 0)))
        return self._capacity

    def submit(self, number: int, job: Any) -> None:
        self._numbers[self._do.remote(self._task, self._here, job)] = number

    def take(self, seconds: float) -> tuple[int, Product | Failure] | None:
        if not self._back:
            self._fetch(seconds)
        return self._back.popleft() if self._back else None

    def stop(self) -> None:
        """Leave the cluster, which ends the processes that worked for this one."""
        try:
            self._fetch(0)
        finally:
            self._numbers.clear()
            self._joined.close()

    def _fetch(self, seconds: float) -> None:
        """Get all jobs that are done, after waiting at most `seconds` for the first."""
        waiting = list(self._numbers)
        if not waiting or not ray.wait(waiting, num_returns=1, timeout=seconds)[0]:
            return
        for reference in ray.wait(waiting, num_returns=len(waiting), timeout=0)[0]:
            number = self._numbers.pop(reference)
            try:
                self._back.append((number, ray.get(reference)))
            except ray.exceptions.RayError as error:
                self._back.append((number, Failure(_line_of(error))))


def _line_of(error: ray.exceptions.RayError) -> str:
    """Return one line of Ray's message. Errors of a job come back as a Failure; a traceback is of a process that cannot
    even read the job."""
    lines = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip().splitlines() or [type(error).__name__]
    if not isinstance(error, ray.exceptions.RayTaskError):
        return lines[0]
    node = re.search(r"ip=([^,)\s]+)", lines[0])
    return f"{node[1] if node else 'a node'}: {lines[-1].strip()}; is the same LiteShogi installed there?"


def _environment() -> dict[str, Any] | None:
    """Return the environment of the cluster's processes: that in which Ray was started, with this process's directory
    of compiled code."""
    chosen = os.environ.get("LITESHOGI_CACHE")
    return {"env_vars": {"LITESHOGI_CACHE": os.path.abspath(chosen)}} if chosen else None


def _knock(address: str) -> None:
    """Raise OSError if nothing listens at `host:port`, which Ray takes two minutes to find out."""
    host, _, port = address.rpartition(":")
    if port.isdigit() and "//" not in address:
        socket.create_connection((host, int(port)), timeout=10).close()


@dataclass(frozen=True)
class _Site:
    """A process's machine and program: other sources of the program could silently make other records."""

    host: str = field(default_factory=socket.gethostname)
    digest: str = field(default_factory=program_digest)
    directory: str = field(default_factory=os.getcwd)


def _do(task: tuple[Any], asked: _Site, job: Any) -> Product | Failure:
    """Do a job in a process of the cluster."""
    key = task[0].hex()
    try:
        if key not in _opened:
            here = _Site()
            if here.digest != asked.digest:
                words = f"{here.host} has other sources of LiteShogi than {asked.host}: install the same on both"
                return Failure(words)
            with suppress(OSError):  # machines that share files have them under the same names
                os.chdir(asked.directory)
            _opened.clear()
            _opened[key] = ray.get(task[0]).open()
        return _opened[key].run(job)
    except Exception as error:
        return Failure(failure_line(error))
