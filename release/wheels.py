"""The packages that pip installs: the sources, a wheel for all platforms, and one with compiled code for this one.

The last starts without compiling if Python, numba and NumPy have the versions that it was made with.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from liteshogi import __version__
from search.compiling.target import RELEASED, TARGETS, Target, cpu_flags

CHECKOUT = Path(__file__).resolve().parents[1]
_COMPILE = "from search.warmup import warm_up; warm_up()"


def write_sources(directory: Path) -> None:
    """Write the files of the last commit. ValueError if the working tree differs: a release must be one that can
    be made again."""
    if changed := _git("status", "--porcelain").decode().splitlines():
        first = changed[0][3:] + (f" and {len(changed) - 1} more" if changed[1:] else "")
        raise ValueError(f"{CHECKOUT}: not as committed: {first}: commit what is changed, or set it aside")
    with tarfile.open(fileobj=BytesIO(_git("archive", "HEAD"))) as archive:
        archive.extractall(directory, filter="data")


def _git(*words: str) -> bytes:
    return subprocess.run(["git", "-C", str(CHECKOUT), *words], check=True, stdout=subprocess.PIPE).stdout


def compile_for(target: Target, sources: Path) -> Path:
    """Compile the engine for a target into `search/compiled` of the sources; return that directory.

    Raises ValueError if this CPU cannot run the compiled code, because warming up runs it.
    """
    if missing := target.needed - cpu_flags():
        raise ValueError(
            f"code for {target.cpu} is made on a CPU that runs it: this one lacks {', '.join(sorted(missing))}"
        )
    place = sources / RELEASED.relative_to(CHECKOUT)
    place.mkdir(mode=0o700, exist_ok=True)
    directory = place / target.environment
    directory.mkdir(mode=0o700)  # this directory makes the process below compile for the target, see `released_target`
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "LITESHOGI_"))}
    environment |= {"PYTHONPATH": str(sources), "LITESHOGI_CACHE": str(place), "LITESHOGI_KERNEL": target.kernel}
    subprocess.run([sys.executable, "-c", _COMPILE], env=environment, cwd=sources, check=True)
    for path in directory.iterdir():
        if path.is_file():
            path.unlink()  # locks
    if not list(directory.glob("search.warmup-*/complete")):
        raise RuntimeError(f"{directory}: not all was compiled")
    for path in (place, *place.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return directory


def platform_tag() -> str:
    """Return the platform tag of the wheel with compiled code: it requires only the C library that numba requires."""
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return platform.replace("linux_", "manylinux_2_17_")


def build(sources: Path, output: Path, *options: str) -> None:
    """Run `python -m build` on a source tree."""
    command = [sys.executable, "-m", "build", str(sources), "--outdir", str(output.resolve()), *options]
    subprocess.run(
        command, check=True, cwd=sources.parent
    )  # another directory, because a folder `build` would hide the module


def make_wheels(output: Path, targets: Sequence[Target] = TARGETS) -> list[Path]:
    """Make all three packages in a folder, one of them with code compiled for these targets; return their paths.

    Takes minutes.
    """
    output.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as name:
        sources = Path(name) / "liteshogi"
        write_sources(sources)
        build(sources, output)
        for target in targets:
            compile_for(target, sources)
        tags = (f"--plat-name={platform_tag()}", f"--python-tag=cp{sys.version_info.major}{sys.version_info.minor}")
        build(sources, output, "--wheel", *(f"-C--build-option={tag}" for tag in tags))
    made = output.glob(f"liteshogi-{__version__}[-.]*")  # other files may be from older releases
    return sorted(path for path in made if path.suffix in (".gz", ".whl"))
