"""Many games against itself through the real process: legal moves, no loss on time, constant memory."""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

import pytest

from tests.soak.activities import play


def resident_kilobytes(process) -> int:
    """Return the memory of a process."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))


def begun(start, threads: int = 1):
    session = start()
    session.send("usi").until("usiok")
    session.send("setoption name USI_Hash value 8", f"setoption name Threads value {threads}")
    session.send("setoption name USI_Ponder value true", "isready").until("readyok")
    return session


def test_games_of_few_nodes_have_legal_moves(start):
    session, generator = begun(start), random.Random(1)
    endings = [play(session, generator, "go nodes 50", 150) for _ in range(6)]
    assert all(plies > 20 for _, plies in endings)
    session.send("quit")
    assert session.ended() == 0


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads memory from /proc")
@pytest.mark.parametrize("threads", [1, 2])
def test_memory_is_constant_over_three_hundred_games(start, threads):
    session, generator = begun(start, threads), random.Random(2)
    held = []
    for _ in range(300):
        play(session, generator, "go nodes 200")
        held.append(resident_kilobytes(session.process))
    first, last = max(held[10:30]), max(held[-20:])
    assert last < first + 4_000, f"grew from {first} to {last} kB"


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_no_game_by_the_clock_is_lost_on_time(start):
    """50 ms of byoyomi minus a busy machine's delay; the delays of engine and pipe count together."""
    session, generator = begun(start), random.Random(3)
    session.send("setoption name NetworkDelay value 0", "setoption name NetworkDelay2 value 0")
    late = 0.0

    class Timed:
        """A session that measures the time from `go` to `bestmove`."""

        def send(self, *lines: str) -> None:
            self.asked = time.perf_counter()
            session.send(*lines)

        def bestmove(self) -> str:
            nonlocal late
            move: str = session.bestmove()
            late = max(late, time.perf_counter() - self.asked - 0.05)
            return move

    for _ in range(20):
        play(Timed(), generator, "go btime 0 wtime 0 byoyomi 50")
    assert late < 1
    print(f"latest answer {1000 * late:.0f} ms past the clock")
