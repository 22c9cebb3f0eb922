"""Every point of the plans that compare kinds of networks can be built, and those of `nets` can be trained."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path

import pytest

from experiments.sweep.checked_plan import plan_of
from experiments.sweep.plan_file import PLANS, read_entries
from experiments.sweep.sweep import Sweep
from experiments.sweep.training import RESNET, checked_training
from lite.networks.shapes import shapes_alone
from lite.training.train import train_value
from liteshogi.commands.sweep import Command

SAMPLE = Path(__file__).parents[3] / "experiments" / "sample" / "valid_sample.hcpe3"


def configured(options: object) -> dict[str, object]:
    """Return the training options of a point."""
    assert isinstance(options, dict)
    return {"data": ["a.hcpe"], **{name: value for name, value in options.items() if name != "positions"}}


def test_the_help_names_every_plan() -> None:
    words = set((Command.__doc__ or "").replace(",", " ").replace(".", " ").split())
    assert {path.stem for path in PLANS.glob("*.toml")} <= words


def test_every_point_of_the_family_can_be_built() -> None:
    """Each is another network: an SFNN or a light one, of 4,000 to 300 million parameters."""
    points = plan_of(read_entries(Path("family")), "family").known_points()
    parameters, kinds = {}, Counter[str]()
    for point in points:
        if point.net:
            continue
        training = checked_training(configured(dict(point.options)), point.label)
        with shapes_alone():
            model = training.network.build()
        parameters[point.label] = sum(part.numel() for part in model.parameters())
        kinds[training.kind] += 1
    report = "\n".join(f"{label}: {count:,} parameters" for label, count in parameters.items())
    assert len(parameters) >= 40, report
    assert all(4_000 < count < 300_000_000 for count in parameters.values()), report
    assert kinds["sfnn"] >= 15, kinds
    assert kinds["dense"] >= 15, kinds


@pytest.mark.parametrize("number", range(6))
def test_points_of_nets_can_be_trained(number: int, tmp_path: Path) -> None:
    """Wide tables are narrowed to save time."""
    points = [one for one in plan_of(Sweep(Path("nets")).entries(), "nets").known_points() if one.seed == 0]
    kinds = [one for one in points if one.options.get("kind") != RESNET]
    assert len(kinds) == 6
    training = checked_training(configured(dict(kinds[number].options)), kinds[number].name)
    network = training.network
    if getattr(network, "width", 0) > 64:
        network = dataclasses.replace(network, width=64)
    changes = {"data": (SAMPLE,), "output": tmp_path / "run", "batch_size": 64, "max_steps": 1, "network": network}
    outcome = train_value(dataclasses.replace(training, **changes))
    assert outcome.step == 1
