"""Record where results come from: digests of files, versions of program and libraries, machine.

With these a result can be reproduced, and a changed input is noticed."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypedDict

from lite.datasets.description import describe_source
from lite.records.formats import is_record_name, record_files
from search.compiling.jit import KERNEL
from search.compiling.target import cpu_name
from search.evaluation.shipped import is_shipped, network_file

FILES = "files.json"
"""Name of the file beside a run's results that holds `digests_of` the files that the run depends on, as JSON."""
UNKNOWN = "not recorded"
LIBRARIES = ("numpy", "numba", "torch", "safetensors")
"""Libraries whose version may change results."""


class SourceDescription(TypedDict):
    """The identity of a file, or of a folder of record files."""

    name: str
    files: int
    """Number of files."""
    bytes: int
    """Total size."""
    sha256: str
    """Digest, see `digest_of`."""
    description: dict[str, Any] | None
    """The description beside generated data."""


def describe_data(path: Path) -> SourceDescription:
    """Return the identity of a data file or folder. Raises as `digest_of`."""
    files = _read_of(path)
    return {
        "name": path.name,
        "files": len(files),
        "bytes": sum(file.stat().st_size for file in files),
        "sha256": digest_of(path),
        "description": describe_source(path),
    }


def sha256_of(path: Path) -> str:
    """Return the SHA-256 digest of a file's content in hexadecimal digits. Raises OSError."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of(path: Path) -> str:
    """Return the digest of a file, or of a folder: the digest of its record files' digests in order.

    Only the record files of a folder are ever read as data, so other files there do not matter. Raises OSError or
    ValueError."""
    if not path.is_dir():
        return sha256_of(path)
    return hashlib.sha256("".join(map(sha256_of, _read_of(path))).encode()).hexdigest()


def learnt_and_judged(learnt: Sequence[Path], judged: Sequence[Path]) -> Path | None:
    """Return a file of `judged` that is also in `learnt`, itself or as a copy; None if there is none.

    Folders stand for their record files. Files that do not exist are ignored. Raises OSError."""
    known, asked = ({path.resolve(): path.stat().st_size for path in _files_there(paths)} for paths in (learnt, judged))
    if both := known.keys() & asked.keys():
        return min(both)
    sizes = {*known.values()} & {*asked.values()}  # only files of equal size need to be read
    digests = {sha256_of(path) for path, size in known.items() if size in sizes}
    return next((path for path, size in asked.items() if size in sizes and sha256_of(path) in digests), None)


def _files_there(paths: Sequence[Path]) -> list[Path]:
    """Return the existing files among `paths`, and the record files of its folders."""
    folders = [path for path in paths if path.is_dir()]
    inside = [entry for folder in folders for entry in folder.iterdir() if is_record_name(entry)]
    return [path for path in (*inside, *paths) if path.is_file()]


def _read_of(path: Path) -> list[Path]:
    """Return the files that are read if `path` is given as data."""
    return record_files([path]) if path.is_dir() else [path]


def digests_of(paths: Iterable[Path | str]) -> dict[str, str]:
    """Return digests by absolute path, or by name for a shipped network. Raises OSError or ValueError."""
    return {
        str(path) if is_shipped(path) else str(Path(path).absolute()): digest_of(network_file(path)) for path in paths
    }


def release() -> str:
    """Return the version of the installed package, or `source` if it runs from uninstalled sources."""
    try:
        return version("liteshogi")
    except PackageNotFoundError:
        return "source"


def program() -> dict[str, str | None]:
    """Return version and commit of the program, and CPU and kernel of the machine: results and speed may depend on
    them."""
    return {"version": release(), "commit": _commit(), "cpu": cpu_name(), "kernel": KERNEL}


def machine_of(maker: Mapping[str, Any]) -> str:
    """Return CPU and kernel of what `program` returned when a result was made."""
    return f"{maker['cpu']}, {maker['kernel']}" if maker.get("cpu") and maker.get("kernel") else UNKNOWN


def program_of(maker: Mapping[str, Any]) -> str:
    """Return version and commit of what `program` returned when a result was made."""
    if not maker.get("version"):
        return UNKNOWN
    return f"{maker['version']} {str(maker.get('commit') or '')[:12]}".strip()


def _commit() -> str | None:
    """Return the commit of the source tree, with `-dirty` if it has uncommitted changes; None if it is no checkout."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    with suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()
    return None


def libraries() -> dict[str, str]:
    """Return the versions of Python and of the installed LIBRARIES."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
