"""Records are decoded as by cshogi, and impossible ones are refused with a reason."""

from __future__ import annotations

import os
from pathlib import Path

import cshogi
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lite.datasets.chunks import data_files
from lite.records.batch import BATCH_FIELDS, Batch, as_batch, labelled_dtype
from lite.records.decode import RECORD_ERRORS, decode_positions, scratch_position
from lite.records.encode import encode_game, position_records
from lite.records.file import RecordFile, Refusals, decode_games
from lite.records.formats import (
    ENTERED,
    HCPE,
    MAX_MOVES,
    NO_GAME,
    NO_RESULT,
    NO_SCORE,
    RecordError,
    game_dtype,
    hcpe_dtype,
    move_dtype,
    psv_dtype,
)
from lite.records.reader import Reader, read_all
from search.rules.huffman import HCP, PSV, encode
from search.rules.set_up import BOARD_OK, set_board
from search.rules.sfen import move_from_usi, position_from_sfen

START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"


def code_of(sfen: str, dialect: int = HCP) -> np.ndarray:
    pos = position_from_sfen(sfen)
    return np.frombuffer(encode(pos["board"], pos["hands"], int(pos["turn"]), dialect), np.uint8)


def hcpe(sfen: str = START, move: str = "7g7f", score: int = 50, result: int = 1) -> np.ndarray:
    record = np.zeros(1, hcpe_dtype)
    record["hcp"], record["move"] = code_of(sfen), move_from_usi(move) if move else 0
    record["score"], record["result"] = score, result
    return record


def psv() -> np.ndarray:
    record = np.zeros(1, psv_dtype)
    record["sfen"], record["move"] = code_of(START, PSV), cshogi.move16_to_psv(move_from_usi("7g7f"))
    return record


def game(moves: list[str], result: int = 1, candidates: list[int] | None = None) -> bytes:
    header = np.zeros((), game_dtype)
    header["hcp"], header["moves"], header["result"] = code_of(START), len(moves), result
    parts = [header.tobytes()]
    for ply, move in enumerate(moves):
        record = np.zeros((), move_dtype)
        record["move"], record["score"] = move_from_usi(move), ply
        record["candidates"] = candidates[ply] if candidates else 0
        parts += [record.tobytes(), b"\x01\x02\x03\x04" * int(record["candidates"])]
    return b"".join(parts)


def mover_view(board: cshogi.Board) -> tuple[list[int], list[int]]:
    """Return pieces and hands by cshogi's rotation: 0-13 own, 14-27 enemy, 28 empty; P L N S B R G twice."""
    if board.turn == cshogi.WHITE:
        pieces = [p if p == 0 else (p - 16 if p >= 16 else p + 16) for p in reversed(board.pieces)]
        own, enemy = board.pieces_in_hand[1], board.pieces_in_hand[0]
    else:
        pieces, (own, enemy) = board.pieces, board.pieces_in_hand
    order = (0, 1, 2, 3, 5, 6, 4)
    hands = [own[i] for i in order] + [enemy[i] for i in order]
    return [28 if p == 0 else p - 1 if p < 16 else p - 3 for p in pieces], hands


def compare_with_cshogi(records, tmp_path: Path) -> None:
    hcpe_records, psv_records, boards = records
    hcpe_records.tofile(tmp_path / "a.hcpe")
    psv_records.tofile(tmp_path / "a.psv")
    for name in ("a.hcpe", "a.psv"):
        batch = read_all([tmp_path / name])
        assert len(batch) == len(boards)
        for i, board in enumerate(boards):
            pieces, hands = mover_view(board)
            assert batch.pieces[i].tolist() == pieces, board.sfen()
            assert batch.hands[i].tolist() == hands, board.sfen()
            assert bool(batch.in_check[i]) == board.is_check()
            assert batch.turn[i] == board.turn
        assert np.array_equal(batch.score, hcpe_records["eval"])
        assert np.array_equal(batch.move, hcpe_records["bestMove16"].view(np.uint16))
        winner = hcpe_records["gameResult"] & 3
        expected = np.where(winner == 0, 0.5, winner - 1 == batch.turn)
        assert np.array_equal(batch.result, expected.astype(np.float32))
        assert (batch.ply == -1).all() if name == "a.hcpe" else np.array_equal(batch.ply + 1, psv_records["gamePly"])


