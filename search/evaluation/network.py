"""The evaluated network: a table of rows, then a small integer network. Its checks and its reference arithmetic.

    sum_p   = bias + rows of the perspective p's features            int16, wrapping (mover's also + check row)
    x       = clip(sum_p >> input_shift, 0, 127)                      u8, mover's lanes first, then the other side's
              squared: (x * x + 64) >> 7; dual: of each side the clipped lanes, then their squares
    x       = clip((weight @ x + bias) >> shift, 0, 127)              each hidden layer: int8 weights, int32 sums
    output  = weight @ x + bias                                       int32: value, and optionally draw, of the bucket
    logit   = truncate(output / output_divisor) * logit_per_output    of the mover's win
    score   = logit * cp_per_logit                                    centipawns, in integer arithmetic (`centipawns`)

`evaluate_reference` is this in NumPy; every kernel equals it to the bit. Its file is in `network_file.py`, its form for
compiled code in `network_record.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from search.evaluation.feature_sets import FeatureSet
from search.evaluation.output_buckets import MAX_BUCKETS, bucket_of_hands
from search.score import MAX_EVALUATION

LANES = 32
"""The rows' width is a multiple of this many int16."""
MAX_WIDTH = 4096
MAX_LAYER = 1024
MAX_LAYERS = 4
ACTIVATION_LIMIT = 127
OUTPUT_NAMES = (("value",), ("value", "draw"))
CLIPPED, SQUARED, DUAL = ACTIVATIONS = ("clipped_relu", "squared_clipped_relu", "dual_clipped_relu")
"""What is made of the rows' sums. All hidden layers are clipped."""
SQUARE_SHIFT = 7
"""Bits that the square of an activation is shifted by, with half a step added before: at most 126."""
SCORE_SHIFT = 24
"""Centipawns per output are a fixed-point number with this many bits after the point."""
_OUTPUT_LIMIT = 1 << 28
_FACTOR_RANGE = (2.0**-13, 2.0**10)


@dataclass(frozen=True, eq=False)
class Layer:
    """One affine layer: weight int8 [outputs, inputs], bias int32 [outputs], and the shift after it (output: 0)."""

    weight: np.ndarray
    bias: np.ndarray
    shift: int = 0


@dataclass(frozen=True, eq=False)
class EvalNetwork:
    """A network as the search evaluates it. Raises ValueError in words if the parts do not fit together."""

    feature_set: FeatureSet
    rows: np.ndarray
    """int16 [feature_set.rows, N], N a multiple of 32."""
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
    """Of the output layer: it has all outputs of a bucket side by side, and `output_buckets` says which one counts."""
    provenance: dict[str, Any] = field(default_factory=dict)
    """Data, configuration, metrics and versions that the network came from, as JSON."""

    def __post_init__(self) -> None:
        _check(self)

    @property
    def width(self) -> int:
        """N, the lanes of a row."""
        return int(self.rows.shape[1])

    @property
    def view_inputs(self) -> int:
        """The first layer's inputs of each perspective."""
        return self.width * (2 if self.activation == DUAL else 1)

    @property
    def square_offset(self) -> int:
        """Where the lanes' squares begin among them; -1 where squares are none of them."""
        return {CLIPPED: -1, DUAL: self.width}.get(self.activation, 0)

    @property
    def centipawns_per_output(self) -> int:
        """Fixed-point centipawns of one unit of the divided output, SCORE_SHIFT bits after the point."""
        return round(self.logit_per_output * self.cp_per_logit * (1 << SCORE_SHIFT))

    def logit(self, output: float) -> float:
        """Logit of the mover's win of a raw output."""
        return math.trunc(output / self.output_divisor) * self.logit_per_output


