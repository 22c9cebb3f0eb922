"""Fixtures: USI sessions, and a check that a move is legal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from tests.usi_session import InProcess, Process


@pytest.fixture(scope="session")
def new_protocol() -> Callable[[], InProcess]:
    """new_protocol(): a session in this process, ready, with a small table."""

    def begin() -> InProcess:
        session = InProcess()
        session.send("setoption name USI_Hash value 2").settle()
        return session

    return begin


@pytest.fixture
def protocol(new_protocol) -> Iterator[InProcess]:
    """Return a session in this process; it is closed at the end of the test."""
    session: InProcess = new_protocol()
    yield session
    session.usi.close()


@pytest.fixture
def start() -> Iterator[Callable[..., Process]]:
    """start(*python_arguments, flags=(), **environment): a process; all are killed when the test is over."""
    started: list[Process] = []

    def begin(*arguments: str, flags: Sequence[str] = (), **environment: str) -> Process:
        started.append(Process(*arguments, flags=flags, **environment))
        return started[-1]

    yield begin
    for process in started:
        process.kill()


@pytest.fixture(scope="session")
def is_legal_in() -> Callable[[str, str], bool]:
    """is_legal_in(position, move): whether a USI move is legal after `startpos moves ...` or `sfen ... moves ...`."""
    from search.rules.movegen import is_legal
    from search.rules.position import do_move
    from search.rules.sfen import move_from_usi, position_from_sfen

    def check(position: str, move: str) -> bool:
        start, _, moves = position.partition("moves")
        pos = position_from_sfen(start.strip())
        for usi in moves.split():
            do_move(pos, np.int64(move_from_usi(usi)))
        return bool(is_legal(pos, np.int64(move_from_usi(move))))

    return check
