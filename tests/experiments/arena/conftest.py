"""Skips games through ShogiArena where it does not start."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.arena.process import check_arena

PLAYING = ("test_arena_games.py", "test_match.py", "test_tournament.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests that play through ShogiArena where it does not start."""
    try:
        check_arena()
    except ValueError as error:
        for item in items:
            if item.path.parent == Path(__file__).parent and item.path.name in PLAYING:
                item.add_marker(pytest.mark.skip(reason=str(error)))
