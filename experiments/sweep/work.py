"""The steps of a point: train, fold, test, time.

The results lie in the point's folder: `run/` of the training, the network, and a file with the result of each step. A
step whose result is there is not repeated.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import socket
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from experiments.jobs.protocol import Product
from experiments.network_kinds.kind import Kind, kind_of
from experiments.sweep.data import CUT_SUFFIXES, cut_suffix
from experiments.sweep.entries import Measures
from experiments.sweep.isolated import Isolated
from experiments.sweep.plan import Plan, Point
from experiments.sweep.results import Failed, NetResult
from experiments.sweep.steps import Folded, FoldStep, MeasureStep, Tested, Trained, TrainStep, size_of
from experiments.sweep.timing import Timed, machine_cores, time_residual_network, time_value_network
from experiments.sweep.training import RESNET, Training, training_of
from lite.datasets.provenance import sha256_of
from lite.training.run_record import corrected_by
from lite.typed import typed
from search.evaluation.shipped import network_file
from search.system.files import message_of, write_atomically
from search.system.metadata import parse_json
from search.system.options import OptionError

Made = TypeVar("Made")
POINTS = "points"
"""Folder of the points in that of the plan."""
OPTIONS = "options.json"
"""File in a point's folder with the options that it was begun with."""
STAGE = "stage"
"""File in a point's folder that names the step under way."""
PROGRESS = "progress"
"""File in a point's folder with the steps taken and the time left while it is trained."""


@dataclass(frozen=True)
class Place:
    """Places of a plan's files: those that it makes lie in its folder, others as seen from the working directory."""

    folder: Path
    made: frozenset[str]
    """Names of the sets that the plan makes."""

    def of(self, name: str) -> Path:
        """Return the path of a file or set that the plan names."""
        return self.folder / "data" / name if name in self.made else Path(name)

    def point(self, point: Point) -> Path:
        """Return the folder of a point."""
        return self.folder / POINTS / f"{point.name}-{point.seed}"

    def run(self, point: Point) -> Path:
        """Return the folder of a point's training."""
        return self.point(point) / "run"

    def net(self, point: Point) -> str:
        """Return the network file of a point that plays."""
        suffix = "onnx" if point.options.get("kind") == RESNET else "safetensors"
        return point.net or str(self.point(point) / f"net.{suffix}")

    def cut(self, point: Point) -> Path | None:
        """Return the file with the positions that are cut from a point's data; None where it learns from all.

        Raises OSError, ValueError for data of which none can be cut."""
        if not (count := point.options.get("positions")):
            return None
        data = list(point.options["data"])
        digest = hashlib.sha256("\n".join(data).encode()).hexdigest()[:10]
        stem = self.folder / "data" / f"{count}-{digest}"
        made = next((path for suffix in CUT_SUFFIXES if (path := stem.with_suffix(suffix)).exists()), None)
        return made or stem.with_suffix(cut_suffix([self.of(name) for name in data]))

    def training(self, point: Point, valid: tuple[str, ...]) -> Training:
        """Return a point's training, with its data and its folder."""
        training = training_of({"save-minutes": 1.0, **point.options}, point.label)
        cut = self.cut(point)
        after = replace(point, name=point.after)
        return replace(
            training,
            data=(cut,) if cut else tuple(map(self.of, point.options["data"])),
            valid=training.valid or tuple(map(self.of, valid)),
            output=self.run(point),
            init_from=self.run(after) if point.after else training.init_from,
        )


def place_of(plan: Plan, folder: Path) -> Place:
    """Return where a plan's files lie."""
    return Place(folder, frozenset(plan.sets))


@dataclass(frozen=True)
class PointTask:
    """Everything a worker needs to do any point; picklable. All machines must see its files by the same names."""

    place: Place
    measures: Measures

    def open(self) -> PointWorker:
        """Return a worker of this machine. Raises FileNotFoundError where it does not see the plan's folder."""
        if not self.place.folder.is_dir():
            raise FileNotFoundError(
                f"{socket.gethostname()} does not see {self.place.folder.absolute()}: all machines need the same files "
                "by the same names"
            )
        return PointWorker(self)


