"""The cost of an evaluation in the engine, the speed of a search, and of a training step.

Neighbours slow a machine down by a third or more, for seconds or minutes, and nothing makes it faster. So each timing
is taken on a core of its own, again and again, until the fastest of them agree, and their median counts. Slowness that
lasts for all of them shows in the HalfKP network that every run times too, which is always the same.
"""

from __future__ import annotations

import os
import shlex
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from experiments.engine_speed import SpeedOptions, measure_speeds
from experiments.sweep.isolated import Isolated

Run = TypeVar("Run")
ALIKE = 0.05
"""Largest distance between runs that agree, as a share of the fastest."""
MOST_NODES = 1_000_000
"""Nodes of a search that is timed: three times as many as any takes with a sound network, and a second's work."""
MOST_RUNS = 6
"""Largest number of runs, as a multiple of the number that must agree."""
SPEED_NODES, SPEED_ROUNDS = 100_000, (1, 2, 4)
"""Nodes of a search where two networks' speeds are compared, and the rounds of the first and of further attempts."""
INFERENCE_BATCH, INFERENCES = 256, 3
"""Positions of a residual network's evaluation that is timed, and the number of such evaluations."""


@dataclass(frozen=True)
class Timed:
    """The measured cost of a network; None means not measured.

    A spread is the slowest less the fastest run, over the median.
    """

    evaluation_ns: float
    """Nanoseconds of an evaluation: of a value network an update and the layers, of a residual one per position."""
    evaluation_spread: float | None
    nps: int
    """Nodes per second of the search's bench; of a residual network playouts per second."""
    nps_spread: float | None
    agreed: bool
    """Whether both spreads are at most ALIKE."""
    runs: int
    """Number of runs that were made."""
    update_ns: float | None = None
    forward_ns: float | None = None
    refresh_ns: float | None = None
    reference_ns: float | None = None
    """Nanoseconds of an evaluation of a random HalfKP 256x2-32-32 in the same runs."""
    load: float | None = None
    """The machine's load at the start; None on Windows."""


@dataclass(frozen=True)
class Evaluation:
    """Nanoseconds of the parts of an evaluation, and of an evaluation of the reference network, in one run."""

    update_ns: float
    forward_ns: float
    refresh_ns: float
    reference_ns: float

    @property
    def cost(self) -> float:
        """Nanoseconds of an update and the layers."""
        return self.update_ns + self.forward_ns


@dataclass(frozen=True)
class EvaluationRun:
    """Step: time a value network's evaluations along games."""

    net: str
    recorded: str = ""

    def run(self) -> Evaluation:
        from search.evaluation.evaluation_speed import bench_evaluation

        found = bench_evaluation(self.net, Path(self.recorded) if self.recorded else None)
        reference = found.half_kp.update_ns + found.half_kp.forward_ns
        times = found.times
        return Evaluation(times.update_ns, times.forward_ns, times.refresh_ns, reference)


@dataclass(frozen=True)
class SearchRun:
    """Step: time the bench of the search with a network."""

    net: str
    nodes: int

    def run(self) -> int:
        from experiments.network_kinds.kind import Kind, kind_of
        from experiments.network_kinds.search_speed import measure_search
        from search.alphabeta.bench import BenchResult

        limit = None if kind_of(self.net) is Kind.POLICY_VALUE_ONNX else self.nodes
        found = measure_search(self.net, nodes=limit)
        return found.nps if isinstance(found, BenchResult) else found.playouts_per_s


@dataclass(frozen=True)
class InferenceRun:
    """Step: time evaluations of a trained residual network in batches, planes included; nanoseconds per position."""

    run_folder: Path
    data: tuple[Path, ...]

    def run(self) -> float:
        import torch

        from experiments.resnet.network import load_resnet
        from experiments.resnet.testing import plane_tensors, uses_bfloat16
        from lite.records.reader import Reader

        torch.set_num_threads(1)
        model = load_resnet(self.run_folder)[0].eval()
        batch = next(iter(Reader(self.data, INFERENCE_BATCH)))
        bfloat16, taken = uses_bfloat16("auto", "cpu"), []
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            for _ in range(INFERENCES + 1):
                begun = time.process_time()
                model.heads(*plane_tensors(batch.pieces, batch.hands, batch.in_check, bfloat16))
                taken.append((time.process_time() - begun) / len(batch) * 1e9)
        return min(taken[1:])  # the first warms up


@dataclass(frozen=True)
class SpeedRatio:
    """The speed of a network's search over the opponent's."""

    ratio: float
    error: float
    """Standard error of `ratio`, by how much positions differ."""

    @property
    def agrees(self) -> bool:
        """Whether `error` is at most ALIKE of the ratio."""
        return self.error <= ALIKE * self.ratio


@dataclass(frozen=True)
class SpeedRun:
    """Step: compare the speeds of two networks' searches, position by position in turn."""

    net: str
    opponent: str
    rounds: int
    nodes: int

    def run(self) -> SpeedRatio:
        players = (shlex.quote(self.net), shlex.quote(self.opponent))
        found = measure_speeds(SpeedOptions(players, nodes=self.nodes, rounds=self.rounds))
        if found.interrupted:
            raise KeyboardInterrupt
        other = found.players[1]  # its CPU time per node, the network's being 1
        return SpeedRatio(other.ratio, other.error or 0.0)


