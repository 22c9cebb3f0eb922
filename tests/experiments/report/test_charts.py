"""Charts as a browser draws them: no name is cut, and no label covers the y axis."""

from __future__ import annotations

import re

import pytest
import vl_convert

from experiments.report.charts import Chart, Row, intervals, points

NAMES = [f"sfnn features halfkahm2 width {width} hidden 15-32 stacks k3k3, progress8" for width in (128, 512)]


def drawn_texts(chart: Chart) -> list[str]:
    """Return the texts of a chart from top to bottom, each line of a name on its own."""
    svg: str = vl_convert.vegalite_to_svg({**chart.spec, "width": 400})
    return re.findall(r"<(?:text|tspan)[^>]*>([^<]+)", svg)


def test_long_names_are_drawn_whole() -> None:
    rows: list[Row] = [{"network": name, "d1-RMSE": 0.1, "kind": "sfnn"} for name in NAMES]
    texts = drawn_texts(intervals("nets", rows, "network", "d1-RMSE", "kind"))
    words = [word for text in texts for word in text.split()]
    assert words.count("halfkahm2") == 2
    assert {word.rstrip(",") for name in NAMES for word in name.split()} <= {word.rstrip(",") for word in words}
    assert not any("\u2026" in text for text in texts)


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
