"""Programs installed with this Python's packages."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path


def installed_program(name: str) -> Path | None:
    """Return the path of an installed program; on Windows with its extension, perhaps in the Scripts folder."""
    places = os.pathsep.join((str(Path(sys.executable).parent), sysconfig.get_path("scripts")))
    found = shutil.which(name, path=places)
    return None if found is None else Path(found)
