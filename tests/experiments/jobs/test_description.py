"""What is written beside data: enough to make them again, and who would go on otherwise is refused."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.jobs import description as description_module
from experiments.jobs.description import Description
from lite import program
from lite.datasets.description import DESCRIPTION, describe_source
from lite.datasets.provenance import FILES
from search.compiling.jit import KERNEL
from search.evaluation.shipped import network_file


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file that a net is trained on; its bytes alone matter here."""
    path = tmp_path / "games.hcpe"
    path.write_bytes(b"records" * 100)
    return path


def begun(folder: Path, description: Description, empty: bool = True) -> dict:
    folder.mkdir(exist_ok=True)
    description.begin(folder, empty)
    found = describe_source(folder)
    assert found is not None
    return found


def test_it_tells_what_data_are_made_from(tmp_path, source):
    options = {"seed": 1, "label": "static", "share": 0.5, "net": Path("a/b")}
    found = begun(tmp_path / "made", Description("relabel", options, [source], {"labels": "default"}))
    assert found["verb"] == "relabel"
    assert found["options"] == {"seed": 1, "label": "static", "share": 0.5, "net": str(Path("a/b"))}
    assert found["sources"] == [
        {
            "name": "games.hcpe",
            "files": 1,
            "bytes": 700,
            "sha256": hashlib.sha256(source.read_bytes()).hexdigest(),
            "description": None,
        }
    ]
    digest = hashlib.sha256(network_file("default").read_bytes()).hexdigest()
    assert found["nets"] == [{"role": "labels", "name": "default", "sha256": digest}]
    assert found["made_by"][0]["kernel"] == KERNEL
    assert found["totals"] == {}
    files = json.loads((tmp_path / "made" / FILES).read_text(encoding="utf-8"))
    assert files == {"default": digest, str(source): found["sources"][0]["sha256"]}


def test_another_verb_s_data_keep_their_description(tmp_path):
    """A loop keeps another ledger than its fellows, in whose folders it finds nothing of its own, and they in its."""
    begun(tmp_path, Description("match", {"nodes": 1}))
    (tmp_path / "ledger.jsonl").write_text("{}\n")
    before = (tmp_path / DESCRIPTION).read_bytes()
    for empty in (True, False):
        with pytest.raises(ValueError, match="its data were made with liteshogi match, not loop; go on with that"):
            Description("loop", {}).begin(tmp_path, empty)
    assert (tmp_path / DESCRIPTION).read_bytes() == before
    assert begun(tmp_path, Description("match", {"nodes": 2}))["options"] == {"nodes": 2}


def test_what_lies_in_its_folder_is_told_from_there(tmp_path, source):
    begun(tmp_path, Description("relabel", {}, [source]))
    assert list(json.loads((tmp_path / FILES).read_text(encoding="utf-8"))) == [source.name]


@pytest.mark.skipif(sys.platform != "linux", reason="file systems of others take Unicode alone")
def test_a_source_may_lie_where_no_utf8_leads(tmp_path, source):
    moved = source.rename(tmp_path / os.fsdecode("日本.hcpe".encode("shift_jis")))
    begun(tmp_path / "made", Description("relabel", {}, [moved]))
    assert list(json.loads((tmp_path / "made" / FILES).read_text(encoding="utf-8"))) == [str(moved)]


def test_a_source_that_was_made_too_tells_of_itself(tmp_path, source):
    made = tmp_path / "made"
    begun(made, Description("selfplay", {"seed": 5}))
    for number in range(3):
        (made / f"shard_{number:05}.hcpe").write_bytes(bytes([number]) * 38)
    (entry,) = begun(tmp_path / "again", Description("relabel", {}, [made]))["sources"]
    assert (entry["files"], entry["bytes"]) == (3, 3 * 38)
    assert entry["description"]["options"] == {"seed": 5}
    (made / "shard_00001.hcpe").write_bytes(b"x" * 38)
    (changed,) = begun(tmp_path / "third", Description("relabel", {}, [made]))["sources"]
    assert changed["sha256"] != entry["sha256"]


@pytest.mark.parametrize("beside", ["games.csa", "notes.txt", "below/old.hcpe"])
def test_what_nobody_reads_in_the_folder_of_a_source_changes_nothing(tmp_path, source, beside):
    folder = tmp_path / "made"
    (tmp_path / "data" / "below").mkdir(parents=True)
    data = source.rename(tmp_path / "data" / source.name)
    before = begun(folder, Description("expand", {}, [data.parent]))
    (data.parent / beside).write_bytes(b"other")
    found = begun(folder, Description("expand", {}, [data.parent]), empty=False)
    assert found["sources"] == before["sources"]
    data.write_bytes(b"others")
    with pytest.raises(ValueError, match="other sources"):
        begun(folder, Description("expand", {}, [data.parent]), empty=False)


