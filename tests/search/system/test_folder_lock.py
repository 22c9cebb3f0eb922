"""Locks of folders: one holder at a time, and no lock file after a run that was refused."""

from __future__ import annotations

import os

import pytest

from search.system.folder_lock import FolderLock, hold


def test_a_lock_has_one_holder_at_a_time(tmp_path):
    with FolderLock(tmp_path / "run"), pytest.raises(ValueError, match="another run is at work here"):
        FolderLock(tmp_path / "run").take()
    with FolderLock(tmp_path / "run"):
        pass


def test_a_file_in_the_place_of_a_folder_is_reported(tmp_path):
    """The error is not "File exists", which would not say what is wrong."""
    (tmp_path / "run").touch()
    for place in (tmp_path / "run", tmp_path / "run" / "below"):
        with pytest.raises(OSError, match="Not a directory"):
            FolderLock(place).take()


def test_a_holder_without_a_process_number_is_not_named(tmp_path):
    (tmp_path / "run.lock").write_bytes(b"\xe5\x8d\x83\xff\n")
    with hold(tmp_path / "run.lock", "wait"), pytest.raises(ValueError, match="another run is at work here; "):
        FolderLock(tmp_path).take()


def test_a_full_disk_is_reported_with_the_lock_file_and_leaves_no_lock(tmp_path):
    resource = pytest.importorskip("resource", reason="limits of files are POSIX's")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            FolderLock(tmp_path).take()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.filename == str(tmp_path / "run.lock")
    with FolderLock(tmp_path):
        assert (tmp_path / "run.lock").read_text() == f"{os.getpid()}\n"


@pytest.mark.parametrize(("made", "left"), [([], []), (["log.jsonl"], ["log.jsonl", "run.lock"])])
def test_a_run_that_fails_before_it_writes_leaves_no_lock_file(tmp_path, made, left):
    def run() -> None:
        with FolderLock(tmp_path):
            for name in made:
                (tmp_path / name).touch()
            raise OSError("no game")

    with pytest.raises(OSError, match="no game"):
        run()
    assert sorted(path.name for path in tmp_path.iterdir()) == left
