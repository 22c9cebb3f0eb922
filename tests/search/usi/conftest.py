"""A USI session in this process, ready to play."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.usi_session import InProcess


@pytest.fixture
def session() -> Iterator[InProcess]:
    session = InProcess()
    session.send("setoption name USI_Hash value 2", "isready").until("readyok")
    yield session
    session.usi.close()