def test_positions_equal_those_of_cshogi(cshogi_records, tmp_path: Path) -> None:
    compare_with_cshogi(cshogi_records, tmp_path)


@pytest.mark.slow
def test_positions_of_the_whole_sample_equal_those_of_cshogi(all_cshogi_records, tmp_path: Path) -> None:
    assert len(all_cshogi_records[2]) > 20_000
    compare_with_cshogi(all_cshogi_records, tmp_path)


def test_games_give_the_same_positions_as_records(cshogi_records, sample_bytes: list[bytes], tmp_path: Path) -> None:
    cshogi_records[0].tofile(tmp_path / "a.hcpe")
    (tmp_path / "a.hcpe3").write_bytes(b"".join(sample_bytes[:40]))
    walked, decoded = read_all([tmp_path / "a.hcpe3"]), read_all([tmp_path / "a.hcpe"])
    for name in BATCH_FIELDS:
        if name != "ply":
            assert np.array_equal(getattr(walked, name), getattr(decoded, name)), name
    assert walked.ply[0] == 0
    assert walked.ply.max() < 512


@pytest.mark.parametrize(("kind", "target"), [(0, 79), (8, 40), (60, 40), (127, 40)])
def test_a_drop_without_a_kind_is_not_a_move_in_psv(kind: int, target: int, tmp_path: Path) -> None:
    """Also if it could be read as a move of the lance on 9i, the square before the first kind's number."""
    bad = psv()
    bad["move"] = target | kind << 7 | 1 << 14
    np.concatenate([psv(), bad, psv()]).tofile(tmp_path / "a.psv")
    found = Refusals()
    file = RecordFile(tmp_path / "a.psv")
    positions = file.read_block(file.blocks[0], found)
    assert positions["move"].tolist() == [move_from_usi("7g7f")] * 2
    assert dict(found.reasons) == {"an illegal move": 1}


def refused(records: np.ndarray, path: Path, **options) -> Refusals:
    """Return the refusals of these hcpe records, in a file with enough valid ones that it is not refused itself."""
    np.concatenate([records, *[hcpe()] * (len(records) + 1)]).tofile(path)
    file, found = RecordFile(path, **options), Refusals()
    assert len(file.read_block(file.blocks[0], found)) == found.read - found.refused
    return found


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (hcpe(move="7g7e"), "an illegal move"),
        (hcpe(move="P*5e"), "an illegal move"),
        (hcpe(move="8h3c+"), "an illegal move"),
        (hcpe(result=3), "an unknown game result"),
        (hcpe(result=33), "an unknown game result"),
        (hcpe("4k4/4G4/9/9/9/9/9/9/4K4 w 2R2B3G4S4N4L18P 1", "5a5b"), None),
    ],
)
def test_impossible_records_are_refused(record: np.ndarray, reason: str | None, tmp_path: Path) -> None:
    found = refused(record, tmp_path / "a.hcpe")
    assert dict(found.reasons) == ({reason: 1} if reason else {})
    if reason:
        assert found.named == [f"{tmp_path / 'a.hcpe'} record 1: {reason}"]


def test_positions_that_no_game_reaches_are_refused(tmp_path: Path) -> None:
    takes_king, no_king, noise = hcpe(), hcpe(), hcpe()
    takes_king["hcp"] = code_of("4k4/4G4/9/9/9/9/9/9/4K4 w 2R2B3G4S4N4L18P 1")
    takes_king["hcp"][0, 0] ^= 1  # the same position with black to move
    no_king["hcp"][0, 0] |= 0xFE
    noise["hcp"][0, 8:] = 0xFF
    for record in (takes_king, no_king, noise):
        record["move"] = 0
    found = refused(np.concatenate([takes_king, no_king, noise]), tmp_path / "a.hcpe")
    assert found.refused == 3
    assert "the side that is not to move is in check" in found.reasons
    assert str(found).startswith("7 records read, 3 refused (")


