"""The whole road: sample games to a trained, folded, playing network, and what it leaves behind."""

from __future__ import annotations

import json

import cshogi.KIF
import pytest

from liteshogi.commands.demo import Command as Demo
from search.evaluation.network_file import load_network


@pytest.mark.timeout(600)
def test_the_demo_makes_what_it_promises(tmp_path, capsys):
    Demo(output=tmp_path, epochs=2, nodes=300, json=True).run()
    figures = json.loads(capsys.readouterr().out)
    assert figures["accuracy"]["demo"] > 0.55
    assert figures["accuracy"]["default"] > figures["accuracy"]["material"]
    assert figures["positions"] > 1_000_000
    assert load_network(tmp_path / "demo.safetensors").width == 96
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")
    game = cshogi.KIF.Parser.parse_str((tmp_path / "game.kifu").read_text(encoding="utf-8"))
    assert len(game.moves) == figures["game"]["moves"]
