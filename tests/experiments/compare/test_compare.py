"""Comparisons: the same games for all, runs shared and resumed, tables that say what was measured."""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from experiments.compare import variants
from experiments.compare.compare import SAMPLE, Comparison
from experiments.compare.comparison import choose_positions, finish_run, mean_and_error, measure_steps, summarise_runs
from experiments.compare.games import GameOptions
from experiments.compare.table import as_markdown, bands_as_markdown
from experiments.compare.variants import ResnetVariant, ValueVariant, Variant
from experiments.report.verify import SAME, verify
from experiments.resnet.network import PolicyValueNetwork, ResnetConfig
from experiments.resnet.train import ResnetRun, ResnetTraining
from lite.datasets.convert import Conversion, convert
from lite.records.reader import read_all
from lite.training.options import ValueTraining
from liteshogi.commands.compare import Command as Compare
from search.system.folder_lock import FolderLock

VALID = SAMPLE / "valid_sample.hcpe3"


def tiny(preset: str, output: Path, **changes: object) -> Compare:
    options = {
        "data": (VALID,),
        "valid": (SAMPLE / "teacher_sample.hcpe3",),
        "positions": 1500,
        "valid_positions": 600,
        "blocks": 1,
        "channels": 8,
        "epochs": 2,
        "batch_size": 256,
        "time_rounds": 1,
    }
    options |= ({"value_epochs": 1} if preset == "nets" else {}) | changes
    return Compare(preset=preset, output=output, **options)  # type: ignore[arg-type]


def test_a_comparison_is_written_shared_and_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny("draw", tmp_path, json=True).run()
    report = json.loads(capsys.readouterr().out)
    assert [row["variant"] for row in report["rows"]] == ["resnet-1x8", "resnet-1x8-draw"]
    plain, draw = report["rows"]
    assert plain["figures"]["draw_brier"]["mean"] is None
    assert draw["figures"]["draw_base_accuracy"]["mean"] >= 0.5
    difference = draw["figures"]["accuracy"]["mean"] - plain["figures"]["accuracy"]["mean"]
    assert draw["figures"]["accuracy"]["difference"] == pytest.approx(difference)
    assert draw["figures"]["accuracy"]["difference_error"] is not None
    assert plain["training_time_ratio"] == 1
    table = (tmp_path / "draw.md").read_text(encoding="utf-8")
    assert "| policy accuracy |" in table
    assert "accuracy of never a draw" in table
    assert json.loads((tmp_path / "draw.json").read_text()) == report
    assert (tmp_path / "draw.png").read_bytes()[:4] == b"\x89PNG"
    checks = verify((tmp_path / "draw.json",))
    assert len(checks) == 2 + len(report["nets"]) == 2 + 2 * len(report["seeds"])
    assert {check["state"] for check in checks} == {SAME}

    begun = []
    begin = ResnetVariant.begin

    def count(variant: ResnetVariant) -> object:
        begun.append(variant.options.output.name)
        return begin(variant)

    monkeypatch.setattr(ResnetVariant, "begin", count)
    monkeypatch.setattr(variants, "time_network", lambda *_: pytest.fail("no value network here"))
    tiny("auxiliary", tmp_path, seeds=(0,)).run()
    said = capsys.readouterr()
    assert "resnet-1x8-aux4" in said.out
    trained = [name for name in begun if name.endswith("seed0")]
    assert trained == ["resnet-1x8-aux2-seed0", "resnet-1x8-aux4-seed0"]  # the plain run is that of the other table
    assert "no positions with declaration in the data: left out" in said.err
    with pytest.raises(ValueError, match="of a run with other options or data"):
        tiny("draw", tmp_path, epochs=3).run()


def test_steps_of_runs_that_have_but_one_are_timed(tmp_path: Path) -> None:
    choose_positions((VALID,), 200, tmp_path / "few.hcpe3")
    options = ValueTraining((tmp_path / "few.hcpe3",), tmp_path / "run", batch_size=1024, epochs=1)
    assert measure_steps([ValueVariant("one", options)], rounds=2)["one"] > 0


