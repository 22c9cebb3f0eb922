"""Charts in Vega-Lite: one description is drawn on the page, with tooltips, and as a PNG.

A row is one point: its fields by their English names, all of which the tooltip shows. Titles and the names of fields
are drawn in the reader's language.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from experiments.drawing.fonts import NOTATION_FONT
from experiments.language.catalogue import label
from lite.notation.columns import columns_of

Row = dict[str, Any]
Spec = dict[str, Any]

MACHINE = "machine"
"""Field whose values are distinguished by shape, where there is more than one."""
COLOURS = ("#3f83c8", "#d9742b", "#2f9e6e", "#b05cc6", "#b8901c", "#d64f5f", "#3899ab", "#8a7f70")
"""Colours that are visible on a white page and on a black one."""
HOVER = {"content": "data"}
LABEL = "label"
BESIDE = {"baseline": "bottom", "dy": -3, "fontSize": 11}
LEFT, RIGHT = {"align": "right", "dx": -7}, {"align": "left", "dx": 7}
"""Place of a point's label, and the sides of the point on which it may stand."""
NEAR_LEFT = 0.3
"""Share of the x axis whose points have their labels on the right, because the others' would cover the y axis."""
EDGE = 12
"""Pixels between the outermost points and the frame, where the axis is logarithmic."""
DIGITS = 5
"""Digits of the numbers in tooltips and of an axis with one value."""
LEGEND_COLUMNS = 2
DASHES: tuple[list[int], ...] = ([], [6, 3], [2, 2], [8, 2, 2, 2])
"""Dashes of the lines: the next ones where the colours begin again."""
ALL_TICKS = 10
"""Greatest distance of whole numbers on an axis that each have a tick: Vega would put ticks between them."""
TICK_DIGITS = ((1, 1.5, 2, 3, 5, 7), (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9))
"""First digits of the ticks of a logarithmic axis: those that are enough, coarse ones first."""
LEAST_TICKS = 4
ERROR = 1.96
"""Standard errors that a 95 % interval reaches to either side."""
LINE_HEIGHT = 22
"""Height of a line of `intervals`, pixels."""
NAME_LENGTH, NAME_HEIGHT = 26, 13
"""Columns after which the name of such a line is wrapped, and the height of each further line of a name, pixels."""
PNG_WIDTH = 720
LEGEND_SYMBOL = 70
"""Pixels of a column of a legend beside its text."""
PADDING = {"left": 5, "top": 5, "right": 18, "bottom": 5}
"""Pixels around a chart: the last number of an axis reaches over its right end."""
FONT = "system-ui, sans-serif"


@dataclass(frozen=True)
class Chart:
    """A chart and its heading."""

    title: str
    spec: Spec
    """Description in Vega-Lite 6, as wide as its container."""


def draw_png(chart: Chart) -> bytes:
    """Return the chart as a PNG, dark on white."""
    import vl_convert

    _register_font()
    spec = json.dumps({**chart.spec, "width": PNG_WIDTH, "title": chart.title}, ensure_ascii=False)
    spec = spec.encode(errors="replace").decode()  # names of files that are not UTF-8
    png: bytes = vl_convert.vegalite_to_png(spec, config=config("#24292f", "#d8dce1", "#ffffff", FONT), scale=2)
    return png


@cache
def _register_font() -> None:
    """Let the library that draws PNGs find characters in this package's font that no font of the system has."""
    import vl_convert

    vl_convert.register_font_directory(str(NOTATION_FONT.parent))


def config(ink: str, grid: str, background: str, font: str) -> Spec:
    """Return the configuration of all charts. Colours may be CSS variables of the page."""
    words = {"labelColor": ink, "titleColor": ink, "labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": 500}
    legend = {
        "orient": "bottom",
        "columns": LEGEND_COLUMNS,
        "labelLimit": PNG_WIDTH // LEGEND_COLUMNS - LEGEND_SYMBOL,
        "layout": {"bottom": {"direction": "vertical"}},  # legends side by side would be wider than the chart
        "symbolLimit": 0,
        "symbolBaseFillColor": ink,
        "symbolBaseStrokeColor": ink,
    }
    return {
        "background": background,
        "font": font,
        "padding": PADDING,
        "view": {"stroke": None},
        "axis": {**words, "gridColor": grid, "domainColor": grid, "tickColor": grid, "labelLimit": 170},
        "legend": {**words, **legend},
        "title": {"color": ink},
        "range": {"category": list(COLOURS)},
        "rule": {"color": grid},
    }


