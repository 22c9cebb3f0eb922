"""The filters of `convert`, at their exact limits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lite.datasets import chunks
from lite.datasets.stat import describe
from lite.records.encode import encode_game
from lite.records.formats import DECLARATION, MOVE_LIMIT, SENNICHITE, RecordError, hcpe_dtype
from lite.records.reader import read_all
from search.rules.huffman import HCP, encode
from search.rules.sfen import move_from_usi, position_from_sfen
from search.rules.shogi import START_SFEN
from tests.lite.datasets.conftest import run


def with_candidates(game: bytes) -> bytes:
    """Return a game with one to three candidates per move, all equal to the move."""
    parts = [game[:36]]
    for ply, at in enumerate(range(36, len(game), 6)):
        count = 1 + ply % 3
        parts += [game[at : at + 4], count.to_bytes(2, "little"), (game[at : at + 2] + b"\1\0") * count]
    return b"".join(parts)


@pytest.fixture
def records(cshogi_records) -> np.ndarray:
    return cshogi_records[0].view(hcpe_dtype).copy()


def test_scores_up_to_the_limit_are_kept(records: np.ndarray, tmp_path: Path) -> None:
    scores = [0, 100, -100, 101, -101, 32767, -32768]
    records = records[: len(scores)]
    records["score"] = scores
    records.tofile(tmp_path / "a.hcpe")
    run(tmp_path / "b.hcpe", tmp_path / "a.hcpe", max_score=100)
    assert np.fromfile(tmp_path / "b.hcpe", hcpe_dtype)["score"].tolist() == [0, 100, -100]


@pytest.mark.parametrize("form", ["hcpe", "hcpe3"])
@pytest.mark.parametrize(
    ("name", "kept"), [("draw", "de"), ("sennichite", "dejn"), ("declaration", "esjn"), ("move-limit", "desn")]
)
def test_games_are_left_out_by_their_ending(
    sample_bytes: list[bytes], tmp_path: Path, form: str, name: str, kept: str
) -> None:
    endings = {"d": 1 | DECLARATION, "e": 2, "s": SENNICHITE, "j": MOVE_LIMIT, "n": 0}
    games = {key: raw[:34] + bytes([endings[key]]) + raw[35:] for key, raw in zip(endings, sample_bytes, strict=False)}
    source, wanted = tmp_path / f"all.{form}", tmp_path / f"wanted.{form}"
    for path, keys in ((source, endings), (wanted, kept)):
        (tmp_path / "games.hcpe3").write_bytes(b"".join(games[key] for key in keys))
        run(path, tmp_path / "games.hcpe3")
    run(tmp_path / f"left.{form}", source, leave_out=(name,))
    assert (tmp_path / f"left.{form}").read_bytes() == wanted.read_bytes()


def test_games_of_exactly_the_limits_are_kept(sample_bytes: list[bytes], tmp_path: Path) -> None:
    """Also a length that does not fit into a byte."""
    pos = position_from_sfen(START_SFEN)
    start = encode(pos["board"], pos["hands"], int(pos["turn"]), HCP)
    around = [move_from_usi(usi) for usi in ("2h3h", "8b7b", "3h2h", "7b8b")] * 75
    games = [*sample_bytes[:3], encode_game(start, 1, np.array(around), np.ones(300, np.int16))]
    (tmp_path / "a.hcpe3").write_bytes(b"".join(games))
    for number, game in enumerate(games):
        plies = int.from_bytes(game[32:34], "little")
        output = tmp_path / f"{number}.hcpe3"
        run(output, tmp_path / "a.hcpe3", min_plies=plies, max_plies=plies)
        assert output.read_bytes() == b"".join(one for one in games if one[32:34] == game[32:34])


def test_a_refused_game_does_not_affect_its_neighbours(sample_bytes: list[bytes], tmp_path: Path) -> None:
    games = [bytearray(with_candidates(game)) for game in sample_bytes[:5]]
    for bad in (1, 3):
        games[bad][36:38] = b"\0\0"  # not a move
    (tmp_path / "a.hcpe3").write_bytes(b"".join(games))
    summary = run(tmp_path / "b.hcpe3", tmp_path / "a.hcpe3")
    assert summary.refused == {"an illegal move": 2}
    assert (tmp_path / "b.hcpe3").read_bytes() == b"".join(games[::2])
    run(tmp_path / "c.hcpe3", tmp_path / "b.hcpe3", from_ply=10)
    plies = [int.from_bytes(game[32:34], "little") for game in games[::2]]
    left = sum(1 + ply % 3 for count in plies for ply in range(10, count))
    assert describe((tmp_path / "c.hcpe3",)).candidates_per_move == pytest.approx(left / sum(plies))


def test_kept_moves_of_a_game_without_candidates_have_one_visit(sample_bytes: list[bytes], tmp_path: Path) -> None:
    """With one visit, other programs learn the move; without visits its share would be zero."""
    (tmp_path / "a.hcpe3").write_bytes(sample_bytes[0])
    run(tmp_path / "b.hcpe3", tmp_path / "a.hcpe3", from_ply=10)
    batch = read_all([tmp_path / "b.hcpe3"], read_visits=True)
    assert batch.visits is not None
    assert batch.visits.move.tolist() == batch.move.tolist()
    assert batch.visits.visits.tolist() == [1] * len(batch)


def test_excluded_positions_do_not_count_in_merged_labels(records: np.ndarray, tmp_path: Path) -> None:
    three = records[[0, 0, 0]]
    three["score"] = [100, 200, 9000]
    three.tofile(tmp_path / "a.hcpe")
    summary = run(tmp_path / "b.hcpe", tmp_path / "a.hcpe", duplicates="merge", max_score=500)
    assert np.fromfile(tmp_path / "b.hcpe", hcpe_dtype)["score"].tolist() == [150]
    assert summary.left_out == {"positions with too large a score": 1, "duplicate positions": 1}
    assert summary.positions_read == 3


def test_a_tenth_is_held_out_and_merged_like_other_positions(records: np.ndarray, tmp_path: Path) -> None:
    records["score"] = 10
    records.tofile(tmp_path / "a.hcpe")
    records["score"] = 20
    records.tofile(tmp_path / "b.hcpe")
    parts = tmp_path / "train.hcpe", tmp_path / "test.hcpe"
    run(parts[0], tmp_path / "a.hcpe", tmp_path / "b.hcpe", duplicates="merge", test_output=parts[1])
    train, test = (np.fromfile(part, hcpe_dtype)["score"] for part in parts)
    assert {*train, *test} == {15}
    assert 0.07 < len(test) / (len(train) + len(test)) < 0.13


def test_illegal_moves_are_dropped_without_checks(records: np.ndarray, tmp_path: Path) -> None:
    records = records[:3]
    records["move"][1] = move_from_usi("5a5i")
    records.tofile(tmp_path / "a.hcpe")
    assert run(tmp_path / "b.hcpe", tmp_path / "a.hcpe").refused == {"an illegal move": 1}
    run(tmp_path / "c.hcpe", tmp_path / "a.hcpe", check_moves=False)
    assert np.fromfile(tmp_path / "c.hcpe", hcpe_dtype)["move"].tolist() == [records["move"][0], 0, records["move"][2]]


def test_truncated_and_mostly_invalid_files_are_reported(records: np.ndarray, tmp_path: Path) -> None:
    path = tmp_path / "a.hcpe"
    path.write_bytes(records[:3].tobytes() + b"tail")
    assert run(tmp_path / "b.hcpe", path).refused == {"the file ends inside it": 1}
    records = np.tile(records, 5)[:14_000]
    bad = np.arange(len(records)) % 929 > 400  # the first check samples 64 records in every 929
    records["hcp"][bad, 0] |= 0xFE  # a king off the board
    records.tofile(path)
    with pytest.raises(RecordError, match=r"a\.hcpe: .* record "):
        run(tmp_path / "c.hcpe", path)


def test_a_long_file_of_games_is_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "GAMES_A_CHUNK", 2)
    lines = [f"startpos moves {move} resign" for move in ("7g7f", "2g2f", "1g1f", "9g9f", "5g5f")]
    (tmp_path / "a.usi").write_text("\n".join(lines))
    assert run(tmp_path / "b.hcpe", tmp_path / "a.usi").games_read == 5
    assert read_all([tmp_path / "b.hcpe"]).move.tolist() == [move_from_usi(line.split()[2]) for line in lines]


@pytest.mark.parametrize("bad", [2, 3])
def test_a_file_with_a_majority_of_invalid_games_is_refused(tmp_path: Path, bad: int) -> None:
    """Fewer than four games are not enough to refuse a file."""
    good = "startpos moves 7g7f resign\n"
    (tmp_path / "a.usi").write_text("startpos moves 7g7f\n" * bad + good)
    (tmp_path / "b.usi").write_text(good * 9)
    if bad == 2:
        assert run(tmp_path / "c.hcpe", tmp_path / "a.usi", tmp_path / "b.usi").games_read == 10
    else:
        with pytest.raises(RecordError, match=r"a\.usi: 3 of 4 games"):
            run(tmp_path / "c.hcpe", tmp_path / "a.usi", tmp_path / "b.usi")


def test_filters_count_only_what_earlier_filters_kept(sample_bytes: list[bytes], tmp_path: Path) -> None:
    """Positions of excluded games do not count, and games count only in their part of a split."""
    games = [raw[:34] + bytes([result]) + raw[35:] for raw, result in zip(sample_bytes[:9], (0, 1, 2) * 3, strict=True)]
    (tmp_path / "a.hcpe3").write_bytes(b"".join(games))
    summary = run(tmp_path / "b.hcpe", tmp_path / "a.hcpe3", test_share=0.5, leave_out=("draw",), from_ply=10)
    assert summary.left_out == {"games ended by draw": 3, "positions too early": 60}
    assert sum(output.games for output in summary.outputs) == 6
