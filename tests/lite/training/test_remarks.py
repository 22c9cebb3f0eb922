"""Messages of a training run: its inputs, excluded data and results."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from lite.networks.dense import DenseConfig
from lite.records.formats import NO_SCORE, hcpe_dtype
from lite.training.checkpoint import load_model
from lite.training.folder import RunFolder
from lite.training.train import ValueTask, train_value
from liteshogi.commands.train.resume import hint_if_interrupted


def test_few_steps_are_reported_with_a_solution(options, records, held_out, tmp_path, capfd):
    train_value(options(records, tmp_path / "a", valid=(held_out,), batch_size=1024, epochs=6))
    said = capfd.readouterr().err
    assert "warning: 6 steps teach a network little; held-out accuracy " in said
    assert " %, chance is 50 %. Take more games, or a batch size of 32, which makes 270 steps\n" in said
    train_value(options(records, tmp_path / "b", batch_size=32, epochs=1))
    assert "warning: 45 steps teach a network little. Take more games, or 23 epochs\n" in capfd.readouterr().err
    train_value(options(records, tmp_path / "c", batch_size=100_000, epochs=1))
    assert (
        "warning: 1 step teaches a network little. Take more games, or a batch size of 32, which makes 45 steps\n"
        in (capfd.readouterr().err)
    )


def test_a_truncated_last_game_is_reported(options, records, sample_games, tmp_path, capfd):
    cut, valid = tmp_path / "cut.hcpe3", tmp_path / "valid.hcpe"
    cut.write_bytes(sample_games.read_bytes()[:-20])
    valid.write_bytes(records.read_bytes() + b"rest")
    train_value(options(cut, tmp_path / "run", valid=(valid,), max_steps=1))
    assert re.search(
        r"left out: \S*cut\.hcpe3 game 300 at byte \d+ \(\d+ bytes\): the file ends inside it; "
        r"\S*valid\.hcpe record \d+: the file ends inside it\n",
        capfd.readouterr().err,
    )


def test_data_named_twice_are_reported(options, records, tmp_path, monkeypatch, capfd):
    """It may be intended, so it is only reported."""
    monkeypatch.chdir(records.parent)
    train_value(options(records, tmp_path / "run", data=(records, Path(records.name)), max_steps=1))
    said = capfd.readouterr().err
    assert f"{records.resolve()}: is given 2 times (itself or by its folder), so its positions count 2 times\n" in said
    train_value(options(records, tmp_path / "other", max_steps=1))
    assert "is given" not in capfd.readouterr().err


def test_an_interrupted_training_shows_how_to_resume_from_its_own_state(options, records, tmp_path, capfd):
    run = options(records, tmp_path, overwrite=True)
    state = RunFolder(run.output).state
    state.write_bytes(b"of the run to overwrite")
    os.utime(state, ns=(0, 0))

    def train(saves: bool) -> None:
        with hint_if_interrupted(run):
            if saves:
                state.write_bytes(b"of this run")
            raise KeyboardInterrupt

    for saves in (False, True):
        with pytest.raises(KeyboardInterrupt):
            train(saves)
        assert ("resume with: " in capfd.readouterr().err) == saves


@pytest.mark.parametrize("steps", [None, 11])
def test_refused_training_records_are_reported_once(options, records, tmp_path, capfd, steps):
    """Once for all epochs, also in an interrupted run."""
    bad = tmp_path / "bad.hcpe"
    raw = bytearray(records.read_bytes())
    for record in (3, 400):
        raw[38 * record] |= 0xFE  # a king off the board
    bad.write_bytes(bytes(raw) + b"rest")
    train_value(options(bad, tmp_path / "run", max_steps=steps))
    said = [line for line in capfd.readouterr().err.splitlines() if line.startswith("left out")]
    end, king = len(raw) // 38 + 1, "a missing king, a king off the board, or both kings on one square"
    assert said == [
        f"left out: {bad} record {end}: the file ends inside it",
        f"left out: {end:,} records read, 3 refused (2 {king}, 1 the file ends inside it); first: {bad} record {end}: "
        f"the file ends inside it; {bad} record 4: {king}; {bad} record 401: {king}",
    ]


def test_refused_held_out_records_are_reported_once(options, records, tmp_path, capfd):
    bad, raw = tmp_path / "valid.hcpe", bytearray(records.read_bytes())
    raw[38 * 3] |= 0xFE  # a king off the board
    bad.write_bytes(raw)
    train_value(options(records, tmp_path / "run", valid=(bad,), epochs=2))
    said = [line for line in capfd.readouterr().err.splitlines() if line.startswith("left out")]
    king = "a missing king, a king off the board, or both kings on one square"
    assert said == [f"left out: {len(raw) // 38:,} records read, 1 refused (1 {king}); first: {bad} record 4: {king}"]


def test_a_network_that_has_learnt_nothing_is_reported(options, records, held_out, tmp_path, capfd, monkeypatch):
    test = ValueTask.test

    def bad(self, *arguments):
        figures = test(self, *arguments)
        return dataclasses.replace(
            figures, report=dataclasses.replace(figures.report, accuracy=0.496, accuracy_error=0.012)
        )

    monkeypatch.setattr(ValueTask, "test", bad)
    train_value(options(records, tmp_path / "run", valid=(held_out,), batch_size=32, epochs=7))
    said = capfd.readouterr().err
    assert (
        "warning: the network has learnt nothing; held-out accuracy 49.60 +- 1.20 %, chance is 50 %. "
        "Lower the learning rate" in said
    )


def test_a_width_that_the_engine_pads_is_reported(options, records, tmp_path, capfd):
    train_value(options(records, tmp_path / "a", network=DenseConfig(width=48, hidden=(4,)), epochs=1, max_steps=1))
    assert "width 48: the engine pads its rows to 64, so a width of 64 costs no more time" in capfd.readouterr().err
    train_value(options(records, tmp_path / "b", network=DenseConfig(width=32, hidden=(4,)), epochs=1, max_steps=1))
    assert "pads" not in capfd.readouterr().err


def test_few_positions_without_a_score_are_less_than_one_percent(options, records, tmp_path, capfd):
    content = np.fromfile(records, hcpe_dtype)
    content["score"][content["score"] == 0] = 1
    content["score"][0], content["padding"][0] = 0, NO_SCORE
    content.tofile(tmp_path / "one.hcpe")
    train_value(options(tmp_path / "one.hcpe", tmp_path / "a", epochs=1, max_steps=1))
    assert "less than 1 % of the positions have no score" in capfd.readouterr().err


def test_games_without_scores_are_trained_by_their_results(options, records, held_out, tmp_path, capfd):
    """Without scores lambda 0.7 learns the same as lambda 0, with a message; no scale can be fitted."""
    blank, half = tmp_path / "blank.hcpe", tmp_path / "half.hcpe"
    content = np.fromfile(records, hcpe_dtype)
    every_other = content.copy()
    every_other["score"][::2], every_other["padding"][::2] = 0, NO_SCORE
    every_other.tofile(half)
    content["score"] = 0
    content.tofile(blank)
    train_value(options(blank, tmp_path / "a"))
    assert "no position has a score: their targets are the results of their games alone" in capfd.readouterr().err
    train_value(options(blank, tmp_path / "b", lambda_=0.0))
    first, second = (load_model(tmp_path / name)[0].state_dict() for name in "ab")
    assert all(torch.equal(first[name], second[name]) for name in first)
    with pytest.raises(ValueError, match=r"`fit_scale` .*blank\.hcpe: no scores to fit a scale to"):
        train_value(options(blank, tmp_path / "c", fit_scale=True))
    train_value(options(half, tmp_path / "d", fit_scale=True, valid=(blank,)))
    said = capfd.readouterr().err
    assert "about 50 % of the positions have no score: their targets are the results of their games alone" in said
