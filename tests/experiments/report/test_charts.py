"""Charts as a browser draws them: no name is cut, and no label covers the y axis."""

from __future__ import annotations

import json
import re

import pytest
import vl_convert

from experiments.report.charts import FONT, NAME_LENGTH, PNG_WIDTH, Chart, Row, config, intervals, lines, points
from lite.notation.columns import columns_of

NAMES = [f"sfnn features halfkahm2 width {width} hidden 15-32 stacks k3k3, progress8" for width in (128, 512)]


def svg_of(chart: Chart, width: int) -> str:
    """Return a chart as a page draws it."""
    svg: str = vl_convert.vegalite_to_svg({**chart.spec, "width": width}, config=config("black", "gray", "white", FONT))
    return svg


def drawn_texts(chart: Chart) -> list[str]:
    """Return the texts of a chart from top to bottom, each line of a name on its own."""
    return re.findall(r"<(?:text|tspan)[^>]*>([^<]+)", svg_of(chart, 400))


def test_long_names_are_drawn_whole() -> None:
    rows: list[Row] = [{"network": name, "d1-RMSE": 0.1, "kind": "sfnn"} for name in NAMES]
    texts = drawn_texts(intervals("nets", rows, "network", "d1-RMSE", "kind"))
    words = [word for text in texts for word in text.split()]
    assert words.count("halfkahm2") == 2
    assert {word.rstrip(",") for name in NAMES for word in name.split()} <= {word.rstrip(",") for word in words}
    assert not any("\u2026" in text for text in texts)


def test_a_wide_name_is_wrapped_by_its_columns() -> None:
    name = "とても長い日本語の対局者の名前がここに書いてあるときの図"
    chart = intervals("league", [{"player": name, "Elo": 1.0, "by": ""}], "player", "Elo", "by")
    names = chart.spec["encoding"]["y"]["axis"]["labelExpr"].removesuffix("[datum.label]").strip("()")
    drawn = json.loads(names)[name]
    assert "".join(drawn) == name
    assert max(map(columns_of, drawn)) <= NAME_LENGTH


@pytest.mark.parametrize(
    ("steps", "ticks"), [((0, 1), ["0", "1"]), ((2, 4), ["2", "3", "4"]), ((7,), ["7"]), ((0, 2), ["0", "1", "2"])]
)
def test_whole_numbers_have_one_tick_each(steps: tuple[int, ...], ticks: list[str]) -> None:
    rows: list[Row] = [{"loop": "a", "generation": step, "loss": 0.5 + step / 100} for step in steps]
    texts = drawn_texts(lines("Loss", rows, "generation", "loss", "loop"))
    assert texts[: texts.index("generation")] == ticks


@pytest.mark.parametrize(("costs", "ticks"), [((202.25, 248), ["202.25", "248"]), ((54.125,), ["54.125"])])
def test_a_logarithmic_axis_without_round_numbers_has_ticks_at_its_ends(
    costs: tuple[float, ...], ticks: list[str]
) -> None:
    rows: list[Row] = [{"ns": ns, "d1-RMSE": 0.1, "kind": "dense"} for ns in costs]
    texts = drawn_texts(points("nets", rows, "ns", "d1-RMSE", "kind", log=True))
    assert texts[: texts.index("ns")] == ticks


def test_lines_of_one_colour_have_different_dashes() -> None:
    def dashes(count: int) -> list[tuple[str, str]]:
        rows: list[Row] = [{"run": f"run {n}", "step": s, "loss": n + s} for n in range(count) for s in (1, 2)]
        svg = svg_of(lines("Loss", rows, "step", "loss", "run", dots=False), 400)
        marks = re.findall(r'aria-roledescription="line mark"([^>]*)>', svg)
        styles = [dict(re.findall(r'(stroke[\w-]*)="([^"]*)"', mark)) for mark in marks]
        return [(style["stroke"], style.get("stroke-dasharray", "")) for style in styles]

    assert len(set(dashes(20))) == 20
    assert {dash for _, dash in dashes(8)} == {""}


def test_names_in_a_legend_are_not_cut() -> None:
    names = [f"a-long-folder-name-of-a-training-{number}" for number in range(2)]
    rows: list[Row] = [{"run": name, "step": step, "loss": 0.5} for name in names for step in (1, 2)]
    svg = svg_of(lines("Loss", rows, "step", "loss", "run"), PNG_WIDTH)
    assert all(f">{name}</text>" in svg for name in names)


@pytest.mark.parametrize("log", [False, True])
def test_labels_stand_beside_their_points_within_the_frame(log: bool) -> None:
    rows: list[Row] = [{"ns": ns, "d1-RMSE": 0.1, "kind": "dense"} for ns in (50, 100, 400)]
    chart = points("nets", rows, "ns", "d1-RMSE", "kind", log, labels={"a": rows[0], "b": rows[1], "c": rows[2]})
    sides = {
        value["label"]: layer["mark"]["align"]
        for layer in chart.spec["layer"]
        if layer["mark"]["type"] == "text"
        for value in layer["data"]["values"]
    }
    assert sides == {"a": "left", "b": "right" if log else "left", "c": "right"}
    assert {"a", "b", "c"} <= set(drawn_texts(chart))
