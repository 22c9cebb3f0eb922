"""Labels of policy-value networks are those of onnxruntime, averaged over the mirrored board."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cshogi
import numpy as np
import onnxruntime
import pytest
from cshogi.dlshogi import FEATURES1_NUM, FEATURES2_NUM, make_input_features

from experiments.factory.expand import Mixture
from experiments.factory.expansion import Expansion, Relabelling, expand, relabel
from experiments.factory.labelling import Labelling
from experiments.jobs.workforce import Workforce
from experiments.labels.averaged_labels import average_scores
from experiments.labels.deep_labels import DeepLabels
from experiments.labels.study import UNLABELLED
from lite.datasets.provenance import sha256_of
from lite.records.encode import position_records
from lite.records.file import RecordFile, Refusals
from lite.records.formats import NO_RESULT, NO_SCORE, hcpe_dtype
from lite.run_folder import read_run
from search.system.options import OptionError
from tests.experiments.labels.boards import board_of, code_of, mirrored
from tests.experiments.labels.linear_onnx import write_linear

SAMPLE = Path(__file__).parents[3] / "experiments" / "sample" / "valid_sample.hcpe3"
SCALE = 600.0


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    return write_linear(tmp_path_factory.mktemp("net") / "linear.onnx")


@pytest.fixture(scope="module")
def records() -> np.ndarray:
    """Recorded positions of both sides to move, some in check."""
    file = RecordFile(SAMPLE)
    found = file.read_block(file.blocks[0], Refusals())[:2000]
    chosen = np.concatenate((np.flatnonzero(found["in_check"])[:10], np.arange(0, len(found), 40)))
    return position_records(found[chosen], "hcpe", 0).view(hcpe_dtype).copy()


@pytest.fixture(scope="module")
def source(records, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("records") / "some.hcpe"
    records.tofile(path)
    return path


def rate_by_onnxruntime(session: onnxruntime.InferenceSession, board: cshogi.Board) -> float:
    input1 = np.zeros((1, FEATURES1_NUM, 9, 9), np.float32)
    input2 = np.zeros((1, FEATURES2_NUM, 9, 9), np.float32)
    make_input_features(board, input1[0], input2[0])
    return float(session.run(["output_value"], {"input1": input1, "input2": input2})[0][0, 0])


def test_labels_are_the_mean_over_the_mirrored_board(model, records):
    boards = [board_of(code) for code in records["hcp"]]
    assert {board.turn for board in boards} == {0, 1}
    assert 10 <= sum(board.is_check() for board in boards) < 30
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    pairs = np.array([[rate_by_onnxruntime(session, one) for one in (board, mirrored(board))] for board in boards])
    assert np.abs(pairs[:, 0] - pairs[:, 1]).mean() > 0.1  # the network itself is not symmetric
    rates = pairs.mean(1)
    labels = DeepLabels(model.read_bytes(), SCALE)
    scores, moves = labels.open().label(records["hcp"])
    assert scores == pytest.approx(np.log(rates / (1 - rates)) * SCALE, abs=1)
    assert not moves.any()
    images = np.array([code_of(mirrored(board)) for board in boards])
    assert labels.open().label(images)[0] == pytest.approx(scores, abs=1)
    for size in (2, 7):
        assert replace(labels, batch_size=size).open().label(records["hcp"])[0] == pytest.approx(scores, abs=1)
    halved = replace(labels, cp_per_logit=SCALE / 2).open().label(records["hcp"])[0]
    assert halved == pytest.approx(scores / 2, abs=1)
    damaged = records["hcp"][:3].copy()
    damaged[1] = 255
    assert (labels.open().label(damaged)[0] == UNLABELLED).tolist() == [False, True, False]


def test_relabelling_by_a_network_is_resumed_and_checks_its_digest(model, source, records, tmp_path):
    labels = Labelling("network", str(model))
    options = Relabelling((source,), tmp_path / "out", labels, workforce=Workforce(1))
    made = relabel(options)
    found = np.concatenate([np.fromfile(path, hcpe_dtype) for path in sorted((tmp_path / "out").glob("*.hcpe"))])
    assert found["hcp"].tolist() == records["hcp"].tolist()
    assert found["result"].tolist() == records["result"].tolist()
    assert found["score"].tolist() == DeepLabels(model.read_bytes()).open().label(records["hcp"])[0].tolist()
    (net,) = read_run(options.output).nets
    assert (net.role, net.sha256) == ("net", sha256_of(model))
    assert relabel(replace(options, labels=replace(labels, batch_size=16, device="cpu"))) == made
    other = write_linear(tmp_path / "other.onnx", seed=2)
    with pytest.raises(ValueError, match="another folder"):
        relabel(replace(options, labels=Labelling("network", str(other))))
    both = replace(labels, second_net=str(other))
    relabel(replace(options, output=tmp_path / "both", labels=both))
    averaged = np.fromfile(next((tmp_path / "both").glob("*.hcpe")), hcpe_dtype)["score"]
    parts = [found["score"], DeepLabels(other.read_bytes()).open().label(records["hcp"])[0]]
    assert averaged.tolist() == average_scores(parts, [SCALE, SCALE], SCALE).tolist()
    assert [net.role for net in read_run(tmp_path / "both").nets] == ["net", "second_net"]


def test_settled_positions_are_labelled_by_a_network(model, source, tmp_path):
    settled = Mixture(played=0, random=0, settled=1.0)
    options = Expansion((source,), tmp_path, Labelling("network", str(model)), mixture=settled, workforce=Workforce(1))
    made = expand(options)
    found = np.fromfile(next(tmp_path.glob("*.hcpe")), hcpe_dtype)
    assert made.count("made settled") == len(found) > 20
    assert found["score"].tolist() == DeepLabels(model.read_bytes()).open().label(found["hcp"])[0].tolist()


def test_labels_from_results_have_no_scores(source, records, tmp_path):
    data = tmp_path / "some.hcpe"
    some = records.copy()
    some["padding"][:20], some["result"][:20] = NO_RESULT, 0
    some.tofile(data)
    made = relabel(Relabelling((data,), tmp_path / "out", Labelling("result"), workforce=Workforce(1)))
    found = np.fromfile(next((tmp_path / "out").glob("*.hcpe")), hcpe_dtype)
    assert made.count("unlabelled") == 20
    assert found["hcp"].tolist() == some["hcp"][20:].tolist()
    assert found["result"].tolist() == some["result"][20:].tolist()
    assert set(zip(found["score"].tolist(), found["padding"].tolist(), strict=True)) == {(0, NO_SCORE)}


def test_an_average_is_that_of_win_rates():
    first = np.array([0, 600, 31999, 31999, -31997, 100], np.int16)
    second = np.array([0, -600, 31997, -31999, -31999, UNLABELLED], np.int16)
    assert average_scores([first, second], [600, 600], 600).tolist() == [0, 0, 31999, 0, -31997, UNLABELLED]
    (score,) = average_scores([np.array([300]), np.array([600])], [300, 600], 200)
    assert score == 200


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        (Labelling("network"), ("net", "label")),
        (Labelling("search", "MODEL", nodes=5), ("net", "label")),
        (Labelling("static", second_net="MODEL"), ("second_net", "label")),
        (Labelling("network", "MODEL", nodes=5), ("label", "nodes", "depth")),
        (Labelling("network", "MODEL", batch_size=1), ("batch_size",)),
        (Labelling("static", batch_size=8), ("batch_size", "label")),
        (Labelling("static", device="cpu"), ("device", "label")),
        (Labelling("result", "lite-16-4-32"), ("net", "label")),
        (Labelling("result", result_share=0.5), ("result_share", "label")),
        (Labelling("engine", nodes=5, engine="e", second_net="default"), ("second_net", "label")),
        (Labelling("engine", nodes=5, engine="e", mirrored=True), ("mirrored", "label")),
        (Labelling("network", "MODEL", mirrored=True), ("mirrored", "label")),
    ],
)
def test_invalid_labels_are_refused(options, fields, model, source, tmp_path):
    named = {name: str(model) for name in ("net", "second_net") if getattr(options, name) == "MODEL"}
    with pytest.raises(OptionError) as refused:
        relabel(Relabelling((source,), tmp_path, replace(options, **named)))
    assert refused.value.fields == fields


def test_a_gpu_that_is_missing_is_reported(model, monkeypatch):
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CPUExecutionProvider"])
    with pytest.raises(ValueError, match="onnxruntime finds no GPU"):
        DeepLabels(model.read_bytes(), device="gpu").open()
    assert DeepLabels(model.read_bytes(), device="auto").open()
