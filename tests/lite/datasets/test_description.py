"""The description of data is checked when it is read, shown, and copied with the data."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from lite.datasets.description import OLDER, describe_source, describe_sources, short_names
from lite.datasets.stat import describe
from lite.networks.lite_value import LiteConfig
from lite.run_folder import FORMAT, RECORD, Provenance
from lite.training.checkpoint import load_model
from lite.training.options import ValueTraining
from lite.training.train import train_value
from liteshogi.commands.stat import as_text

DIGEST = "c0ffee" * 10
WHOLE = {
    "format": FORMAT,
    "version": 1,
    "verb": "selfplay",
    "options": {"seed": 3, "nodes": 5000},
    "goal": {},
    "conditions": {},
    "sources": [
        {"role": "data", "name": "openings.sfen", "files": 1, "bytes": 5, "sha256": DIGEST, "description": None}
    ],
    "nets": [{"role": "net", "name": "default", "sha256": "ab" * 32}],
    "made_by": [
        {
            "versions": {"liteshogi": "0.1.0", "commit": "1234567890abcdef"},
            "machine": {"cpu": "a CPU", "kernel": "vnni", "cores": 2},
        }
    ],
    "started": "2026-11-22T01:00:00+00:00",
    "updated": "2026-11-22T02:00:00+00:00",
    "seconds": 100.0,
    "totals": {"games": 12, "positions": 1234, "seconds": 190.5},
}
"""Provenance of a run as stored in networks."""
REST = {"arguments": ["selfplay", "-o", "made"], "files": {"/home/me/openings.sfen": DIGEST}, "state": "done"}


def as_json(found: Provenance) -> dict[str, Any]:
    """Return a provenance in the form of a file."""
    held: dict[str, Any] = json.loads(json.dumps(asdict(found)))
    return held


def changed(**fields: object) -> str:
    return json.dumps(WHOLE | REST | fields)


def described(folder: Path, text: str | None = None, name: str = RECORD) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(changed() if text is None else text)
    return folder


def test_shards_and_their_folder_have_a_provenance_and_other_files_have_none(tmp_path):
    assert describe_source(tmp_path) is None
    described(tmp_path)
    for path in (tmp_path, tmp_path / "shard_00000.hcpe", tmp_path / "shard_00012.hcpe3"):
        found = describe_source(path)
        assert found is not None
        assert as_json(found) == WHOLE
    for name in ("mine.hcpe", "shard_00000.hcpe.part", "games.csa"):
        assert describe_source(tmp_path / name) is None


def test_each_folder_is_described_once(tmp_path):
    one, other = described(tmp_path / "one"), described(tmp_path / "other")
    paths = [one / "mine.hcpe", one / "shard_00000.hcpe", one / "shard_00001.hcpe", other, tmp_path / "no.hcpe"]
    assert list(describe_sources(paths)) == [one, other]


OLD = {
    "format": "liteshogi data",
    "version": 1,
    "verb": "selfplay",
    "options": {"seed": 3},
    "sources": [
        {"name": "games", "files": 1, "bytes": 5, "sha256": DIGEST, "description": {"format": "liteshogi data"}}
    ],
    "nets": [{"role": "player", "name": "default", "sha256": "ab"}],
    "made_by": [{"version": "0.0.9", "commit": None, "cpu": "a CPU", "kernel": "avx2"}],
    "begun": "2026-01-01",
    "updated": "2026-01-02",
    "seconds": 1.0,
    "signature": 7,
    "totals": {"positions": 5},
    "per_second": {"positions": 5.0},
}


def test_data_of_older_versions_keep_their_provenance(tmp_path):
    described(tmp_path, json.dumps(OLD), OLDER)
    found = describe_source(tmp_path)
    assert found is not None
    assert (found.verb, found.options, found.conditions) == ("selfplay", {"seed": 3}, {"signature": 7})
    assert found.made_by[0].versions["liteshogi"] == "0.0.9"
    assert found.started == "2026-01-01"


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "[" * 100_000, json.dumps(OLD | {"made_by": 3}), json.dumps(OLD | {"nets": [3]}), " " * (2 << 20)],
)
def test_damaged_older_descriptions_are_refused_by_name(tmp_path, text):
    described(tmp_path, text, OLDER)
    with pytest.raises(ValueError, match=r"description\.json: not a description of data .* or move it away"):
        describe_source(tmp_path)


@pytest.fixture
def folder(tmp_path, sample_bytes) -> Path:
    """A described folder of a few hundred shards, each of one game."""
    folder = described(tmp_path / "made")
    for number, raw in enumerate(sample_bytes[:150]):
        (folder / f"shard_{number:05}.hcpe3").write_bytes(raw)
    (folder / "shard_00150.hcpe3.part").write_bytes(b"not whole")
    return folder


def test_stat_shows_how_data_were_made(folder):
    report = describe((folder,))
    assert {name: as_json(found) for name, found in report.descriptions.items()} == {str(folder): WHOLE}
    assert len(report.files) == 150
    text = as_text(report)
    assert f"made in    {folder}: liteshogi selfplay 0.1.0 (1234567890ab) on a CPU\n" in text
    assert "           from default (sha256 abababababab), openings.sfen (sha256 c0ffeec0ffee)\n" in text
    assert "           with seed 3, nodes 5000\n" in text
    made = "12 games, 1,234 positions, 190.5 seconds: 2026-11-22T01:00:00+00:00 to 2026-11-22T02:00:00+00:00, "
    assert f"           {made}1:40 of work, 12 positions/s\n" in text


def test_stat_marks_truncated_lines_of_a_description(folder):
    """Lines are cut between words; totals begin with the number of positions."""
    options = {f"an option {number}": number for number in range(40)}
    totals = {"positions": 1234} | {f"games ended by something {number}": number for number in range(40)}
    described(folder, changed(options=options, totals=totals))
    cut = [line[11:] for line in as_text(describe((folder,))).splitlines() if line.endswith(" ...")]
    assert [len(line) <= 240 for line in cut] == [True, True]
    options, made = cut
    assert options.startswith("with an option 0 0, an option 1 1, ")
    assert made.startswith("1,234 positions, ")


def test_folders_of_the_same_name_are_distinguished_by_their_parents(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert short_names(map(Path, ("games", "jan/other", "."))) == ["games", "other", tmp_path.name]
    assert short_names(map(Path, ("a/jan/games", "a/feb/games", "x"))) == ["jan/games", "feb/games", "x"]
    assert short_names(map(Path, ("a/jan/games", "b/jan/games"))) == ["a/jan/games", "b/jan/games"]
    assert short_names(map(Path, ("a/jan/games", "games"))) == ["jan/games", f"{tmp_path.name}/games"]
    assert short_names([]) == []


def test_a_training_keeps_the_descriptions_of_folders_of_the_same_name(tmp_path, sample_bytes):
    for number, month in enumerate(("jan", "feb")):
        (tmp_path / month).mkdir()
        folder = described(tmp_path / month / "games", changed(seconds=float(number)))
        (folder / "shard_00000.hcpe3").write_bytes(sample_bytes[number])
    data = (tmp_path / "jan" / "games", tmp_path / "feb" / "games")
    train_value(ValueTraining(data, tmp_path / "run", network=LiteConfig((4, 2, 8)), batch_size=16, max_steps=1))
    kept = load_model(tmp_path / "run")[1].provenance["descriptions"]
    assert {name: one["seconds"] for name, one in kept.items()} == {"jan/games": 0.0, "feb/games": 1.0}


@pytest.mark.skipif(sys.platform == "win32", reason="limits of open files are another matter there")
@pytest.mark.parametrize(
    "words",
    [
        ["stat", "made", "--json"],
        ["convert", "made", "-o", "all.hcpe"],
        ["train", "lite", "made", "-o", "run", "--epochs", "1", "--batch-size", "256", "--max-steps", "2"],
    ],
    ids=["stat", "convert", "train"],
)
def test_a_folder_of_many_shards_is_data(folder, words):
    """The limit of open files is below the number of shards until the program raises it."""
    program = (
        "import resource, sys; from liteshogi.__main__ import main;"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (100, 4096)); main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *words], cwd=folder.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    if words[0] == "stat":
        assert json.loads(done.stdout)["descriptions"] == {"made": WHOLE}
    if words[0] == "train":
        _, training = load_model(folder.parent / "run")
        assert training.provenance["data"] == ["made"]
        assert training.provenance["descriptions"] == {"made": WHOLE}