@dataclass(frozen=True)
class StepsRun:
    """Step: time training steps of several trainings in turn, on one core; CPU microseconds per position, by name."""

    trainings: Mapping[str, Any]
    rounds: int

    def run(self) -> dict[str, float]:
        import torch

        from experiments.sweep.steps import begin
        from lite.records.reader import Reader

        torch.set_num_threads(1)
        taken: dict[str, list[float]] = {name: [] for name in self.trainings}
        with tempfile.TemporaryDirectory() as folder:
            alone = {
                name: replace(one, output=Path(folder) / str(number), threads=1, device="cpu", resume=False)
                for number, (name, one) in enumerate(self.trainings.items())
            }
            runs = {name: begin(one) for name, one in alone.items()}
            batches = {
                name: next(iter(Reader(one.data, one.batch_size, mark_entered=True))) for name, one in alone.items()
            }
            for number in range(self.rounds + 1):
                for name, run in runs.items():
                    run.step = 0  # a run may have fewer steps than there are rounds
                    begun = time.process_time()
                    run.take_step(batches[name])
                    if number:  # the first warms up
                        taken[name].append((time.process_time() - begun) / len(batches[name]) * 1e6)
        return {name: statistics.median(times) for name, times in taken.items()}


@dataclass(frozen=True)
class Agreement(Generic[Run]):
    """The fastest runs, the fastest first."""

    runs: Sequence[Run]
    made: int
    """Number of runs that were made."""
    spread: float
    """The slowest less the fastest of `runs`, over their median."""


def agreeing(
    run: Callable[[], Run],
    cost: Callable[[Run], float],
    repeats: int,
    show: Callable[[str], None] = lambda stage: None,
    what: str = "",
) -> Agreement[Run]:
    """Run until the `repeats` fastest are within ALIKE of the fastest, or until too many runs were made.

    show: takes the stage before each run. what: name of what is timed, for the stage.
    """
    runs: list[Run] = []
    while len(runs) < MOST_RUNS * repeats:
        show(f"timing {what}, run {len(runs) + 1} ({repeats} to {MOST_RUNS * repeats} are made)")
        runs = sorted([*runs, run()], key=cost)
        if len(runs) >= repeats and cost(runs[repeats - 1]) <= (1 + ALIKE) * cost(runs[0]):
            break
    costs = [cost(one) for one in runs[:repeats]]
    return Agreement(runs[:repeats], len(runs), (costs[-1] - costs[0]) / statistics.median(costs))


def time_value_network(
    network_path: str, repeats: int, recorded: str, isolated: Isolated, show: Callable[[str], None] = lambda stage: None
) -> Timed:
    """Time a value network in processes of `isolated`, bound to the core for timing. Raises as `Isolated.run`.

    show: takes the stage before each run.
    """
    with alone(isolated, show):
        load = machine_load()
        one, search = EvaluationRun(network_path, recorded), SearchRun(network_path, MOST_NODES)
        found = agreeing(lambda: isolated.run(one), lambda run: run.cost, repeats, show, "evaluations")
        searches = agreeing(lambda: isolated.run(search), lambda nps: 1 / nps, repeats, show, "searches")
    parts = {
        name: statistics.median(getattr(run, name) for run in found.runs)
        for name in ("update_ns", "forward_ns", "refresh_ns", "reference_ns")
    }
    cost = statistics.median(run.cost for run in found.runs)
    return _timed(cost, found, searches, load=load, **parts)


def time_residual_network(
    network_path: str,
    run: Path,
    data: Sequence[Path],
    repeats: int,
    isolated: Isolated,
    show: Callable[[str], None] = lambda stage: None,
) -> Timed:
    """Time a residual network's evaluations in batches and its search. Raises as `Isolated.run`.

    show: takes the stage before each run.
    """
    with alone(isolated, show):
        load = machine_load()
        step, search = InferenceRun(run, tuple(data)), SearchRun(network_path, MOST_NODES)
        found = agreeing(lambda: isolated.run(step), lambda cost: cost, repeats, show, "evaluations")
        searches = agreeing(lambda: isolated.run(search), lambda nps: 1 / nps, repeats, show, "searches")
    return _timed(statistics.median(found.runs), found, searches, load=load)


def _timed(cost: float, found: Agreement[Any], searches: Agreement[int], **parts: Any) -> Timed:
    return Timed(
        round(cost, 1),
        _known_spread(found),
        round(statistics.median(searches.runs)),
        _known_spread(searches),
        max(found.spread, searches.spread) <= ALIKE,
        found.made + searches.made,
        **parts,
    )


def _known_spread(found: Agreement[Any]) -> float | None:
    """Return the spread of several runs; None for a single run, which shows none."""
    return round(found.spread, 4) if len(found.runs) > 1 else None


def speed_ratio(network_path: str, opponent: str, isolated: Isolated) -> SpeedRatio:
    """Compare the speeds of two networks' searches, again in more rounds if they do not agree.

    Raises as `Isolated.run`."""
    with alone(isolated):
        for rounds in SPEED_ROUNDS:
            found = isolated.run(SpeedRun(network_path, opponent, rounds, SPEED_NODES))
            if found.agrees:
                break
    return found


def machine_cores() -> tuple[set[int], set[int]]:
    """Return the cores to work on and the core to time on: of several that this process may use the last one."""
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    return (set(allowed[:-1]), {allowed[-1]}) if len(allowed) > 1 else (set(allowed), set(allowed))


def machine_load() -> float | None:
    """Return the machine's load of the last minute; None on Windows."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def alone(isolated: Isolated, show: Callable[[str], None] = lambda stage: None) -> Any:
    """Hold the right to time, which one process of this machine and user has at a time.

    show: takes the stage if another process has it.
    """
    user = os.getuid() if hasattr(os, "getuid") else "user"  # on Windows the folder is the user's own
    folder = Path(tempfile.gettempdir()) / f"liteshogi-timing-{user}"
    return isolated.alone_in(folder, lambda: show("waiting until another timing on this machine ends,"))
