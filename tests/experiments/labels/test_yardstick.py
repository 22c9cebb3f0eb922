"""d1-RMSE: zero for the network that made the labels, more for weaker networks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments.jobs.workforce import Workforce
from experiments.labels.study import SEARCH, Studio
from experiments.labels.yardstick import (
    MissingYardstick,
    UnfinishedYardstick,
    check_scores,
    measure_d1,
    measure_yardstick,
)
from experiments.labels.yardstick_games import GAMES
from experiments.sweep.yardstick_records import Yardstick, make_yardstick
from lite.datasets.conversion import Conversion
from lite.datasets.convert import convert
from lite.records.encode import position_records
from lite.records.file import RecordFile, Refusals
from lite.records.formats import NO_RESULT, NO_SCORE, hcpe_dtype
from lite.training.targets import score_win_rates
from liteshogi.remedies import remedy
from search.evaluation.material import material_network
from search.evaluation.network_file import load_network, save_network
from search.evaluation.nnue_identification import MissingSetting
from search.system.command_line import started_by
from search.system.options import OptionError
from tests.yaneuraou_networks import network_bytes, without_text

SAMPLE = Path(__file__).parents[3] / "experiments" / "sample" / "valid_sample.hcpe3"


@pytest.fixture(scope="module")
def records() -> np.ndarray:
    file = RecordFile(SAMPLE)
    found = file.read_block(file.blocks[0], Refusals())[::40]
    return position_records(found, "hcpe", 0).view(hcpe_dtype)


def test_a_network_has_no_error_on_its_own_yardstick(records, tmp_path):
    studio = Studio(load_network("default"), 1)
    labelled = records.copy()
    for record in labelled:
        studio.forget()
        record["score"] = studio.study(record["hcp"][None], SEARCH, depth=1)[0][0]
    path = tmp_path / "yard.hcpe"
    labelled.tofile(path)
    own = measure_d1("default", [path])
    assert own.rmse < 1e-6
    assert (own.scale, own.positions) == (600, len(labelled))
    material = tmp_path / "material.safetensors"
    save_network(material_network(), material)
    other = measure_d1(str(material), [path])
    assert 0.05 < other.rmse < 0.5
    # The error equals the standard deviation under bootstrap samples of the positions.
    studio, found = Studio(material_network(), 1), []
    for record in labelled:
        studio.forget()
        found.append(studio.study(record["hcp"][None], SEARCH, depth=1)[0][0])
    rates = score_win_rates(np.array(found), other.scale), score_win_rates(labelled["score"], 600)
    squares = (rates[0] - rates[1]) ** 2
    drawn = np.random.default_rng(1).choice(squares, (1000, len(squares)))
    assert other.rmse == pytest.approx(squares.mean() ** 0.5)
    assert other.error == pytest.approx(np.sqrt(drawn.mean(1)).std(), rel=0.15)


def test_records_without_scores_are_refused(records, tmp_path):
    path = tmp_path / "yard.hcpe"
    unscored = records.copy()
    unscored["score"], unscored["padding"] = 0, NO_SCORE
    unscored.tofile(path)
    for refuse in (lambda: measure_d1("default", [path]), lambda: check_scores([path])):
        with pytest.raises(OptionError, match=r"`yardstick` .*yard\.hcpe: no position has a score") as refused:
            refuse()
        assert refused.value.fields == ("yardstick", "truth")
    records.tofile(path)
    check_scores([path])


def test_results_are_predicted_for_records_with_results(tmp_path):
    report = make_yardstick(
        Yardstick((SAMPLE,), tmp_path / "yard", positions=300, truth="results", workforce=Workforce(1))
    )
    assert (report.labelled_by, report.nodes, report.truth) == ("", 0, "results")
    assert 200 < report.positions < 400
    found = measure_yardstick("default", [tmp_path / "yard"])
    assert found.d1 is None
    assert found.results is not None
    assert found.results.result_positions == report.positions
    assert found.results.result_log_loss < 0.65  # 0.693 for a network that always predicts 0.5
    assert found.results.result_accuracy is not None
    assert found.results.result_accuracy > 0.55
    assert found.results.result_accuracy_error is not None
    assert 0 < found.results.result_accuracy_error < 0.5 / 10
    assert found.figures() == [found.results]
    with pytest.raises(ValueError, match="no position has a score"):
        measure_d1("default", [tmp_path / "yard"])


def test_errors_against_results_are_over_the_games_where_the_yardstick_knows_them(tmp_path):
    yard = tmp_path / "yard"
    options = Yardstick((SAMPLE,), yard, positions=1500, truth="results", workforce=Workforce(1))
    make_yardstick(options)
    known = measure_yardstick("dense-64-16", [yard]).results
    assert known is not None
    assert 2 < known.result_games < known.result_positions / 4
    (yard / GAMES).unlink()
    unknown = measure_yardstick("dense-64-16", [yard]).results
    assert unknown is not None
    assert unknown.result_games is None
    assert known.result_accuracy_error > 1.3 * unknown.result_accuracy_error
    assert known.result_log_loss == unknown.result_log_loss
    make_yardstick(options)
    assert measure_yardstick("dense-64-16", [yard]).results == known, "made by the same command"
    (yard / GAMES).write_bytes(b"\x93NUMPY")
    with pytest.raises(ValueError, match=r"games\.npy: not the games of this yardstick's positions; remove it"):
        measure_yardstick("dense-64-16", [yard])


def test_positions_of_a_file_without_games_have_no_games(tmp_path):
    convert(Conversion((SAMPLE,), tmp_path / "games.hcpe"))
    make_yardstick(
        Yardstick((tmp_path / "games.hcpe",), tmp_path / "yard", positions=300, truth="results", workforce=Workforce(1))
    )
    assert not (tmp_path / "yard" / GAMES).exists()


def test_a_yardstick_of_results_needs_games(without_games, tmp_path):
    (tmp_path / "d.hcpe").write_bytes(without_games)
    with pytest.raises(OptionError, match=r"`data` .*d\.hcpe: no position comes from a game, so there are no results"):
        make_yardstick(Yardstick((tmp_path / "d.hcpe",), tmp_path / "yard", truth="results", workforce=Workforce(1)))
    assert not (tmp_path / "yard").exists()


def test_scores_and_results_are_measured_together(records, tmp_path):
    path, few = tmp_path / "yard.hcpe", records[:60].copy()
    few["score"], few["padding"] = 100, 0
    few["padding"][:20], few["result"][:20] = NO_RESULT, 0
    few.tofile(path)
    found = measure_yardstick("default", [path])
    assert found.d1 is not None
    assert found.results is not None
    assert (found.d1.positions, found.results.result_positions) == (60, 40)


def test_the_searches_of_two_networks_are_averaged(tmp_path):
    def scores(name: str, net: str, second: str = "") -> dict[bytes, int]:
        options = Yardstick(
            (SAMPLE,), tmp_path / name, 40, net=net, second_net=second, nodes=50, workforce=Workforce(1)
        )
        report = make_yardstick(options)
        assert report.labelled_by == " and ".join(filter(None, (net, second)))
        found = np.fromfile(next((tmp_path / name).glob("*.hcpe")), hcpe_dtype)
        return {record["hcp"].tobytes(): int(record["score"]) for record in found}

    material = tmp_path / "material.safetensors"
    save_network(material_network(), material)
    first, both = scores("first", "default"), scores("both", "default", str(material))
    assert first.keys() == both.keys()
    assert first != both


@pytest.mark.parametrize("option", [{"nodes": 5}, {"net": "lite-16-4-32"}, {"second_net": "default"}])
def test_results_need_no_search(option, tmp_path):
    with pytest.raises(OptionError) as refused:
        make_yardstick(Yardstick((SAMPLE,), tmp_path / "yard", truth="results", **option))
    assert refused.value.fields == (next(iter(option)), "truth")


def test_a_missing_or_unfinished_yardstick_is_refused_with_its_command(tmp_path):
    with pytest.raises(MissingYardstick, match=r"`yardstick` .*yard: there is no such file") as missing:
        measure_yardstick("default", [tmp_path / "yard"])
    assert remedy(missing.value) == f": liteshogi yardstick HELD-OUT-GAMES -o {tmp_path / 'yard'}"
    options = Yardstick((SAMPLE,), tmp_path / "yard", 40, nodes=50, workforce=Workforce(1))
    with started_by(["yardstick", "games.hcpe3", "-o", "yard"]):
        make_yardstick(options)
    record = tmp_path / "yard" / "run.json"
    text = record.read_text(encoding="utf-8")
    record.write_text(text.replace('"state": "done"', '"state": "interrupted"'), encoding="utf-8")
    with pytest.raises(UnfinishedYardstick, match=r"`yardstick` .*yard: is unfinished") as unfinished:
        measure_yardstick("default", [tmp_path / "yard"])
    assert remedy(unfinished.value) == ": liteshogi yardstick games.hcpe3 -o yard"
    make_yardstick(options)
    assert measure_yardstick("default", [tmp_path / "yard"]).d1 is not None


def test_a_network_without_a_name_is_not_taken_for_another_yardstick(tmp_path):
    content, path = network_bytes("SFNN_kp_64_7_32_hand64"), tmp_path / "nn.bin"
    path.write_bytes(without_text(content))
    with pytest.raises(MissingSetting, match=r"nn\.bin: unknown architecture"):
        make_yardstick(Yardstick((SAMPLE,), tmp_path / "yard", 40, net=str(path), nodes=50, workforce=Workforce(1)))
    assert not (tmp_path / "yard").exists()


@pytest.mark.parametrize("other", [{"positions": 80}, {"truth": "results", "nodes": 10_000}])
def test_a_folder_of_another_yardstick_is_refused_by_options_of_the_verb(other, tmp_path):
    options = Yardstick((SAMPLE,), tmp_path / "yard", 40, nodes=50, workforce=Workforce(1))
    make_yardstick(options)
    with pytest.raises(OptionError, match="holds a yardstick of another `truth`") as refused:
        make_yardstick(replace(options, **other))
    assert refused.value.fields == ("output", "truth", "positions")