def test_unchecked_moves_are_dropped(tmp_path: Path) -> None:
    found = refused(hcpe(move="7g7e"), tmp_path / "a.hcpe", check_moves=False)
    assert not found.refused
    assert read_all([tmp_path / "a.hcpe"], check_moves=False).move[0] == 0


def test_records_without_a_move_are_accepted(tmp_path: Path) -> None:
    record = hcpe(move="")
    assert not refused(record, tmp_path / "a.hcpe").refused
    winning = np.zeros(1, psv_dtype)
    winning["sfen"], winning["move"] = code_of(START, PSV), 2 << 7 | 2  # YaneuraOu's MOVE_WIN
    winning.tofile(tmp_path / "a.psv")
    batch = read_all([tmp_path / "a.psv"])
    assert batch.move.tolist() == [0]
    assert batch.ply.tolist() == [-1]


def test_plies_count_from_the_start_of_the_game_within_the_limits_of_the_format(tmp_path: Path) -> None:
    late = psv()
    late["move_number"] = 65535
    np.concatenate([psv(), late]).tofile(tmp_path / "a.psv")
    assert read_all([tmp_path / "a.psv"]).ply.tolist() == [-1, 32767]
    raw = np.frombuffer(game(["7g7f", "3c3d", "2g2f"]), np.uint8).copy()
    for first, plies in ((0, [0, 1, 2]), (40, [40, 41, 42]), (32766, [32766, 32767, 32767])):
        out = np.empty(3, labelled_dtype)
        found = decode_games(raw, 1, out, "a game", Refusals(), first_plies=np.array([first]))
        assert found.positions["ply"].tolist() == plies


def test_marks_of_missing_values_beside_existing_values_are_ignored(tmp_path: Path) -> None:
    """A win is always from a game and a score other than 0 always exists, whatever the padding of the record is."""
    records = np.concatenate([hcpe(score=0, result=0), hcpe(score=50, result=1)])
    for mark, kinds, scored in ((NO_RESULT, [NO_GAME, 0], [True, True]), (NO_SCORE, [0, 0], [False, True])):
        records["padding"] = mark
        records.tofile(tmp_path / "a.hcpe")
        batch = read_all([tmp_path / "a.hcpe"])
        assert batch.kind_of_result.tolist() == kinds
        assert batch.scored.tolist() == scored


def test_positions_without_games_keep_scores_of_0(tmp_path: Path) -> None:
    """Also if the file has no other scores."""
    records = np.concatenate([hcpe(score=0, result=0)] * 3)
    records["padding"] = NO_RESULT
    records.tofile(tmp_path / "a.hcpe")
    file = RecordFile(tmp_path / "a.hcpe")
    positions = file.read_block(file.blocks[0], Refusals())
    assert file.unscored == 0
    assert positions["scored"].all()
    assert position_records(positions, HCPE, HCP).tobytes() == records.tobytes()


def test_a_game_with_an_illegal_move_is_refused_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.hcpe3"
    good = game(["7g7f", "3c3d", "8h2b+"])
    bad = game(["7g7f", "3c3d", "2h8h"])
    path.write_bytes(good + bad + good + game(["2g2f"], result=3) + good)
    file, found = RecordFile(path), Refusals()
    positions = file.read_block(file.blocks[0], found)
    assert len(positions) == 9
    assert found.named == [
        f"{path} game 2 at byte {len(good)}, move 3: an illegal move",
        f"{path} game 4 at byte {2 * len(good) + len(bad)}: an unknown game result",
    ]


def test_only_moves_with_candidates_are_trained_on(tmp_path: Path) -> None:
    path = tmp_path / "a.hcpe3"
    path.write_bytes(game(["7g7f", "3c3d", "2g2f"], candidates=[0, 2, 1]) + game(["7g7f", "3c3d"]))
    batch = read_all([path])
    assert batch.ply.tolist() == [1, 2, 0, 1]
    assert batch.score.tolist() == [1, 2, 0, 1]


