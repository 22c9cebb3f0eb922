"""The evaluated network: a table of rows, then a small integer network. Its checks and its reference arithmetic.

    sum_p   = bias + rows of the perspective p's features            int16, wrapping (mover's also + check row)
    x       = clip(sum_p >> input_shift, 0, 127)                      u8, mover's lanes first, then the other side's
              squared: (x * x + 64) >> 7; dual: of each side the clipped lanes, then their squares
              pairwise: of each side first half * second half >> 7, both halves clipped
    x       = clip((weight @ x + bias) >> shift, 0, 127)              each hidden layer: int8 weights, int32 sums
              first hidden layer with `hidden_squares`: min(127, y * y >> 2 * shift + 7), then the clipped sums
    output  = weight @ x + bias                                       int32: value, and optionally draw, of the bucket
              with a `shortcut`: value + the last sum of the first hidden layer
    logit   = truncate(output / output_divisor) * logit_per_output    of the mover's win
    score   = logit * cp_per_logit                                    centipawns, in integer arithmetic (`centipawns`)

`evaluate_reference` computes this in NumPy; every kernel gives the same integers. `network_file.py` reads and writes
it, `network_record.py` packs it for compiled code.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from search.evaluation.feature_sets import FeatureSet
from search.evaluation.output_buckets import MAX_BUCKETS, bucket_of_hands
from search.evaluation.stacks import MAX_STACKS, NO_STACKS, Stacks
from search.score import MAX_EVALUATION

LANES = 32
"""The rows' width is a multiple of this many int16."""
MAX_WIDTH = 4096
MAX_LAYER = 1024
MAX_LAYERS = 4
ACTIVATION_LIMIT = 127
OUTPUT_NAMES = (("value",), ("value", "draw"))
CLIPPED, SQUARED, DUAL, PAIRWISE = ACTIVATIONS = (
    "clipped_relu",
    "squared_clipped_relu",
    "dual_clipped_relu",
    "pairwise_clipped_relu",
)
"""Activations of the rows' sums. All hidden layers are clipped."""
SQUARE_SHIFT = 7
"""Bits that a product of two activations is shifted by; a square has half a step added before: at most 126."""
MAX_SQUARED_SHIFT = 8
"""Largest shift of a layer whose sums are squared: the squares fit int32."""
SCORE_SHIFT = 24
"""Centipawns per output are a fixed-point number with this many bits after the point."""
_OUTPUT_LIMIT = 1 << 28
_FACTOR_RANGE = (2.0**-13, 2.0**10)


class UnusableScale(ValueError):
    """The error for a network whose centipawns cannot be computed from its outputs."""


@dataclass(frozen=True, eq=False)
class Layer:
    """One affine layer: weight int8 [outputs, inputs], bias int32 [outputs], and the shift after it (output: 0).

    In a network with several stacks both arrays have one more dimension in front: the stack.
    """

    weight: np.ndarray
    bias: np.ndarray
    shift: int = 0
    padding: np.ndarray | None = None
    """int8 [..., outputs, bytes]: what fills the rows of an nn.bin that is no zero. Never evaluated; written again."""


