"""The parts of a page: a section for all runs of one verb, with charts, tables, boards and the runs' origins.

The texts of a section are in the reader's language when it is made; those of origins are English.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from experiments.drawing.markdown import markdown_cells
from experiments.language.catalogue import label, reader, shown
from experiments.report.charts import Chart
from lite.program import UNKNOWN, Program
from lite.run_folder import Maker, RunRecord

UNREADABLE = (KeyError, TypeError, IndexError, ValueError, AttributeError, ArithmeticError)
"""Exceptions of a section whose run holds figures of another program, or of none."""


@dataclass(frozen=True)
class Run:
    """A run folder that a page is about."""

    name: str
    """Name on the page: the folder's, with as many parent folders as make it unique."""
    path: Path
    record: RunRecord


@dataclass(frozen=True)
class Table:
    """A table of figures."""

    head: Sequence[str]
    lines: Sequence[Sequence[str]]
    title: str = ""

    @classmethod
    def of_markdown(cls, text: str, title: str) -> Table:
        """Return the one table of a Markdown text."""
        cells = [markdown_cells(line) for line in text.splitlines() if line.startswith("|")]
        return cls(cells[0], cells[2:], title)


@dataclass(frozen=True)
class Board:
    """A position and lines about it."""

    sfen: str
    words: Sequence[str]


@dataclass(frozen=True)
class Origin:
    """The command, program and machine of a run, as far as they were recorded."""

    run: str
    command: str = UNKNOWN
    program: str = UNKNOWN
    machine: str = UNKNOWN
    seed: str = UNKNOWN
    when: str = UNKNOWN


@dataclass(frozen=True)
class Section:
    """A heading, a line that explains it, charts, tables and boards."""

    title: str
    about: str
    charts: Sequence[Chart]
    tables: Sequence[Table]
    origins: Sequence[Origin]
    boards: Sequence[Board] = ()
    language: str = field(default_factory=lambda: reader().code)
    """Language code of HTML."""


def remarks_tables(remarks: Sequence[tuple[str, str]]) -> list[Table]:
    """Return a table of (name of a run, remark on its figures); empty without a remark."""
    lines = [[run, shown(remark)] for run, remark in remarks]
    return [Table((label("run"), label("remark")), lines)] if lines else []


def origin_of(run: Run) -> Origin:
    """Return the origin of a run by its record."""
    record = run.record
    state = "" if record.state == "done" else f" ({record.state})"
    return Origin(
        run.name,
        command_of(record),
        _joined(map(_program, record.made_by)),
        _joined(f"{one.machine.cpu}, {one.machine.kernel}" for one in record.made_by),
        str(record.options.get("seed", UNKNOWN)),
        f"{record.started} to {record.updated}{state}",
    )


def command_of(record: RunRecord) -> str:
    """Return the command line of a run, or its verb and options where it was called from Python."""
    if record.arguments:
        return shlex.join(["liteshogi", *record.arguments])
    options = ", ".join(f"{name}={value!r}" for name, value in {**record.options, **record.goal}.items())
    return f"{record.verb} from Python: {options}"


def _program(maker: Maker) -> str:
    return Program(maker.versions.get("liteshogi"), maker.versions.get("commit")).name


def _joined(texts: Iterable[str], between: str = "; ") -> str:
    return between.join(dict.fromkeys(texts)) or UNKNOWN
