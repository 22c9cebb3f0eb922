"""d1-RMSE: nothing for the search that made the labels, more for what knows less."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.labels.study import SEARCH, Studio
from experiments.labels.yardstick import measure_d1
from lite.records.encode import position_records
from lite.records.file import RecordFile, Refusals
from lite.records.formats import NO_SCORE, hcpe_dtype
from lite.training.targets import win_rate
from search.evaluation.material import material_network
from search.evaluation.network_file import load_network, save_network

SAMPLE = Path(__file__).parents[3] / "experiments" / "sample" / "valid_sample.hcpe3"


@pytest.fixture(scope="module")
def records() -> np.ndarray:
    file = RecordFile(SAMPLE)
    found = file.read_block(file.blocks[0], Refusals())[::40]
    return position_records(found, "hcpe", 0).view(hcpe_dtype)


def test_a_network_is_its_own_yardstick(records, tmp_path):
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
    # The error is how far the figure scatters where positions are drawn from these again and again.
    studio, found = Studio(material_network(), 1), []
    for record in labelled:
        studio.forget()
        found.append(studio.study(record["hcp"][None], SEARCH, depth=1)[0][0])
    rates = win_rate(np.array(found), other.scale), win_rate(labelled["score"], 600)
    squares = (rates[0] - rates[1]) ** 2
    drawn = np.random.default_rng(1).choice(squares, (1000, len(squares)))
    assert other.rmse == pytest.approx(squares.mean() ** 0.5)
    assert other.error == pytest.approx(np.sqrt(drawn.mean(1)).std(), rel=0.15)


def test_records_without_scores_say_nothing(records, tmp_path):
    path = tmp_path / "yard.hcpe"
    unscored = records.copy()
    unscored["score"], unscored["padding"] = 0, NO_SCORE
    unscored.tofile(path)
    with pytest.raises(ValueError, match=r"yard\.hcpe: no position has a score"):
        measure_d1("default", [path])
