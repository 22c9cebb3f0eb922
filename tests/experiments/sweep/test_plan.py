"""Plans: their points, the labels of points, and invalid plans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from experiments.sweep.checked_plan import check_effects, plan_of
from experiments.sweep.plan_file import PLANS, read_change, read_entries
from experiments.sweep.space import Range
from experiments.sweep.sweep import Sweep
from experiments.sweep.training import checked_training, default_options
from lite.training.options import ValueTraining
from search.system.options import OptionError
from tests.experiments.sweep.conftest import GRID, MEASURE, TRAIN, entries, plan_with, planned, written

ROOT = Path(__file__).parents[3]


def test_a_grid_is_every_combination_and_equal_options_have_equal_names(tmp_path: Path) -> None:
    plan = plan_with(tmp_path, TRAIN + MEASURE + GRID)
    points = list(plan.grid())
    assert [(point.label, point.seed) for point in points[:3]] == [
        ("dense width 32 hidden 8", 0),
        ("dense width 32 hidden 8", 1),
        ("dense width 32 hidden 16,16", 0),
    ]
    assert len({point.key for point in points}) == len(points) == 8
    assert points[0].name == points[1].name
    turned = plan.made({"hidden": [8], "width": 32})
    assert turned.key == (points[0].name, 0)
    assert points[0].options["lambda"] == 1.0


def test_labels_show_only_differences(tmp_path: Path) -> None:
    """Options with the same value everywhere are left out; a default that other points change is shown."""
    spaces = (
        '[[space]]\nkind = "dense"\nactivation = "squared"\nwidth = [32, 64]\n'
        '[[space]]\nkind = "dense"\nactivation = "squared"\nwidth = 64\nking = "zones"\n'
        '[[space]]\nkind = "lite"\nperspectives = 2\n'
    )
    plan = plan_with(tmp_path, TRAIN.replace('kind = "dense"\n', "") + MEASURE + spaces)
    labels = [point.label for point in plan.grid()]
    assert labels == ["dense width 32", "dense width 64", "dense width 64 king zones", "lite"]


@pytest.mark.parametrize(
    ("ends", "values"),
    [
        ((0.5, 0.7, 0.1), [0.5, 0.6, 0.7]),
        ((0.01, 0.1, 0.03), [0.01, 0.04, 0.07, 0.1]),
        ((1e-5, 3e-5, 1e-5), [1e-5, 2e-5, 3e-5]),
        ((8, 30, 8), [8, 16, 24]),
    ],
)
def test_a_range_has_both_its_ends(ends: tuple[float, float, float], values: list[float]) -> None:
    found = Range(*ends).values()
    assert found == values
    assert [type(one) for one in found] == [type(one) for one in values]


def test_equal_points_are_merged(tmp_path: Path) -> None:
    assert len(plan_with(tmp_path, TRAIN + MEASURE + 2 * "[[point]]\nwidth = 32\n").listed) == 1


def test_options_of_a_kind_apply_only_to_it() -> None:
    plan = planned(
        train={"data": ["d"], "epochs": 3, "resnet": {"epochs": 1, "blocks": 2}},
        point=[
            {"name": "a", "kind": "dense"},
            {"name": "b", "kind": "resnet"},
            {"name": "c", "kind": "resnet", "epochs": 9},
        ],
    )
    assert [(point.options["epochs"], point.options.get("blocks")) for point in plan.listed] == [
        (3, None),
        (1, 2),
        (9, 2),
    ]


def test_the_start_of_a_point_is_trained_first_with_every_seed() -> None:
    plan = planned(point=[{"name": "a"}, {"name": "b", "after": "a", "seeds": [0, 1]}])
    assert [point.key for point in plan.listed] == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]


def test_the_start_of_a_point_has_the_point_s_seed_beside_its_own() -> None:
    for seed in (0, 2):
        plan = planned(point=[{"name": "a", "seed": 1}, {"name": "b", "after": "a", "seeds": [seed]}])
        assert [point.key for point in plan.listed] == [("a", 1), ("a", seed), ("b", seed)]


def test_seeds_of_a_plan_apply_to_points_without_seeds() -> None:
    plan = planned(seeds=[3, 4], point=[{"name": "a"}, {"name": "b", "seeds": [0]}], space=[{"width": [32]}])
    assert [point.key for point in plan.listed] == [("a", 3), ("b", 0), ("a", 4)]
    assert [point.seed for point in plan.grid()] == [3, 4]


def test_the_seed_of_all_trainings_is_that_of_points_without_seeds() -> None:
    train = {"kind": "dense", "data": ["d"], "seed": 3}
    points = [{"name": "a"}, {"name": "b", "seeds": [0, 1]}, {"name": "c", "seed": 0}]
    plan = planned(train=train, point=points, space=[{"width": [32]}])
    assert [point.key for point in plan.listed] == [("a", 3), ("b", 0), ("c", 0), ("b", 1)]
    assert [point.options["seed"] for point in plan.known_points()] == [3, 0, 0, 1, 3]


@pytest.mark.parametrize(
    ("changes", "threads"),
    [
        ({}, 1),
        ({"train": {"kind": "dense", "data": ["d"], "threads": 3}}, 3),
        ({"train": {"data": ["d"], "resnet": {"threads": 4}}, "point": [], "space": [{"kind": ["lite", "resnet"]}]}, 4),
        ({"point": [{"name": "a", "threads": 5}, {"name": "b"}]}, 5),
        ({"search": "random", "points": 2, "space": [{"threads": {"low": 1, "high": 6}}]}, 6),
    ],
)
def test_the_workers_of_a_plan_share_the_cores_by_its_most_threads(changes: dict[str, Any], threads: int) -> None:
    assert planned(**changes).most_threads == threads


def test_options_have_the_types_of_the_training() -> None:
    given = {"kind": "dense", "data": ["d"], "hidden": 8, "learning-rate": 0.02, "lambda": 1, "mirror": True}
    training = checked_training(given, "here")
    assert isinstance(training, ValueTraining)
    assert training.network.hidden == (8,)  # type: ignore[attr-defined]
    assert (training.optimiser.learning_rate, training.lambda_, training.mirror) == (0.02, 1, True)
    assert default_options("dense")["hidden"] == [32]


def point(**options: Any) -> dict[str, Any]:
    return {"point": [options]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"widths": 3}, "unknown widths"),
        ({"search": "bayes"}, "search = 'bayes'"),
        ({"measure": {}}, "measure: valid must be given"),
        ({"seed": -1}, r"seed -1: a whole number from 0 to 2\^31 - 1 is needed"),
        ({"seeds": []}, "seeds: name at least one, and none twice"),
        ({"point": []}, r"no \[\[space\]\]"),
        ({"space": [{"width": []}]}, "no value to choose"),
        ({"space": [{"width": {"low": 1, "high": 2}}]}, "a grid's range needs a `step`"),
        ({"space": [{"width": {"low": 3, "high": 2, "step": 1}}]}, "goes up from"),
        ({"space": [{"width": {"low": 1, "high": 9, "step": 1, "log": True}}]}, "exclude each other"),
        ({"space": [{"width": {"low": 32, "high": 90, "step": 32}, "hidden": [[0]]}]}, "hidden 0"),
        ({"search": "tpe"}, "needs `points`"),
        ({"search": "tpe", "points": 2, "space": [{"width": [32]}]}, "give a `yardstick`, and `repeats`"),
        ({"peer": [{"name": "b"}]}, "peer 'b': needs a name and a net"),
        ({"peer": [{"name": "a", "net": "default"}]}, "peer 'a': another point or peer has this name"),
        (point(kind="cnn"), "kind 'cnn': choose lite, .*, resnet"),
        (point(output="a"), "output: unknown option"),
        (point(max_steps=9), "max_steps: unknown option"),
        (point(width=16), "width 16: the engine pads its rows to 32; choose a multiple of 32"),
        (point(width="x"), "width = 'x' is not a whole number"),
        (point(wdith=32), "wdith: unknown option; is width meant"),
        (point(stacks="k3k3"), "point 1: stacks = 'k3k3' is not a list, each value one of .*; write .\"k3k3\""),
        ({"plya": {}}, "unknown plya; is play meant"),
        ({"peer": {"name": "a", "net": "default"}}, r"\[peer\]: there may be several, so write \[\[peer\]\]"),
        ({"peer": [{"nett": "a"}]}, "peer 1: unknown nett; is net meant"),
        ({"space": [{"width": [32]}, {"width": [16]}]}, "space 2: width 16"),
        (point(threads=0), "threads"),
        (point(seed=-1), "seed"),
        (point(positions=-5), "positions '-5': a whole number is needed, 0 for all"),
        (point(positions=9, data=["b.psv"]), "positions: are cut of hcpe, or of hcpe3 alone, not of .psv"),
        (point(data=[]), "data: a list of files"),
        (point(data="t.hcpe"), "data: a list of files"),
        (point(name="a/b"), "point 'a/b': name: must have no slash"),
        (point(name="a", after="b"), "after 'b': no earlier point of that name"),
        (point(name="a", seeds=[1, 1]), "seeds: name at least one, and none twice"),
        (point(name="a", seeds=[0, -1]), r"point 'a': seeds: whole numbers from 0 to 2\^31 - 1 are needed"),
        (point(name="a", tables=["b"]), r"point .a.: tables: no \[table.b\]"),
        ({"table": {"a": {"form": "kinds"}}}, r"form 'kinds' needs \[measure.kinds\]"),
        ({"measure": {"valid": []}}, "measure: valid: name at least one"),
        *(
            ({"measure": {"valid": ["v"], name: number}}, f"measure: `{name}` {number}: must be at")
            for name in ("positions", "repeats", "step_rounds")
            for number in (-1, 10**12)
        ),
        ({"data": {"a": {"cut": ["b"], "tree": "c"}}}, "data 'a': needs exactly one of"),
        ({"data": {"a": {"cut": ["a"], "positions": 9}}}, "data 'a': is made of itself"),
        (
            {"data": {"a": {"cut": ["x", "b"], "positions": 9}, "b": {"expand": ["a"]}}},
            "data 'a': is made of itself, by way of x, b",
        ),
        ({"data": {"a": {"tree": "b", "where": "mainn", "positions": 9}}}, "where = 'mainn' is not"),
        ({"data": {"a": {"tree": "b", "where": "main", "every": 0, "positions": 9}}}, "every = 0: must be at least 1"),
        ({"data": {"a": {"cut": ["b"]}}}, "positions must be given"),
        ({"data": {"a": {"search": "b", "nodes": 9, "without": ["lmp"]}}}, "without 'lmp': no step of the search"),
        ({"data": {"a": {"expand": ["b"], "playd": 1.0}}}, "playd: unknown option; is played meant"),
    ],
)
def test_invalid_plans_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=f"^plan.toml: .*{words}"):
        plan_of(entries(**changes), "plan.toml")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"search": "random", "points": 2, "seeds": [0, 1], "space": [{"width": [32, 64, 96]}]},
            "seeds: have no effect on points that search 'random' chooses",
        ),
        (
            {"train": {"kind": "dense", "data": ["d"], "seed": 3}, "seeds": [0, 1]},
            "seeds: have no effect beside `seed`",
        ),
        ({"point": [{"name": "a", "seed": 3, "seeds": [0]}]}, "^point 'a': seeds: have no effect beside `seed`"),
        *(
            ({"peer": [{"name": "p", "net": "default", name: value}]}, f"^peer 'p': {name}: no effect on a network")
            for name, value in (("after", "a"), ("line", "x"), ("options", {"width": 32}), ("seeds", [1]))
        ),
    ],
)
def test_a_sweep_refuses_entries_without_effect_that_a_report_ignores(changes: dict[str, Any], words: str) -> None:
    plan = planned(**changes)
    with pytest.raises(ValueError, match=words):
        check_effects(plan, plays=False)


@pytest.mark.parametrize("text", ["a =", "a." * 300 + "b = 1"])
def test_an_invalid_toml_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=r"plan\.toml: "):
        read_entries(written(tmp_path, text))


def test_records_given_as_a_plan_are_refused_with_the_option_for_them(tmp_path: Path) -> None:
    (tmp_path / "games.hcpe").write_bytes(b"\xff" * 38)
    with pytest.raises(OptionError, match=r"games\.hcpe: is no text") as refused:
        read_entries(tmp_path / "games.hcpe")
    assert refused.value.fields == ("plan", "data")


def test_changes_replace_entries(tmp_path: Path) -> None:
    assert read_change("train.epochs=2") == {"train": {"epochs": 2}}
    assert read_change("play.opponent=a b") == {"play": {"opponent": "a b"}}
    with pytest.raises(ValueError, match="KEY=VALUE"):
        read_change("epochs")
    path = written(tmp_path, TRAIN + MEASURE + GRID)
    found = Sweep(path, data=(Path("x.hcpe"),), change=("train.epochs=2", "seeds=[7]")).entries()
    assert (found["train"]["data"], found["train"]["epochs"], found["seeds"]) == (["x.hcpe"], 2, [7])
    assert found["train"]["lambda"] == 1.0


@pytest.mark.parametrize("name", sorted(path.stem for path in PLANS.glob("*.toml")))
def test_plans_of_the_package_are_valid(name: str) -> None:
    plan = plan_of(Sweep(Path(name)).entries(), name)
    assert len(plan.known_points()) > 1
    assert plan.table


@pytest.mark.parametrize("name", ["archive/sweep/sweep.toml", "results/data/sweep_of_sizes/sweep.toml"])
def test_plans_of_the_documents_are_valid(name: str) -> None:
    assert plan_of(read_entries(ROOT / "docs" / name), name).spaces


def test_a_progress_table_of_a_plan_is_for_networks_with_a_progress_axis() -> None:
    given = {"kind": "dense", "data": ["d"], "hidden": [15, 32], "shortcut": True, "progress-table": "p.bin"}
    tables = []
    for stacks in ([], ["progress8"]):
        training = checked_training(given | {"stacks": stacks}, "here")
        assert isinstance(training, ValueTraining)
        tables.append(training.progress_table)
    assert tables == [None, Path("p.bin")]


@pytest.mark.parametrize(
    "options",
    [
        {"point": [{"name": "a", "correct": "squared-64-16", "perspectives": 2}]},
        {"point": [], "space": [{"kind": ["lite"], "correct": ["squared-64-16"]}]},
    ],
)
def test_a_sweep_refuses_corrections_that_cannot_be_added_to_their_network(options: dict[str, Any]) -> None:
    plan = planned(**options)
    with pytest.raises(ValueError, match=r"^(a|lite): `correct` squared-64-16: a correction must be a dense network"):
        check_effects(plan, plays=False)


def test_a_correction_may_learn_from_part_of_the_data() -> None:
    fitting = {"correct": "squared-64-16", "perspectives": 2, "activation": "squared", "hidden": [8]}
    check_effects(planned(point=[{"name": "a", "positions": 1000, **fitting}]), plays=False)


def test_labels_distinguish_values_that_are_alike_in_brief() -> None:
    plan = planned(
        point=[
            {"data": ["a/pos"], "learning-rate": 0.020001},
            {"data": ["b/pos"], "learning-rate": 0.020002},
            {"data": ["b/other"], "learning-rate": 0.03},
        ]
    )
    assert [point.label for point in plan.listed] == [
        "dense data a/pos learning-rate 0.020001",
        "dense data b/pos learning-rate 0.020002",
        "dense data other learning-rate 0.03",
    ]


def test_unnamed_points_that_begin_from_others_are_points_of_their_own() -> None:
    plan = planned(point=[{"name": "a"}, {"name": "b"}, {"width": 96}, *({"width": 96, "after": one} for one in "ab")])
    assert [point.label for point in plan.listed] == ["a", "b", "dense width 96"] + [
        f"dense width 96 after {one}" for one in "ab"
    ]
    assert len({point.key for point in plan.listed}) == 5


def test_labels_name_switches_without_their_value() -> None:
    plan = planned(space=[{"kind": ["dense"], "width": [32], "mirror": [True, False]}])
    assert [point.label for point in plan.grid()] == ["dense width 32 mirror", "dense width 32 no mirror"]