def test_a_game_longer_than_the_limit_of_a_position_is_refused(tmp_path: Path) -> None:
    moves = np.zeros(MAX_MOVES + 1, np.uint16)
    (tmp_path / "a.hcpe3").write_bytes(encode_game(code_of(START), 1, moves, np.zeros(len(moves), np.int16)))
    with pytest.raises(RecordError, match="more than 2047 moves, and where the next game starts is unknown"):
        RecordFile(tmp_path / "a.hcpe3")


@pytest.mark.parametrize(("plies", "candidates", "error"), [(2047, 593, None), (1, 594, "more candidate moves")])
def test_the_longest_game_and_the_most_candidates_are_read(
    tmp_path: Path, plies: int, candidates: int, error: str | None
) -> None:
    around = np.array([move_from_usi(usi) for usi in ("2h3h", "8b7b", "3h2h", "7b8b")], np.uint16)
    moves = np.resize(around, plies)
    counts = [candidates] + [1] * (plies - 1)
    visits = [(np.full(count, move), np.ones(count, np.uint16)) for count, move in zip(counts, moves, strict=True)]
    path = tmp_path / "a.hcpe3"
    path.write_bytes(encode_game(code_of(START), 1, moves, np.ones(plies, np.int16), visits))
    if error:
        with pytest.raises(RecordError, match=error):
            RecordFile(path)
        return
    batch = read_all([path], read_visits=True)
    assert batch.ply.tolist() == list(range(plies))
    assert batch.visits is not None
    assert np.bincount(batch.visits.position).tolist() == counts


@pytest.mark.parametrize("name", ["a.hcpe", "a.psv", "a.hcpe3"])
def test_decoding_overwrites_earlier_content(
    cshogi_records, sample_bytes: list[bytes], tmp_path: Path, name: str
) -> None:
    """A reader decodes one pool after another into the same memory."""
    hcpe_records, psv_records, _ = cshogi_records
    raw = {".hcpe": hcpe_records.tobytes(), ".psv": psv_records.tobytes(), ".hcpe3": b"".join(sample_bytes[:40])}
    (tmp_path / name).write_bytes(raw[Path(name).suffix])
    file = RecordFile(tmp_path / name)
    (block,) = file.blocks
    used = np.frombuffer(b"\xff" * block.positions * labelled_dtype.itemsize, labelled_dtype).copy()
    found, fresh = (file.read_block(block, Refusals(), out) for out in (used, np.zeros_like(used)))
    for field in labelled_dtype.names:
        assert np.array_equal(found[field], fresh[field]), field


def test_truncated_files_give_their_complete_records(tmp_path: Path) -> None:
    path = tmp_path / "a.hcpe"
    path.write_bytes(hcpe().tobytes() * 3 + b"\0" * 20)
    file = RecordFile(path)
    assert file.positions == 3
    assert file.lost.named == [f"{path} record 4: the file ends inside it"]
    path = tmp_path / "a.hcpe3"
    good = game(["7g7f", "3c3d"])
    path.write_bytes(good * 3 + good[:-1])
    file = RecordFile(path)
    assert file.positions == 6
    assert file.lost.named == [
        f"{path} game 4 at byte {3 * len(good)} ({len(good) - 1} bytes): the file ends inside it"
    ]


def test_moves_without_candidates_are_not_counted_as_positions(tmp_path: Path) -> None:
    """A game with candidates at some moves gives these positions; one without candidates gives all."""
    moves = ["7g7f", "3c3d", "2g2f", "8c8d"]
    some, none = (game(moves, candidates=candidates) for candidates in ([0, 2, 0, 1], [0, 0, 0, 0]))
    (tmp_path / "a.hcpe3").write_bytes(some * 30 + none * 10)
    options: dict[str, int]
    for options in ({}, {"pool_positions": 30, "block_positions": 20, "threads": 2}):
        reader = Reader([tmp_path / "a.hcpe3"], 16, **options)
        assert reader.positions == 30 * 2 + 10 * 4 == sum(map(len, reader))
        assert sum(block.positions for block in reader.files[0].blocks) == 160
    assert len(read_all([tmp_path / "a.hcpe3"])) == 100


