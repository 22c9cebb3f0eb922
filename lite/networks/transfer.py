"""The weights of one network as a start for another of its kind.

Both may have the same options; an SFNN may have other stacks or another width than its source, and a dense network may
be larger.

A stack of the new network starts as a copy of the stack that its positions would choose in the old one. New lanes of a
wider first layer start with random rows that nothing reads yet, so a wider network computes the same at first; a
narrower SFNN keeps the pairs of lanes that the next layer reads most. New outputs of a dense network's first hidden
layer start with random weights, and nothing reads them either (Chen et al., Net2Net, 2016, is the idea).
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import torch

from lite.networks.dense import DenseConfig, DensePieceSquareNetwork
from lite.networks.layer_stacks import Layers, LayerStacks
from lite.networks.sfnn import SfnnNetwork
from lite.networks.value_network import ValueNetwork
from search.evaluation.feature_sets import NO_KING
from search.evaluation.stacks import HANDS, KING_ZONES, PROGRESS, PROGRESS_STEPS, axis_size

_ROWS = ("table", "king", "piece", "relative")
"""Parts of the first layer with one column for each lane."""


def start_from(model: ValueNetwork, source: ValueNetwork) -> None:
    """Give a network the weights of another. Raises ValueError if their configurations do not allow it."""
    if source.config == model.config:
        model.load_state_dict(source.state_dict())
        return
    if isinstance(source, DensePieceSquareNetwork) and isinstance(model, DensePieceSquareNetwork):
        _enlarge_dense(model, source)
        return
    if not isinstance(source, SfnnNetwork) or not isinstance(model, SfnnNetwork):
        raise _unsuitable(model, source)
    ours, theirs = model.network_config, source.network_config
    if (ours.features, ours.hidden) != (theirs.features, theirs.hidden):  # type: ignore[attr-defined]
        raise _unsuitable(model, source)
    assert model.layer_stacks is not None
    assert source.layer_stacks is not None
    try:
        chosen = source_stacks(model.layer_stacks.tokens, source.layer_stacks.tokens)
    except ValueError as error:
        raise _unsuitable(model, source, f": {error}") from None
    with torch.no_grad():
        kept = _kept_pairs(model, source)
        _copy_first_layer(model, source, kept)
        _copy_stacks(model.layer_stacks, source.layer_stacks, torch.from_numpy(chosen), kept)


def _unsuitable(model: ValueNetwork, source: ValueNetwork, reason: str = "") -> ValueError:
    theirs, ours = (json.dumps(network.config) for network in (source, model))
    return ValueError(f"holds a network of {theirs}, and this run trains one of {ours}{reason}")


def _kept_pairs(model: SfnnNetwork, source: SfnnNetwork) -> torch.Tensor:
    """Return the pairs of lanes of the source that the network takes over, int64: those that are read most."""
    assert source.layer_stacks is not None
    pairs = len(source.bias) // 2
    weight = source.layer_stacks.weights()[0][0]
    read = weight.unflatten(2, (2, pairs)).square().sum((0, 1, 2))
    order = torch.argsort(read, descending=True, stable=True)[: len(model.bias) // 2]
    return order.sort().values


def _copy_first_layer(model: SfnnNetwork, source: SfnnNetwork, kept: torch.Tensor) -> None:
    half, their_half = len(model.bias) // 2, len(source.bias) // 2
    for part in (0, 1):
        lanes = slice(part * half, part * half + len(kept))
        model.bias[lanes] = source.bias[part * their_half + kept]
        for name in _ROWS:
            getattr(model, name)[:, lanes] = getattr(source, name)[:, part * their_half + kept]


def _copy_stacks(stacks: LayerStacks, source: LayerStacks, chosen: torch.Tensor, kept: torch.Tensor) -> None:
    """Copy the layers of the `chosen` stacks, of the first one the inputs of the `kept` pairs of lanes."""
    for number, (weight, bias) in enumerate(source.weights()):
        weight = weight[chosen]
        if number == 0:
            of_views = weight.unflatten(2, (2, -1))
            first: Any = stacks.shared[0]
            wide = weight.new_zeros(len(weight), *first.weight.shape)
            wide.unflatten(2, (2, -1))[..., : len(kept)] = of_views[..., kept]
            weight = wide
        stacks.fill(number, weight, bias[chosen])
    _copy_progress(stacks, source)


def _copy_progress(stacks: LayerStacks | None, source: LayerStacks | None) -> None:
    if stacks is not None and source is not None and stacks.has_progress and source.has_progress:
        table = source.stacks
        assert table.progress_weight is not None
        stacks.set_progress(table.progress_weight, table.progress_bias)


# Dense networks

_LARGER = ("width", "hidden", "hidden_squares", "shortcut", "stacks")
"""Options of a dense network that may exceed the source's."""