def lines(title: str, rows: Sequence[Row], x: str, y: str, by: str, log: bool = False, dots: bool = True) -> Chart:
    """Return a chart with a line for each value of `by`. `dots`: show the points; a line of one point always shows it.
    `log`: logarithmic x axis."""
    kind = "ordinal" if isinstance(rows[0][x], str) else "quantitative"
    across = {"field": label(x), "type": kind, **({"sort": None} if kind == "ordinal" else _across(rows, x, log))}
    seen = [value for value, count in Counter(row[by] for row in rows).items() if dots or count == 1]
    return _chart(
        title,
        rows,
        {"x": across, "y": _measure(rows, y), "color": _colour(rows, by)},
        [
            {"mark": {"type": "line", "strokeWidth": 1.6}, "encoding": _dash(rows, by)},
            {
                "mark": {"type": "point", "filled": True, "size": 45, "tooltip": HOVER},
                "encoding": {
                    "opacity": {"condition": {"test": {"field": label(by), "oneOf": seen}, "value": 1}, "value": 0},
                },
            },
        ],
    )


def diagonal(chart: Chart) -> Chart:
    """Return the chart with the line on which both axes are equal, from 0 to 1."""
    fields = [chart.spec["encoding"][axis]["field"] for axis in ("x", "y")]
    line = {
        "data": {"values": [dict.fromkeys(fields, end) for end in (0, 1)]},
        "mark": {"type": "line", "strokeDash": [4, 4], "strokeWidth": 1},
        "encoding": {"color": {"value": "#999999"}},
    }
    return Chart(chart.title, {**chart.spec, "layer": [line, *chart.spec["layer"]]})


def intervals(title: str, rows: Sequence[Row], name: str, x: str, by: str, among: Sequence[str] = ()) -> Chart:
    """Return a chart with a line for each row, with the point `x` and its interval from `x from` to `x to`, if it has
    one. `among`: as in `points`."""
    colour = _colour(rows, by, among)
    ends = [
        {
            "mark": {"type": "rule", "strokeWidth": 1.5},
            "encoding": {"x": _measure(rows, x, f"{x} from"), "x2": {"field": label(f"{x} to")}, "color": colour},
        }
    ]
    points = {
        "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1, "tooltip": HOVER},
        "encoding": {"x": _measure(rows, x), "color": colour, **_shape(rows)},
    }
    wrapped = {text: _wrapped(text) for text in (str(row[name]) for row in rows)}
    axis = {"grid": True, "labelExpr": f"({json.dumps(wrapped, ensure_ascii=False)})[datum.label]"}
    down = {"y": {"field": label(name), "type": "nominal", "sort": None, "title": None, "axis": axis}}
    line_height = LINE_HEIGHT + NAME_HEIGHT * (max(map(len, wrapped.values())) - 1)
    height = line_height * len(wrapped) + LINE_HEIGHT
    bounded = any(f"{x} from" in row for row in rows)
    return _chart(title, rows, down, [*(ends if bounded else ()), points], height)