@pytest.mark.parametrize("games", [[[]], [[]] * 5, [[], ["7g7e"]]])
def test_games_without_moves_have_no_positions(games: list[list[str]], tmp_path: Path) -> None:
    path = tmp_path / "a.hcpe3"
    path.write_bytes(b"".join(map(game, games)))
    with pytest.raises(RecordError, match=r"a\.hcpe3: no game has a move"):
        RecordFile(path)
    path.write_bytes(game([]) + game(["7g7f"]))
    assert len(read_all([path])) == 1


@pytest.mark.parametrize("name", ["a.hcpe", "a.hcpe3", "a.psv"])
def test_wrong_files_are_errors(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b"")
    with pytest.raises(RecordError, match=name):
        RecordFile(path)
    path.write_bytes(np.random.default_rng(1).bytes(40_000))
    with pytest.raises(RecordError, match=rf"{name}: .* cannot be (used|read)"):
        RecordFile(path)


def test_unknown_suffixes_and_missing_files_are_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.hcpe"):
        read_all([tmp_path / "none.hcpe"])
    if hasattr(os, "mkfifo"):
        for name in ("pipe.hcpe", "pipe.kif"):  # reading would wait for a writer
            os.mkfifo(tmp_path / name)
            with pytest.raises(FileNotFoundError, match=rf"{name}: a pipe or a device"):
                data_files((tmp_path / name,))
    (tmp_path / "a.dat").write_bytes(b"x")
    with pytest.raises(RecordError, match=r"a\.dat: .*\.hcpe"):
        read_all([tmp_path / "a.dat"])
    for name in ("a.csa.gz", "a.hcpe3.XZ", "a.7z"):
        (tmp_path / name).write_bytes(b"x")
        for read in (read_all, lambda paths: data_files(tuple(paths))):
            with pytest.raises(RecordError, match=rf"{name}: .*unpack it"):
                read([tmp_path / name])
    (tmp_path / "empty").mkdir()
    with pytest.raises(RecordError, match="empty: "):
        read_all([tmp_path / "empty"])
    (tmp_path / "empty" / "a.hcpe").write_bytes(hcpe().tobytes())
    (tmp_path / "empty" / "b.hcpe").symlink_to(tmp_path / "unmounted" / "b.hcpe")
    for read in (read_all, lambda paths: data_files(tuple(paths))):  # half of the data are noise
        with pytest.raises(FileNotFoundError, match=r"b\.hcpe: broken or circular link"):
            read([tmp_path / "empty"])


def test_noise_after_records_is_read_or_refused(tmp_path: Path) -> None:
    records = {".hcpe": hcpe().tobytes(), ".hcpe3": game(["7g7f"]), ".psv": psv().tobytes()}
    accepted = set()

    @settings(max_examples=150)
    @given(st.sampled_from(sorted(records)), st.integers(0, 12), st.binary(max_size=400))
    def read(suffix: str, count: int, noise: bytes) -> None:
        path = tmp_path / f"a{suffix}"
        path.write_bytes(count * records[suffix] + noise)
        try:
            batch = read_all([path])
        except RecordError as error:
            message = str(error)
        else:
            message = f"{path}: {len(batch)} positions"
            look_at(batch, count)
            if noise:
                accepted.add(suffix)
        assert message.startswith(f"{path}: ")

    def look_at(batch: Batch, count: int) -> None:
        assert len(batch) >= count
        pos = scratch_position()
        for pieces, hands in zip(batch.pieces, batch.hands, strict=True):
            assert set_board(pos, pieces, hands.reshape(2, 7), 0, 1) == BOARD_OK

    read()
    assert accepted == set(records)


