"""The identity of an engine: everything besides its options that decides its answers, independent of file locations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.usi_client.engines import Engine
from experiments.usi_client.searcher import Searcher


def identity_of(engine: Engine, digests: Mapping[Path, str]) -> dict[str, Any]:
    """Return {name, files: {name: first digits of its SHA-256}}, with `signature` for this project's engines.

    Raises OSError, and ValueError if the engine ends.
    """
    files = {path.name: digest[:16] for path, digest in digests.items()}
    identity: dict[str, Any] = {"name": engine.id_name, "files": files}
    if engine.id_name.startswith("LiteShogi"):
        # Its program is Python or a start script, which do not change with the search and the shipped network.
        for line in Searcher(engine).bench():
            if line.startswith("signature "):
                identity["signature"] = line.split()[1]
    return identity
