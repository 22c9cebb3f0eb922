"""python -m release [FOLDER]: make the files of a release, from the last commit.

The wheel with compiled code is for the running versions of Python, numba and NumPy. Requires the engine's
dependencies, `build` (pip install -e '.[release]') and a CPU with AVX-512 VNNI.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from release.gui_folder import make_archive
from release.wheels import make_wheels


def main() -> None:
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    try:
        output = Path(*sys.argv[1:] or ["dist"])
        made = make_wheels(output)
        made.append(make_archive(output, [path for path in made if path.suffix == ".whl"]))
    except (ValueError, OSError, RuntimeError, subprocess.CalledProcessError) as error:
        sys.exit(f"error: {error}")
    for path in made:
        print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")


main()
