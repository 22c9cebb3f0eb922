"""The network that a configuration describes."""

from __future__ import annotations

from typing import Any

from lite.networks.lite_value import DensePieceSquareNetwork, LiteValueNetwork, NetworkConfig, ValueNetwork
from lite.networks.nnue import NnueNetwork


def build_network(config: NetworkConfig) -> ValueNetwork:
    """The untrained network that a configuration describes."""
    if config.network == "dense":
        return DensePieceSquareNetwork(config.width, tuple(config.hidden), config.perspectives)
    if config.network in ("half_kp", "k_p"):
        return NnueNetwork(config.network, config.width, config.hidden)
    return LiteValueNetwork(config.dims, config.layout, config.network == "untied", config.perspectives)


def network_from_config(config: Any) -> ValueNetwork:
    """The same from the JSON that `ValueNetwork.config` gave. Raises ValueError for what it cannot have given."""
    if not isinstance(config, dict):
        raise ValueError(f"a network's configuration is {type(config).__name__}, not an object")
    lists = {name: tuple(value) for name, value in config.items() if isinstance(value, list)}
    try:
        described = NetworkConfig(**config | lists)
    except TypeError as error:
        raise ValueError(f"not a network configuration: {error}") from None
    described.check()
    return build_network(described)