def require(condition: bool, message: str) -> None:
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
    """All that must hold for the kernels to be safe and exact."""
    require(
        net.activation in ACTIVATIONS,
        f"the activation {net.activation!r} cannot be evaluated: this program knows {', '.join(ACTIVATIONS)}",
    )
    require(_is_whole(net.perspectives, 1, 2), f"perspectives must be 1 or 2, found {net.perspectives!r}")
    require(_is_whole(net.input_shift, 0, 15), f"input_shift must be 0 to 15, found {net.input_shift!r}")
    require(net.outputs in OUTPUT_NAMES, f"outputs must be value, or value and draw, found {net.outputs!r}")
    require(_is_whole(net.output_divisor, 1, 1 << 20), f"output_divisor {net.output_divisor!r} is not 1 to {1 << 20}")
    require(_is_whole(net.buckets, 1, MAX_BUCKETS), f"buckets must be 1 to {MAX_BUCKETS}, found {net.buckets!r}")
    for name in ("logit_per_output", "cp_per_logit"):
        number = getattr(net, name)
        usable = isinstance(number, float | int) and not isinstance(number, bool) and 0 < number < 1e9
        require(usable, f"{name} must be a positive number, found {number!r}")
    factor = net.logit_per_output * net.cp_per_logit
    require(
        _FACTOR_RANGE[0] <= factor <= _FACTOR_RANGE[1],
        f"cp_per_logit {net.cp_per_logit:g}: at logit_per_output {net.logit_per_output:g}, "
        f"{_FACTOR_RANGE[0] / net.logit_per_output:g} to {_FACTOR_RANGE[1] / net.logit_per_output:g} can be computed",
    )
    require(isinstance(net.provenance, dict), "provenance must be a JSON object")
    require(isinstance(net.rows, np.ndarray) and net.rows.ndim == 2, "rows must be a table, int16 [features, N]")
    width = net.width
    require(
        0 < width <= MAX_WIDTH and width % LANES == 0, f"rows of {width} lanes: 32, 64, ... {MAX_WIDTH} can be summed"
    )
    _check_array(net.rows, "rows", np.int16, (net.feature_set.rows, width))
    _check_array(net.bias, "bias", np.int16, (width,))
    require(
        isinstance(net.layers, tuple) and 1 <= len(net.layers) <= MAX_LAYERS,
        f"{len(net.layers)} layers after the rows: 1 to {MAX_LAYERS} can be evaluated",
    )
    inputs = net.view_inputs * net.perspectives
    for number, layer in enumerate(net.layers, 1):
        last = number == len(net.layers)
        name = f"layer {number}"
        require(
            isinstance(layer.weight, np.ndarray) and layer.weight.ndim == 2,
            f"{name}: weight must be int8 [outputs, inputs]",
        )
        outputs = net.buckets * len(net.outputs) if last else layer.weight.shape[0]
        require(1 <= outputs <= MAX_LAYER, f"{name}: {outputs} outputs: 1 to {MAX_LAYER} can be evaluated")
        _check_array(layer.weight, f"{name}: weight", np.int8, (outputs, inputs))
        _check_array(layer.bias, f"{name}: bias", np.int32, (outputs,))
        require(_is_whole(layer.shift, 0, 0 if last else 31), f"{name}: shift {layer.shift!r}")
        inputs = outputs


# The reference arithmetic


def _sums(net: EvalNetwork, rows: np.ndarray) -> np.ndarray:
    """int16 (B, N): bias plus the listed rows (B, columns); an index past the table adds nothing."""
    table = np.concatenate((net.rows, np.zeros((1, net.width), np.int16)))
    parts = [table[part].sum(1, dtype=np.int16) for part in np.array_split(rows, len(rows) // 64 + 1)]
    return np.concatenate(parts) + net.bias


def _activate(net: EvalNetwork, sums: np.ndarray) -> np.ndarray:
    """A perspective's inputs of the first layer (B, view_inputs) from its sums int16 (B, N)."""
    x = np.clip(sums >> net.input_shift, 0, ACTIVATION_LIMIT)
    if net.activation == CLIPPED:
        return x
    squares = (x * x + (1 << SQUARE_SHIFT - 1)) >> SQUARE_SHIFT
    return squares if net.activation == SQUARED else np.concatenate((x, squares), 1)


def _affine(layer: Layer, x: np.ndarray) -> np.ndarray:
    """int32 (B, outputs), wrapping. The products are summed in float64, where all of them are exact."""
    sums = x.astype(np.float64) @ layer.weight.T.astype(np.float64)
    return np.asarray((sums.astype(np.int64) + layer.bias).astype(np.int32))


def evaluate_reference(net: EvalNetwork, pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> np.ndarray:
    """Raw outputs int32 (B, outputs) by NumPy alone; what every kernel must equal to the bit.

    pieces u1 (B, 81) 0..28, hands u1 (B, 14) own P L N S B R G then the enemy's, in_check bool (B,): the mover's view.
    """
    features = net.feature_set
    sums = [_sums(net, features.active_rows(pieces, hands, view)) for view in range(net.perspectives)]
    if features.check_row is not None:
        sums[0] = sums[0] + np.asarray(in_check, np.int16)[:, None] * net.rows[features.check_row]
    x = np.concatenate([_activate(net, one) for one in sums], 1)
    for layer in net.layers[:-1]:
        x = np.clip(_affine(layer, x) >> layer.shift, 0, ACTIVATION_LIMIT)
    outputs = _affine(net.layers[-1], x).reshape(len(x), net.buckets, -1)
    return outputs[np.arange(len(x)), bucket_of_hands(np.asarray(hands, np.int64), net.buckets)]


def centipawns_reference(net: EvalNetwork, outputs: Iterable[int]) -> list[int]:
    """Centipawns of raw value outputs, as the search computes them: divide, scale, round half away from zero, clamp."""
    scores = []
    for output in outputs:
        size = min(abs(int(output)) // net.output_divisor, _OUTPUT_LIMIT)
        score = (size * net.centipawns_per_output + (1 << SCORE_SHIFT - 1)) >> SCORE_SHIFT
        scores.append(min(score, MAX_EVALUATION) * (1 if output >= 0 else -1))
    return scores
