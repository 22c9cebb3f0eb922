"""Fixtures: training runs of about a second on records of random games; values for forged descriptions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cshogi
import numpy as np
import pytest
from hypothesis import strategies as st

from lite.networks.lite_value import LiteConfig
from lite.training.checkpoint import STATE, read_tensors, write_tensors
from lite.training.options import ValueTraining
from lite.training.run import Run
from lite.training.train import ValueTask

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
"""Any JSON value, to put into descriptions."""


def value_run(options: ValueTraining) -> Run:
    """Return a run of value training that is ready to start."""
    return Run(options, ValueTask)


def change_state(folder: Path, tensors: dict[str, Any] | None = None, **data: Any) -> None:
    """Rewrite a state with other contents and a valid checksum."""
    before, described = read_tensors(folder / "state.safetensors", STATE)
    write_tensors(folder / "state.safetensors", STATE, before | (tensors or {}), described | data)


def random_games(path: Path, games: int, seed: int) -> Path:
    """Write records (hcpe) of random games, with scores and results by material."""
    rng = np.random.default_rng(seed)
    records = []
    for _ in range(games):
        board = cshogi.Board()
        game = np.zeros(60, cshogi.HuffmanCodedPosAndEval)
        for record in game:
            moves = list(board.legal_moves)
            if not moves:
                break
            own, other = (sum(board.pieces_in_hand[c]) for c in (board.turn, 1 - board.turn))
            move = moves[rng.integers(len(moves))]
            board.to_hcp(record["hcp"])
            record["eval"] = 100 * (own - other) + rng.integers(-50, 50)
            record["bestMove16"] = cshogi.move16(move)
            board.push(move)
        black, white = (sum(hand) for hand in board.pieces_in_hand)
        game["gameResult"] = 1 if black > white else 2 if white > black else 0
        records.append(game[game["bestMove16"] != 0])
    np.concatenate(records).tofile(path)
    return path


@pytest.fixture(scope="session")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_games(tmp_path_factory.mktemp("records") / "train.hcpe", 24, 1)


@pytest.fixture(scope="session")
def held_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_games(tmp_path_factory.mktemp("records") / "valid.hcpe", 8, 2)


@pytest.fixture(scope="session")
def options() -> Callable[..., ValueTraining]:
    """options(records, output, **changes): the options of a run of three epochs of eleven steps."""

    def make(records: Path, output: Path, **changes) -> ValueTraining:
        base = ValueTraining(
            data=(records,), output=output, network=LiteConfig(dims=(4, 2, 8)), epochs=3, batch_size=128
        )
        return dataclasses.replace(base, **changes)

    return make
