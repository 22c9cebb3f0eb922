"""Test of the documents as a site: `make docs` builds it without a warning."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    for needed in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(needed, reason="the pages need liteshogi[docs]")
    line = next(line for line in (ROOT / "Makefile").read_text().splitlines() if "-m sphinx" in line)
    options = line.split("-m sphinx")[1].split()
    command = [sys.executable, "-m", "sphinx", *options[:-2], str(ROOT / "docs"), str(tmp_path / "site")]
    command += ["--doctree-dir", str(tmp_path / "doctrees")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250)
    assert (done.returncode, done.stderr) == (0, "")
    pages = {path.name for path in (tmp_path / "site").rglob("*.html")}
    assert {path.with_suffix(".html").name for path in (ROOT / "docs").rglob("*.md")} <= pages
    ja = (tmp_path / "site" / "ja" / "idea.html").read_text(encoding="utf-8")
    assert "../_images/sum.png" in ja
