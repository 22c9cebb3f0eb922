"""Dense networks to train from the integers of a folded network: the inverse of the rounding that `export.quantise`
does.

Activation 127 stands for 1 here. The fold gave every lane and neuron a unit of its own, which no file records; any unit
computes the same.
"""

from __future__ import annotations

import numpy as np
import torch

from lite.networks.activation import ACTIVATIONS, ActivationName
from lite.networks.dense import DenseConfig, DensePieceSquareNetwork
from lite.networks.kings import KING_NAMES, KingName, kings
from search.evaluation.feature_sets import PIECE_SQUARE_ROWS, FeatureSet
from search.evaluation.network import (
    ACTIVATION_LIMIT,
    CLIPPED,
    DUAL,
    PAIRWISE,
    SQUARE_SHIFT,
    SQUARED,
    EvalNetwork,
)

FEATURE_SETS = ("piece_square", "king_piece_square")
"""Feature sets of folded networks."""
_OF_PRODUCT = ACTIVATION_LIMIT * ACTIVATION_LIMIT / (1 << SQUARE_SHIFT)
"""Integer that stands for the product 1."""
_ACTIVATIONS: dict[str, ActivationName] = {CLIPPED: "clipped", SQUARED: "squared", DUAL: "dual", PAIRWISE: "pairwise"}


def dense_network(network: EvalNetwork) -> DensePieceSquareNetwork:
    """Return a dense network to train that computes what the integers of a folded one do, but for rounding.

    Lite and untied networks, too, become dense ones, as their lines are summed in the rows. The normalisation leaves
    the sums as they are and has seen no batch. Raises ValueError for a network of another arithmetic.
    """
    model = dense_config(network).build()
    with torch.no_grad():
        _fill_first_layer(model, network)
        for number, (weight, bias) in enumerate(_float_layers(network)):
            _fill_layer(model, number, torch.from_numpy(weight), torch.from_numpy(bias))
    if network.stacks.progress_weight is not None:
        assert model.layer_stacks is not None
        model.layer_stacks.set_progress(network.stacks.progress_weight, network.stacks.progress_bias)
    return model


def dense_config(network: EvalNetwork) -> DenseConfig:
    """Return the options of `dense_network`. Raises ValueError for a network of another arithmetic."""
    if network.feature_set.name not in FEATURE_SETS or network.shards is not None:
        raise ValueError("it is not a folded network")
    hidden = network.hidden
    if network.shortcut:
        hidden = (hidden[0] - 1, *hidden[1:])
    return DenseConfig(
        width=network.width,
        hidden=hidden,
        perspectives=network.perspectives,  # type: ignore[arg-type]
        draw=len(network.outputs) == 2,
        activation=_ACTIVATIONS[network.activation],
        king=_king_name(network.feature_set),
        buckets=network.buckets,
        hidden_squares=network.hidden_squares,
        shortcut=network.shortcut,
        stacks=network.stacks.tokens,  # type: ignore[arg-type]
    )


def _king_name(features: FeatureSet) -> KingName:
    for name in KING_NAMES:
        known = kings(name).feature_set
        same = known.name == features.name and known.king_stride == features.king_stride
        if same and np.array_equal(known.king_bucket, features.king_bucket):
            return name  # type: ignore[return-value]
    raise ValueError("no network is trained with these buckets of the king")


def _fill_first_layer(model: DensePieceSquareNetwork, network: EvalNetwork) -> None:
    one = ACTIVATION_LIMIT << network.input_shift
    rows = torch.from_numpy(network.rows.astype(np.float32) / one)
    board, check = rows[:-1].unflatten(0, (-1, PIECE_SQUARE_ROWS)), rows[-1:]
    if model.kings.buckets > 1:
        shared = board.mean(0)
        model.king_table.copy_(board - shared)
    else:
        shared = board[0]
        if not torch.equal(model.kings.unfold(torch.cat((shared, check))), rows):
            raise ValueError("its rows are not those of a mirrored board")
    model.table.copy_(torch.cat((shared, check)))
    norm = model.norm
    norm.weight.fill_(1)
    norm.running_var.fill_(1 - norm.eps)  # type: ignore[union-attr]
    norm.bias.copy_(torch.from_numpy((network.bias - _half_step(network.input_shift)).astype(np.float32) / one))


def _half_step(shift: int) -> int:
    """Return the number that the fold adds to sums before they are shifted down, so that they are rounded to the
    nearest."""
    return (1 << shift) >> 1


def _float_layers(network: EvalNetwork) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (weight f8 [..., out, in], bias f8 [..., out]) of each layer."""
    clipped, products = ACTIVATIONS[_ACTIVATIONS[network.activation]], network.width // 2
    if clipped.pairwise:
        units = np.full(products, _OF_PRODUCT)
    else:
        parts = [ACTIVATION_LIMIT] * clipped.clipped + [_OF_PRODUCT] * clipped.squared
        units = np.repeat(parts, network.width).astype(np.float64)
    units = np.tile(units, network.perspectives)
    of_output = network.logit_per_output / network.output_divisor
    found = []
    for number, layer in enumerate(network.layers):
        outputs, last = layer.bias.shape[-1], number == len(network.layers) - 1
        scale = np.full(outputs, of_output if last else 1 / (ACTIVATION_LIMIT << layer.shift))
        half_step = np.zeros(outputs) if last else np.full(outputs, _half_step(layer.shift))
        if number == 0 and network.hidden_squares:
            half_step[:] = 0
        if number == 0 and network.shortcut:
            scale[-1], half_step[-1] = of_output, 0
        found.append((layer.weight * units * scale[:, None], (layer.bias - half_step) * scale))
        units = np.full(network.layers[number + 1].weight.shape[-1], float(ACTIVATION_LIMIT)) if not last else units
    return found


def _fill_layer(model: DensePieceSquareNetwork, number: int, weight: torch.Tensor, bias: torch.Tensor) -> None:
    stacks = model.layer_stacks
    if stacks is None:
        linear = model.hidden_layers()[number]
        linear.weight.copy_(weight)
        linear.bias.copy_(bias)
    else:
        stacks.fill(number, *((weight, bias) if stacks.count > 1 else (weight[None], bias[None])))
