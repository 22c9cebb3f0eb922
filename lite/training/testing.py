"""Tests of value networks of any file format on held-out games."""

from __future__ import annotations

from collections.abc import Callable, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from lite.datasets.provenance import files_of
from lite.networks.value_network import listed_inputs
from lite.progress_line import Watch
from lite.records.batch import Batch
from lite.records.file import Refusals
from lite.records.formats import NO_GAME
from lite.records.reader import Reader, first_positions
from lite.run_folder import find_run
from lite.training.checkpoint import NETWORK, file_format, load_standalone_model
from lite.training.folder import RunFolder
from lite.training.leakage import COMPARED_POSITIONS, LeakageCheck, drawn_from_all
from lite.training.learnt_data import digests_behind_network, is_training, same_games_warning
from lite.training.metrics import Metrics, Report, no_games, require_finite
from search.evaluation.network_file import load_network
from search.evaluation.shipped import is_shipped, network_file
from search.evaluation.static_evaluation import static_logits
from search.puct.onnx_file import first_line, open_session

Predictor = Callable[[Batch], np.ndarray]
"""Returns the logits f of a batch: (B, 1), the mover's win, or (B, 2), the win and the draw."""


def leakage_warning(
    network_path: str,
    data: tuple[Path, ...],
    batch_size: int = 8192,
    held_out: str = "held-out positions",
    watch: Watch | None = None,
    learnt_from: str = "the training data",
) -> str:
    """Return a warning if a network, or one that it started from or corrects, has learnt from the data; else "".

    The line says so if nothing could be compared, except for shipped networks.

    Positions are compared with those of the files that the run in the network's folder names, and the runs of networks
    that it began from. Files that were moved, or whose size has changed since, are not compared. Any network that was
    trained here carries the digests of the data behind it, by which equal files are found wherever the network lies; an
    ONNX file or nn.bin carries none. `held_out` names the positions of the data, `learnt_from` those of the training.
    watch: takes the number of compared positions of the training, and of all, after each batch.
    """
    if is_shipped(network_path):
        return ""
    path = Path(network_path)
    network = RunFolder(path).network if path.is_dir() else path
    behind, warning, is_known = digests_behind_network(network), "", False
    with suppress(OSError, ValueError):  # the files of the training need not be there any more
        reader = Reader(_learnt(network.parent, behind), batch_size, pool_positions=COMPARED_POSITIONS)
        is_known = True
        check = LeakageCheck(drawn_from_all(data, batch_size), reader.positions, held_out, learnt_from)
        warning = _compared(check, reader, watch)
    with suppress(OSError, ValueError):
        warning = warning or same_games_warning(behind, data, learnt_from)
    if warning or is_known:
        return warning
    return (
        f"not compared: {network_path} may have learnt from the {held_out}, as the files of its training are not known "
        "here; test its run's folder to compare them"
    )


def _compared(check: LeakageCheck, reader: Reader, watch: Watch | None) -> str:
    """Return the warning of a check after the positions of a training, or as many of them as it needs."""
    compared = 0
    for batch in reader:
        warning = check.add(batch)
        compared += len(batch)
        if watch is not None:
            watch(compared, reader.positions)
        if check.is_done:
            return warning
    return check.finish()


def _learnt(folder: Path, behind: Set[str]) -> tuple[Path, ...]:
    """Return the files and folders of digests `behind` that the training in a network's folder has learnt from, and
    those of the networks that it began from, as far as they are there and of the same size."""
    found: dict[Path, None] = {}
    met: set[Path] = set()
    left = [folder]
    while left:
        folder = left.pop().resolve()
        record = None if folder in met else find_run(folder)
        met.add(folder)
        if record is None or not is_training(record):
            continue
        begun = {net.sha256 for net in record.nets}
        sizes = {one.sha256: one.bytes for one in record.sources if one.role == "data" and one.sha256 in behind}
        for name, digest in record.files.items():
            path = folder / name
            if digest in begun and not is_shipped(name):
                left.append(path.parent)
            elif digest in sizes and path.exists() and _size(path) == sizes[digest]:
                found[path] = None
    return tuple(found)


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in files_of(path))


@dataclass(frozen=True)
class NetworkTest:
    """The test of a network on held-out records."""

    network_path: str
    data: tuple[str, ...]
    """The record files."""
    report: Report
    """Figures of the value."""
    refusals: Refusals
    """Records that were refused."""


def measure_value_network(
    network_path: str,
    data: tuple[Path, ...],
    batch_size: int = 8192,
    positions: int | None = None,
    watch: Watch | None = None,
) -> NetworkTest:
    """Test a value network, given by its path or as `default`, on record files or their first `positions`.

    watch: takes the number of positions that are done, and of all, after each batch.
    Raises OSError, ValueError for files that cannot be used and for records without games.
    """
    predict = load_predictor(network_path)
    metrics = Metrics()
    done = 0
    reader = Reader(data, batch_size, shuffle=False)
    for batch in first_positions(reader, positions):
        logits = predict(batch)[:, 0]
        require_finite(network_path, logits, done)
        metrics.add(logits, batch)
        done += len(batch)
        if watch is not None:
            watch(done, min(reader.positions, positions or reader.positions))
    report = metrics.report()
    if not report.positions:
        raise no_games(data)
    return NetworkTest(network_path, tuple(map(str, data)), report, reader.refusals)


def check_games(data: tuple[Path, ...], batch_size: int = 8192) -> None:
    """Raise ValueError that names the record files if none of their positions comes from a game.

    Call it before training networks that are tested on them.
    """
    batches = Reader(data, batch_size, shuffle=False)
    if not any((batch.kind_of_result & NO_GAME == 0).any() for batch in batches):
        raise no_games(data)


def load_predictor(network_path: str) -> Predictor:
    """Return the function of a network's logits, whatever its file format. Raises OSError or ValueError."""
    path = network_file(network_path)
    if path.is_dir() or (path.suffix == ".safetensors" and file_format(path) == NETWORK):
        return _trained(path)
    if path.suffix == ".onnx":
        return _onnx(path)
    return _folded(network_path)


def _trained(path: Path) -> Predictor:
    model, _ = load_standalone_model(path)

    def logits(batch: Batch) -> np.ndarray:
        with torch.no_grad():
            return model.outputs(batch.pieces, batch.hands, batch.in_check).numpy()

    return logits


def _onnx(path: Path) -> Predictor:
    """Return the predictor of an exported network with inputs pieces (B, 81) and hand features (B, 57)."""
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
            raise ValueError(
                f"{path}: returns {output.shape} for {len(batch)} positions, not one or two numbers for each"
            )
        return output.reshape(len(batch), -1)

    return logits


def _folded(network_path: str) -> Predictor:
    """Return the predictor of a folded network's value."""
    network = load_network(network_path)
    return lambda batch: static_logits(network, batch.pieces, batch.hands, batch.in_check)[:, None]