def test_a_run_that_was_cut_goes_on_to_the_same_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that was asked to end in its last step."""
    data = choose_positions([VALID], 1500, tmp_path / "train")
    valid = choose_positions([SAMPLE / "teacher_sample.hcpe3"], 500, tmp_path / "valid")
    options = ResnetTraining(
        data=(data,), valid=(valid,), network=ResnetConfig(1, 8), epochs=2, batch_size=256, device="cpu"
    )
    variant = ResnetVariant("tiny", options)
    whole = finish_run(variant.seeded(0, tmp_path / "whole"))
    cut = variant.seeded(0, tmp_path / "cut")
    take_step = ResnetRun.take_step

    def step_and_press(run: ResnetRun, *arguments: Any) -> dict[str, float]:
        losses = take_step(run, *arguments)
        if run.step in (3, 5, run.steps):
            signal.raise_signal(signal.SIGTERM)
        return losses

    with monkeypatch.context() as patch:
        patch.setattr(ResnetRun, "take_step", step_and_press)
        for _ in range(3):
            with pytest.raises(KeyboardInterrupt):
                finish_run(cut)
    other = choose_positions([SAMPLE / "teacher_sample.hcpe3"], 300, tmp_path / "other")
    with pytest.raises(ValueError, match="tiny-seed0: begun with other --valid; choose another --output, or remove it"):
        finish_run(cut.with_options(valid=(other,)))
    resumed = finish_run(cut)
    for figures in (whole["figures"], resumed["figures"]):
        del figures["net"]
    assert resumed["figures"] == whole["figures"]
    assert resumed["log"] == whole["log"]
    assert finish_run(cut) == json.loads((cut.options.output / "result.json").read_text())
    assert not (cut.options.output / "state.safetensors").exists()
    for content in ("{}", "[1]", '{"options":'):
        (cut.options.output / "result.json").write_text(content)
        with pytest.raises(ValueError, match=r"result\.json: no result of a run; remove it: "):
            finish_run(cut)


@dataclass(frozen=True)
class Untrained(ResnetVariant):
    """A variant whose training leaves its log alone behind."""

    def begin(self) -> Any:
        self.options.output.mkdir(exist_ok=True)
        lines = [{"kind": "valid", "step": step, "accuracy": 0.5} for step in (1, 2)]
        (self.options.output / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        model = torch.nn.Linear(1, 1)
        return SimpleNamespace(extended=[], held_out_changed=False, train=lambda: None, model=model, steps=2)

    def judge(self) -> dict[str, Any]:
        return {"accuracy": float(self.options.valid[0].name)}


def test_a_finished_run_is_judged_anew_on_other_games(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a training; its file keeps what it was."""
    options = ResnetTraining(data=(VALID,), valid=(Path("0.25"),), output=tmp_path / "run")
    first = finish_run(Untrained("tiny", options))
    monkeypatch.setattr(Untrained, "begin", lambda _: pytest.fail("it is trained again"))
    other = finish_run(Untrained("tiny", replace(options, valid=(Path("0.75"),))))
    assert (first["figures"], other["figures"]) == ({"accuracy": 0.25}, {"accuracy": 0.75})
    assert other["log"] == [{}, {"accuracy": 0.75}]  # the first epoch's network is gone
    assert "run: judged anew on 0.75, its last epoch alone" in capsys.readouterr().err
    assert finish_run(Untrained("tiny", options)) == first
    result = json.loads((options.output / "result.json").read_text())
    del result["valid"]
    (options.output / "result.json").write_text(json.dumps(result))
    assert finish_run(Untrained("tiny", options))["log"] == [{}, {"accuracy": 0.25}]  # of games that it does not name


