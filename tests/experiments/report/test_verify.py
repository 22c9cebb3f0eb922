"""`report --verify`: what runs were made from is told from what has changed, gone, or was never recorded."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from experiments.jobs.results import Results
from experiments.report.training_section import training_section
from experiments.report.verify import CHANGED, MISSING, SAME, UNPLACED, UNRECORDED, verify
from lite.datasets.provenance import digest_of, digests_of
from lite.program import machine_of, program
from lite.training.folder import RunFolder
from lite.training.made import describe_training
from lite.training.options import ValueTraining
from liteshogi.commands.report import Command
from tests.experiments.report.conftest import MAKER, PAIRS, make_match

PLAN = Path(__file__).parents[3] / "docs" / "recipe" / "plan.toml"


def states(*runs: Path) -> dict[str, str]:
    return {check["file"]: check["state"] for check in verify(runs)}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def change(path: Path, **fields: object) -> None:
    """Give an object of JSON other fields."""
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def test_states_are_told_in_words(match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (SAME, CHANGED, MISSING) == ("same", "changed", "not there")
    assert (UNRECORDED, UNPLACED) == ("its digest was not recorded", "where it lies was not recorded")
    change(match / "description.json", nets=[{"role": "second", "name": "default", "sha256": "0"}])
    with pytest.raises(SystemExit) as left:
        Command((match,), verify=True).run()
    assert left.value.code == 1
    assert f"{match}: default: changed\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "options"),
    [("output", {"output": Path("x.pdf")}), ("png", {"png": True}), ("overwrite", {"overwrite": True})],
)
def test_options_of_the_page_are_refused(match: Path, name: str, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"--{name}: is for the page, and --verify makes none"):
        Command((match,), verify=True, **options).run()


def test_data_and_net_of_a_training(training: Path, tmp_path: Path) -> None:
    assert states(training) == {"made.json": UNRECORDED}
    data = tmp_path / "data"
    data.mkdir()
    (data / "a.hcpe").write_bytes(bytes(38))
    valid = tmp_path / "valid.hcpe"
    valid.write_bytes(bytes(38))
    options = ValueTraining(data=(data,), valid=(valid,), seed=3)
    made = describe_training(RunFolder(training), options) | {"network": sha256(b"net")}
    (training / "network.safetensors").write_bytes(b"net")
    (training / "made.json").write_text(json.dumps(made))
    assert states(training) == {"network.safetensors": SAME, str(data): SAME, str(valid): SAME}
    assert training_section({"mine": training}).origins[0].machine == machine_of(program())
    (data / "a.hcpe").write_bytes(bytes(37) + b"1")
    valid.write_bytes(bytes(76))
    assert states(training) == {"network.safetensors": SAME, str(data): CHANGED, str(valid): CHANGED}
    (data / "a.hcpe").unlink()
    assert states(training)[str(data)] == MISSING
    data.rmdir()
    assert states(training)[str(data)] == MISSING


def test_shards_and_players_of_a_match(match: Path, tmp_path: Path) -> None:
    shard = match / "shard_00000.hcpe3"
    assert states(match)["shard_00000"] == MISSING
    shard.write_bytes(bytes(len(PAIRS)))
    mine = tmp_path / "mine.safetensors"
    mine.write_bytes(b"net")
    nets = [{"role": "first", "name": mine.name, "sha256": sha256(b"net")}, {"role": "second", "name": "default"}]
    change(match / "description.json", nets=nets)
    assert states(match) == {shard.name: SAME, mine.name: UNPLACED, "default": UNRECORDED}
    (match / "files.json").write_text(json.dumps(digests_of((str(mine), "default"))))
    assert states(match) == {shard.name: SAME, str(mine): SAME, "default": SAME}
    mine.write_bytes(b"ten")
    shard.write_bytes(b"")
    assert states(match) == {shard.name: CHANGED, str(mine): CHANGED, "default": SAME}
    mine.unlink()
    assert states(match)[str(mine)] == MISSING


def test_shards_and_net_of_a_folder_of_data(match: Path) -> None:
    """Of which a page tells nothing."""
    games = match.rename(match.with_name("games"))
    change(games / "description.json", verb="selfplay", nets=[{"role": "player", "name": "default"}])
    (games / "shard_00000.hcpe3").write_bytes(bytes(len(PAIRS)))
    (games / "files.json").write_text(json.dumps(digests_of(["default"])))
    assert states(games) == states(games, games) == {"shard_00000.hcpe3": SAME, "default": SAME}
    (games / "shard_00000.hcpe3").write_bytes(b"")
    assert states(games) == {"shard_00000.hcpe3": CHANGED, "default": SAME}


def test_engines_of_a_match_by_the_clock(tmp_path: Path) -> None:
    run, engine = tmp_path / "run", tmp_path / "engine"
    (run / "games").mkdir(parents=True)
    (run / "match.yaml").write_text("{}")
    assert states(run) == {"": UNRECORDED}
    engine.write_bytes(b"program")
    (run / "files.json").write_text(json.dumps(digests_of([engine])))
    assert states(run) == {str(engine): SAME}
    engine.write_bytes(b"another")
    assert states(run) == {str(engine): CHANGED}


def test_games_and_nets_of_a_comparison(tmp_path: Path) -> None:
    comparison, data, valid, net = (tmp_path / name for name in ("nets.json", "d.hcpe3", "v.hcpe3", "net"))
    report = {"preset": "nets", "rows": [], "seeds": [], "data": data.name, "valid": valid.name}
    comparison.write_text(json.dumps(report | {"digests": {"data": sha256(b"games")}}))
    data.write_bytes(b"games")
    assert states(comparison) == {str(data): SAME, str(valid): UNRECORDED, "nets": UNRECORDED}
    change(comparison, nets={"net": sha256(b"net")})
    net.write_bytes(b"net")
    assert states(comparison) == {str(data): SAME, str(valid): UNRECORDED, str(net): SAME}
    net.write_bytes(b"ten")
    data.unlink()
    assert states(comparison) == {str(data): MISSING, str(valid): UNRECORDED, str(net): CHANGED}


def test_player_judge_and_positions_of_a_judgement(judgement: Path, tmp_path: Path) -> None:
    assert states(judgement) == {"": UNRECORDED}
    positions = tmp_path / "positions"
    positions.write_bytes(b"startpos")
    change(judgement, files=digests_of(["default", positions]))
    assert states(judgement) == {"default": SAME, str(positions): SAME}
    positions.write_bytes(b"sfen")
    assert states(judgement) == {"default": SAME, str(positions): CHANGED}


def test_nets_and_data_of_a_sweep(sweep: Path, tmp_path: Path) -> None:
    data = tmp_path / "d.hcpe3"
    data.write_bytes(b"games")
    results = Results(sweep / "points.jsonl")
    results.add("net", "32A", 0, results.lines["net", "32A", 0] | {"net": "default", "sha256": "0"})
    results.add("data", str(data), 0, {"of": {"sha256": sha256(b"games")}})
    assert states(sweep) == {"net.safetensors": MISSING, "default": CHANGED, str(data): SAME}


def test_files_of_a_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    recipe, net, openings = tmp_path / "recipe", tmp_path / "a.safetensors", tmp_path / "taya36.sfen"
    recipe.mkdir()
    shutil.copy(PLAN, recipe)
    (tmp_path / "valid.hcpe3").write_bytes(b"positions")
    openings.write_bytes(b"startpos")
    results = Results(recipe / "results.jsonl")
    for _ in range(2):
        results.describe("valid.hcpe3", Path("valid.hcpe3"))
        results.describe_file(openings.name, openings)
    results.describe("yard", Path("yard"))
    results.describe_file("nn.bin", Path("nn.bin"))
    results.add("data", "older", 0, {})
    learnt = {"data": {"valid.hcpe3": digest_of(Path("valid.hcpe3"))}}
    results.add("net", "a row", 0, {"net": net.name, "sha256": sha256(b"a")} | learnt)
    results.add("net", "an older row", 0, {})
    unrecorded = {"older": UNRECORDED, "an older row": UNRECORDED}
    assert states(recipe) == unrecorded | {"valid.hcpe3": SAME, openings.name: SAME, net.name: MISSING}
    net.write_bytes(b"a")
    openings.write_bytes(b"another")
    (tmp_path / "valid.hcpe3").write_bytes(b"others")
    assert states(recipe) == unrecorded | {"valid.hcpe3": CHANGED, openings.name: CHANGED, net.name: SAME}
    results.add("data", "valid.hcpe3", 0, {"of": {"sha256": sha256(b"others")}})
    anew = "valid.hcpe3, which a.safetensors has learnt from"
    assert {name: state for name, state in states(recipe).items() if "valid" in name} == {
        "valid.hcpe3": SAME,
        anew: CHANGED,
    }


def make_generations(loop: Path) -> None:
    """Nets of three, a gate that the second has passed, and its games and positions."""
    digests = {name: sha256(name.encode()) for name in ("first", "second")}
    for number, name in enumerate(("second", "first", "later")):
        generation = loop / f"generation-{number:03}"
        generation.mkdir()
        (generation / "net.safetensors").write_bytes(name.encode())
    folder = loop / "generation-001"
    nets = [{"role": role, "name": "net.safetensors", "sha256": digest} for role, digest in digests.items()]
    for name in ("gate", "games-1", "positions-1"):
        made = make_match(folder / name, MAKER)
        (made / "shard_00000.hcpe").write_bytes(bytes(len(PAIRS)))
        change(made / "description.json", nets=nets)
    source = {"name": "games-1", "sha256": digest_of(folder / "games-1")}
    change(folder / "positions-1" / "description.json", sources=[source])


def test_nets_and_records_of_a_loop(loop: Path, tmp_path: Path) -> None:
    make_generations(loop)
    whole = {
        "generation-000/net.safetensors": SAME,
        "generation-001/net.safetensors": SAME,
        "generation-001/games-1/shard_00000.hcpe": SAME,
        "generation-001/gate/shard_00000.hcpe": SAME,
        "generation-001/positions-1/shard_00000.hcpe": SAME,
        "generation-001/games-1": SAME,
        "generation-002/net.safetensors": UNRECORDED,
    }
    assert states(loop) == whole
    assert states(loop.rename(tmp_path / "moved")) == whole
    loop = tmp_path / "moved"
    (loop / "generation-000" / "net.safetensors").write_bytes(b"another")
    (loop / "generation-001" / "games-1" / "shard_00000.hcpe").write_bytes(bytes(len(PAIRS) - 1) + b"1")
    (loop / "generation-001" / "gate" / "shard_00000.hcpe").write_bytes(b"")
    shutil.rmtree(loop / "generation-001" / "positions-1")
    assert states(loop)["generation-000/net.safetensors"] == CHANGED
    assert states(loop)["generation-001/gate/shard_00000.hcpe"] == CHANGED


def test_what_a_generation_was_trained_on(loop: Path, training: Path, tmp_path: Path) -> None:
    make_generations(loop)
    positions = loop / "generation-001" / "positions-1"
    run = training.rename(loop / "generation-002" / "run")
    (run / "network.safetensors").write_bytes(b"net")
    data = [{"path": str(positions), "sha256": digest_of(positions)}]
    (run / "made.json").write_text(json.dumps({"network": sha256(b"net"), "data": data, "valid": []}))
    moved = loop.rename(tmp_path / "moved")
    found = states(moved)
    assert found["generation-002/run/network.safetensors"] == SAME
    assert found["generation-001/positions-1"] == SAME
    (moved / "generation-001" / "positions-1" / "shard_00000.hcpe").write_bytes(bytes(len(PAIRS) - 1) + b"1")
    assert states(moved)["generation-001/positions-1"] == CHANGED
    shutil.rmtree(moved / "generation-001" / "positions-1")
    assert states(moved)["generation-001/positions-1"] == MISSING


def test_what_a_loop_began_from_and_is_measured_by(loop: Path, tmp_path: Path) -> None:
    make_match(tmp_path / "other", MAKER)
    shutil.copy(tmp_path / "other" / "description.json", loop)
    nets = [{"role": "first", "name": "mine.safetensors", "sha256": "0"}]
    change(loop / "description.json", nets=nets, sources=[{"name": "yardstick", "sha256": "0"}])
    assert states(loop) == {"mine.safetensors": UNPLACED, "yardstick": UNPLACED}
    (loop / "material.safetensors").write_bytes(b"pieces")
    (tmp_path / "yardstick.hcpe").write_bytes(bytes(38))
    files = {"material.safetensors": sha256(b"pieces")} | digests_of([tmp_path / "yardstick.hcpe"])
    (loop / "files.json").write_text(json.dumps(files))
    assert states(loop) == {"material.safetensors": SAME, str(tmp_path / "yardstick.hcpe"): SAME}
