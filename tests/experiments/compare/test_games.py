"""Games of a comparison: what is set is what the engines have."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from experiments.arena.engine_match import Match
from experiments.compare import games
from experiments.compare.games import GameOptions, play_clock, play_playouts
from experiments.usi_client.engines import ask_engine


def test_both_engines_take_the_options_of_a_comparison(
    tiny_onnx: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(tiny_onnx, tmp_path / "model.onnx")
    played: list[Match] = []
    monkeypatch.setattr(games, "play_match", lambda match: played.append(match) or {})
    options = GameOptions(games=2, playouts=3, opponent_depth=2, byoyomi=70, opponent="dense-64-16")
    play_playouts(tmp_path / "model.onnx", options, tmp_path)
    play_clock(tmp_path / "model.onnx", options, tmp_path)
    match, timed = played
    first, second = ask_engine(match.first, match.first_option), ask_engine(match.second, match.second_option)
    assert (first.id_name, first.options["NodesLimit"]) == ("LiteShogi PUCT", 3)
    assert (second.id_name, second.options["DepthLimit"]) == ("LiteShogi", 2)
    assert second.options["NodesLimit"] == 200_000
    assert first.files()[1:] == [tmp_path / "model.onnx"]
    assert second.options["EvalFile"] == "dense-64-16"
    assert (timed.byoyomi, timed.first_option) == (70, ())
    assert ask_engine(timed.second, timed.second_option).options["EvalFile"] == "dense-64-16"