@pytest.mark.parametrize("kind", [ResnetVariant, ValueVariant])
def test_no_net_is_older_than_its_training(
    kind: type[Variant], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the result of a run with other options was removed."""
    options = (ResnetTraining if kind is ResnetVariant else ValueTraining)(data=(VALID,), output=tmp_path)
    variant = kind("tiny", options)
    for name, stand_in in (("begin", Untrained.begin), ("judge", lambda _: {})):
        monkeypatch.setattr(kind, name, stand_in)
    monkeypatch.setattr(variants, "fold_file", lambda run, net, data: net.write_bytes(b"its own"))
    monkeypatch.setattr(variants, "load_resnet", lambda run: ["its own"])
    monkeypatch.setattr(variants, "export_resnet", lambda network, net, sample: net.write_bytes(b"its own"))
    for name in ("net.safetensors", "model.onnx"):
        (tmp_path / name).write_bytes(b"of an earlier one")
    finish_run(variant)
    assert variant.playable().read_bytes() == b"its own"
    variant.net.write_bytes(b"kept")
    finish_run(variant)
    assert variant.playable().read_bytes() == b"kept"  # it is trained no more


def test_an_evaluation_is_timed_on_one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever number of them the comparison trains on."""
    threads: list[int] = []
    heads = PolicyValueNetwork.heads

    def counted(*arguments: Any) -> Any:
        threads.append(torch.get_num_threads())
        return heads(*arguments)

    monkeypatch.setattr(PolicyValueNetwork, "heads", counted)
    monkeypatch.setattr(variants, "INFERENCE_BATCH", 2)
    network = ResnetConfig(1, 8, value_hidden=8)
    assert ResnetVariant("tiny", ResnetTraining(data=(VALID,), network=network, threads=3))._evaluation_us() > 0
    assert set(threads) == {1}


def test_a_request_to_end_is_an_interrupt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So the bench under way in a process of its own is told to end, too."""

    def stopped(_: Comparison) -> None:
        assert signal.getsignal(signal.SIGTERM) == signal.default_int_handler
        raise KeyboardInterrupt

    monkeypatch.setattr(Comparison, "report", stopped)
    with pytest.raises(KeyboardInterrupt):
        tiny("nets", tmp_path).run()


def test_two_comparisons_do_not_work_in_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Comparison, "report", lambda _: pytest.fail("it has begun"))
    with FolderLock(tmp_path), pytest.raises(ValueError, match="another run is at work here"):
        tiny("nets", tmp_path).run()


def test_games_are_drawn_whole(tmp_path: Path) -> None:
    some = choose_positions([VALID], 2000, tmp_path / "some")
    again = choose_positions([VALID], 2000, tmp_path / "again")
    everything = choose_positions([VALID], None, tmp_path / "all")
    assert some.read_bytes() == again.read_bytes() != everything.read_bytes()[: some.stat().st_size]
    assert everything.read_bytes() == VALID.read_bytes()
    assert 2000 <= len(read_all([some])) < 2500
    assert int((np.diff(read_all([some]).ply) <= 0).sum()) > 10  # plies start anew with each game
    some.write_bytes(VALID.read_bytes()[:1000])
    assert (
        choose_positions([VALID], 2000, tmp_path / "some").stat().st_size == 1000
    )  # what a comparison began with stays
    with pytest.raises(ValueError, match="positions in its games, 1,000,000 are wanted"):
        choose_positions([VALID], 1_000_000, tmp_path / "more")
    (tmp_path / "a.psv").write_bytes(bytes(40))
    with pytest.raises(ValueError, match="comparisons draw whole games of hcpe3, or positions of hcpe alone"):
        choose_positions([tmp_path / "a.psv"], 10, tmp_path / "b")


def test_positions_of_games_are_those_that_are_learnt_from(tmp_path: Path) -> None:
    convert(Conversion((VALID,), tmp_path / "late.hcpe3", from_ply=60))
    drawn = choose_positions([tmp_path / "late.hcpe3"], 2000, tmp_path / "some")
    assert 2000 <= len(read_all([drawn])) < 2500


def test_a_comparison_keeps_to_its_data(tmp_path: Path) -> None:
    choose_positions([VALID], 2000, tmp_path / "train")
    with pytest.raises(ValueError, match=r"train.hcpe3: was made of other data; choose another --output"):
        choose_positions([SAMPLE / "teacher_sample.hcpe3"], 2000, tmp_path / "train")
    for damage in (b'["', b"\xff", b"[" * 100_000):
        (tmp_path / "train.sources.json").write_bytes(damage)
        with pytest.raises(ValueError, match=r"train.hcpe3: was made of other data; choose another --output"):
            choose_positions([VALID], 2000, tmp_path / "train")


def test_damaged_games_are_refused(tmp_path: Path) -> None:
    broken = tmp_path / "broken.hcpe3"
    broken.write_bytes(VALID.read_bytes()[:60_000])
    with pytest.raises(ValueError, match=r"broken.hcpe3: its games cannot be read from byte \d\d,\d{3} on; .*convert"):
        choose_positions([broken], 2000, tmp_path / "train")


def test_single_positions_are_cut_evenly(tmp_path: Path) -> None:
    numbered = np.repeat(np.arange(100, dtype=np.uint8), 38).reshape(100, 38)
    numbered.tofile(tmp_path / "a.hcpe")
    cut = choose_positions([tmp_path / "a.hcpe"], 20, tmp_path / "b")
    assert cut == tmp_path / "b.hcpe"
    assert np.fromfile(cut, np.uint8).reshape(-1, 38)[:, 0].tolist() == list(range(0, 100, 5))
    with pytest.raises(ValueError, match="single positions, not games; say how many"):
        choose_positions([tmp_path / "a.hcpe"], None, tmp_path / "c")
    (tmp_path / "empty.hcpe").write_bytes(b"")
    with pytest.raises(ValueError, match=r"empty\.hcpe: holds no position; remove it or write it again"):
        choose_positions([tmp_path / "a.hcpe", tmp_path / "empty.hcpe"], 20, tmp_path / "c")


def test_means_and_errors_by_hand() -> None:
    assert mean_and_error([1.0, 3.0]) == {"mean": 2.0, "error": pytest.approx(1.0)}
    assert mean_and_error([2.0]) == {"mean": 2.0, "error": None}
    assert mean_and_error([None, None]) == {"mean": None, "error": None}
    runs = {"one": [{"figures": {"x": 1.0}}, {"figures": {"x": 5.0}}], "two": [{"figures": {"x": 2.0}}] * 2}
    found = summarise_runs(runs, {"x": lambda figures: figures["x"]})
    assert found["two"]["x"] == {"mean": 2, "error": 0, "difference": -1, "difference_error": pytest.approx(2)}
    assert "difference" not in found["one"]["x"]


def test_differences_are_taken_seed_by_seed() -> None:
    """Seeds differ by more than the variants, of which the second is better by 0.5 with each."""
    runs = {
        name: [{"figures": {"x": seed + more}} for seed in (1.0, 7.0, 4.0)] for name, more in (("a", 0), ("b", 0.5))
    }
    found = summarise_runs(runs, {"x": lambda figures: figures["x"]})["b"]["x"]
    assert (found["difference"], found["difference_error"]) == (0.5, 0)
    assert found["error"] > 1


def test_what_only_some_networks_have_is_left_out_for_others() -> None:
    band = [{"band": "ply 0-19", "accuracy": 0.5}, {"band": "no score", "accuracy": None}]
    row = {"parameters": 1, "training_positions_per_s": 1.0, "training_time_ratio": 1.0, "evaluation_us": 0.05}
    figures = {"accuracy": {"mean": 0.6, "error": None}, "d1_rmse": {"mean": 0.1, "error": 0.01}}
    none = {"mean": None, "error": None}
    games = {"wins": 3, "draws": 0, "losses": 1, "elo": 190.8, "elo_low": 90.0, "elo_high": 350.0}
    lite = row | {"variant": "lite", "figures": figures, "bytes": 4000, "games": games, "bands": band, "nodes_per_s": 9}
    resnet = row | {"variant": "resnet", "figures": figures | {"d1_rmse": none}, "games": None, "bands": band}
    report = {
        "preset": "nets",
        "rows": [lite, resnet],
        "seeds": [0],
        "data": "d",
        "valid": "v",
        "valid_positions": 9,
        "options": {"epochs": 1, "value_epochs": 2},
    }
    lines = as_markdown(report).splitlines()
    assert "| d1-RMSE | 0.10000 ± 0.01000 | - |" in lines
    assert "| bytes of weights | 4,000 | - |" in lines
    games_line = "| games at equal nodes, won - drawn - lost | 3 - 0 - 1, Elo +191 (+90 to +350) | - |"
    assert next(line for line in lines if "equal nodes" in line) == games_line
    assert not [line for line in lines if "equal time" in line or "multiply" in line]
    assert bands_as_markdown(report).splitlines()[2:] == ["| ply 0-19 | 50.00 % | 50.00 % |", "| no score | - | - |"]


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    none, place = Path("none.hcpe3"), tmp_path / "out"
    options: tuple[tuple[dict[str, object], str], ...] = (
        ({"seeds": (1, 1)}, "--seeds: name at least one, and none twice"),
        ({"epochs": 0}, "--epochs 0: must be at least 1"),
        ({"valid": (VALID,)}, "both to learn from and to judge on"),
        ({"valid": (none,)}, "none.hcpe3: no such file"),
        ({"preset": "nets", "yardstick": (none,)}, "none.hcpe3: no such file"),
        ({"yardstick": (VALID,)}, "--yardstick: is for value networks"),
        ({"value_epochs": 3}, "--value-epochs: is for value networks, which are in the preset nets alone"),
        ({"value_batch_size": 64}, "--value-batch-size: is for value networks"),
        ({"play": GameOptions(games=3)}, "--games 3: an even number is needed"),
        ({"play": GameOptions(games=4)}, "--openings: is needed for more than 2 games"),
        ({"preset": "nets", "play": GameOptions(games=4)}, "--openings: is needed for more than 2 games"),
        ({"play": GameOptions(games=2, opponent="none.bin")}, "none.bin: there is no such file"),
        ({"play": GameOptions(games=2, openings=none)}, "none.hcpe3"),
        ({"play": GameOptions(byoyomi=10)}, "--byoyomi: is for --games; give that too"),
        ({"preset": "nets", "play": GameOptions(nodes=10)}, "--nodes: is for --games; give that too"),
        ({"play": GameOptions(games=2, nodes=10)}, "--nodes: is for value networks"),
        ({"play": GameOptions(opponent_depth=3)}, "--opponent-depth: is for --games; give that too"),
        ({"play": GameOptions(openings=none)}, "--openings: is for --games; give that too"),
    )
    for changes, words in options:
        with pytest.raises((ValueError, OSError), match=words):
            tiny(output=place, **{"preset": "draw"} | changes).run()  # type: ignore[arg-type]
    assert not place.exists()


def test_what_no_game_stands_behind_is_no_judge(tmp_path: Path, without_games: bytes) -> None:
    """Refused before the first training."""
    made, output = tmp_path / "made.hcpe", tmp_path / "out"
    made.write_bytes(without_games)
    with pytest.raises(ValueError, match=r"valid-90\.hcpe: no game stands behind any of the positions"):
        tiny("draw", output, valid=(made,), valid_positions=90).run()
    assert not (output / "runs").exists()


@pytest.mark.slow
def test_every_preset_makes_its_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for preset in ("nets", "squeeze", "auxiliary", "draw"):
        play = GameOptions(2, None, 4, 1) if preset == "squeeze" else GameOptions()
        tiny(preset, tmp_path, seeds=(0,), play=play).run()
    said = capsys.readouterr().out
    for words in (
        "half-kp-256x2-32-32",
        "lite-16-4-32",
        "k-p-256x2-32-32",
        "resnet-1x8-se8-bias",
        "evaluation, µs of one core",
        "games at equal nodes, won - drawn",
    ):
        assert words in said
