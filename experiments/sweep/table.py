"""What a sweep has come to, as a table: the cheapest evaluation first."""

from __future__ import annotations

from collections.abc import Callable

from experiments.drawing.markdown import markdown_table
from experiments.elo.strength import in_words
from experiments.jobs.results import NET, Line, Results
from experiments.sweep.games import NODES, TIME
from lite.program import machine_of

AT_ZERO = {"games": 0, "wins": 0, "draws": 0, "losses": 0, "points": 0.0, "elo": 0.0, "elo_low": 0.0, "elo_high": 0.0}
"""The opponent's standing against itself, from which Elo counts."""


def sweep_nets(results: Results) -> list[Line]:
    """The lines of nets, the cheapest first, with their games beside (`games`, `timed games`; None without)."""
    nets = [line for (kind, _, _), line in results.lines.items() if kind == NET]
    nets.sort(key=lambda net: (net["evaluation_ns"], net["d1_rmse"]))
    opponents = {line.get("opponent") for (kind, _, _), line in results.lines.items() if kind in (NODES, TIME)}
    return [
        net
        | {
            kind: AT_ZERO if net["net"] in opponents else results.find(kind, net["name"], net["seed"])
            for kind in (NODES, TIME)
        }
        for net in nets
    ]


def name_of(net: Line) -> str:
    """In tables and charts."""
    return str(net["label"]) + (f", seed {net['seed']}" if net["seed"] else "")


def as_markdown(results: Results) -> str:
    """A line a net; what failed below."""
    nets = sweep_nets(results)
    text = markdown_table(nets, COLUMNS) if nets else ""
    done = {(net["name"], net["seed"]) for net in nets}
    for (kind, name, seed), line in results.lines.items():
        if kind == "failed" and (name, seed) not in done:
            text += f"\nFailed: {line['label']}, seed {seed}: {line['why']}\n"
    return text


def elo_of(kind: str) -> Callable[[Line], str]:
    """How the Elo of a kind of games is written; nothing where there are none."""

    def show(net: Line) -> str:
        games = net[kind]
        if games is None:
            return ""
        if games is AT_ZERO:
            return "0, the opponent"
        return in_words(games["elo"], games["elo_low"], games["elo_high"]).removeprefix("Elo ")

    return show


def d1_of(net: Line) -> str:
    return f"{net['d1_rmse']:.4f} +- {net['d1_rmse_error']:.4f}"


COLUMNS: list[tuple[str, Callable[[Line], str]]] = [
    ("net", name_of),
    ("shape", lambda net: f"{net['features']} {'-'.join(map(str, net['shape']))}"),
    ("ns an evaluation", lambda net: f"{net['evaluation_ns']:.0f}"),
    ("of HalfKP's", lambda net: f"{net['evaluation_ns'] / net['reference_ns']:.2f}" if "reference_ns" in net else ""),
    ("nodes/s", lambda net: f"{net['nps']:,}"),
    ("multiply-adds", lambda net: f"{net['multiply_adds']:,}"),
    ("KB", lambda net: f"{net['bytes'] / 1000:,.0f}"),
    ("d1-RMSE", d1_of),
    ("accuracy", lambda net: f"{100 * net['accuracy']:.2f} %"),
    ("log loss", lambda net: f"{net['log_loss']:.4f}"),
    ("rounding, logits", lambda net: f"{net['rounding']:.3f}" if "rounding" in net else ""),
    ("Elo at equal nodes", elo_of(NODES)),
    ("Elo at equal time", elo_of(TIME)),
    ("million samples", lambda net: f"{net['samples'] / 1e6:.1f}" if "samples" in net else ""),
    ("CPU seconds", lambda net: f"{net['cpu_seconds']:.0f}" if "cpu_seconds" in net else ""),
    ("machine", machine_of),
]
