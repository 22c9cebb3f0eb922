"""A trained network in its folded form, float64: table rows over all outputs of the first layer, then dense layers.

Every network of `lite` is linear up to its first activation, so the fold is exact: embeddings, line convolutions and
batch normalisation become one row per feature (`first_layer()`), and the later layers stay (`layers()`). This file
evaluates that form and bounds its sums; `export.quantise` makes integers of it.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save

from export.positions import Sample
from lite.networks.activation import ACTIVATIONS, Activation
from lite.networks.units import SQUARE_GAIN
from search.evaluation.feature_sets import HAND_SLOT_COUNT, HAND_SLOT_KIND, NO_ROW, FeatureSet
from search.evaluation.output_buckets import bucket_of_hands
from search.evaluation.stacks import NO_STACKS, Stacks
from search.rules.shogi import GOLD, HAND_CODES, HAND_KINDS, HAND_SLOTS, KINDS, KING, PIECES_IN_BOX, PROMOTION, SQUARES
from search.system.files import write_atomically
from search.system.metadata import sort_header

_CHUNK = 512
"""Positions whose rows are gathered at once."""


@dataclass(frozen=True, eq=False)
class FoldedNetwork:
    """A network as table rows and dense layers."""

    feature_set: FeatureSet
    rows: np.ndarray
    """f8 [features, N]."""
    bias: np.ndarray
    """f8 [N]."""
    layers: tuple[tuple[np.ndarray, np.ndarray], ...]
    """(weight f8 [out, in], bias f8 [out]) of each layer, output last; between layers ReLU up to `limit`. With several
    stacks both have one more dimension in front."""
    perspectives: int
    activation: str = "relu"
    """Activation of the sums, by its name in `ACTIVATIONS`."""
    buckets: int = 1
    """Number of output layers; the number of pieces in hand selects one."""
    hidden_squares: bool = False
    """Whether the first hidden layer passes on its squared sums, times SQUARE_GAIN, and then the clipped sums."""
    shortcut: bool = False
    """Whether the last sum of the first hidden layer is added to the value and is no input of the next layer."""
    stacks: Stacks = NO_STACKS
    """The index that selects one copy of all layers; with several stacks, the layers have a dimension in front."""

    @property
    def activates(self) -> Activation:
        """Activation of the sums."""
        return ACTIVATIONS[self.activation]

    @property
    def limit(self) -> float:
        """Upper limit of activations."""
        return self.activates.ceiling

    def activations(self, sample: Sample) -> list[np.ndarray]:
        """Return each layer's inputs f8 (B, in), then the outputs (B, outputs) of each position's stack or bucket."""
        return self.activations_of(self.clipped_sums(sample), sample)

    def activations_of(self, clipped: np.ndarray, sample: Sample) -> list[np.ndarray]:
        """Return `activations` from the `clipped_sums` of the sample, f8 (B, perspectives * N)."""
        activated = [self._activated(cut) for cut in np.split(clipped, self.perspectives, 1)]
        return self.activations_from(np.concatenate(activated, 1), self.selected(sample))

    def clipped_sums(self, sample: Sample) -> np.ndarray:
        """Return the clipped sums of all perspectives side by side, f8 (B, perspectives * N)."""
        return np.clip(self._sums(sample), 0, self.limit)

    def _activated(self, cut: np.ndarray) -> np.ndarray:
        """Return a perspective's inputs of the first layer from its clipped sums (B, N)."""
        if self.activates.pairwise:
            first, second = np.split(cut, 2, 1)
            return np.asarray(first * second)
        return np.concatenate([cut] * self.activates.clipped + [cut * cut] * self.activates.squared, 1)

    def selected(self, sample: Sample) -> np.ndarray:
        """Return the stack of each position, or its output bucket if there is one stack; int64 (B,)."""
        if self.stacks.count > 1:
            return self.stacks.index(sample.pieces, sample.hands)
        found: np.ndarray = bucket_of_hands(sample.hands.astype(np.int64), self.buckets)
        return found

    def activations_from(self, first: np.ndarray, selected: np.ndarray) -> list[np.ndarray]:
        """Return `activations` from the first layer's inputs f8 (B, in) and the `selected` stacks or buckets (B,)."""
        found, direct = [first], np.zeros((len(first), 1))
        for number, layer in enumerate(self.layers[:-1]):
            sums = _linear(layer, found[-1], selected)
            if number == 0 and self.shortcut:
                sums, direct = sums[:, :-1], sums[:, -1:]
            cut = np.clip(sums, 0, self.limit)
            if number == 0 and self.hidden_squares:
                cut = np.concatenate((np.minimum(SQUARE_GAIN * sums * sums, self.limit), cut), 1)
            found.append(cut)
        outputs = _linear(self.layers[-1], found[-1], selected).reshape(len(first), self.buckets, -1)
        bucket = selected if self.stacks.count == 1 else np.zeros_like(selected)
        outputs = outputs[np.arange(len(first)), bucket]
        outputs[:, :1] += direct
        return [*found, outputs]

    def outputs(self, sample: Sample) -> np.ndarray:
        """Return outputs f8 (B, outputs): the logit of the mover's win, and of a draw if there is that output."""
        return self.activations(sample)[-1]

    def logits(self, sample: Sample) -> np.ndarray:
        """Return the logits f8 (B,) of the mover's win."""
        return self.outputs(sample)[:, 0]

    def _sums(self, sample: Sample) -> np.ndarray:
        features = self.feature_set
        table = np.concatenate((self.rows, np.zeros((1, self.rows.shape[1]))))
        views = []
        for view in range(self.perspectives):
            active = features.active_rows(sample.pieces, sample.hands, view)
            parts = [table[active[at : at + _CHUNK]].sum(1) for at in range(0, len(active), _CHUNK)]
            views.append(np.concatenate(parts) + self.bias)
        if features.check_row is not None:
            views[0] += sample.in_check[:, None] * self.rows[features.check_row]
        return np.concatenate(views, 1)

    def largest_sums(self) -> np.ndarray:
        """Return an upper bound f8 [N] of |bias + rows| over all positions: one piece per square, the pieces of a set.

        Pieces of each kind are placed where their rows add most, as if kinds did not compete for squares; the in-check
        row is included. Bounding the final sum is enough: int16 may wrap on the way, which changes nothing.
        """
        return self._largest_sums

    @cached_property
    def _largest_sums(self) -> np.ndarray:
        features = self.feature_set
        rows = features.codes_to_rows[0][:-1].astype(np.int64)
        largest = np.zeros(len(self.bias))
        # A mirrored set has the same rows for a king on the other wing, on mirrored squares: the bound is the same.
        for bucket in np.unique(features.king_bucket[:SQUARES]):
            offset = int(bucket) * features.king_stride
            value = self.rows[np.where(rows == NO_ROW, 0, rows + offset)]
            value[rows == NO_ROW] = 0
            if features.second_rows is not None:
                second = features.second_rows[0][:-1].astype(np.int64)
                value[second != NO_ROW] += self.rows[second[second != NO_ROW]]
            for sign in (1, -1):
                largest = np.maximum(largest, self._highest(sign, sign * value, offset))
        return largest

    def _highest(self, sign: int, value: np.ndarray, offset: int) -> np.ndarray:
        """Return an upper bound f8 [N] of sign * sum in one bucket of the own king.

        value: sign * row of each code [CODES, N]; offset: of the bucket's rows.
        """
        features = self.feature_set
        board = value[:HAND_CODES].reshape(2, KINDS, SQUARES, -1)
        hand = value[HAND_CODES:].reshape(2, HAND_SLOTS, -1)
        total = sign * self.bias
        for kind in range(HAND_KINDS):
            forms = [kind] if kind == GOLD else [kind, kind + PROMOTION]
            # The best use of each square, and for each hand the best gain of holding one more.
            places = board[:, forms].max((0, 1))
            held = hand[:, kind == HAND_SLOT_KIND].reshape(-1, value.shape[1])
            assert len(held) == 2 * HAND_SLOT_COUNT[kind == HAND_SLOT_KIND].max()
            most = PIECES_IN_BOX[kind]
            choices = np.partition(np.concatenate((places, held)), -most, 0)[-most:]
            absent = 0.0
            if features.missing_row is not None:
                absent = np.maximum(sign * self.rows[features.missing_row + offset], 0)
            total = total + np.maximum(choices, absent).sum(0)
        total = total + np.maximum(board[:, KING].max(1), 0).sum(0)
        if features.check_row is not None:
            total = total + np.maximum(sign * self.rows[features.check_row], 0)
        return np.asarray(total)

    def save(self, path: Path) -> None:
        """Write the network in float32 as a safetensors file for inspection; the search does not read it."""
        tensors = {"rows": self.rows, "bias": self.bias}
        for number, (weight, bias) in enumerate(self.layers, 1):
            tensors |= {f"layer{number}.weight": weight, f"layer{number}.bias": bias}
        content = {name: np.ascontiguousarray(array, np.float32) for name, array in tensors.items()}
        header = {"format": "liteshogi folded network", "feature_set": self.feature_set.name}
        write_atomically(path, sort_header(save(content, header)))


