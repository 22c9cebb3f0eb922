"""The description that is written beside data: what they were made from and how, so that they can be made again."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from experiments.usi_client.engines import Engine
from experiments.usi_client.identity import identity_of
from lite.datasets.description import DESCRIPTION, FORMAT, VERSION, describe_data, read_description
from lite.datasets.provenance import FILES, digests_of, sha256_of
from lite.program import UNKNOWN, program
from search.evaluation.shipped import is_shipped, network_file
from search.system.files import write_atomically
from search.system.metadata import json_bytes, quoted

GROUPS = ("ending", "labels", "mixture", "variety")
"""Options that the command line has one by one."""
PLAYERS = "players"
"""Of a league, each one's own options, which stand behind its name."""


class Description:
    """What one command makes data from. Raises OSError or ValueError if a source or a net cannot be read.

    verb, options: of the command; of the options those that decide what is made (seeds are among them), as JSON, for
    the same command goes on with them alone. How much is made, where, and by how many workers is none of them.
    sources: files and folders of games or records. nets: {what a net is for: its file, or `default`}. counted: how what
    is made is read, as by a test of a match, and what its players are called; the same command may go on with another.
    signature: of this engine's search (`search.alphabeta.bench`), where what another one finds is not to be mixed in.
    engine: another one that is asked; its command and its options are among `options`.
    """

    def __init__(
        self,
        verb: str,
        options: Mapping[str, Any],
        sources: Sequence[Path] = (),
        nets: Mapping[str, Path | str] | None = None,
        counted: Mapping[str, Any] | None = None,
        signature: int | None = None,
        engine: Engine | None = None,
    ) -> None:
        digests = {path: sha256_of(path) for path in engine.files()} if engine else {}
        self._fixed: dict[str, Any] = {
            "verb": verb,
            "options": json.loads(json.dumps(dict(options), default=str)),
            "sources": [describe_data(path) for path in sources],
            "nets": [_describe_net(role, path) for role, path in (nets or {}).items()],
            **({} if counted is None else {"counted": dict(counted)}),
            **({} if signature is None else {"signature": signature}),
            **({} if engine is None else {"engine": identity_of(engine, digests)}),
        }
        self._files = digests_of((nets or {}).values()) | {str(path): digest for path, digest in digests.items()}
        for path, described in zip(sources, self._fixed["sources"], strict=True):
            self._files[str(path.absolute())] = described["sha256"]

    def begin(self, folder: Path, empty: bool) -> None:
        """Write it into a folder that this process works in, or go on with the one there.

        Raises ValueError if the data there were made otherwise. `empty`: nothing has landed in the ledger that this
        verb keeps; others may keep another, as a loop does of its stages."""
        self._path = folder / DESCRIPTION
        kept = read_description(folder)
        is_others = kept is not None and kept["verb"] != self._fixed["verb"] and _has_ledger(folder)
        if empty and not is_others:
            kept = None
        elif kept is None:
            raise ValueError(f"{self._path}: is missing, so how the data here were made is unknown; use another -o")
        self._written = kept or {"made_by": [], "begun": _now(), "seconds": 0.0, "totals": {}}
        if kept is not None and (difference := _difference(kept, self._fixed)):
            difference = quoted(difference, 400)
            raise ValueError(f"{folder}: its data were made with {difference}; go on with that, or use another -o")
        maker = program()
        if maker not in self._written["made_by"]:
            self._written["made_by"].append(maker)
        self._seconds_before, self._begun = self._written["seconds"], time.monotonic()
        self.update(self._written["totals"])
        self._tell_files(folder)

    def update(self, totals: Mapping[str, int | float]) -> None:
        """Write what there is at this moment."""
        seconds = self._seconds_before + time.monotonic() - self._begun
        self._written = {
            "format": FORMAT,
            "version": VERSION,
            **self._fixed,
            "made_by": self._written["made_by"],
            "begun": self._written["begun"],
            "updated": _now(),
            "seconds": round(seconds, 1),
            "totals": dict(totals),
            "per_second": {name: round(value / max(seconds, 1e-9), 3) for name, value in totals.items()},
        }
        write_atomically(self._path, json_bytes(self._written, 1) + b"\n")

    def _tell_files(self, folder: Path) -> None:
        """Where nets, engines and sources lie stands apart, for networks carry the description of what they have
        learnt from wherever they go."""
        inside = f"{folder.absolute()}{os.sep}"
        files = {name.removeprefix(inside): digest for name, digest in self._files.items()}
        write_atomically(folder / FILES, json_bytes(files, 1) + b"\n")


def _has_ledger(folder: Path) -> bool:
    """Whether something has landed, whichever verb kept the ledger."""
    return any(path.stat().st_size for path in folder.glob("ledger.json*"))


def _difference(kept: dict[str, Any], wanted: dict[str, Any]) -> str:
    """The first thing that was another when the data were begun; empty if there is none."""
    if kept["verb"] != wanted["verb"]:
        return f"liteshogi {kept['verb']}, not {wanted['verb']}"
    was, given = kept["options"], wanted["options"]
    if (PLAYERS in was) != (PLAYERS in given):
        return "a league, not a match of two" if PLAYERS in was else "a match of two, not a league"
    for name in {**given, **was}:
        before, here = was.get(name), given.get(name)
        if before != here and name != PLAYERS:
            if name in GROUPS and isinstance(before, dict) and isinstance(here, dict):
                name = next(one for one in {**here, **before} if before.get(one) != here.get(one))
                before, here = before.get(name), here.get(name)
            told, asked = (json.dumps(value, ensure_ascii=False) for value in (before, here))
            return f"--{name.replace('_', '-')} {told}, not {asked}"
    for name in ("nets", "sources"):
        # By content: a file may have been moved since.
        was, given = ([(one.get("role"), one.get("sha256")) for one in side[name]] for side in (kept, wanted))
        if was != given:
            return f"other {name}: {_named(kept[name])}, not {_named(wanted[name])}"
    before, here = (json.dumps(one["options"].get(PLAYERS)) for one in (kept, wanted))
    if before != here:
        return f"players' options {before}, not {here}"
    before, here = (one.get("signature", UNKNOWN) for one in (kept, wanted))
    if before != here:
        return f"a search of signature {before}, not {here}"
    engine, this = kept.get("engine", {}), wanted.get("engine", {})
    for name in {**this, **engine}:
        if engine.get(name) != this.get(name):
            return f"another engine: its {name} {engine.get(name, UNKNOWN)}, not {this.get(name, UNKNOWN)}"
    return ""


def _named(files: list[dict[str, Any]]) -> str:
    return ", ".join(f"{one.get('name')} (sha256 {str(one.get('sha256'))[:12]})" for one in files) or "none"


def _describe_net(role: str, path: Path | str) -> dict[str, Any]:
    file = network_file(path)
    return {"role": role, "name": str(path) if is_shipped(path) else file.name, "sha256": sha256_of(file)}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
