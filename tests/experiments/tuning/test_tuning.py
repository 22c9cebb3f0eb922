"""Tuning: the values that follow from results, and resuming an interrupted run."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.games.player import Ending
from experiments.matches.alphabeta_pairs import PairWorker
from experiments.matches.named_player import read_player
from experiments.matches.pair import PairSettings
from experiments.matches.pair_task import PairTask
from experiments.tuning.spsa import Spsa, result_of
from experiments.tuning.tune import Tuner, TuningTask, chosen_parameters
from liteshogi.commands.tune import Command as Tune
from search.alphabeta.bench import SIGNATURE
from search.alphabeta.parameters import PARAMETERS, SHORT, Parameter, make_numbers

PAIRS = 4000


def test_parameters_are_chosen_by_name():
    assert chosen_parameters((), 0) == list(PARAMETERS)
    short = chosen_parameters(("razor_margin", "reduction_base"), 5000)
    assert {one.name: one.default for one in short} == {
        name: SHORT[name] for name in ("razor_margin", "reduction_base")
    }
    assert chosen_parameters(("razor_margin", "reduction_base", "razor_margin"), 5000) == short
    with pytest.raises(ValueError, match="no such parameter: speed"):
        chosen_parameters(("speed",), 0)


def test_every_parameter_has_room_on_both_sides():
    for one in PARAMETERS:
        assert one.low < one.high
        assert one.low <= one.default - one.step * (one.default > one.low)
        assert one.default + one.step <= one.high
        assert 0 < one.step <= (one.high - one.low) / 4


def played(spsa: Spsa, best: dict[str, float], seed: int) -> None:
    """Return a tuning after all pairs, in which settings nearer to the best win more games."""
    dice = np.random.default_rng(seed)
    steps = {one.name: one.step for one in FOUR}

    def strength(values: dict[str, int]) -> float:
        return -sum(((values[name] - best[name]) / steps[name] / 4) ** 2 for name in best)

    for number in range(PAIRS):
        trial = spsa.trial(number)
        chance = 1 / (1 + np.exp(strength(trial.second) - strength(trial.first)))
        spsa.learn(number, int(2 * dice.binomial(2, chance) - 2))


FOUR = tuple(Parameter(name, 1000, 0, 2000, 20, "") for name in "abcd")


def test_values_approach_the_best_setting():
    spsa = Spsa(FOUR, PAIRS, None, 1)
    best = {"a": 1100.0, "b": 900.0, "c": 1000.0, "d": 1060.0}
    played(spsa, best, 2)
    for name, value in spsa.values.items():
        assert abs(value - best[name]) < 40, (name, value)


@pytest.mark.parametrize("number", [0, 7, 199, 399])
def test_the_schedule_is_that_of_fishtest(number):
    """As on Fishtest's server: from the last step c_end and the last gain r_end; a and c shrink with iterations."""
    pairs, r_end, c_end, iteration = 400, 0.02, 20.0, number + 1
    damping = 0.1 * pairs
    c = c_end * pairs**0.101 / iteration**0.101
    a = r_end * c_end**2 * (damping + pairs) ** 0.602 / (damping + iteration) ** 0.602
    spsa = Spsa(FOUR[:1], pairs, r_end, 3)
    trial = spsa.trial(number)
    assert abs(trial.first["a"] - trial.second["a"]) == pytest.approx(2 * c, abs=2)
    spsa.learn(number, 2)
    moved = np.sign(trial.first["a"] - trial.second["a"]) * (spsa.values["a"] - 1000)
    assert moved == pytest.approx(2 * a / c**2 * c)


def test_chance_alone_moves_a_parameter_by_half_its_step():
    ends = []
    for seed in range(8):
        spsa, dice = Spsa(FOUR, PAIRS, None, seed), np.random.default_rng(seed)
        for number in range(PAIRS):
            spsa.learn(number, int(dice.choice([-2, 0, 2], p=[0.28, 0.44, 0.28])))
        ends += [(value - 1000) / 20 for value in spsa.values.values()]
    assert 0.3 < np.std(ends) < 0.75
    assert abs(np.mean(ends)) < 0.3


@settings(max_examples=40)
@given(st.integers(0, 2**31), st.lists(st.integers(-2, 2), max_size=30))
def test_trials_are_around_the_values_and_within_bounds(seed, results):
    spsa, again = (Spsa(PARAMETERS, 30, 0.5, seed) for _ in range(2))
    for number, result in enumerate(results):
        trial = spsa.trial(number)
        assert trial == again.trial(number)
        for one in PARAMETERS:
            first, second = trial.first[one.name], trial.second[one.name]
            assert one.low <= min(first, second) <= max(first, second) <= one.high
            reach = one.step * 30**0.101 + 1
            assert abs((first + second) / 2 - spsa.values[one.name]) <= reach
        spsa.learn(number, result)
        again.learn(number, result)
        assert spsa.values == again.values
    assert spsa.done == len(results)
    assert spsa.trial(0) != Spsa(PARAMETERS, 30, 0.5, seed + 1).trial(0)


