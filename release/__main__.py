"""python -m release [FOLDER]: make the files of a release, from the last commit.

The Python that runs it is the one that the wheel with compiled code is for, with its numba and NumPy; it needs the
engine's dependencies and `build` (pip install -e '.[release]'), and a CPU with AVX-512 VNNI.
"""

from __future__ import annotations

import sys
from pathlib import Path

from release.wheels import make_wheels


def main() -> None:
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    try:
        made = make_wheels(Path(*sys.argv[1:] or ["dist"]))
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    for path in made:
        print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")


main()
