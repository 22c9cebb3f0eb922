"""Digests of files and of folders of records."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from lite.datasets.description import DataContent, describe_data
from lite.datasets.provenance import digest_of
from lite.records.formats import RecordError


@pytest.mark.parametrize("name", ["games.jsonl.xz", "taya36.sfen", "games.csa", "data.bin"])
def test_a_file_need_not_hold_records(tmp_path: Path, name: str) -> None:
    """Compressed files of games, which a sweep uses for timing, have digests too."""
    path = tmp_path / name
    path.write_bytes(b"games")
    digest = hashlib.sha256(b"games").hexdigest()
    assert describe_data(path) == DataContent(name, 1, 5, digest, None)


def test_the_digest_of_a_folder_depends_only_on_its_records(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    for name in ("a.csa", "below/a.hcpe", "c.bin"):
        (tmp_path / name).write_bytes(name.encode())
    with pytest.raises(RecordError, match=tmp_path.name):
        describe_data(tmp_path)
    for name in ("b.hcpe3", "a.psv"):
        (tmp_path / name).write_bytes(name.encode())
    both = "".join(hashlib.sha256(name.encode()).hexdigest() for name in ("a.psv", "b.hcpe3"))
    assert describe_data(tmp_path).files == 2
    assert digest_of(tmp_path) == hashlib.sha256(both.encode()).hexdigest()
