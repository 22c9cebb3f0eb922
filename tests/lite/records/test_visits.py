"""Visits in hcpe3: they are readable by other programs, are read back unchanged, and are checked."""

from __future__ import annotations

from pathlib import Path

import cshogi
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lite.records.batch import Visits
from lite.records.encode import encode_game
from lite.records.file import RecordFile, Refusals
from lite.records.reader import Reader, first_positions, read_all

# As the scripts of dlshogi read its files (its utils/hcpe3_to_csa.py, for one).
HEADER = np.dtype([("hcp", cshogi.dtypeHcp), ("moveNum", "<u2"), ("result", "u1"), ("opponent", "u1")])
MOVE_INFO = np.dtype([("selectedMove16", "<u2"), ("eval", "<i2"), ("candidateNum", "<u2")])
MOVE_VISITS = np.dtype([("move16", "<u2"), ("visitNum", "<u2")])

Searched = tuple[int, list[tuple[int, int]]]
"""The move played, and (move, visits) of the candidates."""


def played_by_cshogi(seed: int, plies: int, silent: float = 0.0) -> list[Searched]:
    """Return random legal moves from the start position with random visits; some positions have none."""
    random, board, game = np.random.default_rng(seed), cshogi.Board(), []
    while len(game) < plies and (legal := [cshogi.move16(move) for move in board.legal_moves]):
        tried = random.permutation(legal)[: int(random.integers(1, len(legal) + 1))].tolist()
        visits = random.integers(0, 65536, len(tried)).tolist()
        candidates = [] if random.random() < silent else list(zip(tried, visits, strict=True))
        game.append((tried[0], candidates))
        board.push(board.move_from_move16(tried[0]))
    return game


def written(game: list[Searched], first_score: int = 1) -> bytes:
    code = np.zeros(32, np.uint8)
    cshogi.Board().to_hcp(code)
    moves = np.array([move for move, _ in game], np.uint16)
    visits = [(np.array([m for m, _ in c], np.uint16), np.array([v for _, v in c], np.uint16)) for _, c in game]
    return encode_game(code, 1, moves, np.arange(len(game), dtype=np.int16) + first_score, visits)


def read_by_cshogi(raw: bytes) -> list[Searched]:
    """Read a game by cshogi's board and dlshogi's layout; check that every move is legal."""
    header = np.frombuffer(raw, HEADER, 1)[0]
    board = cshogi.Board()
    board.set_hcp(header["hcp"].copy())
    at, game = HEADER.itemsize, []
    for _ in range(header["moveNum"]):
        info = np.frombuffer(raw, MOVE_INFO, 1, at)[0]
        candidates = np.frombuffer(raw, MOVE_VISITS, info["candidateNum"], at + MOVE_INFO.itemsize)
        at += MOVE_INFO.itemsize + candidates.nbytes
        legal = {cshogi.move16(move) for move in board.legal_moves}
        assert {int(info["selectedMove16"]), *candidates["move16"].tolist()} <= legal
        game.append((int(info["selectedMove16"]), [(int(m), int(v)) for m, v in candidates.tolist()]))
        board.push(board.move_from_move16(int(info["selectedMove16"])))
    assert at == len(raw)
    return game


def by_position(visits: Visits, positions: int) -> list[list[tuple[int, int]]]:
    found: list[list[tuple[int, int]]] = [[] for _ in range(positions)]
    for position, move, count in zip(visits.position, visits.move, visits.visits, strict=True):
        found[position].append((int(move), int(count)))
    return found


