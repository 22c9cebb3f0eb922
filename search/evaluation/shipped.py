"""The networks that come with the program, known by name: `default` and others beside it."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "networks"
DEFAULT = "default"


def shipped_names() -> list[str]:
    """Names of the networks that are here, `default` first."""
    return sorted((file.stem for file in _FOLDER.glob("*.safetensors")), key=lambda name: (name != DEFAULT, name))


def network_file(net: Path | str) -> Path:
    """The file of a network, given by path or by the name of a shipped one, which no file of that name hides."""
    shipped = _FOLDER / f"{net}.safetensors"
    return shipped if shipped.parent == _FOLDER and (shipped.is_file() or str(net) == DEFAULT) else Path(net)


def is_shipped(net: Path | str) -> bool:
    """Whether this is the name of a shipped network."""
    return network_file(net) != Path(net)
