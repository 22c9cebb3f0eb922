"""The page as HTML, with its charts and their library inside.

Charts are described in Vega-Lite; their colours are CSS variables, so charts are light or dark as the page is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from urllib.parse import quote

import cshogi

from experiments.drawing.fonts import NOTATION, font_face
from experiments.drawing.html_page import html_page, json_script
from experiments.language.catalogue import label, reader
from experiments.language.english import ENGLISH
from experiments.report.charts import FONT, LEGEND_SYMBOL, config
from experiments.report.section import Board, Origin, Section, Table

STYLE = """
:root { color-scheme: light dark; --ink: #24292f; --faint: #57606a; --grid: #d8dce1; --page: #ffffff; --link: #0a58ca }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8eb; --faint: #a3abb5; --grid: #3b424a; --page: #15181c; --link: #7fb2ff }
}
body { background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; margin: 0 auto;
  max-width: 76rem; padding: 1rem }
a { color: var(--link) }
h1, h2 { line-height: 1.2 } h2 { border-top: 1px solid var(--grid); margin-top: 2.5rem; padding-top: 1rem }
p, figcaption, nav { color: var(--faint) } p { max-width: 60rem }
figure { break-inside: avoid; margin: 1.5rem 0 } h3 { font-size: 1rem; margin: 0 0 .3rem; overflow-wrap: anywhere }
.chart { width: 100% } .chart svg { height: auto; max-width: 100% }
/* A shade at the right edge shows that a table continues. */
.wide { background: linear-gradient(to left, var(--page) 1rem, transparent 3rem) 100% 0 / 3rem 100% no-repeat local,
  linear-gradient(to left, var(--grid), transparent) 100% 0 / 1rem 100% no-repeat scroll; overflow-x: auto }
table { border-collapse: collapse; font-size: .82rem; margin: 1rem 0 }
th, td { border-bottom: 1px solid var(--grid); padding: .25rem .6rem; text-align: left; vertical-align: top }
th { font-weight: 600 } td { font-variant-numeric: tabular-nums }
.wide td:first-child { min-width: 6rem }
td.short { white-space: nowrap } td.long { min-width: 16rem; overflow-wrap: anywhere }
@media (max-width: 30rem) {
  body { padding: .8rem } table { font-size: .74rem } th, td { padding: .2rem .3rem } td.long { min-width: 12rem }
  .wide td:first-child { max-width: 8.5rem; overflow-wrap: anywhere; white-space: normal }
}
.boards { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)) }
.boards figure { margin: 0 } .boards svg { background: #ffffff; height: auto; width: 100% }
.boards figcaption { font-size: .8rem; overflow-wrap: anywhere }
#vg-tooltip-element { background: var(--page); border-color: var(--grid); color: var(--ink);
  max-width: min(30rem, 80vw) }