class PointWorker:
    """Processes points sequentially. The product of a point that fails gives the reason."""

    def __init__(self, task: PointTask) -> None:
        self._place, self._measures = task.place, task.measures
        cores, timing = machine_cores()
        self._working, self._timing = Isolated(cores), Isolated(timing)

    def stop(self) -> None:
        """End the point under way: its training saves its state."""
        self._working.stop()
        self._timing.stop()

    def run(self, point: Point) -> Product:
        """Return the point's NetResult or Failed. Raises Stopped."""
        found: NetResult | Failed
        try:
            found = self.done(point)
        except (ValueError, OSError, MemoryError, ArithmeticError) as error:
            found = Failed(point.name, point.seed, label=point.label, why=message_of(error))
        return Product(pickle.dumps(found), {})

    def done(self, point: Point) -> NetResult:
        """Do the remaining steps of a point."""
        place, net = self._place, self._place.net(point)
        folder, run = place.point(point), place.run(point)
        folder.mkdir(parents=True, exist_ok=True)
        refuse_other_options(point, folder)
        valid = tuple(map(place.of, self._measures.valid))

        def show(stage: str) -> None:
            write_atomically(folder / STAGE, stage.encode())

        trained: Trained | None = None
        folded: Folded | None = None
        if not point.net:
            training = place.training(point, self._measures.valid)
            trained = self._once(folder, "training", Trained, lambda: self._train(training, folder / PROGRESS))
            corrected = corrected_by(training)
            fold = FoldStep(run, Path(net), valid, onto=None if corrected is None else str(corrected))
            folded = self._once(folder, "fold", Folded, lambda: self._working.run(fold))
            (run / "state.safetensors").unlink(missing_ok=True)  # several times as large as the network
        is_residual = kind_of(net) is Kind.POLICY_VALUE_ONNX
        judged = str(run) if is_residual and not point.net else net
        test = self._test_step(judged, valid)
        tested = self._once(folder, "test", Tested, lambda: self._working.run(test))
        timed = None
        if repeats := self._measures.repeats:
            recorded = self._measures.recorded
            timed = self._once(
                folder,
                "timing",
                Timed,
                lambda: (
                    time_residual_network(net, run, valid, repeats, self._timing, show)
                    if is_residual
                    else time_value_network(net, repeats, recorded, self._timing, show)
                ),
            )
        (folder / STAGE).unlink(missing_ok=True)
        return NetResult(
            point.name,
            point.seed,
            label=point.label,
            options=dict(point.options),
            net=net,
            sha256=sha256_of(network_file(net)),
            size=size_of(net, run if trained else None),
            trained=trained,
            folded=folded,
            tested=tested,
            timed=timed,
        )

    def _train(self, training: Training, progress: Path) -> Trained:
        with self._working.alone_in(training.output):
            pass  # a training that a killed run has left at work has ended, and its state is saved
        progress.unlink(missing_ok=True)
        try:
            return self._working.run(
                TrainStep(training, progress, tuple(map(self._place.of, self._measures.yardstick)))
            )
        finally:
            progress.unlink(missing_ok=True)

    def _test_step(self, network_path: str, valid: tuple[Path, ...]) -> MeasureStep:
        measures, of = self._measures, self._place.of
        return MeasureStep(
            network_path,
            valid,
            measures.positions or None,
            tuple(map(of, measures.yardstick)),
            of(measures.residual) if measures.residual else None,
            {kind: of(name) for kind, name in measures.kinds.items()},
        )

    def _once(self, folder: Path, step: str, kind: type[Made], make: Callable[[], Made]) -> Made:
        """Return the result of a step, made if it is not there."""
        path = folder / f"{step}.json"
        if not path.exists():
            write_atomically(folder / STAGE, step.encode())
            write_atomically(path, json.dumps(asdict(make())).encode())  # type: ignore[call-overload]
        return typed(kind, parse_json(path.read_text(encoding="utf-8")), str(path))


def refuse_other_options(point: Point, folder: Path) -> None:
    """Keep a point's options in its folder. Raises ValueError where others are there."""
    path = folder / OPTIONS
    given: dict[str, Any] = {**point.options, "after": point.after, "net": point.net}
    if path.exists():
        before: Mapping[str, Any] = parse_json(path.read_text(encoding="utf-8"))
        for name in sorted(before.keys() | given.keys()):
            if before.get(name) != json.loads(json.dumps(given.get(name))):
                raise OptionError(
                    f"{point.label}: was begun with {name} {before.get(name)!r}, not {given.get(name)!r}; rename the "
                    "point, or choose another `output`",
                    "output",
                )
    else:
        write_atomically(path, json.dumps(given, indent=1).encode())


def result_of(product: Product) -> NetResult | Failed:
    """Return the result of `PointWorker.run`."""
    found: NetResult | Failed = pickle.loads(product.content)
    return found
