"""SHA-256 digests of the files and folders that a result was made from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from lite.records.formats import is_record_name, record_files
from search.evaluation.shipped import is_shipped, network_file


def sha256_of(path: Path) -> str:
    """Return the digest of a file's content as hexadecimal digits. Raises OSError."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of(path: Path) -> str:
    """Return the digest of a file, or of a folder the digest of its record files' digests in order.

    Readers of a folder of records read its record files alone, so other files in it change nothing. Raises OSError,
    ValueError.
    """
    if not path.is_dir():
        return sha256_of(path)
    return hashlib.sha256("".join(map(sha256_of, files_of(path))).encode()).hexdigest()


def files_of(path: Path) -> list[Path]:
    """Return the record files of a folder, or the file itself. Raises OSError, ValueError."""
    return record_files([path]) if path.is_dir() else [path]


def learnt_and_judged(learnt: Sequence[Path], judged: Sequence[Path]) -> Path | None:
    """Return a record file of `judged` that is among `learnt` too, itself or as a copy; None if there is none.

    Folders stand for their record files; missing files are ignored. Raises OSError.
    """
    known, asked = ({path.resolve(): path.stat().st_size for path in _files_there(paths)} for paths in (learnt, judged))
    if both := known.keys() & asked.keys():
        return min(both)
    sizes = {*known.values()} & {*asked.values()}  # only files of equal size need to be read
    digests = {sha256_of(path) for path, size in known.items() if size in sizes}
    return next((path for path, size in asked.items() if size in sizes and sha256_of(path) in digests), None)


def _files_there(paths: Sequence[Path]) -> list[Path]:
    folders = [path for path in paths if path.is_dir()]
    inside = [entry for folder in folders for entry in folder.iterdir() if is_record_name(entry)]
    return [path for path in (*inside, *paths) if path.is_file()]


def digests_of(paths: Iterable[Path | str]) -> dict[str, str]:
    """Return {absolute path, or a shipped network's name: digest}. Raises OSError, ValueError."""
    return {
        str(path) if is_shipped(path) else str(Path(path).absolute()): digest_of(network_file(path)) for path in paths
    }