def points(
    title: str,
    rows: Sequence[Row],
    x: str,
    y: str,
    by: str,
    log: bool = False,
    front: Sequence[Row] = (),
    among: Sequence[str] = (),
    labels: Mapping[str, Row] | None = None,
) -> Chart:
    """Return a chart with a point for each row, and its interval from `y from` to `y to`, if it has one.

    `front`: rows to be joined by a line, one line per machine. `labels`: rows that are labelled by their keys. `among`:
    all values of `by` in a group of charts, so that each has one colour in all of them."""
    colour = _colour(rows, by, among)
    layers: list[Spec] = []
    if front:
        ordered = sorted(map(_drawn, front), key=lambda row: row[label(x)])
        mark = {"type": "line", "strokeDash": [2, 3], "strokeWidth": 1.5}
        encoding: Spec = {"y": _measure(rows, y), "color": {"value": "#999999"}}
        if any(MACHINE in row for row in front):
            encoding["detail"] = {"field": label(MACHINE)}
        layers.append({"data": {"values": ordered}, "mark": mark, "encoding": encoding})
    if any(f"{y} from" in row for row in rows):
        span = {"y": _measure(rows, y, f"{y} from"), "y2": {"field": label(f"{y} to")}}
        layers.append({"mark": {"type": "rule"}, "encoding": {**span, "color": colour}})
    mark = {"type": "point", "filled": True, "size": 80, "opacity": 1, "tooltip": HOVER}
    layers.append({"mark": mark, "encoding": {"y": _measure(rows, y), "color": colour, **_shape(rows)}})
    encoding = {"y": _measure(rows, y), "color": colour, "text": {"field": label(LABEL)}}
    for side, named in _by_side(rows, labels or {}, x, log):
        values = [_drawn({x: row[x], y: row[y], by: row[by], LABEL: name}) for name, row in named.items()]
        layers.append({"data": {"values": values}, "mark": {"type": "text", **BESIDE, **side}, "encoding": encoding})
    return _chart(title, rows, {"x": {"field": label(x), "type": "quantitative", **_across(rows, x, log)}}, layers)


def pareto_front(rows: Sequence[Row], cost: str, worth: str, lower: bool = False) -> list[Row]:
    """Return the rows that no other row dominates by less `cost` and more `worth`, or less `worth` if `lower`. Equal
    rows are all returned."""

    def figures(row: Row) -> tuple[float, float]:
        return row[cost], row[worth] if lower else -row[worth]

    def beaten(row: Row) -> bool:
        mine = figures(row)
        return any(other != mine and other[0] <= mine[0] and other[1] <= mine[1] for other in map(figures, rows))

    return [row for row in rows if not beaten(row)]


def interval(name: str, middle: float | None, low: float | None, high: float | None) -> Row:
    """Return the fields of a figure and of its interval, which ends at the figure on a side without a bound."""
    if middle is None:
        return {}
    if low is None and high is None:
        return {name: middle}
    ends = {"from": low, "to": high}
    return {name: middle} | {f"{name} {end}": middle if value is None else value for end, value in ends.items()}


def around(name: str, middle: float, error: float | None, reach: float = ERROR) -> Row:
    """Return the fields of a figure and of its interval of `reach` standard errors to either side, if the error is
    known."""
    if error is None:
        return interval(name, middle, None, None)
    return interval(name, middle, middle - reach * error, middle + reach * error)


def _chart(title: str, rows: Sequence[Row], encoding: Spec, layers: list[Spec], height: int = 280) -> Chart:
    return Chart(
        label(title),
        {
            "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
            "width": "container",
            "height": height,
            "autosize": {"type": "fit-x", "contains": "padding"},
            "data": {"values": list(map(_drawn, rows))},
            "encoding": encoding,
            "layer": layers,
        },
    )


def _drawn(row: Row) -> Row:
    """Return a row as it is drawn: numbers are rounded, and fields have the names that a reader sees."""
    return {label(name): _rounded(value) if isinstance(value, float) else value for name, value in row.items()}


def _rounded(value: float) -> float:
    """Return a number as it is drawn."""
    return float(f"{value:.{DIGITS}g}")


def _measure(rows: Sequence[Row], name: str, field: str | None = None) -> Spec:
    """Return the axis of a figure and its interval; `field`: the field that is shown, if not the figure itself."""
    values = (row[end] for row in rows for end in (name, f"{name} from", f"{name} to") if end in row)
    axis = {"field": label(field or name), "type": "quantitative", "title": label(name), "scale": {"zero": False}}
    return {**axis, **_digits(values)}


