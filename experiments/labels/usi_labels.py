"""Labels by any USI engine, through pipes."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import numpy as np

from experiments.jobs.protocol import Stopped
from experiments.labels.study import UNLABELLED
from experiments.usi_client.engines import ask_engine
from experiments.usi_client.searcher import Searcher
from search.rules.huffman import HCP, decode_position
from search.rules.movegen import is_legal
from search.rules.position import new_position
from search.rules.set_up import set_board
from search.rules.sfen import get_sfen, move_from_usi


@dataclass(frozen=True)
class EngineLabels:
    """Labels by an engine's searches; the engine must be installed on every machine that works."""

    command: str
    """Command of the engine: a program and its arguments."""
    options: tuple[str, ...] = ()
    """Options of the engine, NAME=VALUE."""
    nodes: int = 0
    """Nodes per position; 0 means no limit."""
    depth: int = 0
    """Depth per position; 0 means no limit."""

    def open(self) -> EngineLabeller:
        """Start the engine. Raises ValueError if it does not start or refuses an option."""
        return EngineLabeller(self)


class EngineLabeller:
    """A running engine that labels one position after another."""

    def __init__(self, labels: EngineLabels) -> None:
        limits = {"nodes": labels.nodes, "depth": labels.depth}
        self._limits = " ".join(f"{word} {number}" for word, number in limits.items() if number)
        self._engine = Searcher(ask_engine(labels.command, labels.options))
        self._stopped = False

    def forget(self) -> None:
        """Start a new game, for which the engine clears its memory."""
        self._engine.forget()

    def stop(self) -> None:
        """Stop the running search; `label` raises Stopped."""
        self._stopped = True
        self._engine.stop()

    def label(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores int16, moves uint16) of hcp codes uint8 (n, 32), see `Labeller`; illegal moves become 0.

        Raises ValueError if the engine ends.
        """
        scores, moves = np.full(len(codes), UNLABELLED, np.int16), np.zeros(len(codes), np.uint16)
        pos, board, hands = new_position(), np.zeros(81, np.uint8), np.zeros((2, 7), np.uint8)
        for place, code in enumerate(codes):
            turn = decode_position(np.ascontiguousarray(code), np.int64(HCP), board, hands)
            if turn < 0 or set_board(pos, board, hands, np.int64(turn), np.int64(1)):
                continue
            answer = self._engine.search(f"sfen {get_sfen(pos)}", self._limits)
            if self._stopped:
                raise Stopped
            if answer.score is None or answer.move in ("resign", "win"):
                continue
            scores[place] = answer.score
            with contextlib.suppress(ValueError):  # some engines answer `none` without a legal move
                move = move_from_usi(answer.move)
                if is_legal(pos, np.int64(move)):
                    moves[place] = move
        return scores, moves
