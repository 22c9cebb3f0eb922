"""Labels that are averaged over a position and its mirror image."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments.factory.expansion import Relabelling, relabel
from experiments.factory.labelling import Labelling
from experiments.jobs.workforce import Workforce
from experiments.labels.averaged_labels import average_scores
from experiments.labels.labels import NetworkLabels
from experiments.labels.study import UNLABELLED, mirrored_codes
from lite.records.encode import position_records
from lite.records.file import RecordFile, Refusals
from lite.records.formats import hcpe_dtype
from search.evaluation.network_file import load_network
from tests.experiments.labels.boards import board_of, code_of, mirrored

SAMPLE = Path(__file__).parents[3] / "experiments" / "sample" / "valid_sample.hcpe3"


@pytest.fixture(scope="module")
def records() -> np.ndarray:
    """Recorded positions of both sides to move, some in check."""
    file = RecordFile(SAMPLE)
    found = file.read_block(file.blocks[0], Refusals())[:2000:17]
    return position_records(found, "hcpe", 0).view(hcpe_dtype).copy()


def test_mirrored_codes_are_those_of_mirrored_boards(records):
    images = mirrored_codes(records["hcp"])
    assert images.tolist() == [code_of(mirrored(board_of(code))).tolist() for code in records["hcp"]]
    assert mirrored_codes(images).tolist() == records["hcp"].tolist()
    damaged = np.full((1, 32), 255, np.uint8)
    assert mirrored_codes(damaged).tolist() == damaged.tolist()


@pytest.mark.parametrize("labels", [Labelling(), Labelling("search", nodes=40)])
def test_a_mirrored_label_is_the_mean_over_both_images(labels, records, tmp_path):
    source = tmp_path / "some.hcpe"
    records.tofile(source)
    network = load_network("default")
    labeller = NetworkLabels(network, labels.label, labels.nodes).open()
    scores, images = (labeller.label(codes)[0] for codes in (records["hcp"], mirrored_codes(records["hcp"])))
    assert (scores != images).any()
    expected = average_scores((scores, images), [network.cp_per_logit] * 2, network.cp_per_logit)
    assert (expected == UNLABELLED).tolist() == (scores == UNLABELLED).tolist()
    options = Relabelling((source,), tmp_path / "out", replace(labels, mirrored=True), workforce=Workforce(1))
    relabel(options)
    found = np.fromfile(next((tmp_path / "out").glob("*.hcpe")), hcpe_dtype)
    assert found["score"].tolist() == expected[expected != UNLABELLED].tolist()
