"""The whole road: sample games to a trained, folded, playing network, and what it leaves behind."""

from __future__ import annotations

import json
import shutil

import cshogi.KIF
import pytest

from experiments import demo
from lite.records.file import RecordFile
from liteshogi.commands.demo import Command as Demo
from search.evaluation.network_file import load_network

POSITIONS = 20_000


@pytest.fixture
def shorter(tmp_path, monkeypatch):
    """The sample's first games alone."""
    folder, name = tmp_path / "sample", "teacher_sample.hcpe3"
    shutil.copytree(demo.SAMPLE, folder)
    whole = (demo.SAMPLE / name).read_bytes()
    (folder / name).write_bytes(whole[: RecordFile(folder / name, block_positions=POSITIONS).blocks[0].stop])
    monkeypatch.setattr(demo, "SAMPLE", folder)


@pytest.mark.timeout(600)
def test_the_demo_makes_what_it_promises(shorter, tmp_path, capsys):
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
