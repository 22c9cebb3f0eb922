"""Labels of any USI engine, asked through pipes."""

from __future__ import annotations

import re
import weakref
from dataclasses import dataclass

import numpy as np

from experiments.arena.dialogue import Dialogue
from experiments.arena.engines import READY_SECONDS, USIOK_SECONDS, ask_engine
from experiments.factory.jobs import Stopped
from experiments.factory.study import UNLABELLED
from lite.training.targets import MATE_SCORE
from search.rules.huffman import HCP, decode_position
from search.rules.movegen import is_legal
from search.rules.position import new_position
from search.rules.set_up import set_board
from search.rules.sfen import get_sfen, move_from_usi
from search.score import MATE

ANSWER_SECONDS = 600.0
"""For one position; an engine that takes longer has gone."""
_SCORE = re.compile(r"^info\b.*\bscore (?:(cp) ([+-]?\d+)|(mate) ([+-]?\d*))")
_NOT_THE_SCORE = re.compile(r"\bmultipv (?!1\b)|\b(?:lower|upper)bound\b|^info string")


@dataclass(frozen=True)
class EngineLabels:
    """An engine's search of each position; the engine must be where the worker is."""

    command: str
    """A program and its arguments."""
    options: tuple[str, ...] = ()
    """NAME=VALUE."""
    nodes: int = 0
    """A position; 0: no limit."""
    depth: int = 0
    """Likewise."""

    def open(self) -> EngineLabeller:
        """Start it. ValueError if it does not, or does not take an option."""
        return EngineLabeller(self)


class EngineLabeller:
    """An engine that is asked about one position after the other."""

    def __init__(self, labels: EngineLabels) -> None:
        limits = {"nodes": labels.nodes, "depth": labels.depth}
        self._go = "go " + " ".join(f"{word} {number}" for word, number in limits.items() if number)
        engine = ask_engine(labels.command, labels.options)
        command = [str(engine.program), *engine.arguments]
        self._engine = Dialogue(labels.command, command, engine.directory, engine.environment)
        weakref.finalize(self, self._engine.__exit__)
        self._engine.send("usi")
        self._engine.until("usiok", USIOK_SECONDS)
        for name, value in engine.options.items():
            self._engine.send(f"setoption name {name} value {value}")
        self._stopped = False
        self.forget()

    def forget(self) -> None:
        """Begin another game, of which the engine knows nothing."""
        self._engine.send("isready")
        self._engine.until("readyok", READY_SECONDS)
        self._engine.send("usinewgame")

    def stop(self) -> None:
        """End the search under way; `label` raises Stopped."""
        self._stopped = True
        self._engine.send("stop")

    def label(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(Scores i2, moves u2) of hcp codes u1 (n, 32), as `Labeller` says. ValueError if the engine ends."""
        scores, moves = np.full(len(codes), UNLABELLED, np.int16), np.zeros(len(codes), np.uint16)
        pos, board, hands = new_position(), np.zeros(81, np.uint8), np.zeros((2, 7), np.uint8)
        for place, code in enumerate(codes):
            turn = decode_position(np.ascontiguousarray(code), np.int64(HCP), board, hands)
            if turn < 0 or set_board(pos, board, hands, np.int64(turn), np.int64(1)):
                continue
            self._engine.send(f"position sfen {get_sfen(pos)}")
            self._engine.send(self._go)
            lines = self._engine.until("bestmove", ANSWER_SECONDS)
            if self._stopped:
                raise Stopped
            score = read_score(lines)
            word = [*lines[-1].split(), ""][1]
            if score is None or word in ("resign", "win"):
                continue
            scores[place] = score
            move = move_from_usi(word)
            if is_legal(pos, np.int64(move)):
                moves[place] = move
        return scores, moves


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
        sign = -1 if number.startswith("-") else 1
        return sign * (MATE - min(abs(plies), 1000))
    return None