@dataclass(frozen=True)
class Shards:
    """Inputs of the first layer that an output sees: the `common` first ones, and the part of its own group.

    Output o of group g = o / (outputs / groups) sees inputs i < common and common + g*size <= i < common + (g+1)*size.
    """

    common: int
    size: int
    groups: int

    def seen(self, outputs: int) -> np.ndarray:
        """Return bool [outputs, inputs]: whether an output sees an input."""
        inputs = np.arange(self.common + self.size * self.groups)
        group = np.arange(outputs)[:, None] // (outputs // self.groups)
        return (inputs < self.common) | ((inputs - self.common) // self.size == group)


@dataclass(frozen=True, eq=False)
class EvalNetwork:
    """A network as the search evaluates it. Raises ValueError if the parts do not fit together."""

    feature_set: FeatureSet
    rows: np.ndarray
    """int16 or int8 [feature_set.rows, N], N a multiple of 32."""
    bias: np.ndarray
    """int16 [N]."""
    layers: tuple[Layer, ...]
    """Hidden layers in order, the output layer last; the first takes `view_inputs` inputs per perspective."""
    perspectives: int = 1
    """1: the mover's view; 2: the mover's, then the other side's."""
    input_shift: int = 0
    outputs: tuple[str, ...] = ("value",)
    activation: str = CLIPPED
    output_divisor: int = 1
    """The output is divided by this, truncating toward zero (FV_SCALE of an nn.bin)."""
    logit_per_output: float = 1.0 / 600
    """Logit of the mover's win that one unit of the divided output stands for."""
    cp_per_logit: float = 600.0
    buckets: int = 1
    """Buckets of the output layer: it has the outputs of all buckets side by side, and `output_buckets` chooses."""
    provenance: dict[str, Any] = field(default_factory=dict)
    """Data, configuration, metrics and versions that the network came from, as JSON."""
    sum_bits: int = 16
    """Bits that the rows' sums wrap at: 16, or 15 with the pairwise product, as in YaneuraOu, which doubles them."""
    hidden_squares: bool = False
    """Whether the first hidden layer passes on the squares of its sums, then the clipped sums."""
    shortcut: bool = False
    """Whether the last sum of the first hidden layer is added to the value and is no input of the next layer."""
    shards: Shards | None = None
    """Inputs of the first layer that its outputs see; None: all of them. Other weights are ignored."""
    stacks: Stacks = NO_STACKS
    """The index that chooses one copy of all layers for a position."""

    def __post_init__(self) -> None:
        _check(self)

    @property
    def width(self) -> int:
        """N, the lanes of a row."""
        return int(self.rows.shape[1])

    @property
    def view_inputs(self) -> int:
        """The first layer's inputs of each perspective."""
        return view_inputs(self.width, self.activation)

    @property
    def square_offset(self) -> int:
        """Where the lanes' squares begin among the inputs of a perspective; -1 where no lane is squared."""
        return {CLIPPED: -1, PAIRWISE: -1, DUAL: self.width}.get(self.activation, 0)

    @property
    def hidden(self) -> tuple[int, ...]:
        """Outputs of the hidden layers, the shortcut included."""
        return tuple(layer.bias.shape[-1] for layer in self.layers[:-1])

    @property
    def centipawns_per_output(self) -> int:
        """Fixed-point centipawns of one unit of the divided output, SCORE_SHIFT bits after the point."""
        return round(self.logit_per_output * self.cp_per_logit * (1 << SCORE_SHIFT))

    def logit(self, output: float) -> float:
        """Return the logit of the mover's win of a raw output."""
        return math.trunc(output / self.output_divisor) * self.logit_per_output


def view_inputs(width: int, activation: str) -> int:
    """Return the first layer's inputs of each perspective."""
    return width * 2 if activation == DUAL else width // 2 if activation == PAIRWISE else width


def require(condition: bool, message: str) -> None:
    """Raise ValueError with the message unless the condition holds."""
    if not condition:
        raise ValueError(message)


def _check_array(array: Any, name: str, dtype: type, shape: tuple[int, ...]) -> None:
    require(
        isinstance(array, np.ndarray) and array.dtype == dtype and array.shape == shape,
        f"{name} must be {np.dtype(dtype).name} {list(shape)}, "
        f"found {getattr(array, 'dtype', type(array).__name__)} {list(getattr(array, 'shape', ()))}",
    )


def _is_whole(number: Any, low: int, high: int) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and low <= number <= high


def _check(net: EvalNetwork) -> None:
    """Check everything that the kernels need to be safe and exact."""
    _check_numbers(net)
    require(isinstance(net.rows, np.ndarray) and net.rows.ndim == 2, "rows must be a table, int16 [features, N]")
    width = net.width
    require(
        0 < width <= MAX_WIDTH and width % LANES == 0, f"rows of {width} lanes: 32, 64, ... {MAX_WIDTH} can be summed"
    )
    _check_array(net.rows, "rows", np.int8 if net.rows.dtype == np.int8 else np.int16, (net.feature_set.rows, width))
    _check_array(net.bias, "bias", np.int16, (width,))
    require(
        isinstance(net.layers, tuple) and 1 <= len(net.layers) <= MAX_LAYERS,
        f"{len(net.layers)} layers after the rows: 1 to {MAX_LAYERS} can be evaluated",
    )
    _check_stacks(net)
    inputs = net.view_inputs * net.perspectives
    stacked = () if net.stacks.count == 1 else (net.stacks.count,)
    for number, layer in enumerate(net.layers, 1):
        last = number == len(net.layers)
        name = f"layer {number}"
        require(
            isinstance(layer.weight, np.ndarray) and layer.weight.ndim == 2 + len(stacked),
            f"{name}: weight must be int8 [{'stacks, ' if stacked else ''}outputs, inputs]",
        )
        outputs = net.buckets * len(net.outputs) if last else layer.weight.shape[-2]
        require(1 <= outputs <= MAX_LAYER, f"{name}: {outputs} outputs: 1 to {MAX_LAYER} can be evaluated")
        _check_array(layer.weight, f"{name}: weight", np.int8, (*stacked, outputs, inputs))
        _check_array(layer.bias, f"{name}: bias", np.int32, (*stacked, outputs))
        squared = number == 1 and net.hidden_squares
        most = 0 if last else MAX_SQUARED_SHIFT if squared else 31
        require(_is_whole(layer.shift, 0, most), f"{name}: shift {layer.shift!r}")
        if layer.padding is not None:
            found: list[int] = list(getattr(layer.padding, "shape", ()))
            require(len(found) > 0 and 0 < found[-1] < 64, f"{name}: padding {found}")
            _check_array(layer.padding, f"{name}: padding", np.int8, (*stacked, outputs, found[-1]))
        inputs = outputs
        if number == 1:
            inputs = (outputs - net.shortcut) * (2 if net.hidden_squares else 1)
            require(inputs > 0, f"{name}: a shortcut needs one more output beside it")
            _check_shards(net, outputs)


def _check_numbers(net: EvalNetwork) -> None:
    require(
        net.activation in ACTIVATIONS,
        f"the activation {net.activation!r} cannot be evaluated: this program knows {', '.join(ACTIVATIONS)}",
    )
    require(_is_whole(net.perspectives, 1, 2), f"perspectives must be 1 or 2, found {net.perspectives!r}")
    require(_is_whole(net.input_shift, 0, 15), f"input_shift must be 0 to 15, found {net.input_shift!r}")
    require(net.outputs in OUTPUT_NAMES, f"outputs must be value, or value and draw, found {net.outputs!r}")
    require(_is_whole(net.output_divisor, 1, 1 << 20), f"output_divisor {net.output_divisor!r} is not 1 to {1 << 20}")
    require(_is_whole(net.buckets, 1, MAX_BUCKETS), f"buckets must be 1 to {MAX_BUCKETS}, found {net.buckets!r}")
    narrowest = 15 if net.activation == PAIRWISE else 16
    require(_is_whole(net.sum_bits, narrowest, 16), f"sum_bits must be {narrowest} to 16, found {net.sum_bits!r}")
    require(net.input_shift < net.sum_bits, f"input_shift {net.input_shift} of sums of {net.sum_bits} bits")
    for name in ("hidden_squares", "shortcut"):
        require(isinstance(getattr(net, name), bool), f"{name} must be true or false, found {getattr(net, name)!r}")
        require(not getattr(net, name) or len(net.layers) > 1, f"{name} needs a hidden layer, and the network has none")
    for name, error in (("logit_per_output", ValueError), ("cp_per_logit", UnusableScale)):
        number = getattr(net, name)
        if not isinstance(number, float | int) or isinstance(number, bool) or not 0 < number < 1e9:
            raise error(f"{name} must be a positive number below 1e9, found {number!r}")
    unit, scale = net.logit_per_output, net.cp_per_logit
    if not _FACTOR_RANGE[0] <= unit * scale <= _FACTOR_RANGE[1]:
        raise UnusableScale(
            f"cp_per_logit {scale:g}: at logit_per_output {unit:g}, {_FACTOR_RANGE[0] / unit:g} to "
            f"{_FACTOR_RANGE[1] / unit:g} can be computed"
        )
    require(isinstance(net.provenance, dict), "provenance must be a JSON object")


def _check_stacks(net: EvalNetwork) -> None:
    require(isinstance(net.stacks, Stacks), f"stacks must be the axes of an index, found {net.stacks!r}")
    count = net.stacks.count
    require(count <= MAX_STACKS, f"{count:,} stacks: at most {MAX_STACKS:,} can be evaluated")
    require(
        count == 1 or net.buckets == 1, f"{net.buckets} buckets and {count} stacks: one of the two can be chosen by"
    )


def _check_shards(net: EvalNetwork, outputs: int) -> None:
    """Check the shards of a first layer with `outputs` outputs."""
    shards, inputs = net.shards, net.view_inputs * net.perspectives
    if shards is None:
        return
    require(isinstance(shards, Shards), f"shards must be common, size, groups, found {shards!r}")
    numbers = (shards.common, shards.size, shards.groups)
    fitting = all(_is_whole(number, low, inputs) for number, low in zip(numbers, (0, 1, 1), strict=True))
    require(
        fitting and shards.common + shards.size * shards.groups == inputs and outputs % shards.groups == 0,
        f"shards {numbers}: common + size * groups must be {inputs}, and groups must divide {outputs} outputs",
    )


# The reference arithmetic


def evaluate_reference(net: EvalNetwork, pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> np.ndarray:
    """Return raw outputs int32 (B, outputs) of positions in the mover's view, by NumPy alone.

    pieces u1 (B, 81) 0..28, hands u1 (B, 14) own P L N S B R G then the enemy's, in_check bool (B,).
    """
    features = net.feature_set
    sums = [_sums(net, features.active_rows(pieces, hands, view)) for view in range(net.perspectives)]
    if features.check_row is not None:
        sums[0] = sums[0] + np.asarray(in_check, np.int16)[:, None] * net.rows[features.check_row].astype(np.int16)
    x = np.concatenate([_activate(net, one) for one in sums], 1)
    if net.stacks.count == 1:
        outputs = _apply_layers(net, net.layers, x)
    else:
        stack = net.stacks.index(pieces, hands)
        outputs = np.zeros((len(x), len(net.outputs)), np.int32)
        for one in np.unique(stack):
            layers = tuple(Layer(layer.weight[one], layer.bias[one], layer.shift) for layer in net.layers)
            outputs[stack == one] = _apply_layers(net, layers, x[stack == one])
    outputs = outputs.reshape(len(x), net.buckets, -1)
    return outputs[np.arange(len(x)), bucket_of_hands(np.asarray(hands, np.int64), net.buckets)]


def _sums(net: EvalNetwork, rows: np.ndarray) -> np.ndarray:
    """Return int16 (B, N): bias plus the listed rows (B, columns); an index past the table adds nothing."""
    found = []
    for part in np.array_split(rows, len(rows) * rows.shape[1] * net.width // (1 << 22) + 1):
        there = part < len(net.rows)
        taken = net.rows[np.where(there, part, 0)] * there[:, :, None].astype(net.rows.dtype)
        found.append(taken.sum(1, dtype=np.int16))
    return np.concatenate(found) + net.bias


def _activate(net: EvalNetwork, sums: np.ndarray) -> np.ndarray:
    """Return a perspective's inputs of the first layer (B, view_inputs) from its sums int16 (B, N)."""
    wrapped = 16 - net.sum_bits
    x = np.clip((sums << wrapped) >> (net.input_shift + wrapped), 0, ACTIVATION_LIMIT)
    if net.activation == CLIPPED:
        return x
    if net.activation == PAIRWISE:
        half = net.width // 2
        return (x[:, :half] * x[:, half:]) >> SQUARE_SHIFT
    squares = (x * x + (1 << SQUARE_SHIFT - 1)) >> SQUARE_SHIFT
    return squares if net.activation == SQUARED else np.concatenate((x, squares), 1)


def _affine(layer: Layer, x: np.ndarray) -> np.ndarray:
    """Return int32 (B, outputs), wrapping. The products are summed in float64, where all of them are exact."""
    sums = x.astype(np.float64) @ layer.weight.T.astype(np.float64)
    return np.asarray((sums.astype(np.int64) + layer.bias).astype(np.int32))


def _apply_layers(net: EvalNetwork, layers: tuple[Layer, ...], x: np.ndarray) -> np.ndarray:
    """Return the output layer's sums int32 (B, outputs) of one stack from the first layer's inputs."""
    direct = np.zeros((len(x), 1), np.int32)
    for number, layer in enumerate(layers[:-1]):
        used = layer
        if number == 0 and net.shards is not None:
            used = Layer(layer.weight * net.shards.seen(len(layer.bias)), layer.bias, layer.shift)
        sums = _affine(used, x)
        if number == 0 and net.shortcut:
            sums, direct = sums[:, :-1], sums[:, -1:]
        x = np.clip(sums >> layer.shift, 0, ACTIVATION_LIMIT)
        if number == 0 and net.hidden_squares:
            squares = (sums.astype(np.int64) ** 2) >> (2 * layer.shift + SQUARE_SHIFT)
            x = np.concatenate((np.minimum(squares, ACTIVATION_LIMIT).astype(np.int32), x), 1)
    outputs = _affine(layers[-1], x)
    outputs[:, :: len(net.outputs)] += direct  # the value of every bucket
    return outputs


def centipawns_reference(net: EvalNetwork, outputs: Iterable[int]) -> list[int]:
    """Return centipawns of raw value outputs, as the search computes them: divide, scale, round half away from zero,
    clamp."""
    scores = []
    for output in outputs:
        size = min(abs(int(output)) // net.output_divisor, _OUTPUT_LIMIT)
        score = (size * net.centipawns_per_output + (1 << SCORE_SHIFT - 1)) >> SCORE_SHIFT
        scores.append(min(score, MAX_EVALUATION) * (1 if output >= 0 else -1))
    return scores
