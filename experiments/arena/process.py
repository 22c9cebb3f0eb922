"""ShogiArena as a process: how engines are described to it, and how it is run."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path


def engine_command(command: str) -> tuple[Path, list[str]]:
    """An engine's program and its arguments, `liteshogi` being this installation's; FileNotFoundError if there is none.

    A path alone may hold spaces. Files among the arguments become absolute, as the engine runs elsewhere.
    """
    text = command.replace("\\", "/") if os.name == "nt" else command  # a backslash is shlex's escape
    words = [command] if Path(command).is_file() else shlex.split(text) or [command]
    path = Path(sys.executable).with_name("liteshogi") if words[0] == "liteshogi" else Path(words[0])
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such engine")
    return path.absolute(), [str(Path(word).absolute()) if Path(word).is_file() else word for word in words[1:]]


def write_engine(directory: Path, name: str, command: str, options: Mapping[str, str | int], **more: object) -> str:
    """Describe an engine in `name`.yaml (JSON is YAML too); the file's name. Nothing lies between it and the clock.

    It runs where its program lies, unless `more` says otherwise: further keys of ShogiArena's description.
    """
    path, arguments = engine_command(command)
    if command.split()[:1] == ["liteshogi"]:
        options = {"NetworkDelay": 0, "NetworkDelay2": 0, **options}
    description = {
        "name": name,
        "engine_path": str(path),
        "engine_args": arguments,
        "working_directory": str(path.parent),
        "options": dict(options),
        **more,
    }
    (directory / f"{name}.yaml").write_text(json.dumps(description, indent=1), encoding="utf-8")
    return f"{name}.yaml"


def run_arena(*arguments: str) -> str:
    """Run ShogiArena; its own log goes to standard error. ValueError with its last line if it fails.

    An interrupt, or a request to end, is handed on once and ShogiArena is waited for, which then closes its engines and
    its books; KeyboardInterrupt follows. A second one kills it.
    """
    program = Path(sys.executable).with_name("shogiarena")
    if not program.is_file():
        raise ModuleNotFoundError("shogiarena is not installed", name="shogiarena")
    process = subprocess.Popen(
        [str(program), "--log-level", "WARNING", *arguments],
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        # Out of the terminal's reach: a second signal would make it quit at once.
        process_group=0 if os.name == "posix" else None,
    )
    with process, _ends_as_interrupts():
        try:
            output, _ = process.communicate()
        except KeyboardInterrupt:
            _close(process)
            raise
    if process.returncode:
        lines = output.strip().splitlines()
        raise ValueError(f"shogiarena failed ({process.returncode}): {lines[-1] if lines else 'see above'}")
    return output


def _close(process: subprocess.Popen[str]) -> None:
    """Have ShogiArena end in its own way; at another interrupt at once."""
    try:
        if os.name == "posix":
            process.send_signal(signal.SIGINT)
        process.communicate()
    except KeyboardInterrupt:
        process.kill()


@contextlib.contextmanager
def _ends_as_interrupts() -> Iterator[None]:
    """Have requests to end raise KeyboardInterrupt, as Ctrl-C does: else games would go on without their starter."""
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        names = []  # signals are the main thread's
    before = [(name, signal.signal(getattr(signal, name), signal.default_int_handler)) for name in names]
    try:
        yield
    finally:
        for name, handler in before:
            signal.signal(getattr(signal, name), handler)