@settings(max_examples=30)
@given(seed=st.integers(0, 1 << 32), plies=st.integers(1, 40), silent=st.sampled_from([0.0, 0.3]))
def test_written_visits_are_read_back(
    seed: int, plies: int, silent: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    game = played_by_cshogi(seed, plies, silent)
    raw = written(game)
    assert read_by_cshogi(raw) == game
    path = tmp_path_factory.mktemp("visits") / "a.hcpe3"
    path.write_bytes(raw)
    batch = read_all([path], read_visits=True)
    # Positions without candidates are not trained on, unless the whole game has no candidates.
    trained = [one for one in game if one[1]] or game
    assert batch.move.tolist() == [move for move, _ in trained]
    assert batch.visits is not None
    assert by_position(batch.visits, len(batch)) == [candidates for _, candidates in trained]


@settings(max_examples=50)
@given(scores=st.lists(st.sampled_from([None, 0, 0, 1, -300]), min_size=1, max_size=4))
def test_a_score_of_0_is_distinguished_from_a_missing_score(
    scores: list[int | None], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """It is written as 1 if some moves have no score or if all scores of the game are 0."""
    code = np.zeros(32, np.uint8)
    cshogi.Board().to_hcp(code)
    moves = np.array([move for move, _ in played_by_cshogi(2, len(scores))], np.uint16)
    scored = np.array([score is not None for score in scores])
    path = tmp_path_factory.mktemp("scores") / "a.hcpe3"
    path.write_bytes(encode_game(code, 1, moves, np.array([score or 0 for score in scores], np.int16), scored=scored))
    batch = read_all([path])
    assert batch.scored.tolist() == scored.tolist()
    plain = scored.all() and any(scores)
    assert batch.score.tolist() == [0 if score is None else score or int(not plain) for score in scores]


def test_batches_of_shuffled_pools_keep_visits_and_positions_together(
    cshogi_records, sample_bytes: list[bytes], tmp_path: Path
) -> None:
    expected: dict[int, list[tuple[int, int]]] = {}
    games = []
    for number in range(12):
        game = played_by_cshogi(number, 30)
        games.append(written(game, 1000 * number + 1))
        expected |= {1000 * number + 1 + ply: candidates for ply, (_, candidates) in enumerate(game)}
    (tmp_path / "a.hcpe3").write_bytes(b"".join(games[:5]))
    (tmp_path / "b.hcpe3").write_bytes(b"".join(games[5:]))
    others = cshogi_records[0][:200].copy()
    others["eval"] = -1 - np.arange(200)
    others.tofile(tmp_path / "c.hcpe")
    files = sorted(tmp_path.iterdir())
    for pools in ({"pool_positions": 100, "block_positions": 25}, {"min_ply": 7, "threads": 3}):
        reader = Reader(files, 33, seed=4, read_visits=True, **pools)
        for _ in range(2):
            scores: list[int] = []
            for batch in reader:
                assert batch.visits is not None
                found = by_position(batch.visits, len(batch))
                assert found == [expected.get(int(score), []) for score in batch.score]
                scores += batch.score.tolist()
            assert len(scores) == 200 + sum((score - 1) % 1000 >= pools.get("min_ply", 0) for score in expected)


@pytest.mark.parametrize("count", [1, 10, 13, 20, 50, None])
def test_the_first_positions_have_visits(tmp_path: Path, count: int | None) -> None:
    (tmp_path / "a.hcpe3").write_bytes(written(played_by_cshogi(1, 40, 0.3)))
    whole = read_all([tmp_path / "a.hcpe3"], read_visits=True)
    batches = list(first_positions(Reader([tmp_path / "a.hcpe3"], 10, shuffle=False, read_visits=True), count))
    found = [one for batch in batches if batch.visits is not None for one in by_position(batch.visits, len(batch))]
    assert whole.visits is not None
    assert found == by_position(whole.visits, len(whole))[:count]
    assert sum(map(len, batches)) == len(whole.move[:count])
    np.testing.assert_array_equal(np.concatenate([batch.pieces for batch in batches]), whole.pieces[:count])


def test_visits_are_read_only_on_request(tmp_path: Path) -> None:
    (tmp_path / "a.hcpe3").write_bytes(written(played_by_cshogi(1, 20)))
    assert read_all([tmp_path / "a.hcpe3"]).visits is None
    assert all(batch.visits is None for batch in Reader([tmp_path / "a.hcpe3"], 8))


def test_games_with_an_impossible_candidate_are_refused(tmp_path: Path) -> None:
    game = played_by_cshogi(3, 12)
    bad = [*game[:7], (game[7][0], [*game[7][1], (cshogi.move16(cshogi.Board().move_from_usi("1a1b")), 5)]), *game[8:]]
    path = tmp_path / "a.hcpe3"
    path.write_bytes(written(game) + written(bad) + written(game))
    found = Refusals()
    file = RecordFile(path, read_visits=True)
    assert len(file.read_block(file.blocks[0], found)) == 24
    assert "game 2 at byte" in str(found)
    assert "move 8: an illegal candidate move" in str(found)
    assert len(read_all([path])) == 36
