"""Whom a cache may belong to, and what the user is told of it."""

from __future__ import annotations

import os

import pytest

from search.compiling import cache_directory

NOBODY = 54321
posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes of POSIX")
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be somebody else")


@pytest.fixture
def said(monkeypatch) -> list[str]:
    """What the user was told."""
    heard: list[str] = []
    monkeypatch.setattr(cache_directory, "say", heard.append)
    monkeypatch.setattr(cache_directory, "_said", set())
    return heard
