"""What an evaluation of a network costs in the engine: on a core of its own, again and again, the median; and what does
not depend on a machine: multiply-adds and bytes."""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from pathlib import Path
from typing import Any

from experiments.verb import Verbs
from search.evaluation.network import EvalNetwork


def machine_cores() -> tuple[set[int], set[int]]:
    """(Cores to work on, the core to time on): of several that this process may use the last is kept idle."""
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    return (set(allowed[:-1]), {allowed[-1]}) if len(allowed) > 1 else (set(allowed), set(allowed))


def sizes(network: EvalNetwork) -> dict[str, int]:
    """{bytes: of rows, biases and layers; multiply_adds: of the layers, an evaluation; row_lanes: 16-bit numbers that
    are added where a row comes or goes, in all perspectives}."""
    parts = [network.rows, network.bias, *(part for layer in network.layers for part in (layer.weight, layer.bias))]
    return {
        "bytes": sum(part.nbytes for part in parts),
        "multiply_adds": sum(layer.weight.size for layer in network.layers),
        "row_lanes": network.width * network.perspectives,
    }


def time_network(net: str, repeats: int, recorded: str = "", verbs: Verbs | None = None) -> dict[str, Any]:
    """{update_ns, forward_ns, refresh_ns, evaluation_ns: an update and the layers, evaluation_spread: the largest of
    the repeats less the smallest, over the median; nps: nodes a second of the search's bench; load: the machine's when
    it was timed}.

    One network of this machine at a time is timed. `verbs`: by what it can be stopped, which is to be bound to the core
    that is kept for it. Raises as `Verbs.run` does.
    """
    verbs = verbs or Verbs(machine_cores()[1])
    words = ["bench", "evaluation", net, "--json", *(["--games", recorded] if recorded else [])]
    with verbs.alone_in(Path(tempfile.gettempdir()) / f"liteshogi-timing-{os.getuid()}"):
        load = os.getloadavg()[0]
        runs = [json.loads(verbs.run(words)[0]) for _ in range(repeats)]
        nps = [json.loads(verbs.run(["bench", "search", net, "--json"])[0])["nps"] for _ in range(repeats)]
    whole = [run["update_ns"] + run["forward_ns"] for run in runs]
    median = statistics.median(whole)
    return {
        **{name: statistics.median(run[name] for run in runs) for name in ("update_ns", "forward_ns", "refresh_ns")},
        "evaluation_ns": round(median, 1),
        "evaluation_spread": round((max(whole) - min(whole)) / median, 4),
        "nps": round(statistics.median(nps)),
        "timed": repeats,
        "load": round(load, 2),
    }
