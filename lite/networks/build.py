"""Networks from the configurations in their files."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from lite.networks.dense import DenseConfig
from lite.networks.lite_value import LiteConfig
from lite.networks.nnue import HalfKpConfig, KpConfig
from lite.networks.sfnn import SfnnConfig
from lite.networks.untied import UntiedConfig
from lite.networks.value_network import NetworkConfig, ValueNetwork
from search.system.bounds import briefly, check_choice

CONFIGS: dict[str, type[NetworkConfig]] = {
    config.name: config for config in (LiteConfig, UntiedConfig, DenseConfig, HalfKpConfig, KpConfig, SfnnConfig)
}
"""Configurations of the kinds of network, by name."""


def network_from_config(config: Any) -> ValueNetwork:
    """Return the untrained network of a `ValueNetwork.config`. Raises ValueError for other values."""
    if not isinstance(config, dict):
        raise ValueError(f"a network's configuration is {type(config).__name__}, not an object")
    name = config.get("network")
    check_choice("network", name, tuple(CONFIGS))
    kind = CONFIGS[str(name)]
    own = {field.name for field in fields(kind)}
    if unknown := set(config) - own - {"network"}:
        raise ValueError(f"not a network configuration: {briefly(unknown.pop())} is not one of its fields")
    return kind(**{name: value for name, value in config.items() if name in own}).build()
