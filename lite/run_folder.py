"""The folder of a long run: `run.json` describes the run, `results.jsonl` holds its results so far.

Every long-running verb writes one. To write:

    @dataclass(frozen=True)
    class Epoch(Line, kind="epoch"):            # a typed line: fields as `lite.typed` takes them
        number: int
        loss: float

    plan = plan_run(                            # lite.datasets.plan, which takes the digests; or RunPlan by hand
        "train lite",                           # the verb: the report and its check go by this name
        {"seed": 1, "batch_size": 4096},        # options that decide the results, by their fields' names, flat
        goal={"epochs": 6},                     # options that a later call may change: how much, and how it is counted
        sources={"data": paths},                # files and folders of data, by the options that name them
        nets={"init_from": path},               # networks, by the options that name them or their parts in the run
        conditions={"signature": 634562},       # what else decides the results and is no option
    )
    with RunWriter(folder, plan) as writer:     # locks the folder; refuses one whose options, sources or nets differ
        done = list(writer.lines(Epoch))        # what earlier calls have found; empty in a new folder
        writer.append(Epoch(3, 0.31))           # on the disk, whole, when this returns; from any thread
        writer.update({"positions": 10_000})    # totals so far; writes run.json
        writer.add_product(network_path)        # digest of a file made here that others use; writes run.json

The state is `running` inside the block (and for ever after a kill), then `done`, `interrupted` (KeyboardInterrupt, or
`writer.interrupt()`), or `failed`. A folder without any line starts again, whatever its run.json says. To read:

    record = read_run(folder)                   # or find_run: None where there is no run.json
    for line in read_lines(folder, Epoch): ...  # lines of other kinds are skipped; a torn last line is ignored

Both take files that anyone may have written: ValueError in one line that names the file and the field.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, TypeVar

from lite.durable_file import DurableFile
from lite.json_lines import read_objects, whole_bytes
from lite.program import commit, libraries, release
from lite.typed import typed
from search.compiling.jit import KERNEL
from search.compiling.target import cpu_name
from search.system.command_line import command_arguments
from search.system.cores import usable_cores
from search.system.files import complaints_about, write_atomically
from search.system.folder_lock import FolderLock
from search.system.metadata import json_bytes, one_line, parse_json
from search.system.options import OptionError

RECORD, RESULTS = "run.json", "results.jsonl"
FORMAT, VERSION = "liteshogi run", 1
State = Literal["running", "interrupted", "failed", "done"]
OLDER = ("description.json", "made.json", "ledger.json", "ledger.jsonl", "match.yaml", "points.jsonl")
"""Files that mark a folder of a version before run.json."""
_LARGEST_RECORD = 1 << 22
_COPY = "restore it from a copy, or choose another folder"


@dataclass(frozen=True)
class Source:
    """A file or folder of data that a run reads, known by its content."""

    role: str
    """Field of the options that names it."""
    name: str
    files: int
    bytes: int
    sha256: str
    """Digest, see `lite.datasets.provenance.digest_of`."""
    description: dict[str, Any] | None = None
    """The data's own provenance, where this program has made them: JSON as the version that made them wrote it; see
    `Provenance`."""


@dataclass(frozen=True)
class Net:
    """A network that a run uses, known by its content."""

    role: str
    """Field of the options that names it, or its part in the run: `player 3`."""
    name: str
    """File name, or the name of a shipped network."""
    sha256: str


@dataclass(frozen=True)
class Machine:
    """A machine on which a run has worked."""

    cpu: str
    kernel: str
    """Kernel of the integer networks: vnni, avx2, plain and so on."""
    cores: int


@dataclass(frozen=True)
class Maker:
    """A program on a machine that has worked at a run."""

    versions: dict[str, str | None]
    """Versions of liteshogi, its commit, Python and the libraries that figures may depend on."""
    machine: Machine


@dataclass(frozen=True)
class RunPlan:
    """Everything that decides the results of a run."""

    verb: str
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options that decide the results, by the names of their fields; a resumed run must have the same."""
    goal: Mapping[str, Any] = field(default_factory=dict)
    """Settings that a later call may change: how much is made, and how it is counted and called."""
    sources: tuple[Source, ...] = ()
    nets: tuple[Net, ...] = ()
    conditions: Mapping[str, Any] = field(default_factory=dict)
    """Other facts that decide the results: the signature of this engine's search, the identity of another engine."""
    files: Mapping[str, str] = field(default_factory=dict)
    """{path, or a shipped network's name: digest} of all files that the run depends on, for verification."""


