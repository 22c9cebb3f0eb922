"""Workers in threads of this process, for jobs that spend their time in compiled code, without the GIL."""

from __future__ import annotations

import errno
import queue
import threading
import time
from typing import Any

from experiments.jobs.protocol import Failure, Product, Stopped, Task, Worker, failure_line
from search.system.threads import started

PATIENCE_SECONDS = 20.0
"""Seconds that workers have to end after a request to stop: one that compiles cannot be interrupted."""


class Threads:
    """Workers in threads of this process, fewer where the system starts no more. Raises OSError if it starts none."""

    def __init__(self, task: Task, workers: int) -> None:
        if workers < 1:
            raise ValueError(f"{workers} workers: at least 1 is needed")
        self._task = task
        self._jobs: queue.SimpleQueue[tuple[int, Any] | None] = queue.SimpleQueue()
        self._back: queue.SimpleQueue[tuple[int, Product | Failure]] = queue.SimpleQueue()
        self._opened: list[Worker] = []
        self._stopping = threading.Event()
        # Daemons, so that a thread that does not end cannot block the end of the process.
        self._threads: list[threading.Thread] = []
        while len(self._threads) < workers and (thread := started(threading.Thread(target=self._work))) is not None:
            self._threads.append(thread)
        if not self._threads:
            raise OSError(errno.EAGAIN, "The system starts no more threads: end other programs, or raise its limit")

    def capacity(self) -> int:
        return 2 * len(self._threads)

    def submit(self, number: int, job: Any) -> None:
        self._jobs.put((number, job))

    def take(self, seconds: float) -> tuple[int, Product | Failure] | None:
        try:
            return self._back.get(timeout=seconds) if seconds else self._back.get_nowait()
        except queue.Empty:
            return None

    def stop(self) -> None:
        self._stopping.set()
        for _ in self._threads:
            self._jobs.put(None)
        end = time.monotonic() + PATIENCE_SECONDS
        while any(thread.is_alive() for thread in self._threads) and time.monotonic() < end:
            for worker in list(self._opened):
                worker.stop()  # again each time: the first request may have come between two jobs
            for thread in self._threads:
                thread.join(0.01)

    def _work(self) -> None:
        worker: Worker | None = None
        while (drawn := self._jobs.get()) is not None and not self._stopping.is_set():
            number, job = drawn
            try:
                if worker is None:
                    worker = self._task.open()
                    self._opened.append(worker)
                self._back.put((number, worker.run(job)))
            except BaseException as error:
                if isinstance(error, Stopped) and self._stopping.is_set():
                    return
                self._back.put((number, Failure(failure_line(error))))
                return
