"""The identity of an engine: everything besides its options that decides its answers, independent of file locations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from experiments.usi_client.engines import OURS, Engine
from experiments.usi_client.searcher import Searcher
from lite.datasets.description import short_names


@dataclass(frozen=True)
class EngineIdentity:
    """An engine, known by its content."""

    name: str
    """Name that it gives itself."""
    files: Mapping[str, str]
    """First digits of the SHA-256 of its files, by their names, with the folders where names are equal."""
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
    return _identity(engine, digests, _signature_of(engine))


def configured_condition(engine: Engine, digests: Mapping[Path, str]) -> Mapping[str, object]:
    """Return an engine's identity, arguments and options as a condition of a run. Raises as `identity_of`."""
    identity = identity_of(engine, digests).condition()
    return {**identity, "arguments": engine.arguments, "options": engine.options}


def playing_conditions(engines: Mapping[str, Engine], digests: Mapping[Path, str]) -> dict[str, Mapping[str, object]]:
    """Return each engine's identity, command, options and `LITESHOGI_` variables as conditions of games.

    The variables decide the speed of this project's engines, and with it games by the clock. digests: SHA-256 of the
    files of all engines. Engines of one command are asked for their signature once. Raises as `identity_of`.
    """
    signatures: dict[tuple[str, ...], str | None] = {}
    conditions: dict[str, Mapping[str, object]] = {}
    for seat, engine in engines.items():
        command = (str(engine.program), *engine.arguments)
        if command not in signatures:
            signatures[command] = _signature_of(engine)
        own = {path: digests[path] for path in engine.files()}
        conditions[seat] = {
            "command": list(command),
            "options": engine.options,
            "environment": {name: value for name, value in engine.environment.items() if name.startswith(OURS)},
            **_identity(engine, own, signatures[command]).condition(),
        }
    return conditions


def _identity(engine: Engine, digests: Mapping[Path, str], signature: str | None) -> EngineIdentity:
    files = dict(zip(short_names(digests), (digest[:16] for digest in digests.values()), strict=True))
    return EngineIdentity(engine.id_name, files, signature)


def _signature_of(engine: Engine) -> str | None:
    """Return the signature of the search of one of this project's engines; None for others and for PUCT."""
    if not engine.id_name.startswith("LiteShogi"):
        return None
    # Its program is Python or a start script, which do not change with the search and the shipped network.
    found = (line.split()[1] for line in Searcher(engine).bench() if line.startswith("signature "))
    return next(found, None)