def test_whole_numbers_are_chosen_without_bias():
    spsa = Spsa(FOUR[:1], PAIRS, None, 5)
    spsa.learn(0, 1)  # up to a fraction
    value = spsa.values["a"]
    assert abs(value - round(value)) > 0.1
    # After the last pair the reach is constant, so only chance can balance rounding.
    trials = [spsa.trial(number) for number in range(PAIRS, 2 * PAIRS)]
    assert abs(np.mean([(trial.first["a"] + trial.second["a"]) / 2 for trial in trials]) - value) < 0.03


def test_a_result_is_wins_minus_losses():
    assert result_of({"wins as black": 1, "losses as white": 1}) == 0
    assert result_of({"wins as black": 1, "wins as white": 1, "seconds": 0.5}) == 2
    assert result_of({"losses as black": 1, "draws as white": 1}) == -1


def test_values_move_toward_the_player_that_won(monkeypatch):
    """The number of a pair decides which player has which settings of a trial, and how its result moves values."""
    player = read_player("default", (), 5, 0, "").by_alphabeta
    worker = TuningTask(PairTask(player, player, PairSettings(Ending(), ("startpos",), (0, 0), 100, 0.0, 1))).open()
    monkeypatch.setattr(
        PairWorker,
        "run",
        lambda self, number: [number, *(seat.record["numbers"].tobytes() for seat in self._duel._seats)],
    )
    spsa = Spsa(PARAMETERS[:3], 10, 0.5, 1)
    tuner = Tuner(spsa, 10)
    for number, trial in tuner.trials():
        assert worker.run(trial) == [number, *(make_numbers(side).tobytes() for side in (trial.first, trial.second))]
        before = spsa.values
        tuner.see(number, {"wins as black": 1, "wins as white": 1})
        for name, value in spsa.values.items():
            assert (value - before[name]) * (trial.first[name] - trial.second[name]) > 0
    assert (len(tuner.history), tuner.history[-1], tuner.games_a_point) == (10, spsa.values, 2)
    assert tuner.measure() == (10, "20 of 20 games")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_tuning_on_a_cluster_has_the_results_of_threads(cluster, tmp_path, capsys):
    """Both use one core, so every pair is drawn after the same results."""
    found = []
    for where in ({"parallel": 1}, {"ray": cluster.address}):
        Tune(nodes=60, games=12, output=tmp_path / str(len(found)), json=True, **where).run()
        found.append(json.loads(capsys.readouterr().out))
    here, there = found
    assert there["parameters"] == here["parameters"]
    assert there["games"] == here["games"] == 12
    assert any(one["steps"] for one in here["parameters"].values())


def test_a_tuning_resumes_only_with_its_own_settings(tmp_path, capsys, monkeypatch):
    openings = tmp_path / "openings.sfen"
    openings.write_text("startpos moves 7g7f 3c3d\nstartpos moves 2g2f 8c8d\n")

    def run(**options) -> dict:
        settings = {"names": ("razor_margin",), "openings": openings, "nodes": 20, "games": 4, "max_moves": 30}
        Tune(**{**settings, **options}, output=tmp_path / "run", json=True).run()
        return json.loads(capsys.readouterr().out)

    first = run()
    assert (first["games"], first["of"]) == (4, 4)
    assert list(first["parameters"]) == ["razor_margin"]
    assert (tmp_path / "run" / "tune.png").read_bytes().startswith(b"\x89PNG")
    assert run() == first
    with pytest.raises(ValueError, match="`nodes` 20, not 30"):
        run(nodes=30)
    (row,) = first["parameters"].values()
    (one,) = chosen_parameters(("razor_margin",), 20)
    assert (row["default"], row["steps"]) == (one.default, (row["value"] - one.default) / one.step)
    asked = []
    monkeypatch.setattr("experiments.tuning.tune.Spsa", lambda *given: asked.append(given) or Spsa(*given))
    for changes, words in (({"gain": 0.5, "seed": 7}, "`gain` null, not 0.5"), ({"games": 2}, "`games` 4, not 2")):
        with pytest.raises(ValueError, match=words):
            run(**changes)
    assert [given[1:] for given in asked] == [(2, 0.5, 7), (1, None, 1)]
    with monkeypatch.context() as patch:
        patch.setattr("experiments.matches.named_player.search_signature", lambda: SIGNATURE + 1)
        with pytest.raises(ValueError, match=f"signature: {SIGNATURE}, not {SIGNATURE + 1}"):
            run()
    with pytest.raises(ValueError, match=r"`gain` 0\.0: must be above 0"):
        run(gain=0.0)
