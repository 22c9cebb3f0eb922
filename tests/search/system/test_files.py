"""Files are written completely or not at all, and every error names the file that the caller named."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from search.system.files import (
    WholeFile,
    check_output,
    files_below,
    refuse_unwritable,
    require_file,
    write_atomically,
)
from search.system.options import OptionError


@contextlib.contextmanager
def few_bytes() -> Iterator[None]:
    """Limit files to 1,000 bytes, pytest's own output too: the system's own way to run out of space."""
    resource = pytest.importorskip("resource", reason="limits of files are POSIX's")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_file_is_replaced_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "a.bin"
    write_atomically(path, b"old")
    with WholeFile(path) as file:
        file.write(b"ne")
        file.write(memoryview(b"w"))
        assert path.read_bytes() == b"old"
        file.finish()
        assert path.read_bytes() == b"old"
        assert file.part.read_bytes() == b"new"
    assert path.read_bytes() == b"new"
    assert [child.name for child in path.parent.iterdir()] == ["a.bin"]
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_an_error_in_the_block_is_unchanged_and_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with pytest.raises(FileNotFoundError, match="elsewhere"), WholeFile(path):
        open(tmp_path / "elsewhere").close()
    assert path.read_bytes() == b"old"
    assert [child.name for child in tmp_path.iterdir()] == ["a.bin"]


@pytest.mark.parametrize("size", [2000, 200_000])
def test_a_file_that_grows_too_large_is_named(tmp_path: Path, size: int) -> None:
    """2,000 bytes stay in the buffer until the end, 200,000 do not."""
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with few_bytes(), pytest.raises(OSError, match="File too large") as caught:
        write_atomically(path, bytes(size))
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(path))
    assert path.read_bytes() == b"old"
    assert [child.name for child in tmp_path.iterdir()] == ["a.bin"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_every_step_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, number: int) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, step, refuse)
    with pytest.raises(OSError, match=r"a\.bin") as caught:
        write_atomically(tmp_path / "a.bin", b"content")
    assert (caught.value.errno, caught.value.filename) == (number, str(tmp_path / "a.bin"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_an_unwritable_output_is_reported_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(path: Path, *_: object) -> None:
        raise OSError(number, os.strerror(number), str(path))

    path = tmp_path / "a.bin"
    refuse_unwritable(path)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(OSError, match=r"a\.bin") as caught:
        refuse_unwritable(path)
    assert (caught.value.errno, caught.value.filename) == (number, str(path))


def test_directories_and_devices_are_refused(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        refuse_unwritable(tmp_path / "taken")
    assert caught.value.filename == str(tmp_path / "taken")
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match=r"Not a directory \(.*file\)") as refused:
        refuse_unwritable(tmp_path / "file" / "a.bin")
    assert refused.value.filename == str(tmp_path / "file" / "a.bin")
    with pytest.raises(OSError, match=r"Not a regular file.*'/dev/null'"):
        refuse_unwritable(Path("/dev/null"))


def test_links_are_followed_and_long_names_work(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "store" / "a.bin")
    write_atomically(tmp_path / "link", b"content")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "store" / "a.bin").read_bytes() == b"content"
    longest = tmp_path / ("棋" * 84 + "譜")  # 255 bytes
    write_atomically(longest, b"content")
    assert longest.read_bytes() == b"content"
    with pytest.raises(OSError, match="File name too long") as caught:
        write_atomically(longest.with_name(longest.name + "x"), b"content")
    assert caught.value.errno == errno.ENAMETOOLONG


def test_an_output_is_checked_before_the_work(tmp_path):
    with pytest.raises(ValueError, match=r"net\.png: .* \.kif or \.kifu; name it net\.kif"):
        check_output(tmp_path / "net.png", (".kif", ".kifu"))
    (tmp_path / "net.kif").write_text("mine")
    with pytest.raises(OptionError, match=r"net\.kif: already exists; set `overwrite`"):
        check_output(tmp_path / "net.kif", (".kif", ".kifu"))
    check_output(tmp_path / "net.kif", (".kif", ".kifu"), overwrite=True)
    check_output(tmp_path / "NEW.KIF", (".kif", ".kifu"))
    with pytest.raises(OSError, match=r"net\.kif"):
        check_output(tmp_path / "net.kif" / "a.kif")
    assert [path.name for path in tmp_path.iterdir()] == ["net.kif"]
    assert (tmp_path / "net.kif").read_text() == "mine"


def test_unreadable_files_are_refused_before_opening(tmp_path):
    file = tmp_path / "net.bin"
    with pytest.raises(FileNotFoundError, match=r"net\.bin: there is no such file"):
        require_file(file)
    file.write_bytes(b"content")
    require_file(file)
    with pytest.raises(FileNotFoundError, match=r": a directory; name a file in it"):
        require_file(tmp_path)
    with pytest.raises(FileNotFoundError, match=r": a directory; fold it"):
        require_file(tmp_path, "fold it")
    with pytest.raises(FileNotFoundError, match=r"below: there is no such file"):
        require_file(file / "below")
    for name, target in (("lost", "nowhere"), ("circle", "circle")):
        (tmp_path / name).symlink_to(target)
        with pytest.raises(FileNotFoundError, match=rf"{name}: broken or circular link"):
            require_file(tmp_path / name)
    with pytest.raises(FileNotFoundError, match=r"/dev/null: a pipe or a device; name a regular file"):
        require_file(Path("/dev/null"))
    file.chmod(0)
    if not os.access(file, os.R_OK):  # root may read everything
        with pytest.raises(PermissionError, match=r"net\.bin"):
            require_file(file)


def test_linked_folders_are_searched_once(tmp_path, monkeypatch):
    folder, elsewhere = tmp_path / "games", tmp_path / "elsewhere"
    for path in (folder / "b" / "1.csa", folder / "2.csa", elsewhere / "deep" / "3.csa"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for name, target in (("a", folder / "b"), ("c", elsewhere), ("b/up", folder)):
        (folder / name).symlink_to(target)
    (elsewhere / "deep" / "self").symlink_to(elsewhere)
    assert [str(path.relative_to(folder)) for path in files_below(folder)] == ["2.csa", "b/1.csa", "c/deep/3.csa"]

    def scandir(place, scan=os.scandir):
        if str(place).endswith("deep"):
            raise PermissionError(errno.EACCES, "Permission denied", str(place))
        return scan(place)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(PermissionError, match="deep"):
        files_below(folder)
