"""The data behind a network or a set of records, known by digests wherever their files lie.

Behind data are the data themselves and those that they were made from: `expand` makes positions a few moves away from
recorded ones, which a comparison of positions does not find. A network carries the digests in its file, also after a
fold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from lite.datasets.plan import source_of
from lite.datasets.provenance import files_of, sha256_of
from lite.run_folder import RunRecord, Source, find_run
from search.system.metadata import parse_json


def digests_behind(sources: Iterable[Source]) -> frozenset[str]:
    """Return the digests of data and of everything that they were made from."""
    return frozenset(_behind([asdict(source) for source in sources]))


def digests_behind_network(network: Path) -> frozenset[str]:
    """Return the digests of the data behind a network, from its file and from the run in its folder.

    The file names them if this program has trained the network; an ONNX file or nn.bin names none."""
    found: frozenset[str] = frozenset()
    with suppress(OSError, ValueError):
        record = find_run(network.parent)
        if record is not None and is_training(record):
            found = digests_behind(record.sources)
    if network.suffix == ".safetensors":
        with suppress(OSError, ValueError, SafetensorError), safe_open(network, "numpy") as file:
            data = parse_json((file.metadata() or {}).get("data", "{}"))
            carried = _part(_part(_part(data, "provenance") or data, "training"), "data_digests")
            found = found.union(one for one in (carried if isinstance(carried, list) else ()) if isinstance(one, str))
    return found


def is_training(record: RunRecord) -> bool:
    """Return whether a run has trained a network."""
    return record.verb.startswith("train ")


def same_games_warning(behind: Set[str], held_out: Iterable[Path], data: str) -> str:
    """Return a warning that names the first held-out file or folder with the same data behind it; else "".

    `data` names the data that the digests `behind` are of. Raises OSError, ValueError."""
    for path in held_out:
        if not behind.isdisjoint((*digests_behind([source_of(path, "valid")]), *map(sha256_of, files_of(path)))):
            return (
                f"warning: {path}: is of the same games as {data}, or the one was made from the other: held-out "
                "figures are too good; hold out other games"
            )
    return ""


def _behind(sources: Any) -> Iterator[str]:
    """Yield the digests of sources in the JSON of a record, which another version may have written."""
    for source in sources if isinstance(sources, list | tuple) else ():
        if isinstance(digest := _part(source, "sha256"), str):
            yield digest
        yield from _behind(_part(_part(source, "description"), "sources"))


def _part(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None
