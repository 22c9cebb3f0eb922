"""ShogiArena as a process: how a run is described to it, how it is run, and where its words go."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from experiments.usi_client.engines import OURS
from experiments.usi_client.installed import installed_program
from lite.datasets.provenance import FILES, digests_of
from search.system.files import write_atomically
from search.system.folder_lock import FolderLock
from search.system.interrupt import ends_as_interrupts
from search.system.metadata import quoted

LOG = "shogiarena.log"
"""What ShogiArena says, in the directory of the run."""
GAMES = "games"
"""ShogiArena's own part of that directory."""
_NOT_COMPARED = ("tournament.game_order", "rules.initial_positions.source", "handshake_timeout")
"""Of a run's description: its games may come in the order that it was begun with, its openings are known by the digest
of the user's file, and how long an engine takes to be ready differs from start to start."""
WATCH_SECONDS = 0.5
NOT_ON_PYTHON_3_14 = "1.3.2"
"""A ShogiArena that does not start there: its tables name types which Python 3.14 looks for in vain."""


def find_arena() -> Path:
    """ShogiArena's program: the one in this Python's environment, else one on PATH that has its own.

    ModuleNotFoundError if there is none, ValueError if there is none on Python 3.12, where it cannot be installed here.
    """
    if _is_installed_here():
        program = installed_program("shogiarena")
    else:
        elsewhere = shutil.which("shogiarena")
        program = None if elsewhere is None else Path(elsewhere)
    if program is not None:
        return program
    if sys.version_info[:2] == (3, 12):
        raise ValueError(
            "on Python 3.12 ShogiArena, which plays this match, needs an environment of its own, for it wants NumPy 2 "
            "and cshogi NumPy 1: pipx install shogiarena"
        )
    raise ModuleNotFoundError("shogiarena is not installed", name="shogiarena")


def _is_installed_here() -> bool:
    return importlib.util.find_spec("shogiarena") is not None


def check_arena() -> None:
    """Raise what `find_arena` does, and ValueError if what it finds is known not to start."""
    find_arena()
    known = _is_installed_here() and importlib.metadata.version("shogiarena") == NOT_ON_PYTHON_3_14
    if known and sys.version_info >= (3, 14):
        raise ValueError(
            f"ShogiArena {NOT_ON_PYTHON_3_14} does not start on Python 3.14: play matches between programs with "
            "Python 3.11 to 3.13, with a later ShogiArena, or with one of an environment of its own: "
            "pip uninstall shogiarena; pipx install --python python3.13 shogiarena"
        )


@contextlib.contextmanager
def described_run(
    directory: Path, descriptions: Mapping[str, Mapping[str, Any]], files: Iterable[Path]
) -> Iterator[None]:
    """Within it the directory is this process's, and holds the descriptions of a run by their names (JSON is YAML too)
    and the digests of the files that it depends on.

    ValueError if a run was begun there with others, before anything is written; one that was begun with the same keeps
    its own, and with them the environment of its first start.
    """
    descriptions = {**descriptions, FILES: digests_of(files)}
    _refuse_another(directory, descriptions)
    with FolderLock(directory):
        _refuse_another(directory, descriptions)  # which may have come and gone meanwhile
        if not _is_begun(directory):
            for name, description in descriptions.items():
                write_atomically(directory / name, json.dumps(description, indent=1).encode())
        yield


def _is_begun(directory: Path) -> bool:
    games = directory / GAMES
    return games.is_dir() and any(games.iterdir())


def _refuse_another(directory: Path, descriptions: Mapping[str, Mapping[str, Any]]) -> None:
    for name, description in descriptions.items() if _is_begun(directory) else ():
        try:
            kept = json.loads((directory / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            difference = f"{name} cannot be read there"
        else:
            difference = _first_difference(_leaves(kept), _leaves(description))
        if difference:
            raise ValueError(
                f"{directory} holds another run ({difference}): repeat its command, or give another --output"
            )


def _leaves(description: object, path: str = "") -> dict[str, object]:
    """{dotted path: value} of all that tells runs apart; of the environment, this project's variables."""
    items: list[tuple[str, object]]
    if isinstance(description, Mapping):
        items = [(f"{path}.{key}" if path else str(key), value) for key, value in description.items()]
        if path == "environment":
            items = [item for item in items if item[0].startswith(f"environment.{OURS}")]
        items = [item for item in items if item[0] not in _NOT_COMPARED]
    elif isinstance(description, list):
        items = [(f"{path}.{number}", value) for number, value in enumerate(description, 1)]
    else:
        return {path.replace("|", ""): description}
    return {leaf: value for name, item in items for leaf, value in _leaves(item, name).items()}


def _first_difference(kept: Mapping[str, object], wanted: Mapping[str, object]) -> str:
    for name in [*wanted, *kept]:
        if kept.get(name) != wanted.get(name):
            if Path(name).is_absolute():
                return f"{name} has changed since"
            return quoted(f"{name} is {kept.get(name, 'not set')} there, here {wanted.get(name, 'not set')}", 400)
    return ""


def run_arena(directory: Path, *arguments: str, watch: Callable[[], None] = lambda: None) -> None:
    """Run ShogiArena on a run's directory, calling `watch` now and then. What it says goes to its log there.

    ValueError with its last words if it fails. An interrupt, or a request to end, is handed on once and ShogiArena is
    waited for, which then closes its engines and its books; KeyboardInterrupt follows. A second one kills it.
    """
    command = [str(find_arena()), "--log-level", "WARNING", *arguments, "--run-dir", str(directory / GAMES)]
    with open(directory / LOG, "ab") as log:
        begun = log.tell()
        process = subprocess.Popen(
            command,
            env=os.environ | {"PYTHONIOENCODING": "utf-8"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            # Out of the terminal's reach: a second signal would make it quit at once.
            process_group=0 if os.name == "posix" else None,
        )
        with process, ends_as_interrupts():
            try:
                while process.poll() is None:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(WATCH_SECONDS)
                    watch()
            except BaseException as error:
                _close(process)
                if isinstance(error, KeyboardInterrupt):
                    print("run the same command again to go on", file=sys.stderr)
                raise
    if process.returncode:
        raise ValueError(f"shogiarena failed: {_last_words(directory / LOG, begun)}; see {directory / LOG}")


def _last_words(log: Path, begun: int) -> str:
    """Why a run failed, from its part of the log: what was raised first after the last error, or that, or the end."""
    with open(log, "rb") as file:
        file.seek(begun)
        text = file.read().decode("utf-8", "replace").strip()
    last = text.rpartition("[ERROR]: ")[2]
    raised = re.search(r"^[\w.]*(?:Error|Exception): (.+)$", last, re.MULTILINE)
    lines = last.splitlines() or ["it said nothing"]
    return raised[1] if raised else lines[0 if "[ERROR]: " in text else -1]


def _close(process: subprocess.Popen[bytes]) -> None:
    """Have ShogiArena end in its own way; at another interrupt at once."""
    try:
        if os.name == "posix":
            process.send_signal(signal.SIGINT)
        process.wait()
    except KeyboardInterrupt:
        process.kill()
