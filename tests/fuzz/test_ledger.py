"""The ledger of fuzzing: time by reader, time with checked bounds, and findings."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.fuzz import rounds
from tests.fuzz.ledger import Run, seconds_of, table
from tests.fuzz.readers import READERS
from tests.json_lines import append, read


def test_runs_add_up_by_reader_and_by_bounds(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    assert read(path, Run) == []
    runs = [
        Run("kif", 60.0, 1000, bounds=False),
        Run("kif", 30.0, 500, bounds=False),
        Run("kif", 6.0, 10, bounds=True),
        Run("csa", 12.0, 70, bounds=False),
        Run("csa", 0.0, 0, bounds=False, finding="crash-1"),
    ]
    for run in runs:
        append(path, run)
    assert read(path, Run) == runs
    seconds = seconds_of(runs)
    assert (seconds["kif"], seconds["csa"], seconds["ki2"]) == (96.0, 12.0, 0.0)
    assert set(seconds) == set(READERS)
    rows = table(runs).splitlines()
    assert "| `kif` | 1.6 | 1,510 | 0.1 min, 10 |  |" in rows
    assert "| `csa` | 0.2 | 70 |  | 1 |" in rows
    assert len(rows) == 2 + len(READERS)


def test_a_reader_that_has_had_its_time_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum of rounded seconds may be slightly less than the limit."""
    path = tmp_path / "ledger.jsonl"
    for _ in range(10):
        append(path, Run("kif", 0.1, 1))
    assert seconds_of(read(path, Run))["kif"] < 1.0
    begun: list[str] = []
    monkeypatch.setattr(rounds, "fuzz", lambda reader, *_: begun.append(reader))
    rounds.fuzz_in_turn(["kif"], 1.0, 300.0, tmp_path, path)
    assert begun == []


@pytest.mark.skipif(os.name != "posix", reason="ended by a signal")
def test_sigterm_ends_the_running_reader(tmp_path: Path) -> None:
    reader = tmp_path / "python"
    reader.write_text(
        f"#!/bin/sh\necho $$ > '{tmp_path}/part' && mv '{tmp_path}/part' '{tmp_path}/number'\nexec sleep 60\n"
    )
    reader.chmod(0o755)
    program = f"import sys; sys.executable = {str(reader)!r}; from tests.fuzz.rounds import main; main()"
    command = [sys.executable, "-c", program, tmp_path / "ledger.jsonl", "--corpora", tmp_path, "--readers", "kif"]
    with subprocess.Popen(command, cwd=Path(__file__).parents[2], stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + 60
        while not (tmp_path / "number").exists():
            assert time.monotonic() < end
            time.sleep(0.05)
        process.terminate()
        process.wait(60)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "number").read_text()), 0)
