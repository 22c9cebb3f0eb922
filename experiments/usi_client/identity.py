"""The identity of an engine: everything besides its options that decides its answers, independent of file locations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from experiments.usi_client.engines import Engine
from experiments.usi_client.searcher import Searcher


@dataclass(frozen=True)
class EngineIdentity:
    """An engine, known by its content."""

    name: str
    """Name that it gives itself."""
    files: Mapping[str, str]
    """First digits of the SHA-256 of its files, by their names."""
    signature: str | None
    """Signature of its search, for this project's engines."""

    def condition(self) -> Mapping[str, object]:
        """Return the identity as a condition of a run."""
        signature = {} if self.signature is None else {"signature": self.signature}
        return {"name": self.name, "files": self.files, **signature}


def identity_of(engine: Engine, digests: Mapping[Path, str]) -> EngineIdentity:
    """Return an engine's identity by the SHA-256 digests of its files.

    Raises OSError, and ValueError if the engine ends.
    """
    signature = None
    if engine.id_name.startswith("LiteShogi"):
        # Its program is Python or a start script, which do not change with the search and the shipped network.
        for line in Searcher(engine).bench():
            if line.startswith("signature "):
                signature = line.split()[1]
    return EngineIdentity(engine.id_name, {path.name: digest[:16] for path, digest in digests.items()}, signature)


def configured_condition(engine: Engine, digests: Mapping[Path, str]) -> Mapping[str, object]:
    """Return an engine's identity, arguments and options as a condition of a run. Raises as `identity_of`."""
    identity = identity_of(engine, digests).condition()
    return {**identity, "arguments": engine.arguments, "options": engine.options}
