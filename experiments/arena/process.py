"""ShogiArena as a process: its input files, how it is run, and its log."""

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
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from experiments.language.catalogue import shown
from experiments.usi_client.installed import installed_program
from search.system.files import write_atomically
from search.system.interrupt import ends_as_interrupts

ARENA = "shogiarena"
"""ShogiArena's folder in the folder of a run."""
LOG = "shogiarena.log"
"""ShogiArena's log, in its folder."""
GAMES = "games"
"""ShogiArena's output, in its folder."""
WATCH_SECONDS = 0.5
NOT_ON_PYTHON_3_14 = "1.3.2"
"""A version of ShogiArena that does not start on Python 3.14: its tables name types that are not defined there."""


def find_arena() -> Path:
    """Return ShogiArena's program: the one in this Python's environment, else one on PATH with its own environment.

    Raises ModuleNotFoundError if there is none, and ValueError on Python 3.12, where it cannot be installed beside this
    program.
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
            "on Python 3.12 ShogiArena, which plays this match, needs its own environment, because it requires NumPy 2 "
            "and cshogi NumPy 1: pipx install shogiarena"
        )
    raise ModuleNotFoundError("shogiarena is not installed", name="shogiarena")


def _is_installed_here() -> bool:
    return importlib.util.find_spec("shogiarena") is not None


def check_arena() -> None:
    """Raise as `find_arena`, and ValueError if the program that it finds is known not to start."""
    find_arena()
    known = _is_installed_here() and importlib.metadata.version("shogiarena") == NOT_ON_PYTHON_3_14
    if known and sys.version_info >= (3, 14):
        raise ValueError(
            f"ShogiArena {NOT_ON_PYTHON_3_14} does not start on Python 3.14: play matches between programs with "
            "Python 3.11 to 3.13, with a later ShogiArena, or with one in its own environment: "
            "pip uninstall shogiarena; pipx install --python python3.13 shogiarena"
        )


def write_inputs(arena: Path, inputs: Mapping[str, Mapping[str, Any]]) -> None:
    """Write ShogiArena's input files by their names (JSON is YAML, too), unless its games have begun.

    Games that have begun keep their inputs, and with them the environment and the order of their first start.
    """
    if is_begun(arena):
        return
    for name, content in inputs.items():
        write_atomically(arena / name, json.dumps(content, indent=1).encode())


def is_begun(arena: Path) -> bool:
    """Return whether ShogiArena has begun to play in its folder."""
    games = arena / GAMES
    return games.is_dir() and any(games.iterdir())


def run_arena(arena: Path, *arguments: str, watch: Callable[[], None] = lambda: None) -> None:
    """Run ShogiArena in its folder, calling `watch` at intervals; its output goes to its log there.

    Raises ValueError with the last error of the log if it fails. An interrupt, or a request to end, is passed on once,
    and ShogiArena has time to close its engines and files; KeyboardInterrupt follows. A second one kills it.
    """
    command = [str(find_arena()), "--log-level", "WARNING", *arguments, "--run-dir", str(arena / GAMES)]
    with open(arena / LOG, "ab") as log:
        begun = log.tell()
        process = subprocess.Popen(
            command,
            env=os.environ | {"PYTHONIOENCODING": "utf-8"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            # Apart from the terminal's signals: a second one would make it quit at once.
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
                    print(shown("run the same command again to resume"), file=sys.stderr)
                raise
    if process.returncode:
        raise ValueError(f"shogiarena failed: {_last_error(arena / LOG, begun)}; see {arena / LOG}")


def _last_error(log: Path, begun: int) -> str:
    """Return why a run failed from its part of the log: the first exception after the last error, or the last line."""
    with open(log, "rb") as file:
        file.seek(begun)
        text = file.read().decode("utf-8", "replace").strip()
    last = text.rpartition("[ERROR]: ")[2]
    raised = re.search(r"^[\w.]*(?:Error|Exception): (.+)$", last, re.MULTILINE)
    lines = last.splitlines() or ["its log is empty"]
    return raised[1] if raised else lines[0 if "[ERROR]: " in text else -1]


def _close(process: subprocess.Popen[bytes]) -> None:
    """Ask ShogiArena to end in good order; another interrupt kills it."""
    try:
        if os.name == "posix":
            process.send_signal(signal.SIGINT)
        process.wait()
    except KeyboardInterrupt:
        process.kill()
