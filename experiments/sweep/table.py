"""What a sweep has come to, as a table: the cheapest evaluation first."""

from __future__ import annotations

from collections.abc import Callable

from experiments.arena.strength import in_words
from experiments.results import Line, Results
from experiments.sweep.games import NODES, TIME

Column = tuple[str, Callable[[Line], str]]


def sweep_nets(results: Results) -> list[Line]:
    """The lines of nets, with their games beside (`games`, `timed games`; None without)."""
    nets = [line for (kind, _, _), line in results.lines.items() if kind == "net"]
    nets.sort(key=lambda net: (net["evaluation_ns"], net["d1_rmse"]))
    return [net | {kind: results.find(kind, net["name"], net["seed"]) for kind in (NODES, TIME)} for net in nets]


def name_of(net: Line) -> str:
    """In tables and charts."""
    return str(net["label"]) + (f", seed {net['seed']}" if net["seed"] else "")


def as_markdown(results: Results) -> str:
    """A line a net; what failed below."""
    nets = sweep_nets(results)
    columns = [column for column in COLUMNS if any(column[1](net) for net in nets)]
    lines = [[name for name, _ in columns], ["---"] * len(columns)]
    lines += [[show(net) for _, show in columns] for net in nets]
    text = "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n" if nets else ""
    done = {(net["name"], net["seed"]) for net in nets}
    for (kind, name, seed), line in results.lines.items():
        if kind == "failed" and (name, seed) not in done:
            text += f"\nFailed: {line['label']}, seed {seed}: {line['why']}\n"
    return text


def _elo(kind: str) -> Callable[[Line], str]:
    def show(net: Line) -> str:
        games = net[kind]
        if games is None:
            return ""
        return in_words(games["elo"], games["elo_low"], games["elo_high"]).removeprefix("Elo ")

    return show


COLUMNS: list[Column] = [
    ("net", name_of),
    ("shape", lambda net: f"{net['features']} {'-'.join(map(str, net['shape']))}"),
    ("ns an evaluation", lambda net: f"{net['evaluation_ns']:.0f}"),
    ("nodes/s", lambda net: f"{net['nps']:,}"),
    ("multiply-adds", lambda net: f"{net['multiply_adds']:,}"),
    ("KB", lambda net: f"{net['bytes'] / 1000:,.0f}"),
    ("d1-RMSE", lambda net: f"{net['d1_rmse']:.4f} +- {net['d1_rmse_error']:.4f}"),
    ("accuracy", lambda net: f"{100 * net['accuracy']:.2f} %"),
    ("log loss", lambda net: f"{net['log_loss']:.4f}"),
    ("rounding, logits", lambda net: f"{net['rounding']:.3f}" if "rounding" in net else ""),
    ("Elo at equal nodes", _elo(NODES)),
    ("Elo at equal time", _elo(TIME)),
    ("million samples", lambda net: f"{net['samples'] / 1e6:.1f}" if "samples" in net else ""),
    ("CPU seconds", lambda net: f"{net['cpu_seconds']:.0f}" if "cpu_seconds" in net else ""),
    ("machine", lambda net: f"{net['cpu']}, {net['kernel']}"),
]
