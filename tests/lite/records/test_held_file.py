"""Files that change while they are read give an error or their original bytes, never a crash or a mixture."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lite.records.batch import labelled_dtype
from lite.records.file import RecordFile, Refusals, decode_games
from lite.records.held_file import HeldFile
from lite.records.reader import Reader

FORMATS = ["hcpe", "hcpe3", "psv"]


@pytest.fixture
def record_file(cshogi_records, sample_bytes: list[bytes], tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that writes a few thousand positions with scores in a format."""

    def make(form: str) -> Path:
        hcpe, psv, _ = cshogi_records
        path = tmp_path / f"games.{form}"
        content = {"hcpe": hcpe.tobytes(), "psv": psv.tobytes(), "hcpe3": b"".join(sample_bytes[:40])}
        path.write_bytes(content[form])
        return path

    return make


def begun(path: Path) -> tuple[Reader, list[np.ndarray]]:
    """Return a reader of small pools that has given one batch, and all boards of the file at that time."""
    options = {"shuffle": False, "pool_positions": 200, "block_positions": 50}
    boards = [batch.pieces for batch in Reader([path], 64, **options)]
    reader = Reader([path], 64, **options)
    next(iter(reader))
    return reader, boards


def noise(size: int) -> bytes:
    return np.random.default_rng(1).bytes(size)


@pytest.mark.parametrize("form", FORMATS)
def test_reading_a_replaced_file_continues_with_its_old_content(form: str, record_file, tmp_path: Path) -> None:
    path = record_file(form)
    reader, boards = begun(path)
    other = tmp_path / "other"
    other.write_bytes(noise(path.stat().st_size))
    os.replace(other, path)
    assert np.array_equal(np.concatenate([batch.pieces for batch in reader]), np.concatenate(boards[1:]))


@pytest.mark.parametrize("form", FORMATS)
def test_reading_a_deleted_file_continues(form: str, record_file) -> None:
    path = record_file(form)
    reader, boards = begun(path)
    path.unlink()
    assert sum(map(len, reader)) == sum(map(len, boards)) - 64


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda raw: raw[: len(raw) // 3], "became shorter"),
        (lambda raw: raw + raw[:100], "became longer"),
        (lambda raw: noise(len(raw)), "was written to"),
        (lambda raw: b"", "became shorter"),
    ],
    ids=["truncated", "grown", "overwritten", "emptied"],
)
def test_a_file_that_is_changed_is_an_error(form: str, change, words: str, record_file) -> None:
    path = record_file(form)
    reader, _ = begun(path)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(OSError, match=rf"games\.{form}: the file {words}"):
        list(reader)


@pytest.mark.parametrize("form", FORMATS)
def test_unnoticed_changes_cause_no_access_outside_arrays(form: str, record_file, monkeypatch) -> None:
    """Bytes change at random on a simulated file system that does not report changes."""
    path = record_file(form)
    file = RecordFile(path, block_positions=500)
    size = path.stat().st_size
    generator = np.random.default_rng(2)
    whole = path.read_bytes()

    def garbled(start: int, stop: int) -> np.ndarray:
        raw = np.frombuffer(whole, np.uint8)[start:stop].copy()
        raw[generator.integers(0, raw.size, 40)] = generator.integers(0, 256, 40)
        return raw[: generator.integers(0, raw.size + 1)]

    monkeypatch.setattr(file.file, "read", garbled)
    for _ in range(200):
        for block in file.blocks:
            guarded = np.full(block.positions + 64, 0x55, np.uint8).repeat(labelled_dtype.itemsize).view(labelled_dtype)
            taken = file.read_block(block, Refusals(), guarded[: block.positions])
            assert len(taken) <= block.positions
            assert (guarded[block.positions :].view(np.uint8) == 0x55).all()
    assert size == path.stat().st_size


def test_games_that_do_not_fit_into_memory_are_truncated(sample_bytes: list[bytes]) -> None:
    raw = np.frombuffer(b"".join(sample_bytes[:3]), np.uint8).copy()
    short = decode_games(raw[:-1], 3, np.empty(1000, labelled_dtype), "a", Refusals())
    assert [bool(error) for error in short.errors] == [False, False, True]
    found = Refusals()
    narrow = decode_games(raw, 3, np.empty(int(short.counts[0]), labelled_dtype), "a", found)
    assert narrow.counts.tolist() == [short.counts[0], 0, 0]
    assert dict(found.reasons) == {"the file ends inside it": 2}


@pytest.mark.skipif(sys.platform == "win32", reason="limits of open files are another matter there")
def test_more_files_than_the_usual_limit_can_be_open(record_file, tmp_path: Path) -> None:
    path = record_file("hcpe")
    for number in range(60):
        os.link(path, tmp_path / f"{number:02}.hcpe")
    program = (
        "import resource, sys; from lite.records.reader import Reader;"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (40, int(sys.argv[2])));"
        "print(len(Reader([sys.argv[1]], 64).files))"
    )

    def count(limit: int) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", program, str(tmp_path), str(limit)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert count(100).stdout == "61\n"
    failed = count(40).stderr.splitlines()[-1]
    assert "RecordError" in failed
    assert ".hcpe: " in failed


def test_a_digest_depends_on_every_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.hcpe"
    path.write_bytes(noise(3_000_000))
    before = HeldFile(path).digest
    assert HeldFile(path).digest == before
    raw = bytearray(path.read_bytes())
    raw[1_700_001] ^= 1
    path.write_bytes(bytes(raw))
    assert HeldFile(path).digest != before


@pytest.mark.slow
def test_all_indices_are_within_their_arrays(tmp_path: Path) -> None:
    """Run all tests of records with Numba's bounds checks in all compiled code."""
    checked = os.environ | {"NUMBA_BOUNDSCHECK": "1", "LITESHOGI_CACHE": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "-q", str(Path(__file__).parent)]
    found = subprocess.run(command, env=checked, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout
