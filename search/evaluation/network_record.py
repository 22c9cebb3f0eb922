"""A network as jitted code sees it: one record of addresses, dimensions and shifts.

The record's type is the same for every network, so loading one compiles nothing. Rows lie on cache lines, as int8 if
every number of the table fits: a table of NNUE's size is in no cache, and half the bytes take half the time. A large
table is used where the network holds it. Layers are packed as the kernel of this machine reads them.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from search.evaluation.draw_value import LOG_TABLE, STEPS
from search.evaluation.feature_sets import NO_KING, NO_ROW, feature_set
from search.evaluation.kernels import (
    NARROW_INPUTS,
    NARROW_OUTPUTS,
    groups_together,
    pack_biases,
    pack_narrow_weights,
    pack_weights,
    padded_outputs,
)
from search.evaluation.lane_order import balance_lanes
from search.evaluation.network import MAX_LAYERS, PAIRWISE, EvalNetwork, Layer
from search.evaluation.stacks import HANDS, KING_ZONES, PROGRESS, PROGRESS_STEPS, axis_size, progress_thresholds
from search.primitives.memory import CACHE_LINE, new_record, place, record_dtype
from search.rules.shogi import CODES, HAND_KINDS

LARGE_TABLE = 64 << 20
"""Bytes of a table from which on it is not copied for another order of its lanes."""

network_dtype = record_dtype(
    [
        ("rows", np.uint64),  # address of the table
        ("bias", np.uint64),  # address of int16 [width]
        ("zero_row", np.uint64),  # address of int16 zeros
        ("check_row", np.uint64),  # address of int16, the zero row's if the set has none
        ("missing_row", np.int64),  # byte offset in the table, -1 if the set has none
        # Address of int32 [perspective][mirrored][CODES + 1]: byte offset of a code's row, -1 if none.
        ("code_offsets", np.uint64),
        # By perspective and own king's square seen by black: bytes of its block, plus 1 if the board is mirrored.
        ("king_offsets", np.int64, (2, NO_KING + 1)),
        ("width", np.int64),  # lanes of a row
        ("lane_bytes", np.int64),  # of the table: 2 for int16, 1 for int8
        ("perspectives", np.int64),
        ("input_shift", np.int64),
        ("wrapped_bits", np.int64),  # of a sum, above those that count
        ("view_inputs", np.int64),  # first layer's inputs of a perspective
        ("square_offset", np.int64),  # where the lanes' squares begin among them, -1 if they are none
        ("pairwise", np.int64),  # whether the inputs are products of two lanes
        ("layer_count", np.int64),
        ("weights", np.uint64, MAX_LAYERS),  # addresses, of the first stack
        ("biases", np.uint64, MAX_LAYERS),
        ("weight_bytes", np.int64, MAX_LAYERS),  # from one stack to the next
        ("bias_bytes", np.int64, MAX_LAYERS),
        ("inputs", np.int64, MAX_LAYERS),  # padded
        ("outputs", np.int64, MAX_LAYERS),  # padded
        ("shifts", np.int64, MAX_LAYERS),
        ("together", np.int64, MAX_LAYERS),  # groups of inputs, see `kernels.groups_together`
        ("narrow", np.int64),  # whether the first layer's weights are packed for `affine_narrow`
        ("squares_hidden", np.int64),  # whether the first hidden layer passes on squares, then clipped sums
        ("shortcut", np.int64),  # the first layer's sum that is added to the value, -1 if none
        ("buckets", np.int64),  # of the output layer
        ("stacks", np.int64),  # copies of all layers
        ("hand_classes", np.int64),  # of one hand, 1 without this axis
        ("hand_bits", np.int64, HAND_KINDS),
        ("hand_weights", np.int64, HAND_KINDS),
        ("king_zones", np.int64),  # of one king, 1 without this axis
        ("zones", np.uint64),  # address of int32 [colour][NO_KING + 1]: zone by the king's square seen by black
        ("progress_parts", np.int64),  # 1 without this axis
        ("progress_bias", np.int64),
        ("progress_table", np.uint64),  # address of int32 [81][BONA_END]
        ("progress_limits", np.uint64),  # address of int64: least sums of the parts but the first
        ("bona_pieces", np.uint64),  # address of int32 [perspective][CODES + 1], -1 for kings
        ("output_divisor", np.int64),
        ("centipawns_per_output", np.int64),
        ("has_draw", np.int64),
        # of a network that predicts draws, see draw_value.py
        ("log_table", np.uint64),  # address
        ("steps_per_centipawn", np.float64),
        ("steps_per_draw_output", np.float64),  # after the division
    ]
)


_records: WeakKeyDictionary[EvalNetwork, np.void] = WeakKeyDictionary()


def network_record(net: EvalNetwork) -> np.void:
    """Return the record (of `network_dtype`) of a network, made at the first call and shared by threads."""
    if net not in _records:
        _records[net] = _make_record(balance_lanes(net) if net.rows.nbytes < LARGE_TABLE else net)
    return _records[net]


def _make_record(net: EvalNetwork) -> np.void:
    features, width = net.feature_set, net.width
    arrays: list[np.ndarray] = []
    record = new_record(network_dtype, arrays)
    rows, codes = _rows_of_codes(net)
    table = rows if rows.dtype == np.int8 else rows.astype(np.int8)
    table = table if table is rows or np.array_equal(table, rows) else rows
    record["rows"] = _place_table(table, arrays)
    row_bytes = table.itemsize * width
    record["bias"] = place(net.bias, arrays)
    record["zero_row"] = place(np.zeros(width, np.int16), arrays)
    check = features.check_row
    record["check_row"] = record["zero_row"] if check is None else place(rows[check].astype(np.int16), arrays)
    record["missing_row"] = -1 if features.missing_row is None else features.missing_row * row_bytes
    assert codes.shape == (2, 2, CODES + 1)
    record["code_offsets"] = place(np.where(codes == NO_ROW, -1, codes * row_bytes).astype(np.int32), arrays)
    own = features.king_bucket.astype(np.int64) * features.king_stride * row_bytes + features.mirrored
    record["king_offsets"] = np.stack((own, np.append(own[:NO_KING][::-1], own[NO_KING])))
    record["width"], record["lane_bytes"] = width, table.itemsize
    record["perspectives"], record["input_shift"] = net.perspectives, net.input_shift
    record["wrapped_bits"] = 16 - net.sum_bits
    record["view_inputs"] = net.view_inputs
    record["square_offset"], record["pairwise"] = net.square_offset, net.activation == PAIRWISE
    _place_layers(record, net, arrays)
    _place_stacks(record, net, arrays)
    record["buckets"] = net.buckets
    record["output_divisor"] = net.output_divisor
    record["centipawns_per_output"] = net.centipawns_per_output
    record["has_draw"] = len(net.outputs) == 2
    if record["has_draw"]:
        record["log_table"] = place(LOG_TABLE, arrays)
        record["steps_per_centipawn"] = STEPS / net.cp_per_logit
        record["steps_per_draw_output"] = STEPS * net.logit_per_output
    return record


def _place_table(table: np.ndarray, arrays: list[np.ndarray]) -> int:
    """Return the address of a table on a cache line: itself where it lies on one, else a copy."""
    if table.flags.c_contiguous and table.ctypes.data % CACHE_LINE == 0:
        arrays.append(table)
        return int(table.ctypes.data)
    return place(table, arrays)


def _rows_of_codes(net: EvalNetwork) -> tuple[np.ndarray, np.ndarray]:
    """Return a table, and the one row in it of each code: int64 [perspective][mirrored][CODES + 1].

    Where a code has two rows, the table ends with their sums.
    """
    features = net.feature_set
    plain = features.codes_to_rows.astype(np.int64)
    mirrored = plain if features.mirrored_codes_to_rows is None else features.mirrored_codes_to_rows.astype(np.int64)
    rows = net.rows
    if features.second_rows is not None:
        second = features.second_rows.astype(np.int64)
        pairs = np.stack((plain, second), -1)
        distinct, numbers = np.unique(pairs[second != NO_ROW], axis=0, return_inverse=True)
        sums = rows[distinct].sum(1, dtype=np.int16)
        fits = rows.dtype == np.int8 and np.array_equal(sums, sums.astype(np.int8))
        rows = np.concatenate((rows, sums.astype(np.int8 if fits else np.int16)))
        plain = plain.copy()
        plain[second != NO_ROW] = len(net.rows) + numbers.reshape(-1)
        mirrored = plain
    return rows, np.stack((plain, mirrored), 1)


def _place_layers(record: np.void, net: EvalNetwork, arrays: list[np.ndarray]) -> None:
    record["layer_count"] = len(net.layers)
    record["squares_hidden"] = net.hidden_squares or net.shortcut
    record["shortcut"] = net.hidden[0] - 1 if net.shortcut else -1
    inputs = net.view_inputs * net.perspectives
    for index, layer in enumerate(net.layers):
        outputs = padded_outputs(layer.bias.shape[-1])
        weight = layer.weight
        if index == 0 and net.shards is not None:
            weight = weight * net.shards.seen(layer.bias.shape[-1])
        if index == 1 and record["squares_hidden"]:
            weight = _spread_columns(net, layer, inputs // 2)
        narrow = index == 0 and record["squares_hidden"]
        narrow = narrow and layer.bias.shape[-1] <= NARROW_OUTPUTS and inputs % NARROW_INPUTS == 0
        record["narrow"] |= narrow
        weights = pack_narrow_weights(weight, inputs) if narrow else pack_weights(weight, inputs)
        biases = pack_biases(layer.bias)
        record["weights"][index], record["biases"][index] = place(weights, arrays), place(biases, arrays)
        record["weight_bytes"][index] = weights.nbytes // net.stacks.count
        record["bias_bytes"][index] = biases.nbytes // net.stacks.count
        record["inputs"][index], record["outputs"][index] = inputs, outputs
        record["shifts"][index] = layer.shift
        record["together"][index] = groups_together(weight, inputs)
        inputs = 2 * outputs if index == 0 and record["squares_hidden"] else outputs


def _spread_columns(net: EvalNetwork, layer: Layer, padded: int) -> np.ndarray:
    """Return the second layer's weights with a column for every padded square, then every padded clipped sum."""
    count = net.hidden[0] - net.shortcut
    spread = np.zeros((*layer.weight.shape[:-1], 2 * padded), np.int8)
    if net.hidden_squares:
        spread[..., :count] = layer.weight[..., :count]
    spread[..., padded : padded + count] = layer.weight[..., -count:]
    return spread


def _place_stacks(record: np.void, net: EvalNetwork, arrays: list[np.ndarray]) -> None:
    stacks = net.stacks
    record["stacks"] = stacks.count
    record["hand_classes"] = record["king_zones"] = 1
    record["progress_parts"] = axis_size(stacks.progress)
    if stacks.hand:
        hands = HANDS[stacks.hand]
        record["hand_classes"], record["hand_bits"], record["hand_weights"] = hands.classes, hands.bits, hands.weights
    if stacks.king:
        zones = KING_ZONES[stacks.king]
        record["king_zones"] = int(zones.max()) + 1
        record["zones"] = place(np.stack((zones, np.append(zones[:NO_KING][::-1], zones[NO_KING]))), arrays)
    if stacks.progress_weight is not None:
        parts = PROGRESS[stacks.progress]
        steps = -(-np.arange(1, parts) * PROGRESS_STEPS // parts)  # a part's first step
        record["progress_bias"] = stacks.progress_bias
        record["progress_table"] = place(stacks.progress_weight, arrays)
        record["progress_limits"] = place(progress_thresholds()[steps - 1], arrays)
        record["bona_pieces"] = place(feature_set("half_kp").codes_to_rows, arrays)
