"""The plan of a run: the digests of all its inputs; each file is read once."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from lite import program
from lite.datasets.plan import flat, plan_run
from lite.run_folder import RECORD, Line, Net, RunPlan, RunWriter, Source, read_run
from search.evaluation.shipped import network_file
from search.system.options import OptionError


@dataclass(frozen=True)
class Some(Line, kind="some result of a test"):
    number: int


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Write a file of data; only its bytes matter here."""
    path = tmp_path / "games.hcpe"
    path.write_bytes(b"records" * 100)
    return path


def test_a_plan_has_the_digests_of_its_inputs(tmp_path, source):
    options = {"seed": 1, "net": Path("a/b")}
    plan = plan_run("relabel", options, sources={"data": [source]}, nets={"net": "default"}, others=[source])
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    net = hashlib.sha256(network_file("default").read_bytes()).hexdigest()
    assert plan.sources == (Source("data", "games.hcpe", 1, 700, digest),)
    assert plan.nets == (Net("net", "default", net),)
    assert plan.files == {str(source): digest, "default": net}
    with RunWriter(tmp_path / "made", plan):
        pass
    assert read_run(tmp_path / "made").options == {"seed": 1, "net": str(Path("a/b"))}


def test_files_in_the_folder_of_a_run_have_relative_paths(tmp_path, source):
    with RunWriter(tmp_path, plan_run("relabel", {}, sources={"data": [source]})):
        pass
    assert list(read_run(tmp_path).files) == [source.name]


@pytest.mark.skipif(sys.platform != "linux", reason="file systems of others take Unicode alone")
def test_a_source_may_have_a_name_that_is_not_utf8(tmp_path, source):
    moved = source.rename(tmp_path / os.fsdecode("日本.hcpe".encode("shift_jis")))
    with RunWriter(tmp_path / "made", plan_run("relabel", {}, sources={"data": [moved]})):
        pass
    assert list(read_run(tmp_path / "made").files) == [str(moved)]


def test_a_source_made_by_a_run_has_its_provenance(tmp_path):
    made = tmp_path / "made"
    with RunWriter(made, RunPlan("selfplay", {"seed": 5})):
        for number in range(3):
            (made / f"shard_{number:05}.hcpe").write_bytes(bytes([number]) * 38)
    (entry,) = plan_run("relabel", {}, sources={"data": [made]}).sources
    assert (entry.files, entry.bytes) == (3, 3 * 38)
    assert entry.description is not None
    assert entry.description["options"] == {"seed": 5}
    assert "files" not in entry.description
    (made / "shard_00001.hcpe").write_bytes(b"x" * 38)
    (changed,) = plan_run("relabel", {}, sources={"data": [made]}).sources
    assert changed.sha256 != entry.sha256


@pytest.mark.parametrize("beside", ["games.csa", "notes.txt", "below/old.hcpe"])
def test_other_files_in_the_folder_of_a_source_are_ignored(tmp_path, source, beside):
    (tmp_path / "data" / "below").mkdir(parents=True)
    data = source.rename(tmp_path / "data" / source.name)

    def begin() -> None:
        with RunWriter(tmp_path / "run", plan_run("expand", {}, sources={"data": [data.parent]})) as run:
            run.append(Some(1))

    begin()
    (data.parent / beside).write_bytes(b"other")
    begin()
    data.write_bytes(b"others")
    with pytest.raises(OptionError, match="other sources"):
        begin()


def test_the_digest_of_a_folder_of_games_includes_all_files(tmp_path):
    (tmp_path / "games" / "below").mkdir(parents=True)
    for name in ("a.csa", "below/b.kif"):
        (tmp_path / "games" / name).write_bytes(name.encode())
    plan = plan_run("judge health", {}, games={"games": [tmp_path / "games"]})
    assert (plan.sources[0].files, plan.sources[0].bytes) == (2, 16)
    assert {Path(name).name for name in plan.files} == {"a.csa", "b.kif"}
    (tmp_path / "games" / "below" / "b.kif").write_bytes(b"others")
    assert plan_run("judge health", {}, games={"games": [tmp_path / "games"]}).sources[0].sha256 != (
        plan.sources[0].sha256
    )


def test_missing_files_are_reported_before_anything_is_made(tmp_path):
    with pytest.raises(OSError, match=r"none\.safetensors"):
        plan_run("selfplay", {}, nets={"net": tmp_path / "none.safetensors"})
    with pytest.raises(OSError, match=r"none\.hcpe"):
        plan_run("relabel", {}, sources={"data": [tmp_path / "none.hcpe"]})


def test_groups_of_options_are_flattened():
    assert flat({"seed": 1, "ending": {"max_moves": 3, "win_score": 5}}) == {"seed": 1, "max_moves": 3, "win_score": 5}


def test_the_record_is_readable_json(tmp_path):
    with RunWriter(tmp_path, RunPlan("selfplay", {"name": "将棋"})):
        pass
    text = (tmp_path / RECORD).read_text(encoding="utf-8")
    assert "将棋" in text
    assert json.loads(text)["format"] == "liteshogi run"


def test_the_commit_of_a_checkout(tmp_path, monkeypatch):
    def git(*words: str) -> str:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    place = tmp_path / "lite" / "program.py"
    place.parent.mkdir(parents=True)
    place.write_text("1")
    monkeypatch.setattr(program, "__file__", str(place))
    assert program.commit() is None
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "one")
    assert program.commit() == git("rev-parse", "HEAD")
    place.write_text("2")
    assert program.commit() == git("rev-parse", "HEAD") + "-dirty"
    monkeypatch.setenv("PATH", "")
    assert program.commit() is None