def _linear(layer: tuple[np.ndarray, np.ndarray], x: np.ndarray, stack: np.ndarray) -> np.ndarray:
    """Return a layer's sums f8 (B, out) from its inputs (B, in), each by the position's stack if there are several."""
    weight, bias = layer
    if weight.ndim == 2:
        return np.asarray(x @ weight.T + bias)
    sums = np.empty((len(x), bias.shape[1]))
    for one in np.unique(stack):
        sums[stack == one] = x[stack == one] @ weight[one].T + bias[one]
    return sums


def fold(model: Any) -> FoldedNetwork:
    """Return the folded form of a `ValueNetwork`. Raises ValueError if it cannot be folded."""
    if model.activation not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        raise ValueError(f"the activation {model.activation!r} cannot be folded: this program knows {known}")
    features: FeatureSet = model.feature_set
    rows, bias = (np.asarray(array, np.float64) for array in model.first_layer())
    layers = tuple((np.asarray(weight, np.float64), np.asarray(bias, np.float64)) for weight, bias in model.layers())
    if rows.shape[0] != features.rows:
        raise ValueError(f"{rows.shape[0]} rows: the feature set {features.name} has {features.rows}")
    for array in (rows, bias, *(part for layer in layers for part in layer)):
        if not np.isfinite(array).all():
            raise ValueError("the network holds numbers that are not finite: its training went wrong")
    return FoldedNetwork(
        features,
        rows,
        bias,
        layers,
        int(model.perspectives),
        model.activation,
        model.buckets,
        model.hidden_squares,
        model.shortcut,
        model.stacks,
    )


def module_outputs(model: Any, sample: Sample) -> np.ndarray:
    """Return outputs f8 (B, outputs) of the trained module in float64 and evaluation mode, by its listed inputs."""
    from lite.networks.value_network import listed_inputs

    exact = copy.deepcopy(model).double().eval()
    parts = []
    with torch.no_grad():
        for at in range(0, len(sample.pieces), _CHUNK):
            part = sample.part(at, at + _CHUNK)
            if model.listed:
                outputs = exact(*listed_inputs(part.pieces, part.hands, part.in_check))
            else:
                outputs = exact.outputs(part.pieces, part.hands, part.in_check)
            parts.append(outputs.numpy())
    return np.concatenate(parts)
