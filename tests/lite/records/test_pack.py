"""GenSfen's .pack games are read like the same games in hcpe3, with all first positions and endings."""

from __future__ import annotations

from pathlib import Path

import cshogi
import numpy as np
import pytest

from lite.datasets.conversion import Conversion
from lite.datasets.convert import convert
from lite.datasets.stat import describe
from lite.records.file import RecordFile
from lite.records.formats import DECLARATION, MOVE_LIMIT, SENNICHITE, RecordError
from lite.records.reader import Reader, read_all
from search.rules.shogi import START_SFEN

LATER = "lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL b - 3"


def pack(moves: list[str], scores: list[int], end: int, reason: int, start: str | None = None) -> bytes:
    """Return a game by GenSfen's description and cshogi's codes; `end` is the code of the winner, twice."""
    board = cshogi.Board(start or START_SFEN)
    raw = b"\1"
    if start is not None:
        hcp = np.zeros(1, cshogi.HuffmanCodedPos)
        board.to_hcp(hcp)
        raw = b"\0" + hcp.tobytes() + int(start.split()[-1]).to_bytes(2, "little")
    for usi, score in zip(moves, scores, strict=True):
        move = board.move_from_usi(usi)
        raw += cshogi.move16(move).to_bytes(2, "little") + score.to_bytes(2, "little", signed=True)
        board.push(move)
    return raw + end.to_bytes(2, "little") + bytes([reason])


DRAW, BLACK, WHITE = 0, 0x81, 0x102


def test_games_are_read_with_scores_results_and_plies(tmp_path: Path) -> None:
    games = [
        pack(["7g7f", "3c3d", "2g2f"], [10, -20, 30], BLACK, 0),
        pack(["2g2f", "8c8d"], [-5, 0], WHITE, 4, LATER),
        pack(["2g2f"], [0], DRAW, 1, LATER),
    ]
    (tmp_path / "a.pack").write_bytes(b"".join(games))
    batch = read_all([tmp_path / "a.pack"])
    assert batch.score.tolist() == [10, -20, 30, -5, 0, 0]
    assert batch.scored.all()
    assert batch.ply.tolist() == [0, 1, 2, 2, 3, 2]
    assert batch.result.tolist() == [1, 0, 1, 0, 1, 0.5]
    assert batch.kind_of_result.tolist() == [0] * 5 + [SENNICHITE]
    assert [cshogi.move_to_usi(int(move)) for move in batch.move[:4]] == ["7g7f", "3c3d", "2g2f", "2g2f"]


@pytest.mark.parametrize(
    ("end", "reason", "result", "kind"),
    [
        (BLACK, 0, 1, 0),
        (DRAW, 1, 0.5, SENNICHITE),
        (DRAW, 2, 0.5, MOVE_LIMIT),
        (WHITE, 4, 0, 0),
        (WHITE, 5, 0, 0),
        (BLACK, 6, 1, 0),
        (BLACK, 10, 1, DECLARATION),
        (DRAW, 11, 0.5, DECLARATION),
        (WHITE, 12, 0, DECLARATION),
        (BLACK, 13, 1, DECLARATION),
        (BLACK, 99, 1, 0),
    ],
)
def test_every_reason_of_an_ending_is_read(tmp_path: Path, end: int, reason: int, result: float, kind: int) -> None:
    (tmp_path / "a.pack").write_bytes(pack(["7g7f"], [1], end, reason))
    batch = read_all([tmp_path / "a.pack"])
    assert (batch.result.tolist(), batch.kind_of_result.tolist()) == ([result], [kind])


@pytest.mark.parametrize(("end", "reason"), [(DRAW, 3), (BLACK, 3), (0x183, 0), (0x4081, 0)])
def test_games_without_a_known_result_are_refused(tmp_path: Path, end: int, reason: int) -> None:
    path = tmp_path / "a.pack"
    path.write_bytes(pack(["7g7f"], [1], BLACK, 0) * 3 + pack(["2g2f"], [1], end, reason))
    reader = Reader([path], 8)
    assert sum(map(len, reader)) == 3
    assert reader.refusals.named == [f"{path} game 4: an unknown game result"]


def test_illegal_moves_and_bad_positions_are_refused(tmp_path: Path) -> None:
    good = pack(["7g7f"], [1], BLACK, 0)
    illegal = good[:1] + b"\7\7" + good[3:]
    placed = pack(["2g2f"], [1], BLACK, 0, LATER)
    broken = placed[:1] + b"\xff" * 32 + placed[33:]
    (tmp_path / "a.pack").write_bytes(good * 5 + illegal + broken)
    reader = Reader([tmp_path / "a.pack"], 8)
    assert sum(map(len, reader)) == 5
    assert [name.split(": ")[0].rsplit(" ", 2)[1:] for name in reader.refusals.named] == [["game", "6"], ["game", "7"]]


def test_games_after_an_unknown_first_position_are_lost(tmp_path: Path) -> None:
    good = pack(["7g7f"], [1], BLACK, 0)
    path = tmp_path / "a.pack"
    path.write_bytes(good * 9 + b"\2" + good[1:] + good)
    file = RecordFile(path)
    assert (file.records, file.lost.refused) == (9, 1)
    path.write_bytes(good * 9 + good[:-1])
    assert RecordFile(path).lost.refused == 1
    path.write_bytes(b"\7" * 400)
    with pytest.raises(RecordError, match=r"a\.pack: .*\.psv"):  # some tools call psv files .pack
        RecordFile(path)


def test_blocks_threads_and_orders_give_the_same_positions(tmp_path: Path) -> None:
    generator, games = np.random.default_rng(7), []
    for number in range(60):
        board, moves = cshogi.Board(LATER if number % 3 else START_SFEN), []
        for _ in range(int(generator.integers(1, 80))):
            legal = list(board.legal_moves)
            if not legal:
                break
            moves.append(cshogi.move_to_usi(legal[generator.integers(len(legal))]))
            board.push_usi(moves[-1])
        scores = generator.integers(-32000, 32000, len(moves)).tolist()
        games.append(pack(moves, scores, (DRAW, BLACK, WHITE)[number % 3], 0, LATER if number % 3 else None))
    path = tmp_path / "a.pack"
    path.write_bytes(b"".join(games))
    whole = read_all([path])
    reader = Reader([path], 64, pool_positions=300, block_positions=100, threads=2)
    assert reader.positions == len(whole)
    found = np.concatenate([batch.score for batch in reader])
    assert sorted(found.tolist()) == sorted(whole.score.tolist())
    convert(Conversion((path,), tmp_path / "a.hcpe3"))
    converted = read_all([tmp_path / "a.hcpe3"])
    for name in ("pieces", "hands", "turn", "score", "scored", "move", "result"):
        assert np.array_equal(getattr(whole, name), getattr(converted, name)), name
    convert(Conversion((path,), tmp_path / "a.psv"))
    assert read_all([tmp_path / "a.psv"]).ply.tolist() == whole.ply.tolist()
    summary = describe((tmp_path,))
    assert summary.formats == ["hcpe3", "pack", "psv"]
    assert describe((path,)).games == 60


def test_a_pack_file_is_read_and_not_written(data_directory: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a\.pack"):
        convert(Conversion((data_directory / "games.usi",), tmp_path / "a.pack"))
