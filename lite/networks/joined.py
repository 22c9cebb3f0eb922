"""One dense network that computes the sum of two: a network, and a correction of it."""

from __future__ import annotations

from dataclasses import replace

import torch

from lite.networks.dense import DenseConfig, DensePieceSquareNetwork
from lite.networks.first_layer import CHECK_ROW


def join(network: DensePieceSquareNetwork, correction: DensePieceSquareNetwork) -> DensePieceSquareNetwork:
    """Return the network whose output is the sum of the outputs of `network` and `correction`.

    Lanes and hidden outputs of both stand side by side, and no weight connects them. A correction does not know
    positions in check, which the search never evaluates: there it adds what it would add without the check. Raises
    ValueError if the two have different features, activations or numbers of layers, or parts that only one layer of a
    kind can have.
    """
    config = _joined_config(network, correction)
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


_WIDTHS = ("width", "hidden")


def _joined_config(network: DensePieceSquareNetwork, correction: DensePieceSquareNetwork) -> DenseConfig:
    ours, theirs = network.network_config, correction.network_config
    assert isinstance(ours, DenseConfig)
    assert isinstance(theirs, DenseConfig)
    left_out = dict.fromkeys(_WIDTHS)
    plain = replace(ours, draw=False, buckets=1, hidden_squares=False, shortcut=False, stacks=())
    same = vars(ours) | left_out == vars(theirs) | left_out and len(ours.hidden) == len(theirs.hidden)
    if not same or ours != plain or ours.activation in ("dual", "pairwise"):
        raise ValueError(
            f"a network of {ours.as_json()} cannot be joined with a correction of {theirs.as_json()}: both need the "
            "same perspectives, king and activation (relu, clipped or squared), as many hidden layers, and no draw, "
            "buckets, stacks, shortcut or squares"
        )
    hidden = tuple(one + other for one, other in zip(ours.hidden, theirs.hidden, strict=True))
    return replace(ours, width=ours.width + theirs.width, hidden=hidden)