def _enlarge_dense(model: DensePieceSquareNetwork, source: DensePieceSquareNetwork) -> None:
    """Copy the weights into a network with more lanes, more outputs of the first hidden layer, or further parts.

    Raises ValueError if it lacks something of the source.
    """
    ours, theirs = model.network_config, source.network_config
    assert isinstance(ours, DenseConfig)
    assert isinstance(theirs, DenseConfig)
    left_out = dict.fromkeys(_LARGER)
    same = vars(ours) | left_out == vars(theirs) | left_out
    same &= len(ours.hidden) == len(theirs.hidden) and ours.hidden[1:] == theirs.hidden[1:]
    sizes = [(config.width, config.hidden[:1], config.hidden_squares, config.shortcut) for config in (ours, theirs)]
    if not same or any(our < their for our, their in zip(*sizes, strict=True)):
        raise _unsuitable(model, source)
    try:
        chosen = torch.from_numpy(source_stacks(model.stacks.tokens, source.stacks.tokens))
    except ValueError as error:
        raise _unsuitable(model, source, f": {error}") from None
    with torch.no_grad():
        _copy_lanes(model, source)
        _copy_dense_layers(model, source, chosen)
    _copy_progress(model.layer_stacks, source.layer_stacks)


def _copy_lanes(model: DensePieceSquareNetwork, source: DensePieceSquareNetwork) -> None:
    halves = 1 + model.activates.pairwise
    lanes = _part_indices(halves, *(network.table.shape[1] // halves for network in (model, source)))
    model.table[:, lanes] = source.table
    if model.kings.buckets > 1:
        model.king_table[..., lanes] = source.king_table
    ours = model.norm.state_dict()
    for name, values in source.norm.state_dict().items():
        ours[name][lanes if values.ndim else ...] = values


def _copy_dense_layers(model: DensePieceSquareNetwork, source: DensePieceSquareNetwork, chosen: torch.Tensor) -> None:
    """Copy the layers after the first one, those of the `chosen` stacks."""
    for number, ((whole, constant), (weight, bias)) in enumerate(
        zip(_dense_layers(model), _dense_layers(source), strict=True)
    ):
        outputs, columns = torch.arange(weight.shape[1]), torch.arange(weight.shape[2])
        whole, constant = whole.clone(), torch.zeros_like(constant)
        if number == 0:
            outputs, columns = _hidden_outputs(model, source, len(outputs)), _lane_inputs(model, source)
            whole[:, outputs] = 0  # further lanes are not read
            if model.shortcut:
                whole[:, -1] = 0
        elif number == 1:
            columns = _hidden_inputs(model, source)
            whole[:] = 0  # further hidden sums are not read
        whole[:, outputs[:, None], columns] = weight[chosen]
        constant[:, outputs] = bias[chosen]
        if model.layer_stacks is not None:
            model.layer_stacks.fill(number, whole, constant)
        else:
            linear = model.hidden_layers()[number]
            linear.weight.copy_(whole[0])
            linear.bias.copy_(constant[0])


def _dense_layers(network: DensePieceSquareNetwork) -> Layers:
    """Return (weight [stacks, out, in], bias [stacks, out]) of the layers after the first one."""
    if network.layer_stacks is not None:
        return network.layer_stacks.weights()
    return [(layer.weight[None], layer.bias[None]) for layer in network.hidden_layers()]


def _lane_inputs(model: DensePieceSquareNetwork, source: DensePieceSquareNetwork) -> torch.Tensor:
    """Return the columns of the layer after the first one that the source has too, int64."""
    halves = 1 + model.activates.pairwise
    width, kept = (network.table.shape[1] // halves for network in (model, source))
    parts = model.perspectives * model.activates.input_count(width * halves) // width
    return _part_indices(parts, width, kept)


def _hidden_outputs(model: DensePieceSquareNetwork, source: DensePieceSquareNetwork, count: int) -> torch.Tensor:
    """Return the outputs of the layer after the first one that the source has too, int64 (count,)."""
    outputs = torch.arange(count)
    if source.shortcut:
        outputs[-1] = model.hidden_layers()[0].out_features - 1
    return outputs


def _hidden_inputs(model: DensePieceSquareNetwork, source: DensePieceSquareNetwork) -> torch.Tensor:
    """Return the columns of the second hidden layer that the source has too, int64: squares, then clipped sums."""
    width, kept = (network.hidden_layers()[0].out_features - network.shortcut for network in (model, source))
    columns = _part_indices(1 + source.hidden_squares, width, kept)
    return columns + width * (model.hidden_squares - source.hidden_squares)


def _part_indices(parts: int, width: int, kept: int) -> torch.Tensor:
    """Return the indices of the first `kept` of `width` entries in each of the adjacent parts, int64."""
    return (torch.arange(parts)[:, None] * width + torch.arange(kept)).flatten()


# Stacks


def source_stacks(tokens: tuple[str, ...], source: tuple[str, ...]) -> np.ndarray:
    """Return for each stack of the axes `tokens` the stack of the axes `source` that its positions choose, int64.

    Where they choose several, the one that most of them would choose by the squares of the king or the steps of
    progress. An axis that the source lacks has no say, and one that `tokens` lack is an error, as are different hands.
    Raises ValueError.
    """
    found = np.zeros(1, np.int64)
    for known in (HANDS, KING_ZONES, PROGRESS):
        ours = next((token for token in tokens if token in known), "")
        theirs = next((token for token in source if token in known), "")
        if theirs and not ours:
            raise ValueError(f"it has stacks by {theirs}, and this run has none")
        values = np.zeros(axis_size(ours), np.int64) if not theirs else _axis_values(ours, theirs)
        found = (found[:, None] * axis_size(theirs) + values).ravel()
    return found


def _axis_values(ours: str, theirs: str) -> np.ndarray:
    """Return the value of the axis `theirs` for each value of the axis `ours`, int64."""
    if ours == theirs:
        return np.arange(axis_size(ours))
    if ours in PROGRESS:
        steps = np.arange(PROGRESS_STEPS)
        return _most_frequent(*(steps * PROGRESS[token] // PROGRESS_STEPS for token in (ours, theirs)))
    if ours in HANDS:
        raise ValueError(f"it has stacks by {theirs}, and this run by {ours}: other hands cannot be compared")
    their_zones = KING_ZONES[theirs][:NO_KING]
    most = _most_frequent(KING_ZONES[ours][:NO_KING], their_zones)
    return np.asarray((most[:, None] * (int(their_zones.max()) + 1) + most).ravel())


def _most_frequent(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Return for each number of `ours` the number that `theirs` has most often in its places, the lowest of several;
    int64."""
    return np.array([np.bincount(theirs[ours == one]).argmax() for one in range(int(ours.max()) + 1)])
