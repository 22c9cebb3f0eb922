"""Openings as files hold them."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.games.openings import read_openings

LINES = ("startpos", "startpos moves 7g7f 3c3d", "4k4/9/9/9/9/9/9/5R3/8K b - 1")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_openings_are_read_whatever_editor_wrote_them(tmp_path: Path, encoding: str, end: str) -> None:
    """Those of Windows begin a file with a mark of its encoding."""
    path = tmp_path / "openings.txt"
    path.write_bytes(end.join((*LINES, "# 平手", "")).encode(encoding))
    assert read_openings(path) == LINES
