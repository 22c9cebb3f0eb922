"""Folders of shards: after any crash, every job's records are stored once or will be."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.jobs import shards as shards_module
from experiments.jobs.protocol import Product
from experiments.jobs.shards import PART, SHARD_BYTES, Shards
from lite import durable_file
from lite.records.formats import record_files
from lite.run_folder import RECORD, RESULTS, RunPlan, RunWriter
from tests.experiments.jobs.toy import content, jobs_of


@contextmanager
def opened(folder: Path, shard_bytes: int = SHARD_BYTES) -> Iterator[Shards]:
    with RunWriter(folder, RunPlan("toy")) as run, Shards(run, "hcpe", shard_bytes) as shards:
        yield shards


def land(folder: Path, jobs: Iterable[int], shard_bytes: int = 300) -> None:
    with opened(folder, shard_bytes) as shards:
        for job in jobs:
            assert shards.append(job, Product(content(job), {"positions": job, "seconds": 0.5}))


def crash(folder: Path, jobs: Iterable[int], shard_bytes: int = 300, made: Callable[[int], bytes] = content) -> None:
    """Store jobs and leave the folder as after a kill."""
    run = RunWriter(folder, RunPlan("toy"))
    shards = Shards(run.__enter__(), "hcpe", shard_bytes)
    shards.__enter__()
    for job in jobs:
        shards.append(job, Product(made(job), {"positions": job, "seconds": 0.5}))
    run._results.close()
    run._lock.release()


def landed(folder: Path) -> list[int]:
    return [job for path in record_files([folder]) for job in jobs_of(path.read_bytes())]


def ledger(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / RESULTS).read_text().splitlines()]


def test_shards_hold_complete_jobs_at_the_places_in_the_ledger(tmp_path):
    land(tmp_path, range(40))
    assert landed(tmp_path) == list(range(40))
    files = record_files([tmp_path])
    assert len(files) > 5
    assert all(300 <= path.stat().st_size < 500 for path in files[:-1])
    for line in ledger(tmp_path):
        raw = (tmp_path / f"shard_{line['shard']:05}.hcpe").read_bytes()
        assert raw[line["start"] : line["stop"]] == content(line["job"])
        assert line["counts"] == {"positions": line["job"], "seconds": 0.5}


def test_a_shard_of_exactly_the_limit_is_full(tmp_path):
    land(tmp_path, [1, 2], shard_bytes=len(content(1)))
    assert (tmp_path / "shard_00000.hcpe").read_bytes() == content(1)


def test_a_job_is_stored_once(tmp_path):
    with opened(tmp_path) as shards:
        assert shards.append(3, Product(content(3), {"positions": 7}))
        assert not shards.append(3, Product(b"another", {"positions": 9}))
        assert shards.totals == {"positions": 7}
    assert landed(tmp_path) == [3]


def test_an_opened_folder_knows_the_stored_jobs(tmp_path):
    land(tmp_path, [0, 2, 9])
    with opened(tmp_path) as shards:
        assert list(shards.done.intervals()) == [(0, 1), (2, 3), (9, 10)]
        assert shards.totals == {"positions": 11, "seconds": 1.5}
        assert shards.bytes == sum(len(content(job)) for job in (0, 2, 9))


def test_a_complete_shard_is_not_changed(tmp_path):
    land(tmp_path, [1])
    before = (tmp_path / "shard_00000.hcpe").read_bytes()
    land(tmp_path, [2])
    assert (tmp_path / "shard_00000.hcpe").read_bytes() == before
    assert (tmp_path / "shard_00001.hcpe").read_bytes() == content(2)


def test_an_unfinished_shard_is_not_data(tmp_path):
    crash(tmp_path, [5, 6])
    with pytest.raises(ValueError, match="no record files"):
        record_files([tmp_path])
    land(tmp_path, [7])
    assert landed(tmp_path) == [5, 6, 7]


def test_a_shard_that_was_full_at_a_kill_is_completed(tmp_path):
    crash(tmp_path, [1, 2], shard_bytes=1000)
    with opened(tmp_path, shard_bytes=10):
        assert landed(tmp_path) == [1, 2]


def test_jobs_without_records_are_stored(tmp_path):
    crash(tmp_path, [])
    for _ in range(2):
        with opened(tmp_path) as shards:
            shards.append(len(shards.done), Product(b"", {"positions": 0}))
    crash(tmp_path, [8])
    with opened(tmp_path) as shards:
        assert len(shards.done) == 3
    assert landed(tmp_path) == [8]


@settings(max_examples=30)
@given(data=st.data())
def test_any_prefix_of_the_ledger_is_resumed(data, tmp_path_factory):
    """A kill leaves a prefix of the ledger and at least the bytes that it mentions."""
    folder = tmp_path_factory.mktemp("folder")
    jobs = data.draw(st.permutations(range(8)))
    crash(folder, jobs, shard_bytes=10_000)
    text = (folder / RESULTS).read_bytes()
    kept = data.draw(st.integers(0, len(text)))
    (folder / RESULTS).write_bytes(text[:kept])
    lines = text[:kept].count(b"\n")
    size = sum(len(content(job)) for job in jobs[:lines])
    part = folder / f"shard_00000.hcpe{PART}"
    part.write_bytes(part.read_bytes()[: data.draw(st.integers(size, part.stat().st_size))])
    with opened(folder, shard_bytes=200) as shards:
        assert {job for job in range(8) if job in shards.done} == set(jobs[:lines])
        for job in range(8):
            assert shards.append(job, Product(content(job), {})) == (job not in jobs[:lines])
    assert sorted(landed(folder)) == list(range(8))
    assert len(ledger(folder)) == 8


@settings(max_examples=30)
@given(
    products=st.lists(st.sampled_from([b"", b"few", b"many records"]), min_size=8, max_size=8),
    kills=st.sets(st.integers(0, 8)),
)
def test_kills_between_jobs_do_not_change_the_files(products, kills, tmp_path_factory):
    """A run whose jobs are stored in order, some without records, ends with the same files after any kills."""

    def files(kills: set[int]) -> dict[str, bytes]:
        folder, begun = tmp_path_factory.mktemp("folder"), 0
        for kill in sorted(kills):
            crash(folder, range(begun, kill), shard_bytes=10, made=products.__getitem__)
            begun = kill
        with opened(folder, shard_bytes=10) as shards:
            for job in range(begun, len(products)):
                shards.append(job, Product(products[job], {"positions": job, "seconds": 0.5}))
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in ("run.lock", RECORD)}

    assert files(kills) == files(set())


@pytest.mark.parametrize("end", [b'{"job":2,"sh', b'{"job":2}', b"\0" * 40, b"\0" * 40 + b"\n", b"\xff\n"])
def test_a_damaged_last_line_is_dropped(tmp_path, end):
    crash(tmp_path, [0, 1])
    with open(tmp_path / RESULTS, "ab") as file:
        file.write(end)
    land(tmp_path, [2])
    assert landed(tmp_path) == [0, 1, 2]
    assert [line["job"] for line in ledger(tmp_path)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"kind":"job"}', "line 2: job, shard, start, stop, counts must be given; restore it"),
        (b"[[[", "line 2: not a JSON object; restore it"),
        (b'{"kind":"job","job":0,"shard":0,"start":8,"stop":9,"counts":{}}', "job 0 is there already"),
        (
            b'{"kind":"job","job":5,"shard":0,"start":7,"stop":9,"counts":{}}',
            "job 5 lies in bytes 7 to 9 of shard 0, which do not follow 8",
        ),
        (b'{"kind":"job","job":5,"shard":0,"start":8,"stop":7,"counts":{}}', "line 2: bytes 8 to 7 end before"),
        (b'{"kind":"job","job":5,"shard":1,"start":0,"stop":9,"counts":{}}', "job 2 lies in shard 0, which was left"),
        (b'{"kind":"job","job":5,"shard":0,"start":8,"stop":9,"counts":{"a":NaN}}', "line 2: counts = nan is not"),
        (b'{"kind":"job","job":5,"shard":0,"start":8,"stop":9,"counts":{"a":-1e30}}', "line 2: counts must be finite"),
        (
            b'{"kind":"job","job":true,"shard":0,"start":8,"stop":9,"counts":{}}',
            "line 2: job = True is not a whole number",
        ),
        (
            b'{"kind":"job","job":5,"shard":0,"start":8,"stop":%d,"counts":{}}' % 2**63,
            "line 2: .*, no larger than a file may be",
        ),
    ],
)
def test_an_invalid_line_is_refused_by_number(tmp_path, line, words):
    crash(tmp_path, [0, 1, 2])
    lines = (tmp_path / RESULTS).read_bytes().splitlines()
    lines[1] = line
    (tmp_path / RESULTS).write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(ValueError, match=f"results.jsonl: {words}"):
        land(tmp_path, [])


def test_a_damaged_shard_is_reported_with_a_solution_that_works(tmp_path):
    land(tmp_path, range(20))
    cut = tmp_path / "shard_00001.hcpe"
    remedy = r'remove it and the lines with "shard":1, from results.jsonl'
    for spoilt in (cut.read_bytes()[:-1], cut.read_bytes() + b"x"):
        cut.write_bytes(spoilt)
        with pytest.raises(ValueError, match=rf"shard_00001.hcpe: has \d+ bytes, not \d+, against .*{remedy}"):
            land(tmp_path, [])
    cut.unlink()
    with pytest.raises(ValueError, match=r"shard_00001.hcpe.part: is missing, with \d+ bytes, against results.jsonl"):
        land(tmp_path, [])
    lines = (tmp_path / RESULTS).read_text().splitlines(keepends=True)
    (tmp_path / RESULTS).write_text("".join(line for line in lines if '"shard":1,' not in line))
    with opened(tmp_path) as shards:
        missing = [job for job in range(20) if job not in shards.done]
        assert missing
    land(tmp_path, missing)
    assert sorted(landed(tmp_path)) == list(range(20))


def test_a_truncated_unfinished_shard_is_refused(tmp_path):
    crash(tmp_path, [1, 2])
    part = tmp_path / f"shard_00000.hcpe{PART}"
    part.write_bytes(part.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"hcpe.part: has \d+ bytes, fewer than \d+, against results.jsonl"):
        land(tmp_path, [])


def test_a_shard_without_lines_is_not_overwritten(tmp_path):
    land(tmp_path, [1, 2])
    (tmp_path / RESULTS).unlink()
    with pytest.raises(ValueError, match=r"shard_00000\.hcpe: no line of results\.jsonl says which jobs"):
        land(tmp_path, [])
    assert landed(tmp_path) == [1, 2]


def test_one_process_at_a_time(tmp_path):
    with (
        opened(tmp_path),
        pytest.raises(ValueError, match="another run is at work"),
        opened(tmp_path),
    ):
        pass


def test_an_invalid_product_does_not_lock_the_folder(tmp_path):
    land(tmp_path, [1])
    with pytest.raises(ValueError, match="counts must be finite"), opened(tmp_path) as shards:
        shards.append(2, Product(content(2), {"positions": float("nan")}))
    land(tmp_path, [3])
    assert landed(tmp_path) == [1, 3]


def test_an_invalid_product_does_not_prevent_others(tmp_path):
    with opened(tmp_path) as shards:
        with pytest.raises(ValueError, match="counts must be finite"):
            shards.append(2, Product(content(2), {"positions": float("nan")}))
        assert shards.append(3, Product(content(3), {}))
    assert landed(tmp_path) == [3]


@pytest.mark.parametrize("waits", [1, 2])
def test_a_job_that_cannot_be_written_is_not_stored(tmp_path, monkeypatch, waits):
    """A job is synchronised with the disk twice: its content, and then its line in the ledger."""
    with opened(tmp_path) as shards:
        assert shards.append(1, Product(content(1), {}))
        left = waits

        def fsync(descriptor: int) -> None:
            nonlocal left
            left -= 1
            if not left:
                raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(durable_file.os, "fsync", fsync)
        with pytest.raises(OSError, match="Input/output error"):
            shards.append(2, Product(content(2), {}))
        monkeypatch.undo()
        assert 2 not in shards.done
        assert [line["job"] for line in ledger(tmp_path)] == [1]
        assert shards.append(2, Product(content(2), {}))
    assert landed(tmp_path) == [1, 2]


def test_partial_writes_are_completed(tmp_path, monkeypatch):
    class InParts(FileIO):
        def write(self, piece):
            return super().write(piece[:3])

    monkeypatch.setattr("lite.durable_file.FileIO", InParts)
    land(tmp_path, [1, 2])
    assert landed(tmp_path) == [1, 2]


def test_bytes_after_the_last_job_are_not_data(tmp_path):
    with opened(tmp_path) as shards:
        shards.append(1, Product(content(1), {}))
        with open(tmp_path / f"shard_00000.hcpe{PART}", "ab") as file:
            file.write(b"torn")
    land(tmp_path, [2])
    assert landed(tmp_path) == [1, 2]


def test_part_of_the_disk_is_kept_free(tmp_path, monkeypatch):
    def leave(free: int) -> None:
        monkeypatch.setattr(shards_module.shutil, "disk_usage", lambda path: type("usage", (), {"free": free}))

    land(tmp_path, [1])
    leave(1_900_000_000)
    with pytest.raises(OSError, match=r"Only 1\.9 GB are free on its disk, of which 2 stay free: make room"):
        land(tmp_path, [2])
    enough = 2_000_000_000 + len(content(2))
    leave(enough - 1)
    with pytest.raises(OSError, match="make room"):
        land(tmp_path, [2])
    leave(enough)
    land(tmp_path, [2])
    assert landed(tmp_path) == [1, 2]
