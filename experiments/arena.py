"""ShogiArena as a process: how engines are described to it, and how it is run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def engine_path(command: str) -> Path:
    """The program of an engine's command, `liteshogi` being this installation's; FileNotFoundError if there is none."""
    path = Path(sys.executable).with_name("liteshogi") if command == "liteshogi" else Path(command)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such engine")
    return path.absolute()


def write_engine(directory: Path, name: str, command: str, options: Mapping[str, str | int], **more: object) -> str:
    """Describe an engine in `name`.yaml (JSON is YAML too); the file's name. Nothing lies between it and the clock.

    It runs where its program lies, unless `more` says otherwise: further keys of ShogiArena's description.
    """
    path = engine_path(command)
    if command == "liteshogi":
        options = {"NetworkDelay": 0, "NetworkDelay2": 0, **options}
    description = {
        "name": name,
        "engine_path": str(path),
        "working_directory": str(path.parent),
        "options": dict(options),
        **more,
    }
    (directory / f"{name}.yaml").write_text(json.dumps(description, indent=1), encoding="utf-8")
    return f"{name}.yaml"


def run_arena(*arguments: str) -> str:
    """Run ShogiArena; its own log goes to standard error. ValueError with its last line if it fails."""
    program = Path(sys.executable).with_name("shogiarena")
    if not program.is_file():
        raise ModuleNotFoundError("shogiarena is not installed", name="shogiarena")
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [str(program), "--log-level", "WARNING", *arguments], env=environment, stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        lines = done.stdout.strip().splitlines()
        raise ValueError(f"shogiarena failed ({done.returncode}): {lines[-1] if lines else 'see above'}")
    return done.stdout
