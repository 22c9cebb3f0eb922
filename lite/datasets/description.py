"""What lies beside data that this program has made: from which nets and games, how, and how much there is of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import isfinite
from pathlib import Path
from typing import Any

from lite.datasets.provenance import digest_of, files_of
from lite.records.formats import is_record_name
from search.system.files import complaints_about
from search.system.metadata import parse_json, quoted

DESCRIPTION = "description.json"
SHARD = "shard_"
"""What the names of the record files that it is about begin with."""
FORMAT = "liteshogi data"
VERSION = 1
_LARGEST = 1 << 20
_SHAPE: dict[str, type | tuple[type, ...]] = {
    "verb": str,
    "options": dict,
    "sources": list,
    "nets": list,
    "made_by": list,
    "begun": str,
    "updated": str,
    "seconds": (int, float),
    "totals": dict,
}
"""The fields, as `experiments.jobs.description` writes them."""


def describe_source(path: Path) -> dict[str, Any] | None:
    """The description of a record file or a folder of them; None if there is none.

    It is about the shards beside it, not about what others have put into their folder. Raises OSError, and ValueError
    that names the file if it is none that this program can have written."""
    if path.is_dir():
        return read_description(path)
    is_shard = path.name.startswith(SHARD) and is_record_name(path)
    return read_description(path.parent) if is_shard else None


def describe_data(path: Path) -> dict[str, Any]:
    """Return {name, files, bytes, sha256, description} of a file or folder of data. Raises as `digest_of`."""
    files = files_of(path)
    return {
        "name": path.name,
        "files": len(files),
        "bytes": sum(file.stat().st_size for file in files),
        "sha256": digest_of(path),
        "description": describe_source(path),
    }


def describe_sources(paths: Iterable[Path]) -> dict[Path, dict[str, Any]]:
    """The descriptions of those of the files and folders that have one, by folder. Raises as `describe_source`."""
    found: dict[Path, dict[str, Any]] = {}
    for path in paths:
        folder = path if path.is_dir() else path.parent
        if folder not in found and (description := describe_source(path)) is not None:
            found[folder] = description
    return found


def short_names(folders: Iterable[Path]) -> list[str]:
    """The name of each folder, with as many of those above it as tell it from others of that name."""
    folders = list(folders)
    parts = [folder.absolute().parts for folder in folders]
    names = [folder.name for folder in folders]
    for depth in range(2, max(map(len, parts), default=0) + 1):
        counts = Counter(names)
        names = [
            Path(*path[-depth:]).as_posix() if counts[name] > 1 else name
            for name, path in zip(names, parts, strict=True)
        ]
    return names


def read_description(folder: Path) -> dict[str, Any] | None:
    """`describe_source` of a folder."""
    path = folder / DESCRIPTION
    if not path.exists():
        return None
    with complaints_about(path), open(path, "rb") as file:
        content = file.read(_LARGEST + 1)
    try:
        if len(content) > _LARGEST:
            raise ValueError(f"larger than {_LARGEST >> 20} MB")
        return _checked(parse_json(content.decode()))
    except ValueError as error:
        raise ValueError(
            f"{path}: no description of data that this program can read ({error}); restore it from a copy or move it "
            "away"
        ) from None


def _checked(found: Any) -> dict[str, Any]:
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ValueError(f"its format is not {FORMAT!r}")
    if found.get("version") != VERSION:
        raise ValueError(f"version {quoted(found.get('version'))}, this program reads version {VERSION}")
    for name, kind in _SHAPE.items():
        if not isinstance(found.get(name), kind):
            raise ValueError(f"{name} is missing or of another type")
    for name in ("sources", "nets", "made_by"):
        if not all(isinstance(one, dict) for one in found[name]):
            raise ValueError(f"{name} must hold objects")
    if not all(
        type(value) in (int, float) and isfinite(value) for value in (found["seconds"], *found["totals"].values())
    ):
        raise ValueError("totals and seconds must be numbers")
    return found
