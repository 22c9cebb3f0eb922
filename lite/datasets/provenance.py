"""What anything was made from and by whom, so that it can be made again, and told whether it is still the same: digests
of files, the program, the machine."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from lite.datasets.description import describe_source
from lite.records.formats import is_record_name, record_files
from search.compiling.jit import KERNEL
from search.compiling.target import cpu_name
from search.evaluation.shipped import is_shipped, network_file

FILES = "files.json"
"""Beside what a run has made, the files that it depends on: what `digests_of` tells, as JSON."""
UNKNOWN = "not recorded"
LIBRARIES = ("numpy", "numba", "torch", "safetensors")
"""That figures may depend on."""


def describe_data(path: Path) -> dict[str, Any]:
    """A file or a folder by its digest; with what describes it in turn. Raises as `digest_of`."""
    files = _read_of(path)
    return {
        "name": path.name,
        "files": len(files),
        "bytes": sum(file.stat().st_size for file in files),
        "sha256": digest_of(path),
        "description": describe_source(path),
    }


def sha256_of(path: Path) -> str:
    """The digest of a file's content, in hexadecimal digits. Raises OSError."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of(path: Path) -> str:
    """Of a file, or of a folder that of its record files' digests in their order: whatever takes a folder of records
    reads these alone, and what else lies there changes nothing. Raises OSError, ValueError."""
    if not path.is_dir():
        return sha256_of(path)
    return hashlib.sha256("".join(map(sha256_of, _read_of(path))).encode()).hexdigest()


def learnt_and_judged(learnt: Sequence[Path], judged: Sequence[Path]) -> Path | None:
    """A record file among `judged`, folders being their record files, that is among `learnt` too, there or as a copy;
    None if there is none. What does not exist is in neither. Raises OSError."""
    known, asked = ({path.resolve(): path.stat().st_size for path in _files_there(paths)} for paths in (learnt, judged))
    if both := known.keys() & asked.keys():
        return min(both)
    sizes = {*known.values()} & {*asked.values()}  # few have the size of another, and only these need be read
    digests = {sha256_of(path) for path, size in known.items() if size in sizes}
    return next((path for path, size in asked.items() if size in sizes and sha256_of(path) in digests), None)


def _files_there(paths: Sequence[Path]) -> list[Path]:
    folders = [path for path in paths if path.is_dir()]
    inside = [entry for folder in folders for entry in folder.iterdir() if is_record_name(entry)]
    return [path for path in (*inside, *paths) if path.is_file()]


def _read_of(path: Path) -> list[Path]:
    return record_files([path]) if path.is_dir() else [path]


def digests_of(paths: Iterable[Path | str]) -> dict[str, str]:
    """{where it lies on this machine, or a shipped network's name: its digest}. Raises OSError, ValueError."""
    return {
        str(path) if is_shipped(path) else str(Path(path).absolute()): digest_of(network_file(path)) for path in paths
    }


def release() -> str:
    """This program's version as it is installed; `source` where its sources alone are there."""
    try:
        return version("liteshogi")
    except PackageNotFoundError:
        return "source"


def program() -> dict[str, str | None]:
    """What makes the data, as far as figures or speed may depend on it."""
    return {"version": release(), "commit": _commit(), "cpu": cpu_name(), "kernel": KERNEL}


def machine_of(maker: dict[str, Any]) -> str:
    """The CPU and the kernel that figures and times are of, of what `program` has told."""
    return f"{maker['cpu']}, {maker['kernel']}" if maker.get("cpu") and maker.get("kernel") else UNKNOWN


def program_of(maker: dict[str, Any]) -> str:
    """The version and the commit, likewise."""
    if not maker.get("version"):
        return UNKNOWN
    return f"{maker['version']} {str(maker.get('commit') or '')[:12]}".strip()


def _commit() -> str | None:
    """The commit of the source tree, with `-dirty` behind it if it was changed since; None if it is no checkout."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    with suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()
    return None


def libraries() -> dict[str, str]:
    """Python and what is installed of LIBRARIES, with their versions."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
