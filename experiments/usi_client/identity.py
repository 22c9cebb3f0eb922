"""Who an engine is: what of it decides its answers beside its options, wherever its files lie."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.usi_client.engines import Engine
from experiments.usi_client.searcher import Searcher


def identity_of(engine: Engine, digests: Mapping[Path, str]) -> dict[str, Any]:
    """{name, files: {name: the beginning of its digest}}, and `signature` of this project's own. Raises OSError, and
    ValueError if the engine ends."""
    files = {path.name: digest[:16] for path, digest in digests.items()}
    identity: dict[str, Any] = {"name": engine.id_name, "files": files}
    if engine.id_name.startswith("LiteShogi"):
        # Its program is Python or a script that starts it, which stay what they are when the search and the shipped
        # network become others.
        for line in Searcher(engine).bench():
            if line.startswith("signature "):
                identity["signature"] = line.split()[1]
    return identity
