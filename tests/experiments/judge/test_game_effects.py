"""Effects of parameters and steps in games: known effects are found, and runs are resumed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments.games.player import Player
from experiments.judge.game_effects import (
    Factor,
    GameDesign,
    GameEffectOptions,
    GameEffectTask,
    PairResults,
    _moved,
    measure_game_effects,
)
from experiments.judge.judge import Judging
from experiments.judge.judged_match import JudgedWorker
from lite.run_folder import RESULTS, read_run
from liteshogi.commands.judge.effects import as_text
from search.alphabeta.bench import SIGNATURE
from search.alphabeta.parameters import EVERY_STEP, PARAMETERS, PROBCUT, make_numbers, parameters_for
from search.evaluation.network_file import load_network

LINES = (
    "startpos moves 7g7f 3c3d 2g2f 8c8d 2f2e 8d8e 6i7h 4a3b",
    "startpos moves 7g7f 8c8d 7i6h 3c3d 6g6f 7a6b",
    "startpos moves 2g2f 8c8d 2f2e 8d8e",
    "startpos moves 7g7f 3c3d",
)
NODES = 200
CHANGES = ("futility_margin=90 futility_base=50", "skip_multi_cut=true")
FACTORS = (
    Factor("razor_base=300", "razor_base=500", ({"razor_base": 300}, {"razor_base": 500})),
    Factor("as it is", "probcut_margin=90", ({}, {"probcut_margin": 90})),
    Factor("as it is", "skip_probcut=true", ({}, {}), PROBCUT),
)


@pytest.fixture
def options(tmp_path) -> GameEffectOptions:
    openings = tmp_path / "openings.sfen"
    openings.write_text("\n".join(LINES))
    return GameEffectOptions(
        "default", openings, nodes=NODES, plies=5, pairs=4, change=CHANGES, output=tmp_path / "effects"
    )


@pytest.fixture
def judging(tmp_path, known_judge) -> Judging:
    return Judging("liteshogi", ("USI_Hash=16",), judge_nodes=NODES, answers=tmp_path / "answers", workers=1)


def test_both_sides_differ_in_every_factor():
    design, both = GameDesign(FACTORS, 1), Player(load_network("default"), parameters={"razor_margin": 200})
    seen = set()
    for pair in range(30):
        sides = list(design.searches(pair, both))
        for (parameters, steps), signs in zip(sides, (design.signs(pair), -design.signs(pair)), strict=True):
            assert parameters["razor_margin"] == 200
            assert parameters["razor_base"] == (500 if signs[0] > 0 else 300)
            assert ("probcut_margin" in parameters) == (signs[1] > 0)
            assert steps == (EVERY_STEP & ~PROBCUT if signs[2] > 0 else EVERY_STEP)
        seen.add(tuple(design.signs(pair)))
    assert len(seen) == 8
    other = GameDesign(FACTORS, 2)
    assert [other.signs(pair).tolist() for pair in range(9)] != [design.signs(pair).tolist() for pair in range(9)]


def test_factors_move_the_named_parameters(options):
    names = ("razor_base", "futility_margin")
    for name, factor in zip(names, _moved(replace(options, change=(), names=names), {"razor_base": 150}), strict=True):
        assert [f"{name}={moved[name]}" for moved in factor.parameters] == [factor.less, factor.more]
        assert factor.parameters[0][name] < factor.parameters[1][name]


def test_a_pair_is_played_with_the_settings_of_its_sides(scripted, tmp_path, monkeypatch):
    def seats(self, number):
        return [(int(seat.record["steps"]), seat.record["numbers"].tobytes()) for seat in self.duel._seats]

    scripted.answer({"else": ["resign", "cp 0"]})
    judge = Judging(scripted.command, answers=tmp_path / "answers").open()
    design, both = GameDesign(FACTORS, 1), Player(load_network("default"), nodes=5)
    worker = GameEffectTask(both, both, judge, LINES, 5, 1, design=design).open()
    monkeypatch.setattr(JudgedWorker, "run", seats)
    for pair in range(6):
        played = [(steps, make_numbers(parameters).tobytes()) for parameters, steps in design.searches(pair, both)]
        assert worker.run(pair) == played


def test_a_step_that_both_skip_is_enabled_for_one_side():
    back = Factor("as it is", "skip_probcut=false", ({}, {}), PROBCUT)
    design, both = GameDesign((back,), 1), Player(load_network("default"), steps=EVERY_STEP & ~PROBCUT)
    for pair in range(10):
        for (_, steps), signs in zip(
            design.searches(pair, both), (design.signs(pair), -design.signs(pair)), strict=True
        ):
            assert bool(steps & PROBCUT) == (signs[0] > 0)


def test_a_change_is_its_difference_from_the_options_of_both_sides(options, judging, monkeypatch):
    """An enabled step counts; a value set by `option` is part of a change only if the change differs from it."""
    made = []

    def measured(self, design):
        made.append(design)
        return []

    monkeypatch.setattr("experiments.judge.game_effects.produce", lambda *_, **__: None)
    monkeypatch.setattr(PairResults, "report", measured)
    changes = ("skip_probcut=false futility_base=31", "futility_margin=78 futility_base=40")
    measure_game_effects(replace(options, option=("skip_probcut=true", "futility_base=40"), change=changes), judging)
    both = Player(load_network("default"), parameters={"futility_base": 40}, steps=EVERY_STEP & ~PROBCUT)
    for pair in range(10):
        for (parameters, steps), signs in zip(
            made[0].searches(pair, both), (made[0].signs(pair), -made[0].signs(pair)), strict=True
        ):
            assert parameters["futility_base"] == (31 if signs[0] > 0 else 40)
            assert parameters.get("futility_margin") == (78 if signs[1] > 0 else None)
            assert bool(steps & PROBCUT) == (signs[0] > 0)


def test_known_effects_of_games_are_found():
    design, dice = GameDesign(FACTORS, 1), np.random.default_rng(5)
    results = PairResults(600)
    for pair in range(600):
        share = 0.5 + design.signs(pair) @ [0.03, 0.0, -0.05] + dice.normal(0, 0.15)
        results.see(pair, {"share as black": share + 0.1, "share as white": share - 0.1, "ended": 0})
    for row, factor, true in zip(results.report(design), FACTORS, (3.0, 0.0, -5.0), strict=True):
        assert (row.less, row.more) == (factor.less, factor.more)
        assert row.effect_error == pytest.approx(15 / 600**0.5, rel=0.2)
        assert abs(row.effect - true) < 4 * row.effect_error


def test_a_report_has_every_change_and_the_run_resumes(options, judging, tmp_path, monkeypatch):
    report = measure_game_effects(options, judging)
    assert [(row.less, row.more) for row in report.effects] == [("as it is", one) for one in CHANGES]
    assert all(one in as_text(report) for one in CHANGES)
    ledger = (options.output / RESULTS).read_text()
    recorded = read_run(options.output).options
    assert set(recorded) == {"nodes", "plies", "effects", "option", "reach", "seed", "judge_nodes"}
    assert recorded["effects"] == list(CHANGES)
    assert measure_game_effects(options, judging) == report
    assert (options.output / RESULTS).read_text() == ledger
    with pytest.raises(ValueError, match="`plies` 5, not 6"):
        measure_game_effects(replace(options, plies=6), judging)
    with pytest.raises(ValueError, match=r"other nets: default .*, not dense-64-16"):
        measure_game_effects(replace(options, net="dense-64-16"), judging)
    others = tmp_path / "others.sfen"
    others.write_text("\n".join(LINES[::-1]))
    with pytest.raises(ValueError, match=r"other sources: openings\.sfen .*, not others\.sfen"):
        measure_game_effects(replace(options, openings=others), judging)
    with monkeypatch.context() as patch:
        patch.setattr("experiments.matches.named_player.search_signature", lambda: 1)
        with pytest.raises(ValueError, match=f"another signature: {SIGNATURE}, not 1"):
            measure_game_effects(options, judging)
    moved = replace(options, change=(), names=("futility_margin",), output=tmp_path / "moved")
    centre = {one.name: one.default for one in parameters_for(NODES)}["futility_margin"]
    report = measure_game_effects(moved, judging)
    assert report.pairs == 4
    assert measure_game_effects(replace(moved, pairs=2), judging) == report
    row = report.effects[0]
    assert (row.less, row.more) == (f"futility_margin={centre - 32}", f"futility_margin={centre + 32}")


def test_invalid_measurements_are_refused(options, judging):
    for changes, words in (
        ({"change": ()}, f"too few for {len(PARAMETERS)}"),
        ({"change": (), "names": ("nothing",)}, "no such parameter: nothing"),
        ({"names": ("futility_margin",)}, "`change` and `names`"),
        ({"reach": 2.0}, "`reach` 2.0: has no effect with `change`"),
        ({"reach": 0.0}, "`reach` 0.0: must be above 0"),
        ({"change": ("futility_margin",)}, "`change` futility_margin: write NAME=VALUE"),
        ({"change": ("USI_Hash=32",)}, "changes no number and no step"),
        ({"change": (*CHANGES, "skip_probcut=true")}, "`pairs` 4: too few for 3"),
        ({"change": ("futility_base=20", "futility_base=40")}, "futility_base=20 .* both change futility_base"),
        ({"change": ("skip_probcut=true", "skip_probcut=true razor_base=300")}, "both change probcut"),
        ({"plies": 0}, "`plies`"),
        ({"pairs": 5}, "4 openings, enough for 8 games"),
        ({"seed": -1}, "`seed` -1"),
        ({"openings": Path("none.sfen")}, "none.sfen"),
    ):
        with pytest.raises((ValueError, OSError), match=words):
            measure_game_effects(replace(options, **changes), judging)
