"""Fixtures for tests of the cache: users, and messages to the user."""

from __future__ import annotations

import os

import pytest

from search.compiling import cache_directory
from search.compiling.progress import PROGRESS

UNKNOWN_USER = 54321
posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes of POSIX")
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can change the user")


@pytest.fixture
def reported(monkeypatch) -> list[str]:
    """The messages to the user, without those of progress, which depend on time."""
    messages: list[str] = []
    monkeypatch.setattr(PROGRESS, "watched", True)
    monkeypatch.setattr(cache_directory, "_listeners", [messages.append])
    monkeypatch.setattr(cache_directory, "_reported", set())
    return messages
