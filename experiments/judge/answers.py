"""What a judge has said, kept in a file: what it has been asked once it is never asked again."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lite.durable_file import DurableFile
from search.system.files import refuse_unwritable
from search.system.folder_lock import hold
from search.system.metadata import parse_json, quoted


@dataclass(frozen=True)
class Opinion:
    """What a search of a position found."""

    move: str
    """Its best move, or `resign` or `win`."""
    score: int
    """The mover's: centipawns, or a mate as `search.score` has it."""


class Ledger:
    """A file of JSON lines: who the judge is, then {"position", "nodes", "move", "score"} for each of its answers.

    Each line is on the disk before the next, so a crash can spoil the last one alone, which is dropped. One process at
    a time has it, and writes it from any of its threads. It is made with the first answer: what is refused before a
    judge is asked leaves none behind. Raises OSError, and ValueError for another judge's file, a bad line, or a file
    that another process has.
    """

    def __init__(self, path: Path, judge: Mapping[str, Any]) -> None:
        self._path = path
        self._judge = json.loads(json.dumps(judge))
        self._lock = threading.Lock()
        self._answers: dict[tuple[str, int], Opinion] = {}
        self._file: DurableFile | None = None
        if path.exists():
            self._file = self._open()
        else:
            refuse_unwritable(path)

    def _open(self) -> DurableFile:
        """Take the file, and read what it holds."""
        self._held = hold(self._path, "name another --ledger")
        try:
            whole = self._held.read()
            whole = whole[: whole.rfind(b"\n") + 1]
            self._read(whole.decode("utf-8", "replace").splitlines(), self._judge)
            file = DurableFile(self._path, len(whole))
            if not whole:
                file.append(_line({"judge": self._judge}))
        except BaseException:
            self._held.close()
            raise
        return file

    def _read(self, lines: list[str], judge: Mapping[str, Any]) -> None:
        for number, text in enumerate(lines, 1):
            try:
                line = parse_json(text)
                if number > 1:
                    self._answers[line["position"], line["nodes"]] = Opinion(line["move"], line["score"])
                    continue
                found = dict(line["judge"])
            except (ValueError, KeyError, TypeError):
                raise ValueError(f"{self._path} line {number}: no judge's answer; name another --ledger") from None
            for name in {**judge, **found}:
                if found.get(name) != judge.get(name):
                    there, here = quoted(found.get(name)), quoted(judge.get(name))
                    raise ValueError(
                        f"{self._path}: holds the answers of another judge ({quoted(name)} is {there} there, here "
                        f"{here}); name another --ledger"
                    )

    def __len__(self) -> int:
        return len(self._answers)

    def find(self, position: str, nodes: int) -> Opinion | None:
        """The answer, if it is known."""
        return self._answers.get((position, nodes))

    def enter(self, position: str, nodes: int, opinion: Opinion) -> None:
        """Keep an answer."""
        with self._lock:
            self._file = self._file or self._open()
            if (position, nodes) not in self._answers:
                line = {"position": position, "nodes": nodes, "move": opinion.move, "score": opinion.score}
                self._file.append(_line(line))
                self._answers[position, nodes] = opinion


def _line(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"
