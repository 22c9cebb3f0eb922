"""Searches of single positions by a USI engine."""

from __future__ import annotations

import re
import weakref
from dataclasses import dataclass
from typing import Self

from experiments.usi_client.engines import READY_SECONDS, Engine
from lite.training.targets import MATE_SCORE
from search.score import MATE

ANSWER_SECONDS = 600.0
"""Seconds to wait for one search; a slower engine counts as dead."""
_SETTLED = {"win": MATE - 1, "resign": 1 - MATE}
_SCORE = re.compile(r"^info\b.*\bscore (?:(cp) ([+-]?\d+)|(mate) ([+-]?\d*))")
_DEPTH = re.compile(r"\bdepth (\d+)")
_NODES = re.compile(r"\bnodes (\d+)")
_NOT_THE_SCORE = re.compile(r"\bmultipv (?!1\b)|\b(?:lower|upper)bound\b|^info string")


def why_no_score(option: str) -> str:
    """Return the most frequent cause of a search without a score, and the remedy; `option` sets an engine option."""
    return f"YaneuraOu reports no score for searches under 300 ms without {option} PvInterval=0"


@dataclass(frozen=True)
class Answer:
    """An engine's answer to `go`."""

    move: str
    """Best move in USI, or `resign` or `win`."""
    lines: list[str]
    """All lines up to `bestmove`."""

    @classmethod
    def of(cls, lines: list[str]) -> Self:
        """Return the answer whose lines end with `bestmove`."""
        return cls([*lines[-1].split(), ""][1], lines)

    @property
    def score(self) -> int | None:
        """Score for the mover, see `read_score`; without one, `win` and `resign` count as mates."""
        score = read_score(self.lines)
        return _SETTLED.get(self.move) if score is None else score

    def last(self, word: str) -> int | None:
        """Return the last number reported for a word such as `nodes` or `depth`; None if there is none."""
        for line in reversed(self.lines):
            if not line.startswith("info string") and (found := re.search(rf"\b{word} (\d+)", line)):
                return int(found[1])
        return None

    def trace(self) -> list[tuple[int, int, int]]:
        """Return (depth, nodes so far, score) of every depth that reports all three.

        A depth has its last score, with the nodes at the first report of that score: engines repeat their last line at
        the end of a search.
        """
        reported: dict[int, tuple[int, int]] = {}
        for line in self.lines:
            depth, nodes, score = _DEPTH.search(line), _NODES.search(line), read_score([line])
            if depth is None or nodes is None or score is None:
                continue
            if int(depth[1]) not in reported or reported[int(depth[1])][1] != score:
                reported[int(depth[1])] = int(nodes[1]), score
        return [(depth, nodes, score) for depth, (nodes, score) in sorted(reported.items())]


class Searcher:
    """A running engine that searches one position after another; it ends with this object."""

    def __init__(self, engine: Engine) -> None:
        self._dialogue = engine.start()
        weakref.finalize(self, self._dialogue.__exit__)
        self.forget()

    def forget(self) -> None:
        """Start a new game, for which the engine clears its memory."""
        self.wait()
        self._dialogue.send("usinewgame")

    def wait(self) -> None:
        """Wait until the engine has processed all commands."""
        self._dialogue.send("isready")
        self._dialogue.until("readyok", READY_SECONDS)

    def bench(self) -> list[str]:
        """Return the output of `bench`, a command of this project's engines."""
        self._dialogue.send("bench")
        self._dialogue.send("isready")
        return self._dialogue.until("readyok", READY_SECONDS)

    def cpu_seconds(self) -> float:
        """Return the CPU time of the engine's process, see `Dialogue.cpu_seconds`."""
        return self._dialogue.cpu_seconds()

    def stop(self) -> None:
        """Stop the running search; may be called from any thread."""
        self._dialogue.send("stop")

    def search(self, position: str, limits: str) -> Answer:
        """Return the answer to `position POSITION` and `go LIMITS`. ValueError if the engine ends."""
        self._dialogue.send(f"position {position}")
        self._dialogue.send(f"go {limits}")
        return Answer.of(self._dialogue.until("bestmove", ANSWER_SECONDS))


def read_score(lines: list[str]) -> int | None:
    """Return the last score of the best line, in centipawns or as a mate score of `search.score`; None without one."""
    for line in reversed(lines):
        found = _SCORE.search(line)
        if found is None or _NOT_THE_SCORE.search(line):
            continue
        kind, number = (word for word in found.groups() if word is not None)
        if kind == "cp":
            return max(-MATE_SCORE + 1, min(MATE_SCORE - 1, int(number)))
        plies = int(number) if number not in ("", "+", "-") else 1
        sign = -1 if number.startswith("-") or plies == 0 else 1  # mate 0: the mover is mated
        return sign * (MATE - min(abs(plies), 1000))
    return None
