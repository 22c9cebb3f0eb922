"""Whether what runs have kept is still what they were made from: digests of data and nets, sizes of shards.

A check is {run, file, state}: `same`, `changed`, or why there is nothing to compare.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

from experiments.jobs.ledger import read_stops
from experiments.jobs.results import DATA, FILE, NET, Line, Results
from experiments.jobs.shards import LEDGER
from experiments.loop.stages import GATE
from experiments.report.comparison_section import RESULTS as RECIPE
from experiments.report.comparison_section import is_comparison, is_recipe
from experiments.report.judgement_section import is_judgement
from experiments.report.loop_section import is_loop
from experiments.report.match_section import is_timed_match
from experiments.report.report import find_runs, read_json
from experiments.report.section import UNREADABLE
from experiments.report.sweep_section import is_sweep
from experiments.report.training_section import is_training
from experiments.sweep.sweep import RESULTS as SWEPT
from lite.datasets.description import DESCRIPTION, SHARD, read_description
from lite.datasets.provenance import FILES, digest_of
from lite.records.formats import RecordError
from lite.training.folder import RunFolder
from search.evaluation.shipped import is_shipped, network_file
from search.system.metadata import quoted

SAME, CHANGED, MISSING = "same", "changed", "not there"
UNRECORDED, UNPLACED = "its digest was not recorded", "where it lies was not recorded"


@dataclass(frozen=True)
class Kept:
    """What a run has kept of a file, or of a folder of data."""

    name: str
    path: Path | None
    """Where it lies; None: not recorded."""
    of: str | int | None
    """Its digest, or of a shard its bytes; None: not recorded."""

    @classmethod
    def at(cls, path: Path, of: str | int | None) -> Kept:
        return cls(str(path), path, of)


Told = Iterator[Kept]


def verify(paths: Sequence[Path]) -> list[dict[str, str]]:
    """The checks of all runs, and folders of data, among files and folders. Raises OSError, or ValueError in words, as
    a report does."""
    digest = cache(digest_of)  # what many runs have learnt from is read once
    data = [path for path in paths if _is_described(path)]
    runs = find_runs([path for path in paths if path not in data]).values()
    checks = []
    for run in dict.fromkeys((*chain.from_iterable(runs), *data)):
        inside = f"{run}{os.sep}"
        try:
            for one in dict.fromkeys(_told(run)) or (Kept("", None, None),):
                checks.append({"run": str(run), "file": one.name.removeprefix(inside), "state": _state(one, digest)})
        except (*UNREADABLE, OSError) as error:
            if str(error).startswith(str(run)):
                raise
            told = str(error) if isinstance(error, ValueError | OSError) else repr(error)
            raise ValueError(
                f"{run}: cannot be verified ({quoted(told, 400)}); restore its files from a copy"
            ) from None
    return checks


def _state(one: Kept, digest: Callable[[Path], str]) -> str:
    if one.of is None:
        return UNRECORDED
    if one.path is None:
        return UNPLACED
    try:
        found = one.path.stat().st_size if isinstance(one.of, int) else digest(one.path)
    except (FileNotFoundError, RecordError):  # or a folder whose data are gone
        return MISSING
    return SAME if found == one.of else CHANGED


def _told(run: Path) -> Told:
    for of, tell in KINDS:
        if of(run):
            yield from tell(run)


def _training(run: Path, place: Callable[[str], Path] = Path) -> Told:
    """`place`: where data lie by what the training was told."""
    folder = RunFolder(run)
    if not folder.provenance.is_file():
        yield Kept.at(folder.provenance, None)
        return
    made = read_json(folder.provenance)
    yield Kept.at(folder.network, made.get("network"))
    for one in (*made["data"], *made["valid"]):
        yield Kept.at(place(one["path"]), one["sha256"])


def _results(run: Path) -> Told:
    """Files as seen from where the sweep was begun, of a recipe from the folder of its data and nets."""
    results = Results(run / (SWEPT if is_sweep(run) else RECIPE))
    for (kind, name, _), line in results.lines.items():
        if kind in (NET, FILE):
            file = line.get("net", name)
            yield Kept(file, network_file(file), line.get("sha256"))
            yield from _made_anew(file, line, results)
        elif kind == DATA:
            yield Kept.at(Path(name), line.get("of", {}).get("sha256"))


def _made_anew(net: str, line: Line, results: Results) -> Told:
    """Data of another digest than when the net has learnt from them: the line of the data tells the last alone."""
    for name, digest in line.get("data", {}).items():
        if digest != (results.find(DATA, name) or {}).get("of", {}).get("sha256"):
            yield Kept(f"{name}, which {net} has learnt from", Path(name), digest)


def _loop(run: Path) -> Told:
    """What is from elsewhere, each generation's net by what played at its gate, its training and its records."""
    yield from _depended_on(run)
    recorded: dict[str, str] = {}
    generations = sorted(run.glob("generation-*"))
    for generation in generations:
        for net in (read_description(generation / GATE) or {}).get("nets", ()):
            recorded.setdefault(generation.name if net["role"] == "first" else generations[0].name, net["sha256"])
    for generation in generations:
        yield Kept.at(generation / "net.safetensors", recorded.get(generation.name))
        for folder in sorted(path for path in generation.iterdir() if path.is_dir()):
            yield from _stage(folder)


