"""Speed of the search that plays with a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from experiments.jobs.progress import Progress
from experiments.network_kinds.kind import Kind, UnplayableNetwork, kind_of
from search.alphabeta.bench import DEPTH, POSITIONS, BenchResult, signature
from search.system.options import OptionError

if TYPE_CHECKING:
    from search.puct.playout_speed import PlayoutSpeed


def measure_search(network_path: str, depth: int | None = None, nodes: int | None = None) -> BenchResult | PlayoutSpeed:
    """Measure the search with a network: nodes per second of alpha-beta, or playouts per second of PUCT.

    depth, nodes: limits of each search of alpha-beta; None means the signature's depth and no limit of nodes. Raises
    OSError, OptionError for a limit of a PUCT search, UnplayableNetwork, or ValueError.
    """
    kind = kind_of(network_path)
    if kind is Kind.FOLDED:
        done = 0

        def measure() -> tuple[int, str]:
            return done, f"{done} of {len(POSITIONS)} positions"

        def searched(number: int) -> None:
            nonlocal done
            done = number
            progress.show()

        with Progress(len(POSITIONS), measure) as progress:
            return signature(network_path, DEPTH if depth is None else depth, nodes, searched)
    if kind is not Kind.POLICY_VALUE_ONNX:
        raise UnplayableNetwork(network_path, kind)
    for name, limit in (("depth", depth), ("nodes", nodes)):
        if limit is not None:
            raise OptionError(f"`{name}` {limit}: has no effect, because {network_path} is played by PUCT", name)
    from search.puct.playout_speed import measure_playouts

    return measure_playouts(Path(network_path))
