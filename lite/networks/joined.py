"""One dense network that computes the sum of two: a network, and a correction of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from lite.networks.dense import DenseConfig, DensePieceSquareNetwork
from lite.networks.first_layer import CHECK_ROW
from lite.networks.value_network import NetworkConfig


def join(network: DensePieceSquareNetwork, correction: DensePieceSquareNetwork) -> DensePieceSquareNetwork:
    """Return the network whose output is the sum of the outputs of `network` and `correction`.

    Lanes and hidden outputs of both stand side by side, and no weight connects them. A correction does not know
    positions in check, which the search never evaluates: there it adds what it would add without the check. Raises
    ValueError if `joined_config` does.
    """
    assert isinstance(network.network_config, DenseConfig)
    config = joined_config(network.network_config, correction.network_config)
    joined = config.build().eval()
    halves = (network, correction)
    with torch.no_grad():
        joined.table.copy_(torch.cat([half.table for half in halves], 1))
        joined.table[CHECK_ROW, network.table.shape[1] :] = 0
        if joined.kings.buckets > 1:
            joined.king_table.copy_(torch.cat([half.king_table for half in halves], 2))
        norms = [half.norm.state_dict() for half in halves]
        for name, values in joined.norm.state_dict().items():
            values.copy_(torch.cat([norm[name] for norm in norms]) if values.ndim else norms[0][name])
        layers = list(zip(*(half.hidden_layers() for half in halves), strict=True))
        for number, (layer, (first, second)) in enumerate(zip(joined.hidden_layers(), layers, strict=True)):
            views = joined.perspectives if number == 0 else 1
            if number == len(layers) - 1:
                layer.weight.copy_(torch.cat((first.weight, second.weight), 1))
                layer.bias.copy_(first.bias + second.bias)
                continue
            parts = [part.weight.unflatten(1, (views, -1)) for part in (first, second)]
            apart = torch.zeros(layer.out_features, views, layer.in_features // views)
            apart[: first.out_features, :, : parts[0].shape[2]] = parts[0]
            apart[first.out_features :, :, parts[0].shape[2] :] = parts[1]
            layer.weight.copy_(apart.flatten(1))
            layer.bias.copy_(torch.cat((first.bias, second.bias)))
    return joined


def joined_config(network: DenseConfig, correction: NetworkConfig) -> DenseConfig:
    """Return the options of the network that is the sum of a network and a correction with these options.

    Raises ValueError unless both are dense networks that differ only in `width` and the sizes of `hidden`, without
    parts of which a network has only one; it names the options at fault.
    """
    if single := _differences(network, replace(network, **_PLAIN)):
        raise ValueError(f"a network with {', '.join(single)} cannot be corrected")
    if network.activation in _WITHOUT_SUM:
        raise ValueError(f"a network with activation {network.activation} cannot be corrected")
    needed = (
        f"a correction must be a dense network with the same perspectives ({network.perspectives}), king "
        f"({network.king}), activation ({network.activation}) and number of hidden layers ({len(network.hidden)})"
    )
    if not isinstance(correction, DenseConfig):
        raise ValueError(f"{needed}, not {correction.name}")
    others = _differences(correction, replace(network, width=correction.width, hidden=correction.hidden))
    if len(correction.hidden) != len(network.hidden):
        others.append(f"number of hidden layers {len(correction.hidden)}")
    if others:
        raise ValueError(f"{needed}, not {', '.join(others)}")
    hidden = tuple(one + other for one, other in zip(network.hidden, correction.hidden, strict=True))
    return replace(network, width=network.width + correction.width, hidden=hidden)


_PLAIN: dict[str, Any] = {"draw": False, "buckets": 1, "hidden_squares": False, "shortcut": False, "stacks": ()}
"""Options of a network without parts of which it has only one."""
_WITHOUT_SUM = ("dual", "pairwise")
"""Activations that arrange the lanes of two networks otherwise than side by side."""


def _differences(config: DenseConfig, other: DenseConfig) -> list[str]:
    """Return the options of `config`, each as "name value", that differ from those of `other`."""
    return [f"{name} {value}" for name, value in vars(config).items() if value != getattr(other, name)]
