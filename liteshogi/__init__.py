"""LiteShogi: a lite value network for shogi, its engine and its toolkit. The names below are the Python API.

    from liteshogi import AlphaBetaEngine, evaluate_sfens, load_network
    evaluate_sfens(load_network("default"), ["startpos"])
    AlphaBetaEngine("default").analyse("startpos", nodes=100_000)

They are imported when first used: importing this package is free, and the engine answers a GUI before it compiles.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from search.alphabeta.engine import AlphaBetaEngine
    from search.engine import Analysis, Engine
    from search.evaluation.network import EvalNetwork
    from search.evaluation.network_file import load_network
    from search.evaluation.static_evaluation import evaluate_sfens
    from search.puct.engine import PuctEngine

__version__ = "0.1.0"
__all__ = [
    "AlphaBetaEngine",
    "Analysis",
    "Engine",
    "EvalNetwork",
    "PuctEngine",
    "__version__",
    "evaluate_sfens",
    "load_network",
]

_HOMES = {
    "AlphaBetaEngine": "search.alphabeta.engine",
    "Analysis": "search.engine",
    "Engine": "search.engine",
    "EvalNetwork": "search.evaluation.network",
    "PuctEngine": "search.puct.engine",
    "evaluate_sfens": "search.evaluation.static_evaluation",
    "load_network": "search.evaluation.network_file",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'liteshogi' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
