"""Whether what runs have kept is still what they were made from: digests of data and nets, sizes of shards.

A check is {run, file, state}: `same`, `changed`, or why there is nothing to compare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from experiments.factory.ledger import read_stops
from experiments.factory.shards import LEDGER
from experiments.loop.ledger import GATE
from experiments.report.comparisons import RESULTS as RECIPE
from experiments.report.comparisons import is_comparison, is_recipe
from experiments.report.loops import is_loop
from experiments.report.report import find_runs, read_json
from experiments.report.sweeps import is_sweep
from experiments.report.training import is_training
from experiments.results import DATA, NET, Results
from experiments.sweep.sweep import RESULTS as SWEPT
from lite.datasets.description import DESCRIPTION, SHARD, read_description
from lite.datasets.provenance import describe_data, sha256_of
from lite.training.folder import RunFolder
from search.evaluation.shipped import is_shipped, network_file

SAME, CHANGED, MISSING, UNRECORDED = "same", "changed", "not there", "its digest was not recorded"
Found = Iterator[tuple[str, str]]
"""(File, state)."""


def verify(paths: Sequence[Path]) -> list[dict[str, str]]:
    """The checks of all runs among files and folders. Raises OSError, or ValueError in words, as a report does."""
    checks = []
    for runs in find_runs(paths).values():
        for run in runs:
            for file, state in list(_checked(run)) or [("", UNRECORDED)]:
                checks.append({"run": str(run), "file": file, "state": state})
    return checks


def _checked(run: Path) -> Found:
    for of, look in CHECKS:
        if of(run):
            yield from look(run)


def _training(run: Path) -> Found:
    folder = RunFolder(run)
    if not folder.provenance.is_file():
        yield folder.provenance.name, UNRECORDED
        return
    made = read_json(folder.provenance)
    yield folder.network.name, _compared(_digest(folder.network), made.get("network"))
    for one in (*made["data"], *made["valid"]):
        yield one["path"], _compared(_digest(Path(one["path"])), one["sha256"])


def _results(run: Path) -> Found:
    """Files as seen from where the sweep, or the work of the recipe, was begun."""
    name_of = SWEPT if is_sweep(run) else RECIPE
    for (kind, name, _), line in Results(run / name_of).lines.items():
        if kind == NET:
            file = line.get("net", name)
            yield file, _compared(_digest(network_file(file)), line.get("sha256"))
        elif kind == DATA:
            yield name, _compared(_digest(Path(name)), line.get("of", {}).get("sha256"))


def _loop(run: Path) -> Found:
    """Each generation's net by what played at its gate; its training, games and positions by what they have kept."""
    recorded: dict[str, str] = {}
    generations = sorted(run.glob("generation-*"))
    for generation in generations:
        for net in (read_description(generation / GATE) or {}).get("nets", ()):
            recorded.setdefault(generation.name if net["role"] == "first" else generations[0].name, net["sha256"])
    for generation in generations:
        net = generation / "net.safetensors"
        yield f"{generation.name}/{net.name}", _compared(_digest(net), recorded.get(generation.name))
        for folder in sorted(path for path in generation.iterdir() if path.is_dir()):
            yield from ((f"{generation.name}/{folder.name}/{file}", state) for file, state in _checked(folder))


def _described(run: Path) -> Found:
    """Shards by their ledger; of nets those that are shipped, for of others the names alone are known."""
    for shard, size in read_stops(run / LEDGER).items():
        name = f"{SHARD}{shard:05}"
        file = next((path for path in run.glob(f"{name}.*")), None)
        yield (file.name if file else name), _compared(str(file.stat().st_size) if file else None, str(size))
    for net in (read_description(run) or {}).get("nets", ()):
        if is_shipped(str(net["name"])):
            yield str(net["name"]), _compared(_digest(network_file(net["name"])), net["sha256"])


def _comparison(run: Path) -> Found:
    report = read_json(run)
    for role in ("data", "valid"):
        path = run.with_name(report[role])
        yield str(path), _compared(_digest(path), report.get("digests", {}).get(role))


CHECKS: tuple[tuple[Callable[[Path], bool], Callable[[Path], Found]], ...] = (
    (is_training, _training),
    (lambda path: is_sweep(path) or is_recipe(path), _results),
    (is_loop, _loop),
    (lambda path: (path / LEDGER).is_file() and (path / DESCRIPTION).is_file(), _described),
    (lambda path: path.is_file() and is_comparison(read_json(path)), _comparison),
)


def _digest(path: Path) -> str | None:
    """Of a file, or a folder of data; None if there is none."""
    if not path.exists():
        return None
    return str(describe_data(path)["sha256"]) if path.is_dir() else sha256_of(path)


def _compared(found: str | None, recorded: str | None) -> str:
    if recorded is None:
        return UNRECORDED
    if found is None:
        return MISSING
    return SAME if found == recorded else CHANGED
