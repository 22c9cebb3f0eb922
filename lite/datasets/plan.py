"""The plan of a run with the digests of everything that it reads, each file read once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lite.datasets.chunks import data_files
from lite.datasets.description import describe_data
from lite.datasets.provenance import sha256_of
from lite.run_folder import Net, RunPlan, Source
from search.evaluation.shipped import is_shipped, network_file

MOST_FILES = 1000
"""Most files of a folder of games that are listed for verification."""


def plan_run(
    verb: str,
    options: Mapping[str, Any],
    *,
    goal: Mapping[str, Any] | None = None,
    sources: Mapping[str, Sequence[Path]] | None = None,
    games: Mapping[str, Sequence[Path]] | None = None,
    nets: Mapping[str, Path | str] | None = None,
    conditions: Mapping[str, Any] | None = None,
    others: Sequence[Path] = (),
) -> RunPlan:
    """Return the plan of a run. Raises OSError or ValueError if a source or a network cannot be read.

    sources: {option: its files, and folders of record files}. games: {option: its files, and folders with game and
    record files at any depth}. nets: {option or part: its file, or the name of a shipped one}.
    others: more files to be verified later, such as another engine's. The rest is as in `RunPlan`.
    """
    found: list[Source] = []
    files: dict[str, str] = {}
    for role, paths in (sources or {}).items():
        for path in paths:
            found.append(source_of(path, role))
            files[str(path.absolute())] = found[-1].sha256
    for role, paths in (games or {}).items():
        for path in paths:
            digests = {file: sha256_of(file) for file in data_files((path,))}
            found.append(_of_games(path, role, digests))
            if len(digests) <= MOST_FILES:
                files |= {str(file.absolute()): digest for file, digest in digests.items()}
    known: list[Net] = []
    for role, network_path in (nets or {}).items():
        known.append(net_of(network_path, role))
        place = str(network_path) if is_shipped(network_path) else str(Path(network_path).absolute())
        files[place] = known[-1].sha256
    files |= {str(path.absolute()): sha256_of(path) for path in others}
    return RunPlan(verb, options, goal or {}, tuple(found), tuple(known), conditions or {}, files)


def source_of(path: Path, role: str) -> Source:
    """Return a file or folder of data by its content. Raises OSError, ValueError."""
    return Source(role, **vars(describe_data(path)))


def _of_games(path: Path, role: str, digests: Mapping[Path, str]) -> Source:
    size = sum(file.stat().st_size for file in digests)
    whole = hashlib.sha256("".join(digests.values()).encode()).hexdigest()
    return Source(role, path.name, len(digests), size, whole if path.is_dir() else next(iter(digests.values())))


def net_of(network_path: Path | str, role: str) -> Net:
    """Return a network by its content; `network_path` is a file or the name of a shipped one. Raises OSError."""
    file = network_file(network_path)
    return Net(role, str(network_path) if is_shipped(network_path) else file.name, sha256_of(file))


def flat(options: Mapping[str, object]) -> Mapping[str, object]:
    """Return options with the entries of nested groups among the others, as the command line has them."""
    found: dict[str, object] = {}
    for name, value in options.items():
        found |= value if isinstance(value, dict) else {name: value}
    return found
