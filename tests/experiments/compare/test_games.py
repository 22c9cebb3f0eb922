"""Games of a comparison: what is set is what the engines have."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from experiments.arena.engines import ask_engine
from experiments.arena.match import Match
from experiments.compare import games
from experiments.compare.games import GameOptions, play_games


def test_both_engines_take_the_options_of_a_comparison(
    tiny_onnx: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(tiny_onnx, tmp_path / "model.onnx")
    played: list[Match] = []
    monkeypatch.setattr(games, "play_match", lambda match: played.append(match) or {})
    play_games(tmp_path / "run", GameOptions(games=2, playouts=3, opponent_depth=2), tmp_path)
    (match,) = played
    first, second = ask_engine(match.first, match.first_option), ask_engine(match.second, match.second_option)
    assert (first.id_name, first.options["NodesLimit"]) == ("LiteShogi PUCT", 3)
    assert (second.id_name, second.options["DepthLimit"]) == ("LiteShogi", 2)
    assert first.files()[1:] == [tmp_path / "model.onnx"]
