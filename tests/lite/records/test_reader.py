"""The reader gives every record once per epoch, in an order by the seed, and resumes at the exact batch."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lite.records.batch import BATCH_FIELDS, Batch
from lite.records.file import RecordFile, Refusals
from lite.records.formats import NO_SCORE, RecordError, hcpe_dtype
from lite.records.place import ReaderPlace
from lite.records.reader import Reader, read_all
from lite.records.reading_speed import measure_epoch, measure_files
from lite.typed import typed


@pytest.fixture
def files(cshogi_records, sample_bytes: list[bytes], tmp_path: Path) -> list[Path]:
    """Files of the three formats whose positions have different scores."""
    hcpe, psv, _ = cshogi_records
    hcpe, psv = hcpe[:700].copy(), psv[:500].copy()
    hcpe["eval"] = np.arange(700)
    psv["score"] = 1000 + np.arange(500)
    hcpe.tofile(tmp_path / "a.hcpe")
    psv.tofile(tmp_path / "b.psv")
    games, ply = [], 0
    for game in sample_bytes[:8]:
        raw = bytearray(game)
        for move in range(int.from_bytes(raw[32:34], "little")):
            raw[38 + 6 * move : 40 + 6 * move] = (2000 + ply).to_bytes(2, "little")
            ply += 1
        games.append(bytes(raw))
    (tmp_path / "c.hcpe3").write_bytes(b"".join(games))
    return [tmp_path / "a.hcpe", tmp_path / "b.psv", tmp_path / "c.hcpe3"]


def small(files: list[Path], batch_size: int = 64, **options) -> Reader:
    """Return a reader of many small pools."""
    return Reader(files, batch_size, pool_positions=300, block_positions=50, **options)


def scores(batches) -> list[int]:
    return [score for batch in batches for score in batch.score.tolist()]


def same(first: Batch, second: Batch) -> bool:
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in BATCH_FIELDS)


def test_every_record_once_an_epoch(files: list[Path]) -> None:
    reader = small(files, seed=1)
    everything = sorted(scores([read_all(files)]))
    assert len(everything) == len(set(everything)) == reader.positions
    first, second = scores(reader), scores(reader)
    assert sorted(first) == sorted(second) == everything
    assert first != second
    assert reader.epoch == 2
    assert not reader.refusals.refused
    # Files are mixed: each half of the epoch has positions of every file.
    for part in np.array_split(np.array(first), 2):
        assert len(np.unique(part // 1000)) == 3


def test_all_batches_but_the_last_are_full(files: list[Path]) -> None:
    sizes = [len(batch) for batch in small(files, 100)]
    assert set(sizes[:-1]) == {100}
    assert 0 < sizes[-1] <= 100
    assert [len(batch) for batch in Reader(files, 10_000)] == [small(files).positions]


def test_file_order_without_shuffling(files: list[Path]) -> None:
    reader = small(files, shuffle=False)
    assert scores(reader) == scores([read_all(files)]) == scores(reader)


def test_iterations_may_overlap(files: list[Path]) -> None:
    reader = small(files, seed=2)
    expected = scores(small(files, seed=2))
    first = iter(reader)
    start = next(first)
    reader.epoch = reader._pool = reader._offset = 0
    assert scores(reader) == expected
    assert [*start.score.tolist(), *scores(first)] == expected


def test_the_seed_determines_the_order(files: list[Path]) -> None:
    assert scores(small(files, seed=3)) == scores(small(files, seed=3))
    assert scores(small(files, seed=3)) != scores(small(files, seed=4))


def test_each_pool_and_each_epoch_has_its_own_order(files: list[Path]) -> None:
    blocks = {"seed": 3, "block_positions": 50}
    halves = Reader(files[:1], 50, pool_positions=350, **blocks)
    first, second = np.reshape(scores(halves), (2, 350)).argsort().argsort()
    assert (first != second).any()
    again = scores(halves)[:350]
    assert set(again) != set(scores(Reader(files[:1], 50, pool_positions=350, **blocks))[:350])
    whole = Reader(files[:1], 50, **blocks)
    assert scores(whole) != scores(whole)


@pytest.mark.parametrize("options", [{}, {"skip_in_check": True, "min_ply": 10}])
def test_threads_decode_the_same_positions(files: list[Path], options) -> None:
    raw = bytearray(files[0].read_bytes())
    for record in (3, 60, 61, 400):
        raw[38 * record] |= 0xFE  # a king off the board
    files[0].write_bytes(bytes(raw))
    one, many = (small(files, seed=4, threads=threads, **options) for threads in (1, 5))
    for first, second in zip(one, many, strict=True):
        assert same(first, second)
    assert str(one.refusals) == str(many.refusals)
    assert one.refusals.refused == 4
    assert one.decoded == many.decoded == sum(map(len, small(files, **options)))
    assert many.decode_seconds > 0


def test_neighbours_in_a_file_are_far_apart(cshogi_records, tmp_path: Path) -> None:
    """With one or many blocks the distance is a third of the pool on average, as in any random order."""
    hcpe = np.tile(cshogi_records[0], 6)[:12_000]
    hcpe["eval"] = np.arange(12_000)
    for shard, part in enumerate(np.array_split(hcpe, 10)):
        part.tofile(tmp_path / f"{shard}.hcpe")
    order = np.array(scores(Reader([tmp_path], 64, pool_positions=4000, block_positions=100)))
    assert np.array_equal(np.sort(order), np.arange(12_000))
    place = np.argsort(order)
    assert 1200 < np.abs(np.diff(place)).mean() < 1600
    for pool in np.array_split(order, 3):
        assert len(np.unique(pool // 1200)) == 10


@pytest.mark.parametrize("pool_positions", [300, 1 << 20])
@pytest.mark.parametrize("stop", [1, 7, 20, 29, 33, 50])
def test_a_resumed_reader_gives_the_same_batches(files: list[Path], stop: int, pool_positions: int) -> None:
    options = {"seed": 5, "pool_positions": pool_positions, "block_positions": 50}
    reader = Reader(files, 64, **options)

    def stream(reader: Reader, count: int) -> list[Batch]:
        batches: list[Batch] = []
        while len(batches) < count:
            for batch in reader:
                batches.append(batch)
                if len(batches) == count:
                    break
        return batches

    stream(reader, stop)
    state = typed(ReaderPlace, json.loads(json.dumps(asdict(reader.place))), "the place")
    expected = stream(reader, 40)
    again = Reader(files, 64, **options)
    again.resume_at(state)
    for first, second in zip(expected, stream(again, 40), strict=True):
        assert same(first, second)


def test_resume_refuses_other_data(files: list[Path]) -> None:
    state = small(files).place
    with pytest.raises(ValueError, match=r"3 files.* 2"):
        small(files[:2]).resume_at(state)
    with pytest.raises(ValueError, match=r"seed .*0.*1"):
        small(files, seed=1).resume_at(state)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("batch_size", 65),
        ("shuffle", False),
        ("skip_in_check", True),
        ("min_ply", 1),
        ("max_score", 0),
        ("check_moves", False),
        ("mark_entered", True),
        ("read_visits", True),
        ("pool_positions", 301),
    ],
)
def test_resuming_requires_the_same_content_of_batches(files: list[Path], option: str, value: int) -> None:
    options = {"batch_size": 64, "pool_positions": 300}
    state = Reader(files, **options).place
    other = Reader(files, **(options | {option: value}))
    with pytest.raises(ValueError, match=rf"{option} .*\b{value}\b"):
        other.resume_at(state)


def test_resuming_requires_the_same_blocks(files: list[Path]) -> None:
    """The same number of blocks of another size holds other positions."""
    state = Reader(files, 64, block_positions=500).place
    other = Reader(files, 64, block_positions=520)
    assert len(other._blocks) == len(Reader(files, 64, block_positions=500)._blocks)
    with pytest.raises(ValueError, match=r"block_positions .*500.*520"):
        other.resume_at(state)


def test_resuming_requires_the_same_bytes(files: list[Path]) -> None:
    """Name, size and boards are the same; only one label in the middle differs."""
    state = small(files).place
    raw = bytearray(files[0].read_bytes())
    raw[38 * 350 + 36] ^= 3
    files[0].write_bytes(bytes(raw))
    with pytest.raises(ValueError, match=r"a\.hcpe .*26,600 bytes"):
        small(files).resume_at(state)
    with pytest.raises(ValueError, match=r"b\.psv .*a\.hcpe"):
        small([files[1], files[0], files[2]]).resume_at(state)


@pytest.mark.parametrize(
    "options",
    [
        {"skip_in_check": True},
        {"min_ply": 1},
        {"max_score": 0},
        {"skip_in_check": True, "min_ply": 10, "max_score": 2100},
    ],
)
def test_filtered_positions_are_left_out(files: list[Path], options: dict[str, Any]) -> None:
    records = np.fromfile(files[0], hcpe_dtype)
    records["score"][5] = -32768  # its absolute value does not fit into two bytes
    records.tofile(files[0])
    everything = read_all(files)
    good = ~everything.in_check | (not options.get("skip_in_check"))
    good &= (everything.ply < 0) | (everything.ply >= options.get("min_ply", 0))
    good &= np.abs(everything.score.astype(int)) <= options.get("max_score", 1 << 15)
    assert 0 < good.sum() < len(everything)
    kept = read_all(files, **options)
    assert np.array_equal(kept.score, everything.score[good])
    assert sorted(scores(small(files, **options))) == sorted(kept.score.tolist())


def test_bad_records_are_reported_and_skipped(files: list[Path]) -> None:
    raw = bytearray(files[0].read_bytes())
    for record in (3, 400):
        raw[38 * record] |= 0xFE  # a king off the board
    files[0].write_bytes(bytes(raw) + b"tail")
    reader = small(files)
    for _ in range(2):
        assert len(scores(reader)) == reader.positions - 2
        assert reader.refusals.refused == 3
        assert reader.refusals.read == sum(file.records for file in reader.files) + 1
    assert f"{files[0]} record 4: a missing king" in str(reader.refusals)
    assert f"{files[0]} record 701: the file ends inside it" in str(reader.refusals)
    assert "\n" not in str(reader.refusals)


def test_a_file_with_many_invalid_records_is_an_error(files: list[Path], tmp_path: Path) -> None:
    """The sampled records, a few in every 929, are valid; most of the others are not."""
    raw = bytearray(files[0].read_bytes() * 20)
    records = len(raw) // 38
    for record in range(0, records):
        if record % 929 > 400:
            raw[38 * record] |= 0xFE
    path = tmp_path / "late.hcpe"
    path.write_bytes(bytes(raw))
    reader = Reader([path], 64, block_positions=14_000 // 4)
    with pytest.raises(RecordError, match=r"late\.hcpe: .*record "):
        scores(reader)


@pytest.mark.parametrize("unscored", [slice(0, 400), slice(400, 800), slice(399, 400)])
def test_a_zero_is_a_score_if_missing_scores_are_marked(files: list[Path], tmp_path: Path, unscored: slice) -> None:
    records = np.tile(np.fromfile(files[0], hcpe_dtype), 2)[:800]
    records["score"] = 0
    records["padding"][unscored] = NO_SCORE
    records.tofile(tmp_path / "some.hcpe")
    file = RecordFile(tmp_path / "some.hcpe")
    share = (unscored.stop - unscored.start) / 800
    assert file.unscored == pytest.approx(share, abs=0.15)
    positions = file.read_block(file.blocks[0], Refusals())
    assert (~positions["scored"]).mean() == share


def test_the_share_without_a_score_refers_to_all_positions(files: list[Path], tmp_path: Path) -> None:
    records = np.fromfile(files[0], hcpe_dtype)
    records["score"], records["padding"] = 0, NO_SCORE
    records[:100].tofile(tmp_path / "few.hcpe")
    assert Reader([files[0], tmp_path / "few.hcpe"], 64).unscored == pytest.approx(100 / 800)


def test_zeros_are_scores_if_other_scores_follow_late_in_a_file(files: list[Path], tmp_path: Path) -> None:
    records = np.tile(np.fromfile(files[0], hcpe_dtype), 9)
    records["score"] = np.where(np.arange(len(records)) < len(records) // 2, 0, 5)
    records.tofile(tmp_path / "late.hcpe")
    assert RecordFile(tmp_path / "late.hcpe").unscored == 0


def test_blocks_do_not_depend_on_the_size_of_the_scanned_window(
    sample_games: Path, sample_bytes: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = RecordFile(sample_games, block_positions=500).blocks
    monkeypatch.setattr("lite.records.file._WINDOW", 2 * max(map(len, sample_bytes)))
    assert RecordFile(sample_games, block_positions=500).blocks == blocks
    starts = np.cumsum([0, *map(len, sample_bytes)])
    for block in blocks:
        last = block.first_record + block.records
        assert (block.start, block.stop) == (starts[block.first_record], starts[last])
        games = sample_bytes[block.first_record : last]
        assert block.positions == sum(int.from_bytes(game[32:34], "little") for game in games) == block.learnable
        assert last == len(sample_bytes) or 500 <= block.positions < 500 + 512
    assert sum(block.records for block in blocks) == len(sample_bytes)


def test_a_file_that_shrinks_is_an_error(files: list[Path]) -> None:
    reader = small(files)
    files[0].write_bytes(files[0].read_bytes()[:1000])
    with pytest.raises(OSError, match=files[0].name):
        scores(reader)


def test_directories_are_read_and_other_files_are_errors(files: list[Path]) -> None:
    assert Reader([files[0].parent], 64).positions == small(files).positions
    with pytest.raises(ValueError, match="at least 1"):
        Reader(files, 0)
    with pytest.raises(RecordError):
        Reader([], 64)


def test_the_speed_of_each_file_is_measured(files: list[Path]) -> None:
    for path, speed in measure_files(files, rounds=1).items():
        assert speed.positions == Reader([path], 1).positions
        assert speed.decode_positions_per_s > 0
        assert speed.read_positions_per_s > 0


def test_the_speed_of_an_epoch_over_all_files_is_measured(files: list[Path]) -> None:
    speed = measure_epoch(files, threads=2)
    assert (speed.positions, speed.files) == (small(files).positions, 3)
    (tenth,) = speed.tenths  # one batch holds everything
    assert tenth.positions_per_s > 0
    assert tenth.positions_per_cpu_s > 0
    assert tenth.resident_bytes is None or tenth.resident_bytes > 0
