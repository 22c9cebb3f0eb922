"""What numbers and steps are worth in games: found again where it is known, and going on where it was cut."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments.judge.effects import Design
from experiments.judge.game_effects import GameDesign, GameEffectOptions, PairResults, measure_game_effects
from experiments.judge.judge import Judging
from liteshogi.commands.judge.effects import as_text
from search.alphabeta.parameters import EVERY_STEP, PARAMETERS, PROBCUT, parameters_for

LINES = (
    "startpos moves 7g7f 3c3d 2g2f 8c8d 2f2e 8d8e 6i7h 4a3b",
    "startpos moves 7g7f 8c8d 7i6h 3c3d 6g6f 7a6b",
    "startpos moves 2g2f 8c8d 2f2e 8d8e",
    "startpos moves 7g7f 3c3d",
)
NODES = 200
NAMES = ("futility_margin", "skip_multi_cut", "skip_probcut")


@pytest.fixture
def options(tmp_path) -> GameEffectOptions:
    openings = tmp_path / "openings.sfen"
    openings.write_text("\n".join(LINES))
    return GameEffectOptions(
        "default", openings, nodes=NODES, plies=5, pairs=4, names=NAMES[:2], output=tmp_path / "effects"
    )


@pytest.fixture
def judging(tmp_path) -> Judging:
    return Judging("liteshogi", ("USI_Hash=16",), judge_nodes=NODES, ledger=tmp_path / "ledger.jsonl", workers=2)


def test_players_mirror_each_other():
    design = GameDesign(Design(PARAMETERS[:3], {}, 4.0, 1), ("probcut",))
    seen = set()
    for pair in range(20):
        (first, steps), (second, other) = design.searches(pair, EVERY_STEP)
        for one, sign in zip(PARAMETERS[:3], design.signs(pair), strict=False):
            assert np.sign(first[one.name] - one.default) == np.sign(one.default - second[one.name]) == sign
        assert {steps, other} == {EVERY_STEP, EVERY_STEP & ~PROBCUT}
        assert (steps == EVERY_STEP) == (design.signs(pair)[3] < 0)
        seen.add(tuple(design.signs(pair)))
    assert len(seen) > 8


def test_effects_are_those_that_the_shares_were_made_from():
    design, dice = GameDesign(Design(PARAMETERS[:2], {}, 4.0, 1), ("probcut",)), np.random.default_rng(5)
    results = PairResults(600)
    for pair in range(600):
        share = 0.5 + design.signs(pair) @ [0.03, 0.0, -0.05] + dice.normal(0, 0.15)
        results.see(pair, {"share as black": share + 0.1, "share as white": share - 0.1, "ended": 0})
    report = results.report(design)
    rows = [*report["parameters"].values(), *report["steps"].values()]
    for row, true in zip(rows, (3.0, 0.0, -5.0), strict=True):
        assert row["worth_error"] == pytest.approx(15 / 600**0.5, rel=0.2)
        assert abs(row["worth"] - true) < 4 * row["worth_error"]


def test_a_report_has_every_number_and_goes_on(options, judging, tmp_path):
    report = measure_game_effects(options, judging)
    row = report["parameters"]["futility_margin"]
    shown = {one.name: one.default for one in parameters_for(NODES)}
    assert (row["value"], row["moved"]) == (shown["futility_margin"], 32)
    assert report["steps"].keys() == {"multi-cut"}
    assert all(name in as_text(report) for name in ("futility_margin", "multi-cut"))
    ledger = (options.output / "ledger.jsonl").read_text()
    again = measure_game_effects(options, judging)
    assert again == report
    assert (options.output / "ledger.jsonl").read_text() == ledger
    with pytest.raises(ValueError, match="--plies 5, not 6"):
        measure_game_effects(replace(options, plies=6), judging)
    steps_alone = replace(options, names=("skip_probcut",), output=tmp_path / "steps")
    assert not measure_game_effects(steps_alone, judging)["parameters"]


def test_what_cannot_be_measured_is_said(options, judging):
    for changes, words in (
        ({"names": ()}, f"too few for {len(PARAMETERS)}"),
        ({"names": ("nothing",)}, "no such parameter: nothing"),
        ({"names": NAMES}, "--pairs 4: too few for 3"),
        ({"plies": 0}, "--plies"),
        ({"pairs": 5}, "4 openings are good for 8 games"),
        ({"openings": Path("none.sfen")}, "none.sfen"),
    ):
        with pytest.raises((ValueError, OSError), match=words):
            measure_game_effects(replace(options, **changes), judging)
