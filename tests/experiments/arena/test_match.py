"""Counting a match: Elo and its error against figures worked out by hand, and ShogiArena's summary read right."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.arena.match import Match, count_results, elo_of, play_match
from experiments.arena.process import engine_command


def test_elo_of_known_scores():
    assert elo_of(75, 0, 25)[0] == pytest.approx(190.85, abs=0.01)  # 400 log10(3)
    assert elo_of(10, 5, 10)[0] == pytest.approx(0.0)
    # 100 games at 50 % without draws: 1.96 * 0.05 points, times the slope 400 / ln 10 / 0.25
    assert elo_of(50, 0, 50)[1] == pytest.approx(1.96 * 0.05 * 400 / math.log(10) / 0.25)


@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 500))
def test_elo_is_antisymmetric_and_draws_shrink_the_error(wins, draws, losses):
    elo, error = elo_of(wins, draws, losses)
    other, same_error = elo_of(losses, draws, wins)
    if elo is None or error is None:
        assert other is None
        return
    assert elo == pytest.approx(-other)
    assert error == pytest.approx(same_error)
    assert error > 0 or wins == losses == 0


def test_a_summary_is_counted_for_the_first_engine():
    engines = [
        {"engine": "second.yaml@1", "wins": 3, "draws": 1, "losses": 6},
        {"engine": "first.yaml@2", "wins": 6, "draws": 1, "losses": 3},
    ]
    report = count_results({"engines": engines, "failed_games": 0, "raw_result_counts": {"BLACK_WIN": 9}})
    assert (report["wins"], report["draws"], report["losses"], report["points"]) == (6, 1, 3, 6.5)
    assert report["elo"] > 0


def test_an_engine_is_a_path_or_a_command_with_arguments(tmp_path, monkeypatch):
    program = tmp_path / "an engine"
    program.write_text("")
    (tmp_path / "model.onnx").write_text("")
    monkeypatch.chdir(tmp_path)
    assert engine_command(str(program)) == (program, [])
    assert engine_command("'an engine' puct model.onnx --fast") == (
        program,
        ["puct", str(tmp_path / "model.onnx"), "--fast"],
    )
    assert engine_command("liteshogi puct model.onnx")[0].name.startswith("liteshogi")
    for nobody in ("", "nobody puct"):
        with pytest.raises(FileNotFoundError, match="no such engine"):
            engine_command(nobody)


def test_what_cannot_be_played_is_refused_in_words(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such engine"):
        play_match(Match("liteshogi-of-nowhere", "liteshogi", output=tmp_path))
    with pytest.raises(FileNotFoundError, match="openings"):
        play_match(Match("liteshogi", "liteshogi", openings=tmp_path / "none.sfen", output=tmp_path))
    with pytest.raises(ValueError, match="at least 1"):
        play_match(Match("liteshogi", "liteshogi", games=0, output=tmp_path))
