"""Pictures: what people would rather look at than read."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from search.alphabeta.parameters import Parameter
from search.system.files import write_atomically

COLOURS = {"demo": "#1f6fb4", "default": "#c8553d", "material": "#7a7a7a"}


def draw_training(
    log: list[dict[str, Any]], reports: dict[str, dict[str, Any]], accuracy: dict[str, float], path: Path
) -> None:
    """A PNG of a training run: loss and held-out accuracy over the steps, calibration, accuracy by ply.

    `log` is a run's `log.jsonl`, `reports` those of `lite.training.metrics` by network name (the run's own is "demo").
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, ((curves, held_out), (calibration, by_ply)) = pyplot.subplots(2, 2, figsize=(11, 8))
    steps = [line for line in log if line["kind"] == "train"]
    curves.plot([line["step"] for line in steps], [line["loss"] for line in steps], color=COLOURS["demo"], lw=1)
    curves.set(title="Training loss", xlabel="step", ylabel="cross entropy with the blended target")

    tested = [line for line in log if line["kind"] == "valid"]
    held_out.plot(
        [line["step"] for line in tested],
        [100 * line["accuracy"] for line in tested],
        marker="o",
        color=COLOURS["demo"],
        label="while training",
    )
    for name, value in accuracy.items():
        held_out.axhline(
            100 * value, color=COLOURS.get(name, "black"), ls="--", lw=1, label=f"{name} {100 * value:.1f} %"
        )
    held_out.set(title="Accuracy on held-out games", xlabel="step", ylabel="% of decided positions")
    held_out.legend(fontsize=8)

    calibration.plot([0, 1], [0, 1], color="#bbbbbb", lw=1)
    for name, report in reports.items():
        bins = report["calibration"]
        predicted, actual = [b["predicted"] for b in bins], [b["actual"] for b in bins]
        calibration.plot(predicted, actual, marker="o", color=COLOURS.get(name), label=name)
    calibration.set(title="Calibration", xlabel="predicted win rate", ylabel="actual result", xlim=(0, 1), ylim=(0, 1))
    calibration.legend(fontsize=8)

    for name, report in reports.items():
        bands = report["by_ply"]
        by_ply.plot(
            [band["band"].removeprefix("ply ") for band in bands],
            [100 * band["accuracy"] if band["accuracy"] is not None else float("nan") for band in bands],
            marker="o",
            color=COLOURS.get(name),
            label=name,
        )
    by_ply.set(title="Accuracy by ply", xlabel="ply", ylabel="% of decided positions")
    by_ply.tick_params(axis="x", rotation=45)
    by_ply.legend(fontsize=8)

    write_figure(figure, path)


NAMED_NUMBERS = 16
"""How many lines of a tuning have a colour and a name; more are not told apart."""


