"""The directory of compiled code: the first candidate that belongs to the user and that no other user can write to."""

from __future__ import annotations

import os
import sys

import pytest

from search.compiling import cache_directory
from tests.search.compiling.conftest import UNKNOWN_USER, as_root, posix


@pytest.fixture
def homeless(monkeypatch, tmp_path, reported):
    """Set LITESHOGI_CACHE to tmp_path/place and the home directory to tmp_path."""
    monkeypatch.setenv("LITESHOGI_CACHE", str(tmp_path / "place"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    return tmp_path / "place"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="caches lie elsewhere there")
def test_a_relative_place_for_caches_is_ignored(monkeypatch, tmp_path, reported):
    monkeypatch.setenv("LITESHOGI_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_directory.choose_directory() == tmp_path / ".cache" / "liteshogi"
    assert not reported


@posix
@pytest.mark.parametrize("mode", [0o770, 0o777, 0o1777, 0o702])
def test_a_directory_that_others_may_write_to_is_refused(homeless, reported, mode):
    homeless.mkdir()
    homeless.chmod(mode)
    assert cache_directory.choose_directory() == homeless.parent / "home" / "liteshogi"
    assert len(reported) == 1
    assert str(homeless) in reported[0]
    homeless.chmod(0o755)
    assert cache_directory.choose_directory() == homeless


@posix
@as_root
def test_a_directory_or_a_link_of_others_is_refused(homeless, reported, monkeypatch):
    theirs = homeless.parent / "theirs"
    theirs.mkdir()
    os.chown(theirs, UNKNOWN_USER, -1)
    homeless.symlink_to(theirs)
    fallback = homeless.parent / "home" / "liteshogi"
    assert cache_directory.choose_directory() == fallback
    os.chown(theirs, 0, -1)
    assert cache_directory.choose_directory() == theirs, "a link and a directory of the same user"
    os.lchown(homeless, UNKNOWN_USER, -1)
    assert cache_directory.choose_directory() == fallback
    assert "belongs to another user" in reported[0]


def test_without_any_directory_nothing_is_stored(homeless, reported, monkeypatch):
    for path in (homeless, homeless.parent / "home", homeless.parent / "temporary"):
        path.touch()
    monkeypatch.setattr("tempfile.tempdir", str(homeless.parent / "temporary"))
    assert cache_directory.choose_directory() == cache_directory.NOWHERE
    assert len(reported) == 1