@dataclass(frozen=True)
class RunRecord:
    """The content of run.json."""

    verb: str
    arguments: tuple[str, ...]
    """Words of the last command line that worked here, without the program's name; empty for a call from Python."""
    options: dict[str, Any]
    goal: dict[str, Any]
    conditions: dict[str, Any]
    sources: tuple[Source, ...]
    nets: tuple[Net, ...]
    files: dict[str, str]
    """Digests as in `RunPlan.files`; a name without a folder is a file of the run's own folder."""
    made_by: tuple[Maker, ...]
    """Every maker that has worked here, the last one at the end."""
    started: str
    """Time of the first call, ISO 8601 in UTC."""
    updated: str
    seconds: float
    """Seconds that calls have worked, without the pauses between them."""
    state: State
    totals: dict[str, int | float]
    """Sums over what has been found, as of `updated`."""
    products: dict[str, str] = field(default_factory=dict)
    """{name in the folder: digest} of files that the run has made and that others use, such as networks."""

    def provenance(self) -> Provenance:
        """Return the part of the record that data and networks made from this run carry."""
        carried = {one.name for one in fields(Provenance)}
        return Provenance(**{name: value for name, value in vars(self).items() if name in carried})


@dataclass(frozen=True)
class Provenance:
    """The part of a run's record that data and networks made from it carry: without paths of this disk."""

    verb: str
    options: dict[str, Any]
    """Options that decide the results, by the names of their fields."""
    goal: dict[str, Any]
    """Settings that a later call may change."""
    conditions: dict[str, Any]
    """Other facts that decide the results."""
    sources: tuple[Source, ...]
    """Data that the run has read."""
    nets: tuple[Net, ...]
    """Networks that the run has used."""
    made_by: tuple[Maker, ...]
    """Every maker that has worked at the run, the last one at the end."""
    started: str
    """Time of the first call, ISO 8601 in UTC."""
    updated: str
    """Time of the last call."""
    seconds: float
    """Seconds that calls have worked, without the pauses between them."""
    totals: dict[str, int | float]
    """Sums over what has been found."""
    format: str = FORMAT
    """Format of the run's record."""
    version: int = VERSION
    """Version of that format."""


class Line:
    """Base class of the typed lines of results.jsonl: frozen dataclasses, each with a kind of its own."""

    kind: ClassVar[str]
    kinds: ClassVar[dict[str, type[Line]]] = {}

    def __init_subclass__(cls, *, kind: str | None = None) -> None:
        """Register the class; without `kind` it is a base of others."""
        if kind is None:
            return
        if (other := Line.kinds.get(kind)) is not None and other.__qualname__ != cls.__qualname__:
            raise TypeError(f"lines of the kind {kind!r} are {other.__qualname__} already")
        cls.kind = kind
        Line.kinds[kind] = cls


AnyLine = TypeVar("AnyLine", bound=Line)


