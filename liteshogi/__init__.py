"""LiteShogi: a lite value network for shogi, its engine and its toolkit. The names below are the Python API.

    from liteshogi import AlphaBetaEngine, evaluate_sfens, load_network
    evaluate_sfens(load_network("default"), ["startpos"])
    AlphaBetaEngine("default").analyse("startpos", nodes=100_000, multipv=3)

A verb of the command line is here one function, with one dataclass of its options where there are many: `convert`
(`Conversion`), `train_value` (`ValueTraining` of a `LiteConfig`, a `DenseConfig` or another network), `judge`,
`fold_file`, `self_play` (`SelfPlay`), `play_counted_match` (`CountedMatch`, perhaps with an `Sprt`). Files are named
by a str or by any path, and one file will do where several may be named. A type checker agrees where a function takes
them; of the dataclasses, whose fields the command line is made from, it wants what these declare: a Path, a tuple of
them where several may be named, and a str for a network that plays.

Each function returns its figures, which its docstring tells with their units, and raises OSError or ValueError with a
line that names the file and the remedy. A notebook that goes through them is `docs/guide/first_net.ipynb`.

They are imported when first used: importing this package is free, and the engine answers a GUI before it compiles.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from experiments.elo.sprt import Sprt
    from experiments.factory.selfplay import SelfPlay, self_play
    from experiments.matches.counted_match import CountedMatch, play_counted_match
    from experiments.network_kinds import judge
    from export.fold import fold_file
    from lite.datasets.convert import Conversion, convert
    from lite.networks.dense import DenseConfig
    from lite.networks.lite_value import LiteConfig
    from lite.training.optimiser import OptimiserConfig
    from lite.training.options import ValueTraining
    from lite.training.train import train_value
    from search.alphabeta.engine import AlphaBetaEngine
    from search.engine import Analysis, Engine
    from search.evaluation.network import EvalNetwork
    from search.evaluation.network_file import load_network
    from search.evaluation.static_evaluation import Evaluation, evaluate_sfens
    from search.puct.engine import PuctEngine

__version__ = "0.1.0"
__all__ = [
    "AlphaBetaEngine",
    "Analysis",
    "Conversion",
    "CountedMatch",
    "DenseConfig",
    "Engine",
    "EvalNetwork",
    "Evaluation",
    "LiteConfig",
    "OptimiserConfig",
    "PuctEngine",
    "SelfPlay",
    "Sprt",
    "ValueTraining",
    "__version__",
    "convert",
    "evaluate_sfens",
    "fold_file",
    "judge",
    "load_network",
    "play_counted_match",
    "self_play",
    "train_value",
]

_HOMES = {
    "AlphaBetaEngine": "search.alphabeta.engine",
    "Analysis": "search.engine",
    "Conversion": "lite.datasets.convert",
    "CountedMatch": "experiments.matches.counted_match",
    "DenseConfig": "lite.networks.dense",
    "Engine": "search.engine",
    "EvalNetwork": "search.evaluation.network",
    "Evaluation": "search.evaluation.static_evaluation",
    "LiteConfig": "lite.networks.lite_value",
    "OptimiserConfig": "lite.training.optimiser",
    "PuctEngine": "search.puct.engine",
    "SelfPlay": "experiments.factory.selfplay",
    "Sprt": "experiments.elo.sprt",
    "ValueTraining": "lite.training.options",
    "convert": "lite.datasets.convert",
    "evaluate_sfens": "search.evaluation.static_evaluation",
    "fold_file": "export.fold",
    "judge": "experiments.network_kinds",
    "load_network": "search.evaluation.network_file",
    "play_counted_match": "experiments.matches.counted_match",
    "self_play": "experiments.factory.selfplay",
    "train_value": "lite.training.train",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'liteshogi' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
