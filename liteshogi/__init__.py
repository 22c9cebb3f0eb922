"""LiteShogi: a value network for shogi, an engine that searches with it, and tools to train it. The Python API.

    from liteshogi import AlphaBetaEngine, evaluate_sfens, load_network
    evaluate_sfens(load_network("default"), ["startpos"])
    AlphaBetaEngine("default").analyse("startpos", nodes=100_000, multipv=3)

The functions cover the path from games to a network that plays. Those with many options take one dataclass: `convert`
(`Conversion`), `self_play` (`SelfPlay`), `train_value` (`ValueTraining`, with `LiteConfig`, `DenseConfig` or another
network), `fold_file` (`Folding`), `play_match` (`Match`, optionally with an `Sprt`). `measure_network` (the verb
`test`) and `evaluate_sfens` take arguments. Other verbs have functions in `experiments` and `export`, which are not
part of this API. Files may be a str or any path-like object, and one file may stand for a sequence of files.
For a type checker, the fields of the dataclasses are as declared: a Path, a tuple of Paths, and a str for a network
that plays.

Functions return typed results, documented in their docstrings with units. They raise OSError, or ValueError with one
line that names the file or the field and the remedy. The notebook `docs/guide/first_net.ipynb` shows a whole pipeline.

Names are imported when they are first used: importing this package takes no time, and the engine answers a GUI before
it compiles.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from experiments.elo.sprt import Sprt
    from experiments.factory.selfplay import SelfPlay, self_play
    from experiments.matches.in_process_match import Match, play_match
    from experiments.network_kinds.testing import measure_network
    from export.fold import Folding, fold_file
    from lite.datasets.conversion import Conversion
    from lite.datasets.convert import convert
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
    "DenseConfig",
    "Engine",
    "EvalNetwork",
    "Evaluation",
    "Folding",
    "LiteConfig",
    "Match",
    "OptimiserConfig",
    "PuctEngine",
    "SelfPlay",
    "Sprt",
    "ValueTraining",
    "__version__",
    "convert",
    "evaluate_sfens",
    "fold_file",
    "load_network",
    "measure_network",
    "play_match",
    "self_play",
    "train_value",
]

_HOMES = {
    "AlphaBetaEngine": "search.alphabeta.engine",
    "Analysis": "search.engine",
    "Conversion": "lite.datasets.conversion",
    "DenseConfig": "lite.networks.dense",
    "Engine": "search.engine",
    "EvalNetwork": "search.evaluation.network",
    "Evaluation": "search.evaluation.static_evaluation",
    "Folding": "export.fold",
    "LiteConfig": "lite.networks.lite_value",
    "Match": "experiments.matches.in_process_match",
    "OptimiserConfig": "lite.training.optimiser",
    "PuctEngine": "search.puct.engine",
    "SelfPlay": "experiments.factory.selfplay",
    "Sprt": "experiments.elo.sprt",
    "ValueTraining": "lite.training.options",
    "convert": "lite.datasets.convert",
    "evaluate_sfens": "search.evaluation.static_evaluation",
    "fold_file": "export.fold",
    "load_network": "search.evaluation.network_file",
    "measure_network": "experiments.network_kinds.testing",
    "play_match": "experiments.matches.in_process_match",
    "self_play": "experiments.factory.selfplay",
    "train_value": "lite.training.train",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'liteshogi' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