def test_totals_and_time_go_on(tmp_path, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(description_module.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(description_module, "_now", lambda: f"at {clock[0]:g}")
    first = Description("selfplay", {})
    begun(tmp_path, first)
    clock[0] += 50
    first.update({"positions": 1000, "jobs": 2})
    clock[0] += 1000  # nobody works
    second = Description("selfplay", {})
    found = begun(tmp_path, second, empty=False)
    assert (found["seconds"], found["totals"]) == (50, {"positions": 1000, "jobs": 2})
    clock[0] += 50
    second.update({"positions": 3000, "jobs": 6})
    found = describe_source(tmp_path)
    assert found is not None
    assert (found["seconds"], found["per_second"]) == (100, {"positions": 30, "jobs": 0.06})
    assert len(found["made_by"]) == 1
    assert (found["begun"], found["updated"]) == ("at 100", "at 1200")


def test_another_program_is_told_beside_the_first(tmp_path, monkeypatch):
    begun(tmp_path, Description("selfplay", {}))
    monkeypatch.setattr(program, "cpu_name", lambda: "another CPU")
    found = begun(tmp_path, Description("selfplay", {}), empty=False)
    assert [one["cpu"] == "another CPU" for one in found["made_by"]] == [False, True]


def other_net(tmp_path: Path) -> Path:
    path = tmp_path / "other.safetensors"
    path.write_bytes(b"another net")
    return path


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"verb": "relabel"}, "liteshogi selfplay, not relabel"),
        ({"options": {"seed": 2, "nodes": [1, 2]}}, r"--seed 1, not 2"),
        ({"options": {"seed": 1, "nodes": [1, 3]}}, r"--nodes \[1, 2\], not \[1, 3\]"),
        ({"options": {"seed": 1}}, r"--nodes \[1, 2\], not null"),
        ({"options": {"seed": 1, "nodes": [1, 2], "new_one": "a"}}, '--new-one null, not "a"'),
        (
            {"options": {"seed": 1, "nodes": [1, 2], "players": [{}]}, "nets": {}},
            "a match of two, not a league",
        ),
        ({"nets": {}}, r"other nets: default \(sha256 [0-9a-f]{12}\), not none"),
        (
            {"nets": {"player": "other.safetensors"}},
            r"other nets: default .*, not other.safetensors \(sha256 e.*\)",
        ),
        ({"sources": []}, r"other sources: games.hcpe \(sha256 [0-9a-f]{12}\), not none"),
        ({"signature": 8}, "a search of signature 7, not 8"),
    ],
)
def test_other_data_are_not_mixed_in(tmp_path, source, monkeypatch, changed, words):
    monkeypatch.chdir(tmp_path)
    other_net(tmp_path)
    told = {
        "verb": "selfplay",
        "options": {"seed": 1, "nodes": (1, 2)},
        "sources": [source],
        "nets": {"player": "default"},
        "signature": 7,
    }
    folder = tmp_path / "made"
    before = begun(folder, Description(**told))
    with pytest.raises(ValueError, match=rf"made: its data were made with {words}; go on with that, or use another -o"):
        begun(folder, Description(**told | changed), empty=False)
    assert describe_source(folder) == before
    begun(folder, Description(**told), empty=False)


def test_a_file_may_move_and_an_unused_description_is_replaced(tmp_path, source):
    folder = tmp_path / "made"
    begun(folder, Description("relabel", {}, [source]))
    begun(folder, Description("relabel", {}, [source.rename(tmp_path / "moved.hcpe")]), empty=False)
    begun(folder, Description("selfplay", {"seed": 9}))
    found = describe_source(folder)
    assert found is not None
    assert found["verb"] == "selfplay"


def test_data_without_their_description_are_left_alone(tmp_path):
    with pytest.raises(ValueError, match=r"description\.json: is missing, so how the data here were made is unknown"):
        begun(tmp_path, Description("selfplay", {}), empty=False)
    (tmp_path / DESCRIPTION).write_text('{"another": "program\'s"}')
    for empty in (True, False):
        with pytest.raises(ValueError, match=r"description\.json: "):
            begun(tmp_path, Description("selfplay", {}), empty)


def test_what_cannot_be_read_is_said_before_anything_is_made(tmp_path):
    with pytest.raises(OSError, match=r"none\.safetensors"):
        Description("selfplay", {}, (), {"player": tmp_path / "none.safetensors"})
    with pytest.raises(OSError, match=r"none\.hcpe"):
        Description("relabel", {}, [tmp_path / "none.hcpe"])


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


def test_it_is_readable_json(tmp_path):
    begun(tmp_path, Description("selfplay", {"name": "将棋"}))
    text = (tmp_path / DESCRIPTION).read_text(encoding="utf-8")
    assert "将棋" in text
    assert json.loads(text)["format"] == "liteshogi data"
