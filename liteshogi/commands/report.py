"""`liteshogi report`: one page of runs, or their verification."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from experiments.language.catalogue import label, shown
from experiments.language.choose import Language, words_for
from experiments.language.words import Words
from experiments.report.report import Report, write_report
from experiments.report.verify import CHANGED, Check, verify
from lite.amounts import amount
from liteshogi.commands.arguments import Json, Output, Overwrite, part
from liteshogi.json_output import json_text
from search.system.bounds import check_unused


@dataclass(frozen=True)
class PrintedChecks:
    """The comparison of the files of runs with what the runs have recorded."""

    checks: tuple[Check, ...]
    """The files, run by run."""


@dataclass(frozen=True)
class Command(Report):
    """Write one self-contained HTML page of sweeps, trainings, matches, leagues, loops and more."""

    runs: tyro.conf.Positional[tuple[Path, ...]]
    output: Output = Path("report.html")
    overwrite: Overwrite = False
    verify: bool = False
    """Write no page: check whether networks, data and shards still have the recorded digests and sizes."""
    language: Language = "auto"
    """Language of texts and errors: ja, en, or auto. auto is Japanese if the system's locale is Japanese.
    The sections of matches, leagues and games on servers are translated, and the page around the sections; the other
    sections are English."""
    json: Json = False

    @property
    def words(self) -> Words:
        """Return the texts of the reader's language."""
        return words_for(self.language)

    def run(self) -> None:
        if self.verify:
            self._verify()
            return
        written = write_report(part(Report, self))
        if self.json:
            print(json_text(written))
        else:
            found = f"{amount(len(written.charts), 'chart')} of {amount(len(written.runs), 'run')}"
            print(shown(f"{written.page}: {found}"))

    def _verify(self) -> None:
        """Exit with 1 if anything has changed. Raises OptionError for options of the page."""
        check_unused(self, "verify", "output", "png", "overwrite")
        checks = verify(self.runs)
        if self.json:
            print(json_text(PrintedChecks(tuple(checks)), readable=True))
        else:
            for check in checks:
                print(f"{check.run}: {check.file}{': ' if check.file else ''}{label(check.state)}")
        if any(check.state == CHANGED for check in checks):
            sys.exit(1)
