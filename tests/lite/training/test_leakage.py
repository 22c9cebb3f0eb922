"""Held-out positions that are also in the training data are found in all formats."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import pytest

from export.fold import Folding, fold_file
from lite.datasets.conversion import Conversion
from lite.datasets.convert import convert
from lite.datasets.plan import source_of
from lite.networks.dense import DenseConfig
from lite.records.reader import Reader, read_all
from lite.run_folder import RunPlan, RunWriter
from lite.training.leakage import MOST_PIECES, LeakageCheck, drawn_from_all, position_hashes
from lite.training.testing import leakage_warning
from lite.training.train import train_value
from lite.training.training_speed import synthetic_batch
from search.rules.shogi import EMPTY, MIRRORED_SQUARE
from tests.lite.training.conftest import random_games


def test_hashes_depend_on_pieces_and_hands():
    batch = synthetic_batch(400)
    hashes = position_hashes(batch)
    late = (batch.pieces != EMPTY).sum(1) <= MOST_PIECES
    assert len(hashes) == late.sum() == len(np.unique(hashes))
    changed = synthetic_batch(400)
    changed.pieces[:, [3, 4]] = changed.pieces[:, [4, 3]]
    moved = (changed.pieces != batch.pieces).any(1)[late]
    assert ((position_hashes(changed) == hashes) == ~moved).all()
    changed = synthetic_batch(400)
    changed.hands[:, 0] += 1
    assert not (position_hashes(changed) == hashes).any()


def test_a_mirror_image_has_the_same_hash():
    batch = synthetic_batch(400)
    mirrored = dataclasses.replace(batch, pieces=batch.pieces[:, MIRRORED_SQUARE])
    assert (mirrored.pieces != batch.pieces).any()
    assert (position_hashes(mirrored) == position_hashes(batch)).all()


@pytest.mark.parametrize("part", [1, 2])
def test_the_share_of_known_positions_is_estimated(part):
    """The estimate uses a part of the data."""
    data, others = synthetic_batch(4000, 1), synthetic_batch(1000, 2)
    held_out = [dataclasses.replace(data, **{n: getattr(data, n)[1000:2000] for n in ("pieces", "hands")}), others]
    check = LeakageCheck(held_out, 4000)
    order = np.random.default_rng(0).permutation(4000)[: 4000 // part]
    assert not check.warning()
    check.add(dataclasses.replace(data, **{name: getattr(data, name)[order] for name in ("pieces", "hands", "score")}))
    assert check.share == pytest.approx(0.5, abs=0.03)
    assert "warning: about 5" in check.warning() or "warning: about 4" in check.warning()
    assert not LeakageCheck([], 100).add(data)


def test_games_in_another_format_are_found(options, sample_games, tmp_path, capfd):
    copy = tmp_path / "copy.psv"
    convert(Conversion((sample_games,), copy))
    run = options(copy, tmp_path / "run", valid=(sample_games,), batch_size=4096, epochs=2, max_steps=10)
    train_value(run)
    said = capfd.readouterr().err
    assert said.count("of the held-out positions beyond the opening are in the data, too") == 1
    train_value(dataclasses.replace(run, output=tmp_path / "one", epochs=1, batch_size=3000))
    said = capfd.readouterr().err
    assert said.count("of the held-out positions beyond the opening are in the data, too") == 1, "one epoch is not all"
    train_value(dataclasses.replace(run, resume=True, max_steps=1))
    assert capfd.readouterr().err.count("beyond the opening") == 1, "a resumed run's files may be others"


def test_a_test_on_games_of_the_training_gives_a_warning(options, sample_games, tmp_path, monkeypatch):
    folder, copy = tmp_path / "data", tmp_path / "copy.psv"
    folder.mkdir()
    shutil.copy(sample_games, folder / "games.hcpe3")
    convert(Conversion((sample_games,), copy))
    monkeypatch.chdir(tmp_path)
    train_value(options(Path("data"), tmp_path / "run", batch_size=4096, epochs=1, max_steps=1))
    for network in ("run", "run/network.safetensors"):
        for data in (sample_games, copy):
            assert "warning: about 100 %" in leakage_warning(network, (data,))
    assert not leakage_warning("default", (copy,))
    assert not leakage_warning("run", (tmp_path / "missing.psv",))
    (folder / "games.hcpe3").unlink()
    assert leakage_warning("run", (copy,)).startswith("not compared: run may have learnt")


def test_a_network_that_has_learnt_from_the_held_out_games_gives_a_warning(options, records, held_out, tmp_path, capfd):
    train_value(options(records, tmp_path / "first", epochs=1))
    second = options(held_out, tmp_path / "second", valid=(records,), epochs=1, init_from=tmp_path / "first")
    second = dataclasses.replace(second, max_steps=1)
    capfd.readouterr()
    train_value(second)
    words = "about 100 % of the held-out positions beyond the opening are in the data of the network that the run"
    assert capfd.readouterr().err.count(words) == 1
    train_value(dataclasses.replace(second, resume=True))
    assert words not in capfd.readouterr().err
    assert "about 100 %" in leakage_warning(str(second.output), (records,))
    third = dataclasses.replace(second, output=tmp_path / "third", valid=(), init_from=second.output)
    train_value(third)
    assert "about 100 %" in leakage_warning(str(third.output), (records,)), "through two networks"
    capfd.readouterr()
    train_value(dataclasses.replace(third, resume=True, valid=(records,)))
    assert capfd.readouterr().err.count(words) == 1, "a resumed run may have other held-out games"


def test_a_corrected_network_that_has_learnt_from_the_held_out_games_gives_a_warning(
    options, records, held_out, tmp_path, capfd
):
    base, corrected = (
        options(records, tmp_path / "base", network=DenseConfig(activation="squared"), epochs=1),
        tmp_path / "base.safetensors",
    )
    train_value(base)
    fold_file(Folding(base.output, corrected))
    shutil.rmtree(base.output)
    correction = dataclasses.replace(base, data=(held_out,), output=tmp_path / "run", valid=(records,), max_steps=1)
    capfd.readouterr()
    train_value(dataclasses.replace(correction, correct=corrected, batch_size=128))
    words = "is of the same games as the data of the network that the run corrects"
    assert capfd.readouterr().err.count(words) == 1
    fold_file(Folding(correction.output, tmp_path / "sum.safetensors", onto=str(corrected)))
    for network in ("sum.safetensors", "base.safetensors", "run"):
        assert "is of the same games as the training data" in leakage_warning(str(tmp_path / network), (records,))


def test_a_folded_network_that_has_learnt_from_equal_files_gives_a_warning(options, records, held_out, tmp_path):
    """It carries the digests of its data, and of those of the network that it started from."""
    first = options(records, tmp_path / "first", epochs=1, max_steps=1)
    train_value(first)
    second = dataclasses.replace(first, data=(held_out,), output=tmp_path / "second", init_from=first.output)
    train_value(second)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    fold_file(Folding(second.output, folder / "net.safetensors"))
    shutil.copy(second.output / "network.safetensors", folder / "copy.safetensors")
    for data in (records, held_out):
        copied = Path(shutil.copy(data, folder / f"copy-{data.name}"))
        for network in ("net", "copy"):
            warning = leakage_warning(str(folder / f"{network}.safetensors"), (copied,))
            assert warning.startswith(f"warning: {copied}: is of the same games as the training data")
    others = random_games(folder / "others.hcpe", 3, 9)
    for network in ("net.safetensors", "net.onnx", "nn.bin"):
        # The digests tell equal files alone, and other formats carry none.
        assert leakage_warning(str(folder / network), (others,)).startswith(f"not compared: {folder / network}")


def made_of(source: Path, folder: Path, seed: int) -> Path:
    """Write other positions into the folder of a run that has made them from `source`, as expand does."""
    with RunWriter(folder, RunPlan("expand", sources=(source_of(source, "data"),))):
        random_games(folder / "shard_00000.hcpe", 24, seed)
    return folder


def test_data_that_were_made_from_the_held_out_games_give_a_warning(options, records, held_out, tmp_path, capfd):
    """Also if they were made in several steps, or if both were made from the same games."""
    made = made_of(held_out, tmp_path / "made", 7)
    again = made_of(made, tmp_path / "again", 8)
    for number, (data, valid, leaks) in enumerate(
        [(made, held_out, 1), (again, held_out, 1), (again, made, 1), (made, again, 1), (again, records, 0)]
    ):
        run = options(data, tmp_path / f"run-{number}", valid=(valid,), epochs=1, max_steps=1)
        train_value(run)
        words = f"warning: {valid}: is of the same games as the data, or the one was made from the other"
        assert capfd.readouterr().err.count(words) == leaks
        words = f"warning: {valid}: is of the same games as the training data"
        assert leakage_warning(str(run.output), (valid,)).startswith(words) == bool(leaks)


def test_a_shipped_network_is_not_of_the_run_in_the_current_folder(options, records, tmp_path, monkeypatch):
    train_value(options(records, tmp_path / "run", epochs=1, max_steps=1))
    monkeypatch.chdir(tmp_path / "run")
    assert "about 100 %" in leakage_warning("network.safetensors", (records,))
    assert not leakage_warning("default", (records,))


def test_held_out_games_in_a_folder_below_that_of_the_data_cause_no_warning(options, records, held_out, tmp_path):
    folder, run = tmp_path / "data", str(tmp_path / "run")
    (folder / "valid").mkdir(parents=True)
    data = random_games(folder / "train.hcpe", 24, 3)
    shutil.copy(records, folder / "valid")
    train_value(options(folder, tmp_path / "run", valid=(folder / "valid",), epochs=1))
    assert not leakage_warning(run, (folder / "valid",))
    assert "warning: about 100 %" in leakage_warning(run, (data,))
    with open(data, "ab") as file:
        file.write(held_out.read_bytes())
    warning = leakage_warning(run, (data,))
    assert warning.startswith("not compared"), "the records are others than those of the training"


def test_a_leak_in_the_last_of_many_held_out_positions_is_found(sample_bytes, tmp_path, monkeypatch):
    monkeypatch.setattr("lite.training.leakage.HELD_OUT_POSITIONS", 3000)
    others, learnt = tmp_path / "a.hcpe3", tmp_path / "b.hcpe3"
    half = len(sample_bytes) // 2
    others.write_bytes(b"".join(sample_bytes[:half]))
    learnt.write_bytes(b"".join(sample_bytes[half:]))
    data = read_all([learnt])
    check = LeakageCheck(drawn_from_all((others, learnt), 500), len(data))
    check.add(data)
    assert check.share == pytest.approx(0.5, abs=0.2)


def test_other_games_cause_no_warning(options, records, held_out, tmp_path, capfd):
    train_value(options(records, tmp_path / "run", valid=(held_out,), epochs=1))
    assert "beyond the opening" not in capfd.readouterr().err


def test_different_games_of_one_source_cause_no_warning(sample_bytes, tmp_path):
    first, second = tmp_path / "a.hcpe3", tmp_path / "b.hcpe3"
    half = len(sample_bytes) // 2
    first.write_bytes(b"".join(sample_bytes[:half]))
    second.write_bytes(b"".join(sample_bytes[half:]))
    data = read_all([first])
    check = LeakageCheck(Reader((second,), 4096, shuffle=False), len(data))
    assert not check.add(data)