class RunWriter:
    """A run folder opened by the one process that works in it; a context manager."""

    def __init__(self, folder: Path, plan: RunPlan, option: str = "output", overwrite: bool = False) -> None:
        """`option`: the one that names the folder, for errors. `overwrite`: drop the lines that are there."""
        self.folder = folder
        self._plan, self._option, self._overwrite = plan, option, overwrite
        self._lock = FolderLock(folder)
        self._writing = threading.Lock()
        self._is_interrupted = False
        self._record: RunRecord
        self._results: DurableFile

    def __enter__(self) -> Self:
        """Take the folder. Raises OptionError where it holds another run, ValueError where it is damaged, OSError."""
        self._lock.take()
        try:
            self._begin()
        except BaseException:
            if list(self.folder.iterdir()) == [self._lock.file]:
                self._lock.discard()
            self._lock.release()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._write(state="interrupted" if self._is_interrupted else "done")
            else:
                with suppress(OSError):  # the disk may be full, which is what has failed
                    self._write(state="interrupted" if issubclass(kind, KeyboardInterrupt) else "failed")
        finally:
            self._results.close()
            self._lock.release()

    @property
    def is_new(self) -> bool:
        """Whether the folder held no line when it was opened."""
        return self._is_new

    @property
    def record(self) -> RunRecord:
        """The content of run.json as last written."""
        return self._record

    def lines(self, *kinds: type[AnyLine]) -> Iterator[AnyLine]:
        """Read the lines of these kinds in their order, as `read_lines`."""
        return read_lines(self.folder, *kinds)

    def append(self, line: Line) -> None:
        """Add a line, which is on the disk when this returns; OSError leaves the file as it was."""
        content = _line_bytes(line)
        with self._writing:
            self._results.append(content)

    def update(self, totals: Mapping[str, int | float]) -> None:
        """Write run.json with the totals of this moment."""
        self._record = _replaced(self._record, totals=dict(totals))
        self._write()

    def add_product(self, path: Path) -> None:
        """Record the digest of a file that the run has made in its folder, for verification."""
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        name = path.absolute().relative_to(self.folder.absolute()).as_posix()
        self._record = _replaced(self._record, products={**self._record.products, name: digest})
        self._write()

    def interrupt(self) -> None:
        """Have the run marked as interrupted where its block ends without an exception."""
        self._is_interrupted = True

    def _begin(self) -> None:
        path = self.folder / RESULTS
        kept, size = find_run(self.folder), 0 if self._overwrite else whole_bytes(path)
        self._is_new = not size
        if kept is None:
            self._refuse_others()
        elif size and (found := _difference(kept, self._plan)):
            name, words = found
            raise OptionError(
                f"`{self._option}` {self.folder}: holds a run with {one_line(words, 400)}; give the same or choose "
                "another folder",
                self._option,
                *([name] if name else []),
            )
        self._record = self._opened(None if self._is_new else kept)
        self._seconds_before, self._begun = self._record.seconds, time.monotonic()
        self._results = DurableFile(path, size)
        try:
            self._write()
        except BaseException:
            self._results.close()
            raise

    def _refuse_others(self) -> None:
        """Raise OptionError where the folder holds a run that no run.json describes."""
        older = [name for name in OLDER if (self.folder / name).exists()]
        if older:
            words = _of_older(older[0])
        elif not self._is_new:
            words = f"holds a {RESULTS} without the {RECORD} that describes it"
        else:
            return
        raise OptionError(f"`{self._option}` {self.folder}: {words}; choose another folder", self._option)

    def _opened(self, kept: RunRecord | None) -> RunRecord:
        """Return the record of this call, which resumes the run that is kept."""
        plan, maker, now = self._plan, this_maker(), _now()
        makers = () if kept is None else tuple(one for one in kept.made_by if one != maker)
        inside = f"{self.folder.absolute()}{os.sep}"
        return RunRecord(
            verb=plan.verb,
            arguments=command_arguments(),
            options=_json_safe(plan.options),
            goal=_json_safe(plan.goal),
            conditions=_json_safe(plan.conditions),
            sources=plan.sources,
            nets=plan.nets,
            files={name.removeprefix(inside): digest for name, digest in plan.files.items()},
            made_by=(*makers, maker),
            started=now if kept is None else kept.started,
            updated=now,
            seconds=0.0 if kept is None else kept.seconds,
            state="running",
            totals={} if kept is None else kept.totals,
            products={} if kept is None else kept.products,
        )

    def _write(self, state: State = "running") -> None:
        seconds = round(self._seconds_before + time.monotonic() - self._begun, 1)
        self._record = _replaced(self._record, updated=_now(), seconds=seconds, state=state)
        entry = {"format": FORMAT, "version": VERSION, **asdict(self._record)}
        write_atomically(self.folder / RECORD, json_bytes(entry, 1) + b"\n")


def this_maker() -> Maker:
    """Return this program on this machine."""
    return Maker(dict(_versions()), Machine(cpu_name(), KERNEL, usable_cores()))


@functools.cache
def _versions() -> dict[str, str | None]:
    """Return the versions of what this process runs, which edits and updates during it do not change.

    Asking Git and reading the libraries' descriptions takes longer than the rest of opening a folder.
    """
    return {"liteshogi": release(), "commit": commit(), **libraries()}


