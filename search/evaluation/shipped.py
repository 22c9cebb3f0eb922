"""The networks that come with the program, known by name: `default` and others beside it."""

from __future__ import annotations

import os
from pathlib import Path

from search.system.paths import PathLike

_FOLDER = Path(__file__).parents[1] / "networks"
DEFAULT = "default"


def shipped_names() -> list[str]:
    """Names of the networks that are here, `default` first."""
    return sorted((file.stem for file in _FOLDER.glob("*.safetensors")), key=lambda name: (name != DEFAULT, name))


def network_file(net: PathLike) -> Path:
    """The file of a network, given by path or by the name of a shipped one, which no file of that name hides."""
    name = os.fspath(net)
    return _FOLDER / f"{name}.safetensors" if name == DEFAULT or name in shipped_names() else Path(net)


def is_shipped(net: PathLike) -> bool:
    """Whether this is the name of a shipped network."""
    return network_file(net) != Path(net)
