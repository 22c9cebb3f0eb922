"""What an evaluation of a network costs in the engine: on a core of its own, again and again, the median of the runs
that agree; and what does not depend on a machine: multiply-adds and bytes.

Neighbours slow a machine down by a third or more, for seconds or minutes, and nothing makes it faster. So runs go on
until the fastest of them are alike, which bursts of noise are not. What slows all runs down alike shows in the network
that each of them times beside, the same for all.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from experiments.jobs.verb import Verbs
from search.evaluation.network import EvalNetwork

ALIKE = 0.05
"""Runs that agree are no further apart, of the fastest."""
MOST_NODES = 1_000_000
"""Of a search that is timed: three times what any takes with a sound network, and a second's work. With a barely
trained one some take longer than all else that is timed."""
MOST_RUNS = 6
"""Times as many runs as are to agree, at most; then the fastest count, alike or not."""


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
    the runs that count less the smallest, over the median; reference_ns: an evaluation of a random HalfKP 256x2-32-32
    in the same runs; nps: nodes a second of the search's bench, of MOST_NODES a search at most; timed: runs and
    searches that were made; load: the machine's when it was timed, None on Windows}.

    Medians of `repeats` runs that agree. One network of this machine at a time is timed. `verbs`: by what it can be
    stopped, which is to be bound to the core that is kept for it. Raises as `Verbs.run` does.
    """
    verbs = verbs or Verbs(machine_cores()[1])
    words = ["bench", "evaluation", net, "--json", *(["--games", recorded] if recorded else [])]
    user = os.getuid() if hasattr(os, "getuid") else "user"  # on Windows the folder is the user's own
    with verbs.alone_in(Path(tempfile.gettempdir()) / f"liteshogi-timing-{user}"):
        load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
        runs, made = agreeing(lambda: json.loads(verbs.run(words)[0]), evaluation_ns, repeats)
        searches, searched = agreeing(
            lambda: json.loads(verbs.run(["bench", "search", net, "--json", "--nodes", str(MOST_NODES)])[0]),
            lambda run: 1 / run["nps"],
            repeats,
        )
    whole = [evaluation_ns(run) for run in runs]
    median = statistics.median(whole)
    return {
        **{name: statistics.median(run[name] for run in runs) for name in ("update_ns", "forward_ns", "refresh_ns")},
        "evaluation_ns": round(median, 1),
        "evaluation_spread": round((max(whole) - min(whole)) / median, 4),
        "reference_ns": round(statistics.median(evaluation_ns(run["half_kp"]) for run in runs), 1),
        "nps": round(statistics.median(run["nps"] for run in searches)),
        "timed": made + searched,
        "load": load,
    }


def evaluation_ns(run: dict[str, Any]) -> float:
    """Nanoseconds of an update and the layers, by a run of `liteshogi bench evaluation` or a network's part of it."""
    return float(run["update_ns"] + run["forward_ns"])


def agreeing(
    run: Callable[[], dict[str, Any]], cost: Callable[[dict[str, Any]], float], repeats: int
) -> tuple[list[dict[str, Any]], int]:
    """(The `repeats` fastest runs, the fastest first, how many were made): until these are within `ALIKE` of the
    fastest, or so many were made that they will not be."""
    runs: list[dict[str, Any]] = []
    while len(runs) < MOST_RUNS * repeats:
        runs = sorted([*runs, run()], key=cost)
        if len(runs) >= repeats and cost(runs[repeats - 1]) <= (1 + ALIKE) * cost(runs[0]):
            return runs[:repeats], len(runs)
    return runs[:repeats], len(runs)