def find_run(folder: Path) -> RunRecord | None:
    """Return the record of a run folder; None if there is no run.json. Raises OSError, or ValueError that names it."""
    path = folder / RECORD
    if not path.exists():
        return None
    with complaints_about(path), open(path, "rb") as file:
        content = file.read(_LARGEST_RECORD + 1)
    try:
        if len(content) > _LARGEST_RECORD:
            raise ValueError(f"it is larger than {_LARGEST_RECORD >> 20} MB")
        found = parse_json(content.decode())
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT!r}")
        if found.get("version") != VERSION:
            raise ValueError(f"its version is {one_line(found.get('version'))}, this program reads version {VERSION}")
        entry = {name: value for name, value in found.items() if name not in ("format", "version")}
        record = typed(RunRecord, entry, "its fields")
        if not record.made_by:
            raise ValueError("its fields: made_by must name at least one maker")
        return record
    except ValueError as error:
        raise ValueError(f"{path}: not the record of a run ({error}); {_COPY}") from None


def read_run(folder: Path) -> RunRecord:
    """Return the record of a run folder. Raises OSError, or ValueError that names the folder if it holds no run."""
    record = find_run(folder)
    if record is not None:
        return record
    older = next((name for name in OLDER if (folder / name).exists()), None)
    if older is not None:
        raise ValueError(f"{folder}: {_of_older(older)}")
    raise ValueError(f"{folder}: no run folder: it has no {RECORD}")


def read_lines(folder: Path, *kinds: type[AnyLine]) -> Iterator[AnyLine]:
    """Read the typed lines of these kinds from a run folder in their order, while another process may add to them.

    Lines of other kinds are skipped, and so is a last line that is not whole. Raises OSError, or ValueError that names
    the file, the line and the field.
    """
    path, known = folder / RESULTS, {one.kind: one for one in kinds}
    if not path.exists():
        return
    for number, entry in read_objects(path, _COPY):
        kind = entry.pop("kind", None)
        if not isinstance(kind, str):
            raise ValueError(f"{path}: line {number}: kind must be given; {_COPY}")
        if kind not in known:
            continue
        try:
            line = typed(known[kind], entry, f"line {number}")
        except ValueError as error:
            raise ValueError(f"{path}: {error}; {_COPY}") from None
        yield line


def _line_bytes(line: Line) -> bytes:
    entry = {"kind": line.kind, **asdict(line)}  # type: ignore[call-overload]  # every kind is a dataclass
    text = json.dumps(entry, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode(errors="backslashreplace") + b"\n"


def _difference(kept: RunRecord, plan: RunPlan) -> tuple[str, str] | None:
    """Return (the field that differs or "", words) for the first thing that a kept run had otherwise; None if none."""
    if kept.verb != plan.verb:
        return "", f"the verb {kept.verb}, not {plan.verb}"
    given = _json_safe(plan.options)
    for name in {**given, **kept.options}:
        was, here = kept.options.get(name), given.get(name)
        if was != here:
            return name, f"`{name}` {_compared(was, here)}"
    for what, had, have in (("sources", kept.sources, plan.sources), ("nets", kept.nets, plan.nets)):
        # By content: a file may have been moved or renamed since.
        if [(one.role, one.sha256) for one in had] != [(one.role, one.sha256) for one in have]:
            return "", f"other {what}: {_named(had)}, not {_named(have)}"
    given = _json_safe(plan.conditions)
    for name in {**given, **kept.conditions}:
        was, here = kept.conditions.get(name), given.get(name)
        if was != here:
            return "", f"another {name}: {_compared(was, here)}"
    return None


def _compared(was: Any, here: Any) -> str:
    """Return "old, not new" of two values; of two objects, that of the first entry that differs."""
    name = ""
    while isinstance(was, dict) and isinstance(here, dict):
        key = next(one for one in {**here, **was} if was.get(one) != here.get(one))
        name, was, here = f"{name}{key} ", was.get(key), here.get(key)
    return f"{name}{', not '.join(json.dumps(value, ensure_ascii=False) for value in (was, here))}"


def _named(files: tuple[Source, ...] | tuple[Net, ...]) -> str:
    return ", ".join(f"{one.name} ({one.role}, sha256 {one.sha256[:12]})" for one in files) or "none"


def _of_older(name: str) -> str:
    return f"holds a run of a version before 0.1.0 ({name}), which only that version reads"


def _replaced(record: RunRecord, **changes: Any) -> RunRecord:
    return RunRecord(**{**record.__dict__, **changes})


def _json_safe(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as a reader finds them: tuples as lists, paths as text."""
    found: dict[str, Any] = json.loads(json.dumps(dict(values), default=str))
    return found


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
