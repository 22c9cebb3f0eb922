"""The network that a configuration in a file describes."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from lite.networks.dense import DenseConfig
from lite.networks.limits import briefly, check_choice
from lite.networks.lite_value import LiteConfig
from lite.networks.nnue import HalfKpConfig, KpConfig
from lite.networks.untied import UntiedConfig
from lite.networks.value_network import NetworkConfig, ValueNetwork

CONFIGS: dict[str, type[NetworkConfig]] = {
    config.name: config for config in (LiteConfig, UntiedConfig, DenseConfig, HalfKpConfig, KpConfig)
}
"""The kinds of network by name."""
_EVERY_FIELD = {"network", "dims", "layout", "width", "hidden", "perspectives"}
"""Older files name the fields of all kinds; those of another kind say nothing."""


def network_from_config(config: Any) -> ValueNetwork:
    """The untrained network from the JSON that `ValueNetwork.config` gave. ValueError for what it cannot have given."""
    if not isinstance(config, dict):
        raise ValueError(f"a network's configuration is {type(config).__name__}, not an object")
    name = config.get("network")
    check_choice("network", name, tuple(CONFIGS))
    kind = CONFIGS[str(name)]
    own = {field.name for field in fields(kind)}
    if unknown := set(config) - own - _EVERY_FIELD:
        raise ValueError(f"not a network configuration: {briefly(unknown.pop())} is no part of one")
    return kind(**{name: value for name, value in config.items() if name in own}).build()
