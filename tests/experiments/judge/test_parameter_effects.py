"""Effects of search parameters: known effects are found, and runs are resumed."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from experiments.games.game_position import GamePosition, read_positions
from experiments.judge.judge import Judging
from experiments.judge.parameter_effects import (
    MEASURES,
    SIDES,
    TIME,
    Design,
    EffectOptions,
    EffectTask,
    EffectWorker,
    Results,
    effects,
    measure_effects,
)
from experiments.judge.statistics import CLIP
from experiments.matches.named_player import read_player
from experiments.tuning.tune import chosen_parameters
from lite.run_folder import RESULTS, read_run
from liteshogi.commands.judge.parameters import as_text
from search.alphabeta.bench import SIGNATURE
from search.alphabeta.parameters import EVERY_STEP, PARAMETERS, PROBCUT, SHORT, make_numbers, parameters_for
from search.engine import Analysis
from search.score import MAX_EVALUATION, win_rate

LINES = (
    "startpos moves 7g7f 3c3d 2g2f 8c8d 2f2e 8d8e 6i7h 4a3b 5i4h 3b3c",  # 1,000 nodes find a better move than 500
    "startpos moves 7g7f 8c8d 7i6h 3c3d 6g6f 7a6b 5g5f 5c5d 3i4h 3a4b 4i5h 4a3b",
    "startpos moves 7g7f 3c3d 8h2b+ 3a2b",
)
NAMES = ("reverse_futility_margin", "futility_margin")
NODES = 800
NET = "squared-192-32"
"""Not the default, which changes more often: the positions were chosen by searches of this one."""


@pytest.fixture
def positions(tmp_path) -> Path:
    path = tmp_path / "positions.sfen"
    path.write_text("\n".join(LINES))
    return path


@pytest.fixture
def judging(tmp_path, known_judge) -> Judging:
    """The engine judges itself with twice `NODES`, so doubled searches have no error."""
    return Judging(
        "liteshogi", ("USI_Hash=16", f"EvalFile={NET}"), judge_nodes=2 * NODES, answers=tmp_path / "answers", workers=1
    )


def test_known_effects_are_found():
    dice = np.random.default_rng(3)
    signs = dice.integers(0, 2, (4000, 5)) * 2.0 - 1.0
    places = np.arange(4000) % 100
    true = np.array([3.0, -1.0, 0.0, 0.5, 0.0])
    found, error = effects(signs, signs @ true + dice.normal(0, 10, 4000), places)
    assert error == pytest.approx(10 / 4000**0.5, rel=0.3)
    assert (np.abs(found - true) < 4 * error).all()


def test_errors_include_differences_between_positions():
    dice = np.random.default_rng(3)
    signs = dice.integers(0, 2, (4000, 1)) * 2.0 - 1.0
    places = np.arange(4000) % 20
    by_place = dice.normal(0, 5, 20)
    _, error = effects(signs, signs[:, 0] * by_place[places], places)
    assert error[0] == pytest.approx(5 / 20**0.5, rel=0.5)  # as for 20 positions, not for 4,000 pairs


@pytest.mark.parametrize("places", [40, 4])
def test_errors_are_correct_for_few_pairs_and_few_positions(places):
    """With half as many parameters as pairs, each parameter fits a part of the noise."""
    dice = np.random.default_rng(3)
    made = []
    for _ in range(200):
        signs = dice.integers(0, 2, (40, 20)) * 2.0 - 1.0
        made.append(effects(signs, dice.normal(0, 10, 40), np.arange(40) % places))
    found, errors = map(np.array, zip(*made, strict=True))
    assert np.sqrt((errors**2).mean()) == pytest.approx(found.std(), rel=0.1)


def test_pairs_are_mirrored_and_within_bounds():
    design = Design(PARAMETERS, {"razor_base": 150}, 1000.0, 1)
    signs = design.signs(0, 1)
    first, second = design.values(signs), design.values(-signs)
    assert set(signs.tolist()) == {-1, 1}
    for one in PARAMETERS:
        far = {one.default - 1, one.default + 1} if one.step == 1 else {one.low, one.high}
        assert {first[one.name], second[one.name]} == far
    near = Design(PARAMETERS, {"razor_base": 150}, 1.0, 1)
    assert {near.values(signs)["razor_base"], near.values(-signs)["razor_base"]} == {110, 190}
    assert near.signs(0, 1).tolist() == signs.tolist()
    other = Design(PARAMETERS, {}, 1.0, 2)
    drawn = [signs, near.signs(0, 2), near.signs(1, 1), other.signs(0, 1)]
    assert len({tuple(one.tolist()) for one in drawn}) == 4  # they depend on the round, the position and the seed


def test_steps_of_parameters_are_limited_by_their_bounds():
    """At its upper bound a parameter moves by half of the distance to the lower value; `effect` is for this step."""
    chosen = chosen_parameters(("razor_base", "futility_margin"), 100_000)
    design = Design(chosen, {"razor_base": chosen[0].high}, 4.0, 1)
    assert design.moved.tolist() == [2 * chosen[0].step, 4 * chosen[1].step]
    up, down = design.values(np.array([1, 1])), design.values(np.array([-1, -1]))
    assert design.moved.tolist() == [(up[one.name] - down[one.name]) / 2 for one in chosen]
    alone = Design(chosen[1:], {"razor_base": 150}, 4.0, 1)
    assert alone.values(np.array([1]))["razor_base"] == 150  # parameters that are set and not measured are constant


def test_worth_is_for_one_step_up_in_hundredths_of_doubled_nodes():
    parameters = chosen_parameters(NAMES, NODES)
    design, results = Design(parameters, {}, 4.0, 1), Results(40, 10)
    worth, cost, gain = np.array([12.0, -3.0]), np.array([2.0, 0.5]), 0.04
    for number, (place, round_number) in results.jobs():
        signs = design.signs(place, round_number)
        better, slower = signs @ worth / 100 * gain, signs @ cost / 100
        counts = {}
        for times, name in enumerate(MEASURES, 1):
            errors = (0.3 - times * better, 0.3 + times * better) if round_number else (0.3, 0.3 - gain)
            counts |= {f"{name} {side}": error for side, error in zip(SIDES, errors, strict=True)}
        results.see(number, counts | {f"{TIME} first": slower, f"{TIME} second": -slower})
    found = results.effects(design)
    for one, worth_of_it, cost_of_it in zip(NAMES, worth, cost, strict=True):
        row = found[one]
        found_worth = [getattr(row, name) for name in ("effect", "moves", "loss")]
        assert found_worth == pytest.approx([worth_of_it, 2 * worth_of_it, 3 * worth_of_it])
        assert row.cost == pytest.approx(cost_of_it)
        assert row.effect_error == row.cost_error == 0


@pytest.mark.parametrize(("error_of_doubled", "in_vain"), [(0.2, False), (0.3, True)])
def test_the_work_ends_where_twice_the_nodes_gain_nothing(error_of_doubled, in_vain):
    results = Results(2, 5)
    for number in range(2):
        assert not results.has_enough()
        counts = {f"{name} first": 0.3 for name in (*MEASURES, TIME)}
        counts |= {f"{name} second": 0.2 for name in (*MEASURES, TIME)} | {"disagreed second": error_of_doubled}
        results.see(number, counts)
    assert results.has_enough() == in_vain


def test_equal_pairs_of_a_position_count_once_in_the_error():
    """All rounds of a position have the same result, so the error is that of four positions."""
    design, results = Design(chosen_parameters(NAMES[:1], NODES), {}, 4.0, 1), Results(4, 100)
    for number, (place, round_number) in results.jobs():
        better = 0.1 * place * design.signs(place, round_number)[0]
        errors = (-better, better) if round_number else (0.0, -1.0)
        sides = zip(SIDES, errors, strict=True)
        results.see(number, {f"{name} {side}": error for side, error in sides for name in (*MEASURES, TIME)})
    row = results.effects(design)[NAMES[0]]
    assert (row.effect, row.effect_error) == pytest.approx((15, 10 * (5 / 3) ** 0.5 / 2), rel=0.01)


def test_searches_of_a_pair_are_mirrored_and_the_first_pair_doubles_the_nodes(
    scripted, positions, tmp_path, monkeypatch
):
    behind = {f"{LINES[1]} {move}": ["x", f"cp {score}"] for move, score in (("9g9f", -2500), ("1g1f", 100))}
    scripted.answer({LINES[1]: ["9g9f", "cp 3000"], **behind})
    judge = Judging(scripted.command, judge_nodes=9, answers=tmp_path / "answers", workers=1).open()
    player = read_player("default", ("skip_probcut=true",), NODES, 0, "option").by_alphabeta
    design = Design(chosen_parameters(NAMES, NODES), {"razor_base": 150}, 4.0, 1)
    worker = EffectTask(player, judge, tuple(read_positions(positions)), design).open()
    assert worker._engine.steps == EVERY_STEP & ~PROBCUT
    asked = []

    def search(self, position, parameters, nodes):
        asked.append((parameters, nodes))
        return Analysis("1g1f", -4000), 4.0

    monkeypatch.setattr(EffectWorker, "_search", search)
    made = [worker.run((1, number)).counts for number in (0, 3)]
    worker.stop()
    for counts in made:
        for side in SIDES:
            measured = [counts[f"{name} {side}"] for name in (*MEASURES, TIME)]
            won, lost = win_rate(CLIP), win_rate(-CLIP)  # scores are clipped
            assert measured == pytest.approx([won - lost, 1, won - win_rate(-100), 2], abs=1e-6)
    signs = design.signs(1, 3)
    assert [nodes for _, nodes in asked] == [NODES, 2 * NODES, NODES, NODES]
    still = {one.name: one.default for one in parameters_for(NODES)} | {"razor_base": 150}
    assert asked[0][0] == asked[1][0] == still
    assert [parameters for parameters, _ in asked[2:]] == [design.values(signs), design.values(-signs)]


def test_a_search_has_its_parameters_and_the_draw_value_of_its_options(scripted, tmp_path, monkeypatch):
    judge = Judging(scripted.command, answers=tmp_path / "answers").open()
    player = read_player("default", ("Draw_Value_White=1000",), NODES, 0, "option").by_alphabeta
    worker = EffectTask(player, judge, (), Design(chosen_parameters(NAMES, NODES), {}, 4.0, 1)).open()
    again = GamePosition.parse("startpos moves 2h3h 8b7b 3h2h 7b8b 2h3h 8b7b 3h2h")  # white can repeat it
    monkeypatch.setattr("experiments.judge.parameter_effects.time.thread_time", count(0.0, 2.0).__next__)
    found, seconds_per_node = worker._search(again, {"futility_margin": 300}, 200)
    assert found.score == MAX_EVALUATION
    assert seconds_per_node == pytest.approx(2 / (found.nodes + 1))
    assert worker._engine.numbers.tobytes() == make_numbers({"futility_margin": 300}).tobytes()


def test_a_report_has_every_parameter_and_the_run_resumes(positions, judging, tmp_path, monkeypatch):
    options = EffectOptions(NET, positions, nodes=NODES, names=NAMES, rounds=2, output=tmp_path / "effects")
    report = measure_effects(options, judging)
    assert report.positions == 3
    assert report.pairs == 6
    for measure in MEASURES:
        assert report.base[measure] > report.doubled[measure] == 0
    row = report.parameters["futility_margin"]
    assert (row.value, row.moved) == (SHORT["futility_margin"], 32)
    assert all(name in as_text(report) for name in NAMES)
    ledger = (tmp_path / "effects" / RESULTS).read_text().splitlines()
    assert len(ledger) == 9
    record = read_run(tmp_path / "effects")
    assert set(record.options) == {"nodes", "names", "option", "reach", "seed", "judge_nodes"}
    assert record.conditions["judge"]["options"]["USI_Hash"] == 16
    more = measure_effects(replace(options, rounds=3), judging)
    assert more.pairs == 9
    assert measure_effects(options, judging) == more  # fewer rounds do not drop existing results
    assert (tmp_path / "effects" / RESULTS).read_text().splitlines()[:9] == ledger
    with pytest.raises(ValueError, match=f"`nodes` {NODES}, not 200"):
        measure_effects(replace(options, nodes=200), judging)
    with pytest.raises(ValueError, match=rf"other nets: {NET} .*, not dense-64-16"):
        measure_effects(replace(options, net="dense-64-16"), judging)
    others = tmp_path / "others.sfen"
    others.write_text("\n".join(LINES[::-1]))
    with pytest.raises(ValueError, match=r"other sources: positions\.sfen .*, not others\.sfen"):
        measure_effects(replace(options, positions=others), judging)
    with monkeypatch.context() as patch:
        patch.setattr("experiments.matches.named_player.search_signature", lambda: 1)
        with pytest.raises(ValueError, match=f"another signature: {SIGNATURE}, not 1"):
            measure_effects(options, judging)
    again = measure_effects(replace(options, rounds=3, output=tmp_path / "other"), judging)
    for one, other in zip(more.parameters.values(), again.parameters.values(), strict=True):
        assert one.cost_error > 0
        assert replace(one, cost=0, cost_error=0) == replace(other, cost=0, cost_error=0)
    assert (again.base, again.pairs) == (more.base, more.pairs)  # independent of the order of the work


def test_invalid_measurements_are_refused(positions, judging, tmp_path):
    options = EffectOptions(NET, positions, nodes=NODES, rounds=1, output=tmp_path / "effects")
    with pytest.raises(ValueError, match=f"`rounds` 1: too few for {len(PARAMETERS)} parameters and the 3 positions"):
        measure_effects(options, judging)
    with pytest.raises(ValueError, match="too few for 2 parameters"):
        measure_effects(replace(options, names=NAMES), judging)
    with pytest.raises(ValueError, match="no such parameter: nothing"):
        measure_effects(replace(options, names=("nothing",)), judging)
    with pytest.raises(ValueError, match="`rounds`"):
        measure_effects(replace(options, rounds=0), judging)
    with pytest.raises(ValueError, match=r"`reach` 0\.0: must be above 0"):
        measure_effects(replace(options, names=NAMES, rounds=2, reach=0.0), judging)
    shallow = replace(judging, judge_nodes=1)
    with pytest.raises(ValueError, match="bring the search no nearer to the judge"):
        measure_effects(replace(options, names=NAMES, rounds=2, output=tmp_path / "shallow"), shallow)