def draw_tuning(history: list[dict[str, float]], games: int, parameters: Sequence[Parameter], path: Path) -> None:
    """A PNG of a tuning: how far each number has gone from its default, in its own steps, over the games.

    `history` holds the values by name, each after so many `games` more; those that have gone farthest are named in
    order of where they ended.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(11, 6))
    over = [games * point for point in range(len(history) + 1)]
    gone = {one.name: [0.0, *((values[one.name] - one.default) / one.step for values in history)] for one in parameters}
    farthest = sorted(parameters, key=lambda one: -abs(gone[one.name][-1]))
    for number, one in enumerate(sorted(farthest[:NAMED_NUMBERS], key=lambda one: -gone[one.name][-1])):
        label = f"{one.name} {one.default} \u2192 {history[-1][one.name]:.1f}"
        axes.plot(over, gone[one.name], lw=1.2, color=f"C{number % 10}", ls="-" if number < 10 else "--", label=label)
    others = farthest[NAMED_NUMBERS:]
    for number, one in enumerate(others):
        group = None if number else f"{len(others)} others"
        axes.plot(over, gone[one.name], lw=0.6, color="#bbbbbb", zorder=0.5, label=group)
    axes.axhline(0, color="#888888", lw=1, zorder=0)
    axes.set(title="Tuned numbers of the search", xlabel="games", ylabel="steps from the default")
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    write_figure(figure, path)


def draw_comparison(report: dict[str, Any], path: Path) -> None:
    """A PNG of a comparison: held-out losses and accuracies after each epoch, seed by seed; draws also calibrated.

    `report` is what `liteshogi compare --json` prints.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = [("accuracy", "Value accuracy"), ("log_loss", "Value loss")]
    if report["preset"] != "nets":
        shown = [("policy_accuracy", "Policy accuracy"), ("policy_loss", "Policy loss"), *shown]
    calibrated = any(any(row["calibration"]) for row in report["rows"])
    count = len(shown) + calibrated
    figure, axes = pyplot.subplots((count + 1) // 2, 2, figsize=(11, 4 * ((count + 1) // 2)), squeeze=False)
    places = list(axes.flat)
    for place, (name, title) in zip(places, shown, strict=False):
        for number, row in enumerate(report["rows"]):
            for seed, log in enumerate(row["log"]):
                values = [line.get(name) for line in log]
                label = row["variant"] if seed == 0 else None
                place.plot(range(1, len(values) + 1), values, marker=".", color=f"C{number}", label=label)
        place.set(title=f"{title} on held-out games", xlabel="epoch")
        place.xaxis.get_major_locator().set_params(integer=True)
        place.legend(fontsize=8)
    if calibrated:
        place = places[len(shown)]
        for number, row in enumerate(report["rows"]):
            for bins in filter(None, row["calibration"]):
                predicted, actual = [b["predicted"] for b in bins], [b["actual"] for b in bins]
                place.plot(predicted, actual, marker="o", color=f"C{number}")
        largest = max(place.get_xlim()[1], place.get_ylim()[1])
        place.plot([0, largest], [0, largest], color="#bbbbbb", lw=1)
        place.set(title="Calibration of the draw head", xlabel="predicted", ylabel="share of draws")
    for place in places[count:]:
        place.remove()
    write_figure(figure, path)


AS_TYPED: Any = {"text.parse_math": False}
"""For names from elsewhere: what stands between two dollars is no formula."""


def write_figure(figure: Any, path: Path) -> None:
    """A figure of matplotlib's, as a PNG."""
    figure.tight_layout()
    save_figure(figure, path)


def save_figure(figure: Any, path: Path) -> None:
    """A figure of matplotlib's as it is laid out, as an SVG where the path ends so, else as a PNG."""
    from matplotlib import pyplot

    content = io.BytesIO()
    if path.suffix.lower() == ".svg":
        figure.savefig(content, format="svg", metadata={"Date": None})  # the same picture is the same file
    else:
        figure.savefig(content, format="png", dpi=110)
    pyplot.close(figure)
    write_atomically(path, content.getvalue())


SIDES = {"black": "#20242b", "white": "#d9a441"}
MARKERS = {"blunder": ("X", 90), "mistake": ("X", 55), "doubtful": ("o", 26)}
WORDS = (0.12, 0.045)
"""Room that the words at a bad move take, in shares of the moves and of the win rate."""
JAPANESE_FONTS = (
    "Noto Sans CJK JP",
    "Noto Sans JP",
    "IPAexGothic",
    "IPAGothic",
    "TakaoGothic",
    "VL Gothic",
    "Hiragino Sans",
    "Yu Gothic",
    "Meiryo",
    "MS Gothic",
)
"""Those that look best, where there are several."""
NOTATION_FONT = Path(__file__).with_name("fonts") / "shogi-notation.ttf"
NOTATION = "Shogi Notation"
"""Its name."""
SCORE_LIMITS = (1000, 3000)
"""Centipawns where the picture's scores end: at least and at most. Mates are drawn at the edge."""


def japanese_fonts() -> list[str]:
    """Fonts to look for each character in, in this order: a Japanese one, if the system has it, matplotlib's own, and
    the one of this package, which has what moves and pieces are written in."""
    from matplotlib import font_manager

    manager = font_manager.fontManager
    if NOTATION not in manager.get_font_names():
        manager.addfont(NOTATION_FONT)
    found = _system_font()
    return [*([found] if found else []), "DejaVu Sans", NOTATION]


def can_be_drawn(text: str, fonts: Sequence[str]) -> bool:
    """Whether the fonts have all of its characters."""
    from matplotlib import font_manager

    found = [font_manager.get_font(font_manager.findfont(name)) for name in fonts]
    return all(any(font.get_char_index(ord(character)) for font in found) for character in text)


def _system_font() -> str | None:
    """The name of a font with Japanese characters, if the system has one."""
    from matplotlib import font_manager

    manager = font_manager.fontManager
    known = {font.fname for font in manager.ttflist}
    for path in font_manager.findSystemFonts():
        if path not in known:  # installed since matplotlib made its list of fonts, which it keeps
            with contextlib.suppress(OSError, RuntimeError):
                manager.addfont(path)
    # matplotlib's own last resort has an empty frame for every character.
    found = {font.name: font.fname for font in manager.ttflist if not font.name.startswith(("Last Resort", NOTATION))}
    for name in (*(name for name in JAPANESE_FONTS if name in found), *found):
        with contextlib.suppress(OSError, RuntimeError):
            font = font_manager.get_font(found[name])
            if font.get_char_index(ord("歩")) and font.get_char_index(ord("ア")):
                return name
    return None


def draw_analysis(report: dict[str, Any], path: Path, fonts: Sequence[str]) -> None:
    """A PNG of an analysed game: black's win rate and the scores over the moves, the bad moves of both sides marked.

    `report` is what `experiments.analyse.figures.figures` returns. Sides stand for names that the `fonts` cannot write.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = [row for row in report["moves"] if row["win_rate"] is not None]
    plies = [0, *[row["ply"] for row in rows]]
    rates = [100 * report["first"]["win_rate"], *[100 * row["win_rate"] for row in rows]]
    told = [abs(found["score"]) for found in (report["first"], *rows) if found["score"] is not None]
    limit = max(SCORE_LIMITS[0], min(SCORE_LIMITS[1], -(-max(told, default=0) // 500) * 500))
    scores = [_drawn_score(found, limit) for found in (report["first"], *rows)]
    with pyplot.rc_context({"font.family": list(fonts), **AS_TYPED}):
        figure, (top, bottom) = pyplot.subplots(
            2, 1, figsize=(11, 7), sharex=True, height_ratios=(3, 2), layout="constrained"
        )
        names = [
            name if name and can_be_drawn(name, fonts) else side.capitalize()
            for side, name in zip(("black", "white"), report["names"], strict=True)
        ]
        until = "" if report["complete"] else f" (analysed to move {plies[-1]})"
        handicap = "" if report["handicap"] in (None, "平手") else f"{report['handicap']}   "
        figure.suptitle(f"▲ {names[0]}   △ {names[1]}   {handicap}{report['result']}{until}", fontsize=13)

        top.fill_between(plies, 0, rates, color=SIDES["black"], alpha=0.16, lw=0)
        top.fill_between(plies, rates, 100, color=SIDES["white"], alpha=0.16, lw=0)
        top.plot(plies, rates, color=SIDES["black"], lw=1.6)
        top.axhline(50, color="#999999", lw=0.8)
        top.set(ylabel="win rate of black, %", ylim=(0, 100), yticks=range(0, 101, 25))
        right = top.secondary_yaxis("right", functions=(lambda rate: 100 - rate, lambda rate: 100 - rate))
        right.set(ylabel="of white, %", yticks=range(0, 101, 25))

        _mark_moves(top, rows)
        bottom.axhline(0, color="#999999", lw=0.8)
        bottom.plot(plies, scores, color="#1f6fb4", lw=1.4)
        bottom.set(
            xlabel="move",
            ylabel=f"score of black, centipawns\n(mates at ±{limit})",
            ylim=(-1.06 * limit, 1.06 * limit),
            xlim=(0, max(1, len(report["moves"]))),
        )
        for axis in (top, bottom):
            axis.grid(color="#dddddd", lw=0.5)
        save_figure(figure, path)


def _drawn_score(found: dict[str, Any], limit: int) -> int:
    if found["mate"] is not None:
        # A mate in no moves is one that stands on the board: the win rate says whose.
        return limit if found["win_rate"] > 0.5 else -limit
    return max(-limit, min(limit, int(found["score"])))


def _mark_moves(axis: Any, rows: list[dict[str, Any]]) -> None:
    """Markers on the bad moves, one legend entry a side and kind, and words at the worst ones."""
    from matplotlib.patheffects import withStroke

    for mark, (shape, size) in MARKERS.items():
        for side, colour in SIDES.items():
            found = [row for row in rows if row["mark"] == mark and row["side"] == side]
            if found:
                axis.scatter(
                    [row["ply"] for row in found],
                    [100 * row["win_rate"] for row in found],
                    marker=shape,
                    s=size,
                    color=colour,
                    edgecolor="white",
                    linewidth=0.8,
                    zorder=3,
                    label=f"{'▲' if side == 'black' else '△'} {mark} ({len(found)})",
                )
    worst = sorted((row for row in rows if row["mark"] in ("blunder", "mistake")), key=lambda row: -row["loss"])[:6]
    last = rows[-1]["ply"] if rows else 0
    told: list[tuple[float, float]] = []
    for row in worst:
        # A jump up leaves room below the curve on its right, and above on its left; a jump down the other way round.
        to_right = row["ply"] < 0.88 * last
        above = (row["side"] == "black") == to_right
        across = row["ply"] / last + (WORDS[0] if to_right else -WORDS[0]) / 2
        up = row["win_rate"] + (0.03 if above else -0.03)
        if any(abs(across - x) < WORDS[0] and abs(up - y) < WORDS[1] for x, y in told):
            continue  # nobody could read either of them
        told.append((across, up))
        axis.annotate(
            f"{row['ply']} {row['move_name']}",
            (row["ply"], 100 * row["win_rate"]),
            xytext=(7 if to_right else -7, 5 if above else -5),
            textcoords="offset points",
            ha="left" if to_right else "right",
            va="bottom" if above else "top",
            fontsize=8,
            color="#333333",
            # The curve often comes back through the words.
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            zorder=4,
        )
    if axis.get_legend_handles_labels()[0]:
        axis.legend(fontsize=8, loc="best", framealpha=0.9)


def draw_ratings(players: Sequence[dict[str, Any]], path: Path) -> None:
    """A PNG of a league: every player's rating with its 95 % interval, the strongest on top.

    `players` are those of `experiments.league.ratings_table.standings`.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context(AS_TYPED):
        figure, axes = pyplot.subplots(figsize=(8, 1.2 + 0.4 * len(players)))
        places = range(len(players))
        elo, errors = [row["elo"] for row in players], [row["error"] for row in players]
        axes.axvline(0, color="#bbbbbb", lw=1)
        axes.errorbar(elo, places, xerr=errors, fmt="o", color=COLOURS["demo"], ecolor="#7a7a7a", capsize=4)
        for place, row in enumerate(players):
            axes.annotate(
                f"{row['elo']:+.0f} \u00b1 {row['error']:.0f}",
                (row["elo"], place),
                xytext=(0, 8),
                textcoords="offset points",
                ha="center",
                fontsize=8,
            )
        axes.set(yticks=list(places), yticklabels=[row["name"] for row in players], xlabel="Elo, their mean being 0")
        axes.set_ylim(len(players) - 0.5, -0.7)
        axes.margins(x=0.12)
        axes.grid(axis="x", color="#dddddd", lw=0.5)
        write_figure(figure, path)
