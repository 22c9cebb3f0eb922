"""Optimisers: learning rates over a run, decay, averages of weights, and clipping of gradients."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch

from lite.networks.lite_value import LiteValueNetwork
from lite.training.optimiser import OptimiserConfig, WeightAverage, make_optimiser, rate_at
from lite.training.options import rated
from search.system.options import OptionError
from tests.lite.training.conftest import value_run


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("learning_rate", (0.0, -0.01, math.nan, math.inf)),
        ("weight_decay", (-0.1, math.nan, math.inf)),
        ("clip", (-1.0, math.nan, math.inf)),
        ("warm_up", (-0.1, 1.1, math.nan)),
        ("ema_decay", (-0.1, 1.0, 1.5, math.nan)),
        ("swa_start", (-1.0, 1.0, 1.5, math.nan)),
    ],
)
def test_invalid_optimisers_are_refused(name, bad):
    for value in bad:
        with pytest.raises(OptionError, match=f"`{name}` {value}: "):
            OptimiserConfig(**{name: value}).check()
    OptimiserConfig(**{name: 0.5}, average="swa" if name == "swa_start" else "ema").check()


@pytest.mark.parametrize(("name", "bad"), [("optimiser", "lion"), ("schedule", "linear"), ("average", "mean")])
def test_choices_match_the_implementations(name, bad):
    with pytest.raises(ValueError, match=f"{name} '{bad}': choose one of "):
        OptimiserConfig(**{name: bad}).check()


@pytest.mark.parametrize(
    ("without_effect", "words", "remedy"),
    [
        ({"schedule": "steps", "warm_up": 0.03}, "`warm_up` 0.03: has no effect", {"schedule": "one_cycle"}),
        ({"optimiser": "sgd", "warm_up": 0.1}, "`warm_up` 0.1: has no effect", {"schedule": "cosine"}),
        ({"average": "swa", "ema_decay": 0.9}, "`ema_decay` 0.9: has no effect", {"average": "ema"}),
        ({"swa_start": 0.5}, "`swa_start` 0.5: has no effect", {"average": "swa"}),
        ({"average": "none", "swa_start": 0.5}, "`swa_start` 0.5: has no effect", {"average": "swa"}),
    ],
)
def test_options_of_other_schedules_or_averages_are_refused(without_effect, words, remedy):
    config = OptimiserConfig(**without_effect)
    with pytest.raises(OptionError, match=words):
        config.check()
    dataclasses.replace(config, **remedy).check()


def test_schedules_by_hand():
    adamw, sgd = OptimiserConfig(), OptimiserConfig(optimiser="sgd")
    rates = [rate_at(adamw, step, 1000) for step in range(1000)]
    assert max(rates) == rates[29] == rates[30]
    assert rates[0] < rates[29] / 25
    assert rates[-1] < 1e-4 * max(rates)
    assert sorted({round(rate_at(sgd, step, 300), 9) for step in range(300)}) == [0.0004, 0.004, 0.04]
    assert [rate_at(sgd, step, 300) for step in (99, 100)] == pytest.approx([0.04, 0.004])
    # Each optimiser also accepts the other schedule.
    assert [rate_at(OptimiserConfig("sgd", 0.02, "cosine"), step, 1000) for step in range(1000)] == rates
    assert rate_at(OptimiserConfig("adamw", 0.04, "steps"), 299, 300) == pytest.approx(0.0004)
    late = OptimiserConfig(warm_up=0.25)
    assert (
        rate_at(late, 249, 1000) == rate_at(late, 250, 1000) == max(rate_at(late, step, 1000) for step in range(1000))
    )


@pytest.mark.parametrize("warm_up", [None, 0.0, 0.1, 1.0])
@pytest.mark.parametrize("steps", [1, 2, 7, 500])
def test_the_one_cycle_schedule_equals_that_of_pytorch(warm_up, steps):
    config = OptimiserConfig("sgd", 0.1, "one_cycle", warm_up)
    rates = [rate_at(config, step, steps) for step in range(steps)]
    assert all(0 < rate <= 0.1 for rate in rates)
    assert warm_up != 0 or rates[0] == 0.1
    share = 0.3 if warm_up is None else warm_up
    if share * steps > 1 and share < 1:
        sgd = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
        theirs = torch.optim.lr_scheduler.OneCycleLR(sgd, 0.1, total_steps=steps, pct_start=share, cycle_momentum=False)
        expected = [theirs.get_last_lr()[0]]
        for _ in range(steps - 1):
            sgd.step()
            theirs.step()
            expected.append(theirs.get_last_lr()[0])
        assert rates == pytest.approx(expected, rel=1e-12)


def test_vectors_do_not_decay():
    optimiser = make_optimiser(OptimiserConfig(), LiteValueNetwork((4, 2, 8)))
    decayed, free = optimiser.param_groups
    assert all(p.ndim > 1 for p in decayed["params"])
    assert free["weight_decay"] == 0
    assert len(free["params"]) == 6


def test_presets_equal_their_documents():
    net = LiteValueNetwork((4, 2, 8))
    adamw, sgd = make_optimiser(OptimiserConfig(), net), make_optimiser(OptimiserConfig("sgd"), net)
    assert (adamw.betas, adamw.param_groups[0]["weight_decay"]) == ((0.9, 0.999), 0.01)
    assert (sgd.momentum, sgd.param_groups[0]["weight_decay"]) == (0.9, 1e-4)


@pytest.mark.parametrize(
    ("chosen", "theirs"),
    [
        ("adamw", lambda groups: torch.optim.AdamW(groups, lr=0.02, fused=True)),
        ("sgd", lambda groups: torch.optim.SGD(groups, lr=0.04, momentum=0.9)),
    ],
)
def test_steps_equal_those_of_pytorch(chosen, theirs):
    """They are equal to the bit; a parameter without a gradient keeps its value."""
    nets = [LiteValueNetwork((4, 2, 8)) for _ in range(2)]
    nets[1].load_state_dict(nets[0].state_dict())
    ours = make_optimiser(OptimiserConfig(chosen), nets[0])
    groups = make_optimiser(OptimiserConfig(chosen), nets[1]).param_groups
    expected = theirs([{key: value for key, value in group.items() if key != "lr"} for group in groups])
    for step in range(5):
        for parameter, other in zip(nets[0].parameters(), nets[1].parameters(), strict=True):
            parameter.grad = other.grad = torch.randn_like(parameter)
        nets[0].l3.weight.grad = nets[1].l3.weight.grad = None
        for optimiser in (ours, expected):
            optimiser.param_groups[0]["lr"] = 0.01 / (step + 1)
            optimiser.step()
            optimiser.zero_grad()
    for parameter, other in zip(nets[0].parameters(), nets[1].parameters(), strict=True):
        assert torch.equal(parameter, other)
        assert parameter.grad is None


@pytest.mark.parametrize("average", ["ema", "swa", "none"])
def test_averages_of_weights_and_statistics_by_hand(average):
    model = LiteValueNetwork((4, 2, 8))
    torch.nn.init.zeros_(model.l3.weight)
    kept = WeightAverage(OptimiserConfig(average=average, ema_decay=0.5, swa_start=0.5), model)
    for step in range(1, 11):
        with torch.no_grad():
            for value in [*model.parameters(), model.bn2_1.running_mean]:
                value.fill_(step)
        model.bn2_1.num_batches_tracked.fill_(step)
        kept.update(model, step / 10)
    expected = {"none": 10.0, "swa": 8.0}.get(average)
    if expected is None:
        expected = 0.0
        for step in range(1, 11):
            expected += (step - expected) * max(0.5, 9 / (9 + step))
    assert float(kept.model.l3.weight[0, 0]) == pytest.approx(expected)
    assert float(kept.model.bn2_1.running_mean[0]) == pytest.approx(expected)
    assert int(kept.model.bn2_1.num_batches_tracked) == 10


def test_a_restarted_mean_forgets_earlier_weights():
    """This happens in a run that is extended after averaging has begun."""
    model = LiteValueNetwork((4, 2, 8))
    kept = WeightAverage(OptimiserConfig(average="swa", swa_start=0.5), model)
    for value, progress in ((1, 0.8), (2, 1.0), (3, 0.5), (4, 0.75), (6, 1.0)):
        torch.nn.init.constant_(model.l3.weight, value)
        kept.update(model, progress)
    assert float(kept.model.l3.weight[0, 0]) == pytest.approx(5)


def test_the_mean_of_weights_begins_at_the_given_share_of_the_run(options, records, tmp_path):
    run = value_run(options(records, tmp_path / "run", optimiser=OptimiserConfig(average="swa", swa_start=0.5)))
    taken = []
    for batch in run.batches():
        run.take_step(batch)
        taken.append([value.detach().double() for value in run.learner.model.parameters()])  # copies
    assert run.learner.average.count == 17  # the run has 33 steps
    for place, value in enumerate(run.learner.average.model.parameters()):
        mean = torch.stack([step[place] for step in taken[-17:]]).mean(0)
        torch.testing.assert_close(value.double(), mean, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("clip", [0.001, 0.0])
def test_long_gradients_are_clipped(options, records, tmp_path, clip):
    """Momentum's first step is the gradient itself."""
    chosen = OptimiserConfig("sgd", weight_decay=0.0, clip=clip)
    run = value_run(options(records, tmp_path / "run", optimiser=chosen))
    before = [value.detach().clone() for value in run.learner.model.parameters()]
    run.take_step(next(run.batches()))
    moved = sum(((a - b) ** 2).sum() for a, b in zip(run.learner.model.parameters(), before, strict=True)).item() ** 0.5
    assert moved / 0.04 == pytest.approx(0.001, rel=0.01) if clip else moved / 0.04 > 0.01


def test_a_run_of_an_unknown_optimiser_has_no_default_rate():
    """It is refused with the names of both optimisers; see `SavedRun.extended_by`."""
    assert rated({"optimiser": {"optimiser": "source", "learning_rate": None}})["optimiser"]["learning_rate"] is None
