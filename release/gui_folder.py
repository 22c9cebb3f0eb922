"""The folder for users of shogi GUIs: start files, wheels to install, networks, and instructions."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numba
import numpy

from liteshogi import __version__
from release.wheels import CHECKOUT

_PARTS = Path(__file__).with_name("gui")


def fill_folder(folder: Path, wheels: Sequence[Path]) -> None:
    """Make the folder with these wheels, whose compiled code is for the running version of Python."""
    folder.mkdir()
    words = {"@VERSION@": __version__, "@PYTHON@": f"{sys.version_info.major}.{sys.version_info.minor}"}
    for part in sorted(_PARTS.iterdir()):
        text = part.read_text(encoding="utf-8")
        for word, meaning in words.items():
            text = text.replace(word, meaning)
        # Notepad and cmd need Windows' line ends, and Notepad needs a byte order mark.
        encoding, newline = {".sh": ("ascii", "\n"), ".bat": ("ascii", "\r\n")}.get(part.suffix, ("utf-8-sig", "\r\n"))
        made = folder / part.name
        made.write_text(text, encoding=encoding, newline=newline)
        made.chmod(0o755 if part.suffix == ".sh" else 0o644)
    shutil.copy(CHECKOUT / "LICENSE", folder)
    shutil.copytree(CHECKOUT / "search" / "networks", folder / "networks", ignore=shutil.ignore_patterns("*.json"))
    (folder / "wheels").mkdir()
    versions = f"numba=={numba.__version__}\nnumpy=={numpy.__version__}\n"
    (folder / "wheels" / "compiled-with.txt").write_text(versions, encoding="ascii")
    for wheel in wheels:
        shutil.copy(wheel, folder / "wheels")


def make_archive(output: Path, wheels: Sequence[Path]) -> Path:
    """Write the folder as one file, `liteshogi-VERSION-gui.zip`; return its path."""
    name = f"liteshogi-{__version__}"
    with TemporaryDirectory() as place:
        fill_folder(Path(place) / name, wheels)
        return Path(shutil.make_archive(str(output / f"{name}-gui"), "zip", place, name))
