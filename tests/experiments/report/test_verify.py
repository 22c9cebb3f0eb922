"""Verification: recorded files are compared with their digests, also if the run was moved."""

from __future__ import annotations

import json
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from experiments.report.verify import CHANGED, MISSING, NOTHING, SAME, verify
from lite.datasets.plan import plan_run
from lite.datasets.provenance import digest_of
from lite.run_folder import RunPlan, RunWriter
from liteshogi.__main__ import _run
from search.evaluation.shipped import network_file
from tests.experiments.report.conftest import PAIRS, made, make_match, pair_lines


def states(run: Path) -> dict[str, str]:
    return {check.file: check.state for check in verify([run])}


def test_shards_networks_and_sources_of_a_run_are_verified(tmp_path: Path) -> None:
    net, data = tmp_path / "net.bin", tmp_path / "data.hcpe"
    net.write_bytes(b"net")
    data.write_bytes(bytes(38))
    plan = plan_run("selfplay", {}, sources={"data": [data]}, nets={"net": net, "other": "default"})
    folder = made(tmp_path / "run", plan, pair_lines(PAIRS))
    shard = folder / "shard_00000.hcpe3"
    rest = {str(net): SAME, str(data): SAME, "default": SAME}
    assert states(folder) == {"shard_00000": MISSING} | rest
    shard.write_bytes(bytes(len(PAIRS)))
    assert states(folder) == {shard.name: SAME} | rest
    shard.write_bytes(bytes(len(PAIRS) - 1))
    net.write_bytes(b"ten")
    data.unlink()
    assert states(folder) == {shard.name: CHANGED, str(net): CHANGED, str(data): MISSING, "default": SAME}


def test_a_folder_of_data_that_was_removed_is_missing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "a.hcpe").write_bytes(bytes(38))
    folder = made(tmp_path / "run", plan_run("relabel", {}, sources={"data": [data]}), ())
    assert states(folder) == {str(data): SAME}
    (data / "a.hcpe").unlink()
    assert states(folder) == {str(data): MISSING}


def test_shipped_networks_are_found_on_any_machine(tmp_path: Path) -> None:
    digest = digest_of(network_file("default"))
    folder = made(tmp_path / "run", RunPlan("match", files={"default": digest}), ())
    assert states(folder) == {"default": SAME}
    folder = made(tmp_path / "other", RunPlan("match", files={"default": "0"}), ())
    assert states(folder) == {"default": CHANGED}


def test_a_run_without_files_is_reported(tmp_path: Path) -> None:
    assert states(made(tmp_path / "run", RunPlan("tune"), ())) == {"": NOTHING}


def test_products_and_parts_of_a_moved_run_are_found(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    generation = loop / "generation-001"
    games = generation / "games-1"
    generation.mkdir(parents=True)
    (generation / "net.safetensors").write_bytes(b"net")
    made(games, RunPlan("selfplay"), pair_lines(PAIRS))
    (games / "shard_00000.hcpe").write_bytes(bytes(len(PAIRS)))
    made(generation / "positions-1", plan_run("expand", {}, sources={"data": [games]}), ())
    with RunWriter(loop, RunPlan("loop")) as run:
        run.add_product(generation / "net.safetensors")
    whole = {
        "generation-001/net.safetensors": SAME,
        "generation-001/games-1/shard_00000.hcpe": SAME,
        "generation-001/games-1": SAME,
    }
    assert states(loop) == whole
    moved = loop.rename(tmp_path / "moved")
    assert states(moved) == whole
    (moved / "generation-001" / "net.safetensors").write_bytes(b"another")
    (moved / "generation-001" / "games-1" / "shard_00000.hcpe").write_bytes(bytes(len(PAIRS) - 1) + b"1")
    assert states(moved) == whole | {"generation-001/net.safetensors": CHANGED, "generation-001/games-1": CHANGED}
    shutil.rmtree(moved / "generation-001" / "games-1")
    assert states(moved) == {"generation-001/net.safetensors": CHANGED, str(games): MISSING}


def test_the_command_exits_with_1_if_a_file_has_changed(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    net = tmp_path / "net"
    net.write_bytes(b"net")
    make_match(tmp_path / "match")
    made(tmp_path / "tuning", RunPlan("tune", files={str(net): sha256(b"net").hexdigest()}), ())
    assert _run(["report", str(tmp_path), "--verify", "--json"]) == 0
    checks = json.loads(capsys.readouterr().out)["checks"]
    assert {check["state"] for check in checks} == {SAME, MISSING}
    net.write_bytes(b"ten")
    with pytest.raises(SystemExit, match="1"):
        _run(["report", str(tmp_path / "tuning"), "--verify"])
    assert capsys.readouterr().out == f"{tmp_path / 'tuning'}: {net}: changed\n"
    assert _run(["report", str(tmp_path), "--verify", "--png"]) == 1
    assert "--png: has no effect with --verify" in capsys.readouterr().err
