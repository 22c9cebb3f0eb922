"""What a network is built from: one frozen dataclass for every kind."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from search.evaluation.network import MAX_LAYER, MAX_LAYERS

if TYPE_CHECKING:
    from lite.networks.value_network import ValueNetwork


@dataclass(frozen=True)
class NetworkConfig:
    """What a network looks like; every kind of network has a subclass of its own."""

    name: ClassVar[str]
    """The kind, as network files and the command line call it."""

    def build(self) -> ValueNetwork:
        """The untrained network. Raises ValueError as `check` does."""
        raise NotImplementedError

    def check(self) -> None:
        """Raises ValueError for what cannot be built, or could never be evaluated by the search."""
        raise NotImplementedError

    def as_json(self) -> dict[str, Any]:
        """The kind and its fields, as they stand in a network file."""
        return {"network": self.name} | asdict(self)


def check_choice(name: str, found: Any, choices: tuple[Any, ...]) -> None:
    """Raises ValueError if it is none of them."""
    if isinstance(found, bool) or found not in choices:
        raise ValueError(f"{name} {briefly(found)}: choose one of {', '.join(map(str, choices))}")


def check_size(name: str, found: Any, most: int) -> None:
    """Raises ValueError if it is no whole number from 1 to `most`."""
    if not isinstance(found, int) or isinstance(found, bool) or not 1 <= found <= most:
        raise ValueError(f"{name} {briefly(found)}: choose a whole number from 1 to {most}")


def check_hidden(found: Any) -> None:
    """Raises ValueError if these are no sizes of hidden layers."""
    if not isinstance(found, tuple) or len(found) >= MAX_LAYERS:
        raise ValueError(f"hidden {briefly(found)}: at most {MAX_LAYERS - 1} sizes of layers are needed")
    for size in found:
        check_size("hidden", size, MAX_LAYER)


def briefly(found: Any) -> str:
    """What was found, cut to a length that a message can bear."""
    return repr(found)[:40]
