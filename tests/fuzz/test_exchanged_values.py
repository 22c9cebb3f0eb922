"""Readers of JSON and TOML accept a file with one exchanged value, or report an error in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.exchange import files
from tests.fuzz.reader import attempt
from tests.fuzz.readers import READERS

JSON = [name for name, reader in READERS.items() if reader.name.endswith((".json", ".jsonl", ".toml", ".safetensors"))]


def exchange(name: str, folder: Path, every: int) -> None:
    reader = READERS[name]
    for content in reader.seeds():
        for made in files(reader.name, content, every):
            attempt(reader, made, folder)


@pytest.fixture(autouse=True)
def _quiet(capsys: pytest.CaptureFixture[str]) -> None:
    """Capture standard error, on which some readers report why they refuse a file."""


@pytest.mark.parametrize("name", [name for name in JSON if name != "report"])  # a report takes a second
def test_some_exchanged_values_are_read_or_refused_in_one_line(name: str, tmp_path: Path) -> None:
    exchange(name, tmp_path, 101)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", JSON)
def test_all_exchanged_values_are_read_or_refused_in_one_line(name: str, tmp_path: Path) -> None:
    exchange(name, tmp_path, 1 if name != "report" else 11)
