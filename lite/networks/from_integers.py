"""Networks to train from the integers that an engine plays with.

The integers of an nn.bin are converted here, by the inverse of the rounding that `export.quantise_nnue` does, and the
integers of a folded network in `from_folded.py`.
"""

from __future__ import annotations

import numpy as np
import torch

from lite.networks.dense import DensePieceSquareNetwork
from lite.networks.factored_rows import FactoredNetwork
from lite.networks.from_folded import FEATURE_SETS, dense_network
from lite.networks.nnue import NnueNetwork
from lite.networks.sfnn import HIDDEN_STEP, SfnnNetwork
from lite.networks.units import ACTIVATION_SCALE, SQUARE_GAIN, WEIGHT_SCALE
from search.evaluation.network import CLIPPED, PAIRWISE, EvalNetwork
from search.evaluation.nnue_architecture import FEATURES

SHIFT = 6
"""Bits that a hidden layer's sums are shifted by; half a step of it is in the biases."""


def trainable(network: EvalNetwork) -> NnueNetwork | SfnnNetwork | DensePieceSquareNetwork:
    """Return a network to train that computes what the integers of an nn.bin or a folded network do, but for rounding.

    Training keeps the weights within int8 at the scales of an nn.bin and FV_SCALE 16: of a network with a smaller
    FV_SCALE, output weights beyond that are clipped. Raises ValueError for a network of another arithmetic.
    """
    if network.feature_set.name in FEATURE_SETS:
        return dense_network(network)
    shifts = {layer.shift for layer in network.layers[:-1]}
    fits = (network.perspectives, network.input_shift, network.buckets, network.outputs) == (2, 0, 1, ("value",))
    if not fits or shifts - {SHIFT} or network.activation not in (PAIRWISE, CLIPPED):
        raise ValueError("its arithmetic is not that of an nn.bin")
    features, hidden = network.feature_set.name, network.hidden
    parts = network.hidden_squares or network.shortcut or network.shards is not None or network.stacks.count > 1
    two_layers = len(hidden) == 2 and hidden[0] % HIDDEN_STEP == 0
    model: NnueNetwork | SfnnNetwork
    if network.activation == PAIRWISE and network.hidden_squares and two_layers:
        sizes = (hidden[0] - network.shortcut, hidden[1])
        model = SfnnNetwork(FEATURES[features].token, network.width, sizes, network.stacks.tokens)  # type: ignore[arg-type]
        _fill_stacks(model, network)
    elif network.activation == CLIPPED and features in ("half_kp", "k_p") and not parts:
        model = NnueNetwork(features, network.width, hidden)  # type: ignore[arg-type]
        with torch.no_grad():
            for linear, (weight, bias) in zip(model.hidden_layers(), _float_layers(network), strict=True):
                linear.weight.copy_(torch.from_numpy(weight))
                linear.bias.copy_(torch.from_numpy(bias))
    else:
        raise ValueError(
            f"no kind of network is trained with {features}, the activation {network.activation} and such layers"
        )
    _fill_first_layer(model, network)
    return model


def _fill_first_layer(model: FactoredNetwork, network: EvalNetwork) -> None:
    with torch.no_grad():
        model.bias.copy_(torch.from_numpy(network.bias.astype(np.float32) / ACTIVATION_SCALE))
        model.table.copy_(torch.from_numpy(np.ascontiguousarray(network.rows)))
        model.table.div_(ACTIVATION_SCALE)
        for factor in (model.king, model.piece, model.relative):
            factor.zero_()


def _float_layers(network: EvalNetwork) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (weight f8 [..., out, in], bias f8 [..., out]) of each layer, without half a step of the shifts."""
    found = []
    per_logit = network.output_divisor / network.logit_per_output
    for number, layer in enumerate(network.layers):
        last = number == len(network.layers) - 1
        units = np.full(layer.bias.shape[-1], per_logit if last else ACTIVATION_SCALE * WEIGHT_SCALE, np.float64)
        half_step = np.full(layer.bias.shape[-1], 0 if last else 1 << SHIFT - 1)
        weight = layer.weight.astype(np.float64)
        if number == 0:
            if network.shortcut:
                units[-1], half_step[-1] = per_logit, 0
            if network.shards is not None:
                weight = weight * network.shards.seen(layer.bias.shape[-1])
            if network.activation == PAIRWISE:
                weight = weight * SQUARE_GAIN
        found.append((weight * (ACTIVATION_SCALE / units)[:, None], (layer.bias - half_step) / units))
    return found


def _fill_stacks(model: SfnnNetwork, network: EvalNetwork) -> None:
    stacks = model.layer_stacks
    assert stacks is not None
    for number, layer in enumerate(_float_layers(network)):
        weight, bias = (torch.from_numpy(part if stacks.count > 1 else part[None]) for part in layer)
        stacks.fill(number, weight, bias)
    if network.stacks.progress_weight is not None:
        stacks.set_progress(network.stacks.progress_weight, network.stacks.progress_bias)