def _digits(values: Iterable[Any]) -> Spec:
    """Return the number format of an axis with one value, whose only tick would be a whole number otherwise."""
    return {"axis": {"format": f",.{DIGITS}~r"}} if len(set(values)) == 1 else {}


def _log_ticks(values: Sequence[float]) -> list[float]:
    """Return round numbers from the least to the greatest value, with several in each power of ten; these two values
    where fewer than two round numbers lie between them."""
    least, most = min((value for value in values if value > 0), default=1.0), max(values)
    powers = range(math.floor(math.log10(least)), math.floor(math.log10(max(most, least))) + 1)
    for digits in TICK_DIGITS:
        ticks = [float(f"{digit}e{power}") for power in powers for digit in digits]
        ticks = [tick for tick in ticks if least <= tick <= most]
        if len(ticks) >= LEAST_TICKS:
            break
    return ticks if len(ticks) > 1 else sorted({_rounded(least), _rounded(max(most, least))})


def _wrapped(name: str) -> list[str]:
    """Return the lines of a name, of at most NAME_LENGTH columns each."""
    mark = "\0"  # stands for the second column of a wide character
    spaced = "".join(one + mark * (columns_of(one) - 1) for one in name)
    return [line.replace(mark, "") for line in textwrap.wrap(spaced, NAME_LENGTH)] or [name]


def _across(rows: Sequence[Row], x: str, log: bool) -> Spec:
    """Return the x axis; whole numbers have no ticks between them."""
    values = [row[x] for row in rows]
    whole: Spec = {}
    if all(isinstance(value, int) for value in values):
        least, most = min(values), max(values)
        ticks = {"values": [*range(least, most + 1)]} if most - least <= ALL_TICKS else {}
        whole = {"axis": {"tickMinStep": 1, "format": ",d", **ticks}}
    if log:
        scale = {"type": "log", "nice": False, "padding": EDGE}
        axis = {"values": _log_ticks(values), "labelOverlap": "greedy", "labelSeparation": 8}
        return {"scale": scale, "axis": axis}
    return {"scale": {"zero": False}, **(whole or _digits(values))}


def _by_side(
    rows: Sequence[Row], labels: Mapping[str, Row], x: str, log: bool
) -> Iterator[tuple[Spec, dict[str, Row]]]:
    """Yield the sides of points on which labels stand, each with its labelled rows."""

    def place(row: Row) -> float:
        return math.log(row[x]) if log and row[x] > 0 else row[x]

    least, most = min(map(place, rows)), max(map(place, rows))
    edge = least + NEAR_LEFT * (most - least)
    for side, is_left in ((LEFT, False), (RIGHT, True)):
        if named := {name: row for name, row in labels.items() if (place(row) < edge) == is_left}:
            yield side, named


def _colour(rows: Sequence[Row], by: str, among: Sequence[str] = ()) -> Spec:
    """Return the colours of the values, those of `among` first; a single value has no legend."""
    values = list(dict.fromkeys(row[by] for row in rows))
    domain = list(dict.fromkeys([*among, *values]))
    legend = {"values": [value for value in domain if value in values]} if len(values) > 1 else None
    return {"field": label(by), "type": "nominal", "title": None, "scale": {"domain": domain}, "legend": legend}


def _dash(rows: Sequence[Row], by: str) -> Spec:
    """Return the dashes of lines of which several have one colour; nothing where each has its own."""
    domain = list(dict.fromkeys(row[by] for row in rows))
    if len(domain) <= len(COLOURS):
        return {}
    dashes = [DASHES[number // len(COLOURS) % len(DASHES)] for number in range(len(domain))]
    scale = {"domain": domain, "range": dashes}
    legend = {"symbolType": "stroke", "symbolSize": 300}
    return {"strokeDash": {"field": label(by), "type": "nominal", "title": None, "scale": scale, "legend": legend}}


def _shape(rows: Sequence[Row]) -> Spec:
    several = len({row.get(MACHINE) for row in rows}) > 1
    return {"shape": {"field": label(MACHINE), "type": "nominal", "title": None}} if several else {}