def _stage(folder: Path) -> Told:
    """Of a loop's generation, whose files lie in the loop, wherever that has been moved."""
    if is_training(folder):
        yield from _training(folder, lambda path: folder.parents[1].joinpath(*Path(path).parts[-2:]))
    elif _is_described(folder):
        yield from _shards(folder)
        for source in (read_description(folder) or {})["sources"]:
            yield Kept.at(folder.with_name(source["name"]), source["sha256"])


def _is_described(run: Path) -> bool:
    return (run / LEDGER).is_file() and (run / DESCRIPTION).is_file()


def _games(run: Path) -> Told:
    yield from _shards(run)
    yield from _depended_on(run)


def _shards(run: Path) -> Told:
    """By their ledger, which is all that there is of pairs that are judged."""
    for shard, size in read_stops(run / LEDGER).items():
        name = f"{SHARD}{shard:05}"
        if size:
            yield Kept.at(next(run.glob(f"{name}.*"), run / name), size)


def _depended_on(run: Path) -> Told:
    """Nets and data from elsewhere; older runs have kept the names alone, which say where shipped nets lie."""
    if (run / FILES).is_file():
        for name, digest in read_json(run / FILES).items():
            yield Kept(name, run / network_file(name), digest)
        return
    description = read_description(run) or {}
    for one in (*description.get("nets", ()), *description.get("sources", ())):
        name = str(one["name"])
        yield Kept(name, network_file(name) if is_shipped(name) else None, one.get("sha256"))


def _comparison(run: Path) -> Told:
    report = read_json(run)
    for role in ("data", "valid"):
        yield Kept.at(run.with_name(report[role]), report.get("digests", {}).get(role))
    for net, digest in report.get("nets", {}).items():
        yield Kept.at(run.parent / net, digest)
    if "nets" not in report:
        yield Kept("nets", None, None)


def _judgement(run: Path) -> Told:
    for name, digest in read_json(run).get("files", {}).items():
        yield Kept(name, network_file(name), digest)


KINDS: tuple[tuple[Callable[[Path], bool], Callable[[Path], Told]], ...] = (
    (is_training, _training),
    (lambda path: is_sweep(path) or is_recipe(path), _results),
    (is_loop, _loop),
    (_is_described, _games),
    (is_timed_match, _depended_on),
    (lambda path: path.is_file() and is_comparison(read_json(path)), _comparison),
    (lambda path: path.is_file() and is_judgement(read_json(path)), _judgement),
)
