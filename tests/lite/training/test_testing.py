"""Figures of trained networks on held-out records, for every kind of file."""

from __future__ import annotations

import dataclasses
import json
import re

import numpy as np
import pytest

from export.fold import Folding, FoldReport, fold_file
from lite.networks.value_network import listed_inputs
from lite.records.formats import hcpe_dtype
from lite.records.reader import read_all
from lite.training.checkpoint import load_model
from lite.training.testing import load_predictor, measure_value_network
from lite.training.train import train_value
from lite.training.training_speed import synthetic_batch
from liteshogi.commands.test import Command as JudgeNet
from search.evaluation.feature_sets import feature_set
from search.evaluation.network import EvalNetwork, Layer, evaluate_reference
from search.evaluation.network_file import save_network


def test_verb_test_prints_the_figures_of_a_checkpoint(options, records, held_out, tmp_path, capsys):
    train_value(options(records, tmp_path / "run", valid=(held_out,)))
    trained = load_model(tmp_path / "run")[1].provenance
    capsys.readouterr()
    JudgeNet(str(tmp_path / "run"), (held_out,), json=True).run()
    report = json.loads(capsys.readouterr().out)
    for name in ("positions", "accuracy", "accuracy_draw_as_win", "log_loss", "brier", "calibration", "by_ply"):
        assert report[name] == trained["valid"][name], name
    JudgeNet(str(tmp_path / "run" / "network.safetensors"), (held_out,)).run()
    assert "accuracy" in capsys.readouterr().out
    assert measure_value_network(str(tmp_path / "run"), (held_out,), 32, positions=64).report.positions == 64
    few = measure_value_network(str(tmp_path / "run"), (held_out,), positions=50)
    assert few.report.positions == 50
    np.fromfile(held_out, hcpe_dtype)[:50].tofile(tmp_path / "few.hcpe")
    alone = measure_value_network(str(tmp_path / "run"), (tmp_path / "few.hcpe",))
    assert few.report == alone.report
    whole = measure_value_network(str(tmp_path / "run"), (held_out,), 32, positions=10**6)
    assert whole.report.positions == report["positions"]


def test_refused_records_and_yardstick_records_are_reported(held_out, tmp_path, capsys):
    raw = bytearray(held_out.read_bytes())
    raw[38 * 3] |= 0xFE  # a king off the board
    data, yardstick = tmp_path / "data.hcpe", tmp_path / "yardstick.hcpe"
    data.write_bytes(raw)
    yardstick.write_bytes(raw[: 38 * 9] + b"rest")
    JudgeNet("lite-16-4-32", (data,), yardstick=(yardstick,)).run()
    king, ends = "a missing king, a king off the board, or both kings on one square", "the file ends inside it"
    count = len(raw) // 38
    assert [line for line in capsys.readouterr().err.splitlines() if "compiling" not in line] == [
        f"left out: {count:,} records read, 1 refused (1 {king}); first: {data} record 4: {king}",
        f"left out: 10 records read, 2 refused (1 {ends}, 1 {king}); first: {yardstick} record 10: {ends}; "
        f"{yardstick} record 4: {king}",
    ]
    JudgeNet("lite-16-4-32", (data,), yardstick=(yardstick,), json=True).run()
    said = capsys.readouterr()
    report = json.loads(said.out)
    assert "left out" not in said.err
    assert report["positions"] == count - 1
    of_data = {"records_read": count, "refused": {king: 1}, "first_refused": [f"{data} record 4: {king}"]}
    assert report.items() >= of_data.items()
    assert (report["d1_records_read"], report["d1_refused"]) == (10, {ends: 1, king: 1})
    assert report["d1_first_refused"] == [f"{yardstick} record 10: {ends}", f"{yardstick} record 4: {king}"]


def test_a_trained_network_is_folded_for_the_yardstick(options, records, held_out, tmp_path, capsys, monkeypatch):

    def fold_few(options: Folding) -> FoldReport:
        return fold_file(dataclasses.replace(options, positions=2_000))  # fewer random positions

    monkeypatch.setattr("export.fold.fold_file", fold_few)
    run, folded = options(records, tmp_path / "run", max_steps=3), tmp_path / "folded.safetensors"
    train_value(run)
    fold_few(Folding(run.output, folded))
    few = tmp_path / "few.hcpe"
    np.fromfile(held_out, hcpe_dtype)[:20].tofile(few)
    capsys.readouterr()
    rmse = []
    for net in (run.output, folded):
        JudgeNet(str(net), (held_out,), yardstick=(few,), json=True).run()
        rmse.append(json.loads(capsys.readouterr().out)["d1_rmse"])
    assert rmse[0] == rmse[1] > 0


