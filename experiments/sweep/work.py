"""A point's way: trained, folded, tested, timed. Each by the command that anyone would give.

All of it lies in the point's folder, and what is there is not done again: `run/` of the training, `net.safetensors`,
and a file of figures for each step.
"""

from __future__ import annotations

import hashlib
import json
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.jobs.protocol import Product
from experiments.jobs.results import Line
from experiments.jobs.verb import Verbs
from experiments.sweep.configuration import Measures, Point
from experiments.timing import machine_cores, sizes, time_network
from lite.program import program
from lite.training.folder import RunFolder
from lite.training.log import positions_learnt, read_log
from lite.training.testing import check_games
from search.evaluation.network_file import load_network
from search.evaluation.shipped import network_file
from search.system.files import write_atomically

POINTS, CUTS = "points", "data"
"""Folders in that of the sweep."""
FOLDED_POSITIONS = 10_000
"""That say what rounding costs."""
TESTED = (
    "accuracy", "log_loss", "brier", "calibration_error", "positions", "d1_rmse", "d1_rmse_error", "d1_scale",
    "d1_positions", "calibration", "by_ply", "by_score",
)  # fmt: skip
_OF_SWEEP = ("kind", "data", "positions")
"""Options that the training is not told as such."""


def folder_of(point: Point, sweep: Path) -> Path:
    """Where all of a point lies."""
    return sweep / POINTS / f"{point.name}-{point.seed}"


def net_of(point: Point, sweep: Path) -> str:
    """The file of its folded network."""
    return point.net or str(folder_of(point, sweep) / "net.safetensors")


def cut_of(point: Point, sweep: Path) -> Path | None:
    """The file with so many positions of its data; None where it learns from all."""
    count = point.options.get("positions")
    if not count:
        return None
    digest = hashlib.sha256("\n".join(point.options["data"]).encode()).hexdigest()[:10]
    return sweep / CUTS / f"{count}-{digest}.hcpe"


@dataclass(frozen=True)
class SweepTask:
    """What a worker needs for any point. Its files are named by paths, which all machines must see alike."""

    folder: Path
    measures: Measures

    def open(self) -> SweepWorker:
        """A worker of this machine. FileNotFoundError where it does not see the sweep's folder."""
        if not self.folder.is_dir():
            raise FileNotFoundError(
                f"{socket.gethostname()} does not see {self.folder.absolute()}: all machines of a sweep need the same "
                "files by the same names"
            )
        return SweepWorker(self)


class SweepWorker:
    """Does points, one after another. One that fails says so in its product, and others go on."""

    def __init__(self, task: SweepTask) -> None:
        self._task = task
        cores, timing = machine_cores()
        self._verbs, self._timing = Verbs(cores), Verbs(timing)

    def stop(self) -> None:
        """End the point under way: its training saves its state."""
        self._verbs.stop()
        self._timing.stop()

    def run(self, point: Point) -> Product:
        """The point's line as JSON, or {failed: why}. Raises Stopped."""
        try:
            line = self._measured(point)
        except (ValueError, OSError, MemoryError, ArithmeticError) as error:
            line = {"failed": " ".join(str(error).split()) or type(error).__name__}
        return Product(json.dumps(line).encode(), {})

    def _measured(self, point: Point) -> Line:
        folder, net = folder_of(point, self._task.folder), net_of(point, self._task.folder)
        folder.mkdir(parents=True, exist_ok=True)
        line: Line = {"label": point.label, "options": dict(point.options), "net": net}
        if not point.net:
            line |= self._once(folder / "training.json", lambda: self._train(point, folder))
        network = load_network(net)
        line |= self._once(folder / "tests.json", lambda: self._test(net))
        line |= self._once(folder / "times.json", lambda: self._time(net))
        digest = hashlib.sha256(network_file(net).read_bytes()).hexdigest()
        shape = [network.width, network.perspectives, *(len(layer.bias) for layer in network.layers)]
        return line | sizes(network) | {"features": network.feature_set.name, "shape": shape, "sha256": digest}

    def _once(self, path: Path, make: Callable[[], Line]) -> Line:
        """The figures of a step, made if they are not there."""
        if not path.exists():
            write_atomically(path, json.dumps(make()).encode())
        found: Line = json.loads(path.read_text(encoding="utf-8"))
        return found

    def _train(self, point: Point, folder: Path) -> Line:
        check_games(tuple(map(Path, self._task.measures.valid)))
        run, told = RunFolder(folder / "run"), folder / "options.json"
        with self._verbs.alone_in(run.path):
            pass  # what a killed sweep has left running there has ended, and its work is not lost
        cut = cut_of(point, self._task.folder)
        data = [str(cut)] if cut else point.options.get("data", [])
        options = {name: value for name, value in point.options.items() if name not in _OF_SWEEP}
        options = {"valid": list(self._task.measures.valid), "save-minutes": 1.0, **options, "data": data}
        write_atomically(told, json.dumps(options, indent=1).encode())
        goes_on = run.state.exists()
        words = ["train", str(point.options["kind"]), "--config", str(told), "-o", str(run.path)]
        _, taken = self._verbs.run([*words, "--resume" if goes_on else "--overwrite"])
        log = read_log(run.log)
        made_with = json.loads(run.configuration.read_text(encoding="utf-8"))
        tested = [one for one in log if one["kind"] == "valid"]
        words = ["fold", str(run.path), "-o", net_of(point, self._task.folder), "--json", "--overwrite"]
        words += ["--data", *self._task.measures.valid, "--positions", str(FOLDED_POSITIONS)]
        folded = json.loads(self._verbs.run(words)[0])
        run.state.unlink(missing_ok=True)  # several times as large as the network
        return {
            **taken,
            "resumed": goes_on,
            "samples": positions_learnt(log, made_with["batch-size"]),
            "epochs": made_with["epochs"],
            "trained_accuracy": tested[-1]["accuracy"] if tested else None,
            "rounding": folded["mean_error"],
        }

    def _test(self, net: str) -> Line:
        measures = self._task.measures
        words = ["test", net, *measures.valid, "--yardstick", *measures.yardstick, "--json"]
        report = json.loads(self._verbs.run(words)[0])
        return {name: report[name] for name in TESTED}

    def _time(self, net: str) -> Line:
        measures = self._task.measures
        return time_network(net, measures.repeats, measures.recorded, self._timing) | program()


def parse_product(product: Product) -> dict[str, Any]:
    """What `SweepWorker.run` has made."""
    line: dict[str, Any] = json.loads(product.content)
    return line
