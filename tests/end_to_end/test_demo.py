"""The demo: from sample games to a trained, folded and playing network, and the files that remain."""

from __future__ import annotations

import json
import os
import shutil

import cshogi.KIF
import pytest

from experiments import demo
from experiments.jobs.produce import Production
from lite.datasets.plan import plan_run
from lite.datasets.provenance import digest_of
from lite.records.file import RecordFile
from lite.run_folder import RunWriter
from lite.training.run_record import plan_training
from liteshogi.commands.demo import Command as Demo
from search.evaluation.network_file import load_network
from search.system.options import OptionError

POSITIONS = 20_000


@pytest.fixture
def shorter(tmp_path, monkeypatch):
    """Use only the first games of the sample."""
    folder, name = tmp_path / "sample", "teacher_sample.hcpe3"
    shutil.copytree(demo.SAMPLE, folder)
    whole = (demo.SAMPLE / name).read_bytes()
    (folder / name).write_bytes(whole[: RecordFile(folder / name, block_positions=POSITIONS).blocks[0].stop])
    monkeypatch.setattr(demo, "SAMPLE", folder)


@pytest.mark.timeout(600)
def test_the_demo_writes_all_announced_files(shorter, tmp_path, capsys):
    output = tmp_path / "demo"
    Demo(output=output, epochs=4, nodes=300, json=True).run()
    figures = json.loads(capsys.readouterr().out)
    assert figures["accuracy"]["demo"] > 0.55
    assert figures["accuracy"]["default"] > figures["accuracy"]["material"]
    assert figures["positions"] > 3 * POSITIONS
    assert load_network(output / "demo.safetensors").width == 96
    assert (output / "demo.png").read_bytes().startswith(b"\x89PNG")
    game = cshogi.KIF.Parser.parse_str((output / "game.kifu").read_text(encoding="utf-8"))
    assert len(game.moves) == figures["game"]["moves"]


class Cut(Exception):
    """Error that ends a demo early."""


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Return the folder of a demo that was interrupted during training, without intermediate files."""

    def expand(expansion):
        nets = {"net": "default", "searched": "default"}
        plan = plan_run("expand", expansion.deciding(), sources={"data": expansion.data}, nets=nets)
        with RunWriter(expansion.output, plan):
            (expansion.output / "shard_00000.hcpe").write_bytes(b"positions")
        return Production(expansion.output, {"positions": 1}, "jobs")

    def train(options):
        with RunWriter(options.output, plan_training(options, None)):
            (options.output / "network.safetensors").write_bytes(b"net")
            raise Cut

    monkeypatch.setattr(demo, "expand", expand)
    monkeypatch.setattr(demo, "train_value", train)
    with pytest.raises(Cut):
        Demo(output=tmp_path / "demo").run()
    return tmp_path / "demo"


def test_an_interrupted_demo_starts_again(made, monkeypatch):
    """Also with another number of epochs; other files beside its positions remain."""
    (made / "positions" / "notes.txt").touch()
    beside = []

    def expand(expansion):
        beside.extend(sorted(os.listdir(expansion.output)))
        raise Cut

    monkeypatch.setattr(demo, "expand", expand)
    with pytest.raises(Cut):
        Demo(output=made, epochs=2).run()
    assert beside == ["notes.txt", "run.lock"]


@pytest.mark.parametrize(
    ("file", "before", "other"),
    [
        ("positions/run.json", '"tree": 1', '"tree": 2'),
        ("positions/run.json", '"verb": "expand"', '"verb": "relabel"'),
        ("positions/run.json", digest_of(demo.SAMPLE / "teacher_sample.hcpe3"), "of other games"),
        ("run/run.json", '"mirror": true', '"mirror": false'),
        ("run/run.json", '"verb": "train lite"', '"verb": "train dense"'),
        ("run/run.json", "{", "["),
    ],
)
def test_a_demo_replaces_no_other_files(made, file, before, other):
    text = (made / file).read_text()
    assert before in text
    (made / file).write_text(text.replace(before, other))
    there = {path: path.read_bytes() for path in made.rglob("*") if path.is_file()}
    with pytest.raises(OptionError, match=rf"{file.split('/')[0]} in it was not made by this demo") as raised:
        Demo(output=made).run()
    assert raised.value.fields == ("output",)
    assert {path: path.read_bytes() for path in made.rglob("*") if path.is_file()} == there
