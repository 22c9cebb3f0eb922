"""The section of training runs: only runs with the same held-out games share a chart."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.report.section import Run
from experiments.report.training_section import HEAD, training_section
from lite.networks.dense import DenseConfig
from lite.run_folder import RunPlan
from lite.training.log import EpochTest
from lite.training.metrics import CalibrationBin, Report
from lite.training.options import ValueTraining
from lite.training.run_record import plan_training
from tests.experiments.report.conftest import made, run_of

BINS = (CalibrationBin(10, 0.4, 0.5),)
REPORT = Report(1000, 0.6, 0.6, 0.6, 0.2, 20, 0, 0.55, 0.01, BINS, (), (), accuracy_error=0.015)


def trained(folder: Path, *held_out: tuple[str, str]) -> Run:
    goal = {"valid": [name for name, _ in held_out]}
    files = {f"/anywhere/{name}": digest for name, digest in held_out}
    lines = [EpochTest(epoch, 10 * epoch, 0.5, {}, REPORT) for epoch in (1, 2)]
    return run_of(made(folder, RunPlan("train dense", {"seed": 0}, goal, files=files), lines), folder.name)


def test_runs_with_the_same_held_out_games_share_charts(tmp_path: Path) -> None:
    runs = [trained(tmp_path / name, (f"{name}/valid.hcpe3", "aaaaaaaa")) for name in ("one", "two")]
    section = training_section(runs)
    assert [chart.title for chart in section.charts] == ["Accuracy on held-out games", "Calibration"]
    (table,) = section.tables
    assert [dict(zip(table.head, line, strict=True))["held-out games"] for line in table.lines] == ["valid.hcpe3"] * 2
    assert HEAD[:4] == ("run", "log loss", "held-out loss", "accuracy")
    assert table.lines[0][1:5] == ["0.6000", "0.5000", "60.00 +- 1.50 %", "0.2000"]


def test_the_order_of_held_out_files_makes_no_other_set(tmp_path: Path) -> None:
    both = ("a.hcpe", "aaaaaaaa"), ("b.hcpe", "bbbbbbbb")
    section = training_section([trained(tmp_path / "one", *both), trained(tmp_path / "two", *both[::-1])])
    assert [chart.title for chart in section.charts] == ["Accuracy on held-out games", "Calibration"]
    assert {line[HEAD.index("held-out games")] for line in section.tables[0].lines} == {"a.hcpe, b.hcpe"}


def test_sets_that_share_a_file_have_separate_charts(tmp_path: Path) -> None:
    shared = ("a.hcpe", "aaaaaaaa")
    runs = [trained(tmp_path / one, shared, ("b.hcpe", one * 8)) for one in ("b", "c")]
    titles = [chart.title for chart in training_section(runs).charts if chart.title.startswith("Accuracy")]
    assert len(set(titles)) == 2


def test_held_out_files_above_the_folder_of_the_command_are_told_apart(tmp_path: Path) -> None:
    """Their names are equal as they were typed, and one has the name of the data."""
    runs = []
    for name, digest in (("one", "aaaaaaaa"), ("two", "bbbbbbbb")):
        files = {f"/{name}/data/valid.hcpe": "dddddddd", f"/{name}/valid.hcpe": digest}
        plan = RunPlan("train dense", {"seed": 0}, {"valid": ["../valid.hcpe"]}, files=files)
        runs.append(run_of(made(tmp_path / name, plan, [EpochTest(1, 10, 0.5, {}, REPORT)]), name))
    titles = [chart.title for chart in training_section(runs).charts if chart.title.startswith("Accuracy")]
    assert titles == [f"Accuracy on held-out games: valid.hcpe ({one})" for one in ("aaaaaa", "bbbbbb")]


def test_copies_of_held_out_games_share_charts_under_all_their_names(tmp_path: Path) -> None:
    runs = [trained(tmp_path / str(number), (name, "aaaaaabb")) for number, name in enumerate(("a.hcpe", "b.hcpe"))]
    section = training_section(runs)
    assert [chart.title for chart in section.charts] == ["Accuracy on held-out games", "Calibration"]
    (table,) = section.tables
    lines = [dict(zip(table.head, line, strict=True)) for line in table.lines]
    assert [line["held-out games"] for line in lines] == ["a.hcpe = b.hcpe"] * 2


def test_runs_with_other_held_out_games_have_separate_charts(tmp_path: Path) -> None:
    files = {
        "one": ("valid.hcpe3", "aaaaaaaa"),
        "two": ("valid.hcpe3", "bbbbbbbb"),
        "three": ("many.hcpe3", "cccccccc"),
    }
    section = training_section([trained(tmp_path / name, file) for name, file in files.items()])
    accuracies = [chart.title for chart in section.charts if chart.title.startswith("Accuracy")]
    assert accuracies == [
        "Accuracy on held-out games: valid.hcpe3 (aaaaaa)",
        "Accuracy on held-out games: valid.hcpe3 (bbbbbb)",
        "Accuracy on held-out games: many.hcpe3",
    ]
    runs_of = [{row["run"] for row in chart.spec["data"]["values"]} for chart in section.charts]
    assert all(len(runs) == 1 for runs in runs_of)


def test_a_training_records_the_held_out_games_that_the_charts_go_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("train", "one", "two"):
        Path(f"{name}.hcpe").write_bytes(name.encode())
    lines = [EpochTest(1, 10, 0.5, {}, REPORT)]
    runs = []
    for name in ("one", "two"):
        options = ValueTraining((Path("train.hcpe"),), Path(name), network=DenseConfig(), valid=(Path(f"{name}.hcpe"),))
        runs.append(run_of(made(tmp_path / name, plan_training(options, None), lines), name))
    titles = [chart.title for chart in training_section(runs).charts]
    assert "Accuracy on held-out games: one.hcpe" in titles
    assert "Accuracy on held-out games: two.hcpe" in titles
