"""What a sweep is told: which points there are, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.sweep.configuration import Range, read_configuration
from tests.experiments.sweep.conftest import GRID, MEASURE, TRAIN, described


def test_a_grid_is_every_combination_and_equal_options_have_equal_names(tmp_path: Path) -> None:
    configuration = read_configuration(described(tmp_path, TRAIN + MEASURE + GRID))
    points = list(configuration.grid())
    assert [point.label for point in points[:3]] == [
        "dense width 32 hidden 8 seed 0",
        "dense width 32 hidden 8 seed 1",
        "dense width 32 hidden 16,16 seed 0",
    ]
    assert len({(point.name, point.seed) for point in points}) == len(points) == 8
    assert points[0].name == points[1].name
    turned = configuration.point({"hidden": [8], "width": 32})
    assert (turned.name, turned.seed) == (points[0].name, 0)
    assert points[0].options["lambda"] == 1.0


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


def test_equal_points_are_one(tmp_path: Path) -> None:
    twice = 2 * '[[point]]\nkind = "dense"\nwidth = 32\n'
    assert len(read_configuration(described(tmp_path, TRAIN + MEASURE + twice)).listed) == 1


HCPE_ALONE = "sweep.toml: positions: b.hcpe3: a part of a set is cut of hcpe alone; .*, or leave `positions` out"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a =", "not TOML"),
        ("widths = 3", "unknown widths"),
        ('search = "bayes"', "choose grid, random, tpe, nsga2"),
        (TRAIN + "[measure]\nvalid = []\n", "measure: .*yardstick"),
        ("seed = -1\n" + TRAIN + MEASURE, r"seed -1: a whole number from 0 to 2\^31 - 1 is needed"),
        (TRAIN + MEASURE, r"no \[\[space\]\]"),
        (TRAIN + MEASURE + "[[space]]\nwidth = []\n", "no value to choose"),
        (TRAIN + MEASURE + "[[space]]\nwidth = { low = 1, high = 2 }\n", "a grid's range needs a `step`"),
        (TRAIN + MEASURE + "[[space]]\nwidth = { low = 3, high = 2, step = 1 }\n", "goes up from"),
        (TRAIN + MEASURE + '[[space]]\nkind = ["resnet"]\n', "kind 'resnet': a sweep's nets are"),
        ('search = "tpe"\n' + TRAIN + MEASURE + GRID, "needs `points`"),
        (TRAIN + MEASURE + '[[peer]]\nname = "a"\n', "has a name and a net"),
        (TRAIN + MEASURE + 2 * '[[peer]]\nname = "a"\nnet = "default"\n', r"two \[\[peer\]\]s are called 'a'"),
        (TRAIN + MEASURE + "[[space]]\nwidth = { low = 1, high = 9, step = 1, log = true }\n", "exclude each other"),
        (TRAIN + "max-steps = 9\n" + MEASURE + GRID, "max-steps: a sweep trains each net to the end"),
        (TRAIN + MEASURE + "[[space]]\nmax_steps = [9, 10]\n", "max_steps: a sweep trains"),
        (TRAIN + MEASURE + '[[point]]\noutput = "a"\n', "output: a sweep trains"),
        (TRAIN + "threads = 0\n" + MEASURE + GRID, "sweep.toml: threads '0': a whole number from 1 to 1,024"),
        (TRAIN + "threads = [1]\n" + MEASURE + GRID, r"threads '\[1\]': a whole number"),
        (TRAIN + "positions = -5\n" + MEASURE + GRID, "positions '-5': a whole number is needed, 0 for all"),
        (TRAIN + "positions = 0.5\n" + MEASURE + GRID, "positions '0.5': a whole number"),
        (TRAIN + MEASURE + '[[space]]\npositions = [9, "many"]\n', "positions 'many': a whole number"),
        (TRAIN + MEASURE + "[[space]]\npositions = { low = 1, high = 2, step = 0.5 }\n", "positions '0.5': a whole"),
        ('[train]\nkind = "lite"\n' + MEASURE + "[[space]]\npositions = 9\n", "positions: are so many of `data`"),
        ("[train]\npositions = 9\n" + MEASURE + '[[point]]\nkind = "lite"\n', "positions: are so many of `data`"),
        (TRAIN + MEASURE + "[[point]]\nseed = [1, 2]\n", r"seed '\[1, 2\]': a whole number from 0 to 2\^64 - 1"),
        (TRAIN + MEASURE + '[[space]]\nseed = ["x"]\n', "seed 'x': a whole number"),
        (TRAIN + "seed = -1\n" + MEASURE + GRID, "seed '-1': a whole number"),
        (TRAIN + MEASURE + '[[point]]\ndata = "t.hcpe"\n', "data 't.hcpe': a list of files"),
        (TRAIN + MEASURE + '[[space]]\ndata = ["t.hcpe"]\n', "data 't.hcpe': a list of files"),
        (TRAIN + "wdith = 32\n" + MEASURE + GRID, "sweep.toml: wdith: no `liteshogi train` .*; is width meant?"),
        (TRAIN + MEASURE + "[[space]]\nlerning-rate = [1, 2]\n", "lerning-rate: no .*; is learning-rate meant?"),
        (TRAIN + MEASURE + "[[point]]\nqqq = 2\n", "qqq: no `liteshogi train` of a sweep's kinds has such an option$"),
        (TRAIN + MEASURE + '[[space]]\npositions = [0, 9]\ndata = [["a.hcpe"], ["b.hcpe3"]]\n', HCPE_ALONE),
        (
            '[train]\ndata = ["b.psv"]\npositions = 9\n' + MEASURE + '[[point]]\nkind = "lite"\n',
            "b.psv: a part of a set",
        ),
        (TRAIN + MEASURE + "[[point]]\ndata = []\n", r"data '\[\]': a list of files"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_configuration(described(tmp_path, text))
