"""The networks in the package, known by name: `default` and others."""

from __future__ import annotations

import os
from pathlib import Path

from search.system.paths import PathLike

_FOLDER = Path(__file__).parents[1] / "networks"
DEFAULT = "default"


def shipped_names() -> list[str]:
    """Return the names of the networks in the package, `default` first."""
    return sorted((file.stem for file in _FOLDER.glob("*.safetensors")), key=lambda name: (name != DEFAULT, name))


def network_file(network_path: PathLike) -> Path:
    """Return the file of a network given by path or by name; a name takes precedence over a file of that name."""
    name = os.fspath(network_path)
    return _FOLDER / f"{name}.safetensors" if name == DEFAULT or name in shipped_names() else Path(network_path)


def is_shipped(network_path: PathLike) -> bool:
    """Return whether this is the name of a network in the package."""
    return network_file(network_path) != Path(network_path)


def is_in_package(path: Path) -> bool:
    """Return whether a file lies among the networks in the package."""
    return path.parent == _FOLDER
