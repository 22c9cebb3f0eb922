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


def network_from_config(config: dict[str, Any]) -> ValueNetwork:
    """The same from the JSON that `ValueNetwork.config` gave."""
    values = dict(config)
    for name in ("dims", "hidden"):
        if name in values:
            values[name] = tuple(values[name])
    try:
        return build_network(NetworkConfig(**values))
    except TypeError as error:
        raise ValueError(f"not a network configuration: {error}") from None
