"""Checks of a network's configuration, made before anything is built."""

from __future__ import annotations

from typing import Any

from search.evaluation.network import MAX_LAYER, MAX_LAYERS
from search.system.bounds import briefly


def check_size(name: str, found: Any, most: int) -> None:
    """Raise ValueError unless `found` is a whole number from 1 to `most`."""
    if not isinstance(found, int) or isinstance(found, bool) or not 1 <= found <= most:
        raise ValueError(f"{name} {briefly(found)}: choose a whole number from 1 to {most}")


def check_hidden(found: Any) -> None:
    """Raise ValueError unless `found` is a tuple of sizes of hidden layers."""
    if not isinstance(found, tuple) or len(found) >= MAX_LAYERS:
        raise ValueError(f"hidden {briefly(found)}: must be a tuple of at most {MAX_LAYERS - 1} sizes of layers")
    for size in found:
        check_size("hidden", size, MAX_LAYER)
