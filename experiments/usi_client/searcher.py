"""An engine behind pipes that searches one position after the other, outside a game."""

from __future__ import annotations

import re
import weakref
from dataclasses import dataclass

from experiments.usi_client.dialogue import Dialogue
from experiments.usi_client.engines import READY_SECONDS, USIOK_SECONDS, Engine
from lite.training.targets import MATE_SCORE
from search.score import MATE

ANSWER_SECONDS = 600.0
"""For one position; an engine that takes longer has gone."""
_SETTLED = {"win": MATE - 1, "resign": 1 - MATE}
_SCORE = re.compile(r"^info\b.*\bscore (?:(cp) ([+-]?\d+)|(mate) ([+-]?\d*))")
_DEPTH = re.compile(r"\bdepth (\d+)")
_NODES = re.compile(r"\bnodes (\d+)")
_NOT_THE_SCORE = re.compile(r"\bmultipv (?!1\b)|\b(?:lower|upper)bound\b|^info string")


def why_no_score(option: str) -> str:
    """The cause that is met most, and the remedy; `option`: what sets one of the engine's."""
    return f"YaneuraOu tells none of a search of less than 300 ms without {option} PvInterval=0"


@dataclass(frozen=True)
class Answer:
    """What an engine says to `go`."""

    move: str
    """USI, or `resign` or `win`."""
    lines: list[str]
    """All that it told, up to `bestmove`."""

    @property
    def score(self) -> int | None:
        """The mover's, see `read_score`; of an engine that wins or resigns without one, what that means."""
        told = read_score(self.lines)
        return _SETTLED.get(self.move) if told is None else told

    def last(self, word: str) -> int | None:
        """The number that was told last behind a word, as `nodes` or `depth`; None if none was."""
        for line in reversed(self.lines):
            if not line.startswith("info string") and (found := re.search(rf"\b{word} (\d+)", line)):
                return int(found[1])
        return None

    def trace(self) -> list[tuple[int, int, int]]:
        """(Depth, nodes so far, score) of every depth of which all are told: the last score of it, and the nodes that
        had led there when it was first told, for at the end of a search engines tell their last line again."""
        told: dict[int, tuple[int, int]] = {}
        for line in self.lines:
            depth, nodes, score = _DEPTH.search(line), _NODES.search(line), read_score([line])
            if depth is None or nodes is None or score is None:
                continue
            if int(depth[1]) not in told or told[int(depth[1])][1] != score:
                told[int(depth[1])] = int(nodes[1]), score
        return [(depth, nodes, score) for depth, (nodes, score) in sorted(told.items())]


class Searcher:
    """An engine that has been asked, started again to search; it ends when nobody holds this any more."""

    def __init__(self, engine: Engine) -> None:
        command = [str(engine.program), *engine.arguments]
        self._dialogue = Dialogue(" ".join(command), command, engine.directory, engine.environment)
        weakref.finalize(self, self._dialogue.__exit__)
        self._dialogue.send("usi")
        self._dialogue.until("usiok", USIOK_SECONDS)
        for name, value in engine.options.items():
            self._dialogue.send(f"setoption name {name} value {value}")
        self.forget()

    def forget(self) -> None:
        """Begin another game, of which the engine knows nothing."""
        self.wait()
        self._dialogue.send("usinewgame")

    def wait(self) -> None:
        """Return when the engine has done what it was told."""
        self._dialogue.send("isready")
        self._dialogue.until("readyok", READY_SECONDS)

    def bench(self) -> list[str]:
        """What one of this project's engines says to `bench`."""
        self._dialogue.send("bench")
        self._dialogue.send("isready")
        return self._dialogue.until("readyok", READY_SECONDS)

    def cpu_seconds(self) -> float:
        """CPU time of the engine's process, see `Dialogue.cpu_seconds`."""
        return self._dialogue.cpu_seconds()

    def stop(self) -> None:
        """End the search under way, from any thread."""
        self._dialogue.send("stop")

    def search(self, position: str, limits: str) -> Answer:
        """The answer to `position ...` and `go ...`. ValueError if the engine ends."""
        self._dialogue.send(f"position {position}")
        self._dialogue.send(f"go {limits}")
        lines = self._dialogue.until("bestmove", ANSWER_SECONDS)
        return Answer([*lines[-1].split(), ""][1], lines)


def read_score(lines: list[str]) -> int | None:
    """The last score of the best line that an engine has told, centipawns or a mate as `search.score` has it."""
    for line in reversed(lines):
        found = _SCORE.search(line)
        if found is None or _NOT_THE_SCORE.search(line):
            continue
        kind, number = (word for word in found.groups() if word is not None)
        if kind == "cp":
            return max(-MATE_SCORE + 1, min(MATE_SCORE - 1, int(number)))
        plies = int(number) if number not in ("", "+", "-") else 1
        sign = -1 if number.startswith("-") or plies == 0 else 1  # 0: the mover is mated
        return sign * (MATE - min(abs(plies), 1000))
    return None