def test_held_out_games_give_the_error_of_the_accuracy(sample_games, capsys):
    JudgeNet("lite-16-4-32", (sample_games,), json=True).run()
    figures = json.loads(capsys.readouterr().out)
    assert figures["games"] == 300
    as_if_independent = (figures["accuracy"] * (1 - figures["accuracy"]) / figures["positions"]) ** 0.5
    assert 2 * as_if_independent < figures["accuracy_error"] < 0.05
    errors = ("accuracy_draw_as_win_error", "material_accuracy_error", "log_loss_error", "brier_error")
    assert all(0 < figures[name] < 0.05 for name in errors)
    opening = figures["by_ply"][0]
    assert opening["accuracy_error"] > (opening["accuracy"] * (1 - opening["accuracy"]) / opening["positions"]) ** 0.5
    JudgeNet("lite-16-4-32", (sample_games,)).run()
    text = capsys.readouterr().out
    assert "of 300 games; +- is a standard error over the games" in text
    for name in ("log loss", "accuracy", "accuracy of material", "Brier score", "  ply 0-19"):
        assert re.search(rf"^{name} .* \+- \d", text, re.MULTILINE), name


def test_the_progress_of_a_test_has_the_time_left(sample_games, monkeypatch, capsys):
    monkeypatch.setattr("experiments.jobs.progress.PLAIN_SECONDS", 0.0)
    JudgeNet("lite-16-4-32", (sample_games,), positions=2_000, batch_size=1_000).run()
    lines = [line for line in capsys.readouterr().err.splitlines() if "positions tested" in line]
    assert re.fullmatch(r"1,000 of 2,000 positions tested, 0:\d\d left", lines[0])
    assert lines[1] == "2,000 of 2,000 positions tested, 0:00 left"


def test_an_onnx_file_is_tested_like_its_module(tmp_path):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from onnx import TensorProto, helper

    # A network whose output is the sum of the numbers of the mover's hand features.
    graph = helper.make_graph(
        [
            helper.make_node("Cast", ["hands"], ["as_float"], to=TensorProto.FLOAT),
            helper.make_node("ReduceSum", ["as_float"], ["value"], keepdims=1, axes=[1]),
        ],
        "net",
        [
            helper.make_tensor_value_info("hands", TensorProto.INT64, ["n", 57]),
            helper.make_tensor_value_info("pieces", TensorProto.INT64, ["n", 81]),
        ],
        [helper.make_tensor_value_info("value", TensorProto.FLOAT, ["n", 1])],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8), tmp_path / "n.onnx")
    batch = synthetic_batch(5)
    logits = load_predictor(str(tmp_path / "n.onnx"))(batch)[:, 0]
    held = listed_inputs(batch.pieces, batch.hands, batch.in_check)[1]
    assert logits.tolist() == held.sum(1).tolist()
    (tmp_path / "bad.onnx").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="not an ONNX file"):
        load_predictor(str(tmp_path / "bad.onnx"))


def test_an_onnx_file_with_outputs_that_are_not_numbers_is_refused(held_out, tmp_path):
    """It gives numbers only for the first position of a game, in which nothing is in hand."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from onnx import TensorProto, helper

    graph = helper.make_graph(
        [
            helper.make_node("Cast", ["hands"], ["as_float"], to=TensorProto.FLOAT),
            helper.make_node("ReduceSum", ["as_float"], ["sum"], keepdims=1, axes=[1]),
            helper.make_node("Sub", ["sum", "empty"], ["less"]),
            helper.make_node("Sqrt", ["less"], ["value"]),
        ],
        "net",
        [
            helper.make_tensor_value_info("hands", TensorProto.INT64, ["n", 57]),
            helper.make_tensor_value_info("pieces", TensorProto.INT64, ["n", 81]),
        ],
        [helper.make_tensor_value_info("value", TensorProto.FLOAT, ["n", 1])],
        [helper.make_tensor("empty", TensorProto.FLOAT, [1], [57.0 * 57])],
    )
    path = tmp_path / "n.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8), path)
    first = int(read_all([held_out]).hands.any(1).argmax())
    assert first > 4
    bad = rf"n\.onnx: its output for \d+ of 4 positions is not finite, first for position {first + 1} of"
    with pytest.raises(ValueError, match=bad):
        measure_value_network(str(path), (held_out,), batch_size=4)


def test_a_folded_net_is_tested_by_its_integers(tmp_path):
    rng = np.random.default_rng(0)
    net = EvalNetwork(
        feature_set("piece_square"),
        rng.integers(-9, 9, (2325, 32)).astype(np.int16),
        rng.integers(0, 99, 32).astype(np.int16),
        (Layer(rng.integers(-9, 9, (1, 32)).astype(np.int8), np.array([5], np.int32)),),
        output_divisor=16,
        logit_per_output=0.01,
    )
    save_network(net, tmp_path / "n.safetensors")
    batch = synthetic_batch(50)
    outputs = evaluate_reference(net, batch.pieces, batch.hands, batch.in_check)[:, 0]
    logits = load_predictor(str(tmp_path / "n.safetensors"))(batch)[:, 0]
    np.testing.assert_allclose(logits, [net.logit(int(output)) for output in outputs], rtol=1e-12)
    assert (outputs < 0).any()