#vg-tooltip-element table tr td.key { color: var(--faint); max-width: 9rem }
#vg-tooltip-element table tr td.value { max-width: 20rem; overflow-wrap: anywhere; max-height: none }
@media print {
  :root { color-scheme: light; --ink: #000000; --faint: #333333; --grid: #bbbbbb; --page: #ffffff; --link: #000000 }
  body { font-size: 10pt; max-width: none; padding: 0 } .wide { overflow: visible } td.long { min-width: 0 }
  td.short { white-space: normal }
  table { font-size: 7pt } td, th { overflow-wrap: anywhere; padding: 1pt 3pt } tr { break-inside: avoid }
}
"""
NOT_DRAWN = "This chart could not be drawn"
DRAW = """
const LABEL_SHIFTS = [0, 18, 30, -12]; // pixels
const drawn = JSON.parse(document.getElementById("charts").textContent);
const legend = drawn.config.legend;
const width = document.body.clientWidth;
if (width < 600) legend.columns = 1; // a phone: a legend begins at the right of the numbers of the y axis
legend.labelLimit = width < 600 ? width - 110 : Math.min(400, width / legend.columns - LEGEND_SYMBOL);
const options = { renderer: "svg", actions: false, config: drawn.config };
// Moves the label of a point away from labels before it, and hides it if no place is free: the tooltip has its name.
const covers = (one, other) =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
const separate = (chart) => {
  const placed = [];
  for (const text of chart.querySelectorAll(".mark-text.role-mark text")) {
    const free = LABEL_SHIFTS.some((shift) => {
      text.style.translate = `0 ${shift}px`;
      const box = text.getBoundingClientRect();
      return !placed.some((other) => covers(box, other)) && placed.push(box);
    });
    text.style.visibility = free ? "visible" : "hidden";
  }
};
const draw = (spec, number) => vegaEmbed(`#chart-${number}`, spec, options).then(({ view }) => {
  const chart = document.getElementById(`chart-${number}`);
  separate(chart);
  view.addResizeListener(() => requestAnimationFrame(() => separate(chart)));
}).catch((error) => {
  document.getElementById(`chart-${number}`).textContent = `NOT_DRAWN: ${error}`;
  console.error(error);
});
Promise.all(drawn.specs.map(draw)).then(() => { document.documentElement.dataset.drawn = drawn.specs.length; });
"""
FONTS = f"system-ui, 'Noto Sans JP', 'Noto Sans CJK JP', 'Hiragino Sans', Meiryo, '{NOTATION}', sans-serif"
"""Fonts of a Japanese page, in the order in which each character is looked for."""
STYLE_OF_JAPANESE = f"body {{ font-family: {FONTS} }} th {{ word-break: keep-all; word-break: auto-phrase }}\n"
HIDE = "<script>document.body.hidden = true;</script>"
SHOW = f"""
// Chromium keeps the empty frames that it draws for kanji before their font is loaded: show all texts only now.
document.fonts.load("1rem '{NOTATION}'").finally(() => {{ document.body.hidden = false; DRAW }});
"""
ORIGINS = "Commands and machines"
ORIGIN_HEAD = ("run", "command", "program", "machine", "seed", "when")
SHORT, LONG = 20, 48
"""Characters up to which a cell is not broken, and above which it has a minimum width and breaks anywhere."""


def as_page(title: str, sections: Sequence[Section], pictures: Mapping[int, str]) -> str:
    """Return the page as HTML, in the reader's language around the sections; `pictures` are the files beside it, by the
    numbers of their charts."""
    import vl_convert

    is_english = reader() is ENGLISH
    needs_font = not is_english or any(section.boards for section in sections)
    links = [f'<a href="#{_anchor(one.title)}">{escape(one.title)}</a>' for one in sections]
    links.append(f'<a href="#origins">{escape(label(ORIGINS))}</a>')
    charts = [chart for section in sections for chart in section.charts]
    parts, number = [], 0
    for section in sections:
        parts.append(_section(section, number, pictures))
        number += len(section.charts)
    drawn = {
        "specs": [chart.spec for chart in charts],
        "config": config("var(--ink)", "var(--grid)", "transparent", FONT if is_english else FONTS),
    }
    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub lacks the default
    script = DRAW.replace("NOT_DRAWN", label(NOT_DRAWN)).replace("LEGEND_SYMBOL", str(LEGEND_SYMBOL))
    body = [
        *((HIDE,) if needs_font else ()),
        f"<h1>{escape(title)}</h1>",
        f"<nav>{' · '.join(links)}</nav>",
        *parts,
        _origins([origin for section in sections for origin in section.origins]),
        json_script("charts", drawn),
        f"<script>{bundle}</script>",
        f"<script>{SHOW.replace('DRAW', script) if needs_font else script}</script>",
    ]
    font = f"{font_face()}\n" if needs_font else ""
    style = f"{font}{STYLE}{'' if is_english else STYLE_OF_JAPANESE}"
    return html_page(title, style, "\n".join(body), reader().code)


def _section(section: Section, number: int, pictures: Mapping[int, str]) -> str:
    language = "" if section.language == reader().code else f' lang="{section.language}"'
    parts = [
        f'<section id="{_anchor(section.title)}"{language}>\n'
        f"<h2>{escape(section.title)}</h2>\n<p>{escape(section.about)}</p>"
    ]
    for place, chart in enumerate(section.charts, number):
        file = quote(pictures.get(place, ""))
        link = f'<figcaption><a href="{escape(file)}">PNG</a></figcaption>' if file else ""
        parts.append(
            f'<figure><h3>{escape(chart.title)}</h3><div class="chart" id="chart-{place}"></div>{link}</figure>'
        )
    if section.boards:
        boards = "".join(_board(board, f"board-{place}-") for place, board in enumerate(section.boards))
        parts.append(f'<div class="boards">{boards}</div>')
    parts += map(_table, section.tables)
    return "\n".join([*parts, "</section>\n"])


def _origins(origins: Sequence[Origin]) -> str:
    lines = [(one.run, *map(label, (one.command, one.program, one.machine, one.seed, one.when))) for one in origins]
    table = _table(Table(tuple(map(label, ORIGIN_HEAD)), lines))
    return f'<section id="origins">\n<h2>{escape(label(ORIGINS))}</h2>\n{table}</section>'


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.head)
    lines = "".join(f"<tr>{''.join(map(_cell, line))}</tr>\n" for line in table.lines)
    title = f"<h3>{escape(table.title)}</h3>" if table.title else ""
    return f'{title}<div class="wide"><table><thead><tr>{head}</tr></thead>\n<tbody>{lines}</tbody></table></div>'


def _cell(text: str) -> str:
    kind = ' class="short"' if len(text) <= SHORT else ' class="long"' if len(text) > LONG else ""
    return f"<td{kind}>{escape(text)}</td>"


def _board(board: Board, prefix: str) -> str:
    """Return a board within the page, whose font it needs; `prefix` makes its ids differ from those of other boards."""
    svg = re.sub(r'\b(id="|href="#)', rf"\g<1>{prefix}", str(cshogi.Board(board.sfen).to_svg()))
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{escape(board.sfen)}" ', 1)
    svg = svg.replace('font-family="serif"', f"font-family=\"serif, '{NOTATION}'\"")
    words = "<br>".join(map(escape, board.words))
    return f"<figure>{svg}<figcaption>{words}</figcaption></figure>"


def _anchor(title: str) -> str:
    return re.sub(r"\W+", "-", title.lower()).strip("-")
