"""The provenance of data that this program has made: the networks and games behind them, the options, and the
totals."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lite.datasets.provenance import digest_of, files_of
from lite.program import UNKNOWN
from lite.records.formats import is_record_name
from lite.run_folder import Provenance, RunRecord, find_run
from lite.typed import typed
from search.system.files import complaints_about
from search.system.metadata import parse_json

SHARD = "shard_"
"""Prefix of the names of the record files that a run has made."""
OLDER = "description.json"
"""File that described data before version 0.1.0."""
_LARGEST = 1 << 20


def find_data_run(path: Path) -> RunRecord | None:
    """Return the record of the run that made a record file or a folder of them; None if there is none.

    It is about the shards beside it, not about other files in their folder. Data made before version 0.1.0 have another
    file, which is read too. Raises OSError, and ValueError that names the file if this program cannot have written it.
    """
    if path.is_dir():
        return find_run(path) or _find_older(path)
    is_shard = path.name.startswith(SHARD) and is_record_name(path)
    return find_data_run(path.parent) if is_shard else None


def describe_source(path: Path) -> Provenance | None:
    """Return the provenance of a record file or a folder of them, as networks carry it; None if there is none.

    Raises as `find_data_run`."""
    record = find_data_run(path)
    return None if record is None else record.provenance()


@dataclass(frozen=True)
class DataContent:
    """A file or folder of data, known by its content."""

    name: str
    files: int
    """Number of record files."""
    bytes: int
    sha256: str
    """Digest, see `digest_of`."""
    description: dict[str, Any] | None
    """The data's own provenance, where this program has made them; see `Source.description`."""


def describe_data(path: Path) -> DataContent:
    """Return a file or folder of data by its content. Raises as `digest_of`."""
    files, described = files_of(path), describe_source(path)
    return DataContent(
        name=path.name,
        files=len(files),
        bytes=sum(file.stat().st_size for file in files),
        sha256=digest_of(path),
        description=None if described is None else asdict(described),
    )


def describe_sources(paths: Iterable[Path]) -> dict[Path, Provenance]:
    """Return the provenance of the files and folders that have one, by folder. Raises as `find_data_run`."""
    found: dict[Path, Provenance] = {}
    for path in paths:
        folder = path if path.is_dir() else path.parent
        if folder not in found and (description := describe_source(path)) is not None:
            found[folder] = description
    return found


def short_names(folders: Iterable[Path]) -> list[str]:
    """Return the name of each folder, with as many parent folders as make it unique."""
    parts = [Path(os.path.abspath(folder)).parts for folder in folders]
    names = [path[-1] for path in parts]
    for depth in range(2, max(map(len, parts), default=0) + 1):
        counts = Counter(names)
        names = [
            Path(*path[-depth:]).as_posix() if counts[name] > 1 else name
            for name, path in zip(names, parts, strict=True)
        ]
    return names


def _find_older(folder: Path) -> RunRecord | None:
    """Return the record of data made before version 0.1.0; None if there is none."""
    path = folder / OLDER
    if not path.exists():
        return None
    with complaints_about(path), open(path, "rb") as file:
        content = file.read(_LARGEST + 1)
    try:
        if len(content) > _LARGEST:
            raise ValueError(f"it is larger than {_LARGEST >> 20} MB")
        return _of_older(parse_json(content.decode()))
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{path}: not a description of data ({error or type(error).__name__}); restore it from a copy, or move it "
            "away"
        ) from None


def _of_older(found: Any) -> RunRecord:
    if not isinstance(found, dict) or (found.get("format"), found.get("version")) != ("liteshogi data", 1):
        raise ValueError("its format is not 'liteshogi data', version 1")
    makers = [
        {
            "versions": {"liteshogi": one.get("version"), "commit": one.get("commit")},
            "machine": {"cpu": one.get("cpu") or UNKNOWN, "kernel": one.get("kernel") or UNKNOWN, "cores": 0},
        }
        for one in found["made_by"]
    ]
    entry = {
        "verb": found["verb"],
        "arguments": [],
        "options": found["options"],
        "goal": found.get("counted") or {},
        "conditions": {name: found[name] for name in ("signature", "engine") if name in found},
        "sources": [{"role": "data", "files": 1, "bytes": 0, **one} for one in found["sources"]],
        "nets": found["nets"],
        "files": {},
        "made_by": makers,
        "started": found["begun"],
        "updated": found["updated"],
        "seconds": found["seconds"],
        "state": "done",
        "totals": found["totals"],
    }
    return typed(RunRecord, entry, "its fields")