@settings(max_examples=100)
@given(st.data())
def test_damaged_games_give_only_valid_positions(
    tmp_path_factory, sample_bytes: list[bytes], data: st.DataObject
) -> None:
    """After changes of any bytes, every decoded position is accepted by the rules."""
    raw = bytearray(b"".join(sample_bytes[:6]))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damage") / "a.hcpe3"
    path.write_bytes(bytes(raw))
    try:
        batch = read_all([path])
    except RecordError:
        return
    pos = scratch_position()
    for i in range(len(batch)):
        assert set_board(pos, batch.pieces[i], batch.hands[i].reshape(2, 7), 0, 1) == 0


def test_the_quick_set_up_refuses_what_set_board_refuses() -> None:
    """Compare the decoder's quick set-up with `set_board` of the rules, on codes of random pieces."""
    from lite.records.decode import _BOARD_BASE, _set_up_position
    from search.rules.huffman import decode_position

    generator = np.random.default_rng(5)
    light, full = scratch_position(), scratch_position()
    board, hands = np.zeros(81, np.uint8), np.zeros((2, 7), np.uint8)
    compared = set()
    for _ in range(3000):
        code = code_of(START).copy()
        flips = generator.integers(15, 256, generator.integers(1, 6))
        for bit in flips:
            code[bit >> 3] ^= 1 << (bit & 7)
        turn = decode_position(code, np.int64(HCP), board, hands)
        if turn < 0:
            continue
        first = _set_up_position(light, board, hands, np.int64(turn))
        second = set_board(full, board, hands, np.int64(turn), np.int64(1))
        assert (first == 0) == (second == 0)
        assert second == 0 or _BOARD_BASE + first in RECORD_ERRORS
        compared.add(int(second))
        if not first:
            for name in ("board", "hands", "king", "colours", "groups", "checkers", "turn"):
                assert np.array_equal(light[name], full[name]), name
    assert len(compared) >= 4


def test_batches_are_contiguous(sample_games: Path) -> None:
    batch = read_all([sample_games])
    for name in BATCH_FIELDS:
        assert getattr(batch, name).flags.c_contiguous
    assert as_batch(np.empty(0, labelled_dtype)).pieces.shape == (0, 81)


def test_decoding_compiles_once(sample_games: Path, tmp_path: Path) -> None:
    hcpe().tofile(tmp_path / "a.hcpe")
    read_all([tmp_path / "a.hcpe", sample_games])
    assert len(decode_positions.overloads) <= 1


def test_entered_kings_are_marked_on_request(tmp_path: Path, sample_games: Path, sample_bytes: list[bytes]) -> None:
    """Test a black king that entered, a white one that did not, and by cshogi every game of the sample."""
    header = np.zeros((), game_dtype)
    header["hcp"], header["moves"], header["result"] = code_of("k8/9/9/4K4/9/9/9/9/9 b 2R2B4G4S4N4L18P 1"), 2, 1
    moves = np.array([(move_from_usi("5d5c"), 0, 0), (move_from_usi("9a8a"), 0, 0)], move_dtype)
    path = tmp_path / "entered.hcpe3"
    path.write_bytes(header.tobytes() + moves.tobytes() + sample_bytes[0])
    assert read_all([path], mark_entered=True).kind_of_result[:2].tolist() == [ENTERED, 0]
    assert not read_all([path]).kind_of_result[:2].any()

    expected = []
    board = cshogi.Board()
    for raw in sample_bytes:
        board.set_hcp(np.frombuffer(raw[:32], np.uint8))
        turns = []
        for ply in range(int.from_bytes(raw[32:34], "little")):
            turns.append(board.turn)
            board.push_move16(int.from_bytes(raw[36 + 6 * ply : 38 + 6 * ply], "little"))
        inside = [board.king_square(0) % 9 < 3, board.king_square(1) % 9 > 5]
        expected += [inside[turn] for turn in turns]
    marked = read_all([sample_games], mark_entered=True)
    plain = read_all([sample_games])
    assert ((marked.kind_of_result & ENTERED) != 0).tolist() == expected
    assert any(expected)
    assert ((marked.kind_of_result & ~np.uint8(ENTERED)) == plain.kind_of_result).all()
