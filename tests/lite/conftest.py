"""Fixtures shared by the tests of data and training."""

from __future__ import annotations

from pathlib import Path

import cshogi
import numpy as np
import pytest
import torch

from lite.networks import fused_step


@pytest.fixture(autouse=True)
def _threads(monkeypatch):
    """Restore the number of threads after a test, and divide even a few positions among them."""
    monkeypatch.setattr(fused_step, "PART_POSITIONS", 2)
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def data_directory() -> Path:
    """The directory of the small files in tests/data."""
    return Path(__file__).parent.parent / "data"


@pytest.fixture(scope="session")
def sample_games() -> Path:
    """The path of 300 engine games, hcpe3."""
    return Path(__file__).parent.parent.parent / "experiments" / "sample" / "valid_sample.hcpe3"


@pytest.fixture(scope="session")
def sample_bytes(sample_games: Path) -> list[bytes]:
    """The bytes of each game of the sample, split by the headers."""
    raw, games, at = sample_games.read_bytes(), [], 0
    while at < len(raw):
        stop = at + 36
        for _ in range(int.from_bytes(raw[at + 32 : at + 34], "little")):
            stop += 6 + 4 * int.from_bytes(raw[stop + 4 : stop + 6], "little")
        games.append(raw[at:stop])
        at = stop
    return games


Written = tuple[np.ndarray, np.ndarray, list[cshogi.Board]]


def written_by_cshogi(games: list[bytes]) -> Written:
    """Return the positions of games as written by cshogi: (hcpe records, psv records, boards)."""
    hcpe, psv, boards = [], [], []
    board = cshogi.Board()
    for game in games:
        board.set_hcp(np.frombuffer(game[:32], np.uint8))
        result = game[34]
        for ply in range(int.from_bytes(game[32:34], "little")):
            move, score = np.frombuffer(game[36 + 6 * ply : 42 + 6 * ply], np.int16)[:2]
            record = np.zeros(1, cshogi.HuffmanCodedPosAndEval)
            board.to_hcp(record[0]["hcp"])
            record["eval"], record["bestMove16"], record["gameResult"] = score, move, result
            hcpe.append(record)
            other = np.zeros(1, cshogi.PackedSfenValue)
            board.to_psfen(other[0]["sfen"])
            winner = result & 3
            other["score"], other["move"] = score, cshogi.move16_to_psv(int(move) & 0xFFFF)
            other["gamePly"] = ply + 1
            other["game_result"] = 0 if winner == 0 else 1 if winner - 1 == board.turn else -1
            psv.append(other)
            boards.append(board.copy())
            board.push(board.move_from_move16(int(move) & 0xFFFF))
    return np.concatenate(hcpe), np.concatenate(psv), boards


@pytest.fixture(scope="session")
def cshogi_records(sample_bytes: list[bytes]) -> Written:
    """The positions of the first 40 games (see `written_by_cshogi`)."""
    return written_by_cshogi(sample_bytes[:40])


@pytest.fixture
def all_cshogi_records(sample_bytes: list[bytes]) -> Written:
    """The positions of all 300 games (see `written_by_cshogi`)."""
    return written_by_cshogi(sample_bytes)
