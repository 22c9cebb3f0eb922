"""How well a net of any kind predicts the results of held-out games."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lite.networks.value_network import listed_inputs
from lite.records.decode import Batch
from lite.records.formats import NO_GAME
from lite.records.reader import Reader, first_positions
from lite.training.checkpoint import NETWORK, file_format, load_model
from lite.training.metrics import Metrics, no_games, require_finite, require_games
from search.evaluation.network import evaluate_reference
from search.evaluation.network_file import load_network
from search.evaluation.shipped import network_file
from search.puct.onnx_file import first_line, open_session

Predictor = Callable[[Batch], np.ndarray]
"""Logits f of a batch: (B, 1), the mover's win, or (B, 2) with the draw beside it."""


def judge_net(net: str, data: tuple[Path, ...], batch_size: int = 8192, positions: int | None = None) -> dict[str, Any]:
    """The report of `lite.training.metrics.Metrics` for a net, named by path or `default`, on record files or their
    first `positions`, and what was refused of them as `Refusals.figures` has it."""
    predict = load_predictor(net)
    metrics = Metrics()
    done = 0
    reader = Reader(data, batch_size, shuffle=False)
    for batch in first_positions(reader, positions):
        logits = predict(batch)[:, 0]
        require_finite(net, logits, done)
        metrics.add(logits, batch)
        done += len(batch)
    report = require_games(metrics.report(), data)
    return {"net": net, "data": [str(path) for path in data]} | report | reader.refusals.figures()


def check_games(data: tuple[Path, ...], batch_size: int = 8192) -> None:
    """Raises ValueError that names the record files if `judge_net` would find no game behind any of their positions:
    who trains nets to judge them on these asks before the first training, not after it."""
    batches = Reader(data, batch_size, shuffle=False)
    if not any((batch.kind_of_result & NO_GAME == 0).any() for batch in batches):
        raise no_games(data)


def load_predictor(net: str) -> Predictor:
    """What gives a net's logits, whatever the kind of its file. Raises OSError or ValueError in words."""
    path = network_file(net)
    if path.is_dir() or (path.suffix == ".safetensors" and file_format(path) == NETWORK):
        return _trained(path)
    if path.suffix == ".onnx":
        return _onnx(path)
    return _folded(net)


def _trained(path: Path) -> Predictor:
    model, _ = load_model(path)

    def logits(batch: Batch) -> np.ndarray:
        with torch.no_grad():
            return model.outputs(batch.pieces, batch.hands, batch.in_check).numpy()

    return logits


def _onnx(path: Path) -> Predictor:
    """An exported network: its inputs are the listing's, pieces (B, 81) and hand features (B, 57)."""
    session = open_session(path)
    names = {given.shape[1]: given.name for given in session.get_inputs() if len(given.shape) == 2}
    if set(names) != {81, 57}:
        raise ValueError(f"{path}: its inputs are not (positions, 81) pieces and (positions, 57) hand features")

    def logits(batch: Batch) -> np.ndarray:
        x1, x2 = listed_inputs(batch.pieces, batch.hands, batch.in_check)
        try:
            output = np.asarray(session.run(None, {names[81]: x1.numpy(), names[57]: x2.numpy()})[0])
        except Exception as error:  # onnxruntime raises classes of its own that it does not export
            raise ValueError(f"{path}: onnxruntime cannot run it on positions: {first_line(error)}") from None
        if output.size not in (len(batch), 2 * len(batch)):
            raise ValueError(f"{path}: gives {output.shape} for {len(batch)} positions, not a number or two for each")
        return output.reshape(len(batch), -1)

    return logits


def _folded(net: str) -> Predictor:
    """A network as the search evaluates it, by its reference arithmetic: the search's integers to the bit."""
    network = load_network(net)

    def logits(batch: Batch) -> np.ndarray:
        outputs = evaluate_reference(network, batch.pieces, batch.hands, batch.in_check).astype(np.int64)
        divided = np.sign(outputs) * (np.abs(outputs) // network.output_divisor)
        return np.asarray(divided * network.logit_per_output)

    return logits
