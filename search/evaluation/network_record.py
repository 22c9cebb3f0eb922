"""A network as jitted code sees it: one record of addresses, dimensions and shifts.

The record's type is the same for every network, so loading one compiles nothing. Rows lie on cache lines, as int8 if
every number of the table fits: one of NNUE's size is in no cache, and half the bytes are half the waiting. Layers are
packed as the kernel of this machine reads them. The record keeps it all alive.
"""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from search.evaluation.draw_value import LOG_TABLE, STEPS
from search.evaluation.feature_sets import NO_KING, NO_ROW
from search.evaluation.kernels import pack_biases, pack_weights, padded_outputs
from search.evaluation.network import MAX_LAYERS, EvalNetwork
from search.primitives.memory import new_record, place, record_dtype
from search.rules.sfen import position_from_sfen
from search.rules.shogi import CODES

network_dtype = record_dtype(
    [
        ("rows", np.uint64),  # address of the table
        ("bias", np.uint64),  # address of int16 [width]
        ("zero_row", np.uint64),  # address of int16 zeros
        ("check_row", np.uint64),  # address of int16, the zero row's if the set has none
        ("missing_row", np.int64),  # byte offset in the table, -1 if the set has none
        ("code_offsets", np.uint64),  # address of int32 [2][CODES + 1]: byte offset of a code's row, -1 if none
        ("king_offsets", np.int64, (2, NO_KING + 1)),  # [perspective, own king's square seen by black], bytes
        ("width", np.int64),  # lanes of a row
        ("lane_bytes", np.int64),  # of the table: 2 for int16, 1 for int8
        ("perspectives", np.int64),
        ("input_shift", np.int64),
        ("view_inputs", np.int64),  # first layer's inputs of a perspective
        ("square_offset", np.int64),  # where the lanes' squares begin among them, -1 if they are none
        ("layer_count", np.int64),
        ("weights", np.uint64, MAX_LAYERS),  # addresses
        ("biases", np.uint64, MAX_LAYERS),
        ("inputs", np.int64, MAX_LAYERS),  # padded
        ("outputs", np.int64, MAX_LAYERS),  # padded
        ("shifts", np.int64, MAX_LAYERS),
        ("buckets", np.int64),  # of the output layer
        ("output_divisor", np.int64),
        ("centipawns_per_output", np.int64),
        ("has_draw", np.int64),
        # of a network that foretells draws, see draw_value.py
        ("log_table", np.uint64),  # address
        ("steps_per_centipawn", np.float64),
        ("steps_per_draw_output", np.float64),  # once it is divided
    ]
)


_records: WeakKeyDictionary[EvalNetwork, np.void] = WeakKeyDictionary()


def network_record(net: EvalNetwork) -> np.void:
    """The record (of `network_dtype`) of a network for jitted functions, made at the first call; threads share it."""
    if net not in _records:
        _records[net] = _make_record(order_lanes(net))
    return _records[net]


def order_lanes(net: EvalNetwork) -> EvalNetwork:
    """The same function of a position, with the lanes that the start position sets highest first.

    The clip makes zeros of the low ones there, and mostly elsewhere: of the first layer's groups of four inputs a third
    are zeros in this order, a fifth in the order that networks are stored in. By AVX2 the kernel skips them.
    """
    features, start = net.feature_set, position_from_sfen("startpos")
    rows = features.active_rows(start["board"], start["hands"])[0]
    sums = net.bias + net.rows[rows[rows < features.rows]].sum(0, dtype=np.int16)
    order = np.argsort(-sums.astype(np.int64), kind="stable")
    first = range(0, net.layers[0].weight.shape[1], net.width)
    columns = np.concatenate([place + order for place in first])
    layer = replace(net.layers[0], weight=net.layers[0].weight[:, columns])
    return replace(net, rows=np.take(net.rows, order, axis=1), bias=net.bias[order], layers=(layer, *net.layers[1:]))


def _make_record(net: EvalNetwork) -> np.void:
    features, width = net.feature_set, net.width
    narrow = net.rows.astype(np.int8)
    table, lane_bytes = (narrow, 1) if np.array_equal(narrow, net.rows) else (net.rows, 2)
    row_bytes = lane_bytes * width
    arrays: list[np.ndarray] = []
    record = new_record(network_dtype, arrays)
    record["rows"] = place(table, arrays)
    record["bias"] = place(net.bias, arrays)
    record["zero_row"] = place(np.zeros(width, np.int16), arrays)
    check = features.check_row
    record["check_row"] = record["zero_row"] if check is None else place(net.rows[check], arrays)
    record["missing_row"] = -1 if features.missing_row is None else features.missing_row * row_bytes
    codes = features.codes_to_rows.astype(np.int64)
    assert codes.shape == (2, CODES + 1)
    record["code_offsets"] = place(np.where(codes == NO_ROW, -1, codes * row_bytes).astype(np.int32), arrays)
    own = features.king_bucket.astype(np.int64) * features.king_stride * row_bytes
    record["king_offsets"] = np.stack((own, np.append(own[:NO_KING][::-1], own[NO_KING])))
    record["width"], record["lane_bytes"] = width, lane_bytes
    record["perspectives"], record["input_shift"] = net.perspectives, net.input_shift
    record["view_inputs"] = net.view_inputs
    record["square_offset"] = net.square_offset
    record["layer_count"] = len(net.layers)
    inputs = net.view_inputs * net.perspectives
    for index, layer in enumerate(net.layers):
        outputs = padded_outputs(len(layer.bias))
        record["weights"][index] = place(pack_weights(layer.weight, inputs), arrays)
        record["biases"][index] = place(pack_biases(layer.bias), arrays)
        record["inputs"][index], record["outputs"][index] = inputs, outputs
        record["shifts"][index] = layer.shift
        inputs = outputs
    record["buckets"] = net.buckets
    record["output_divisor"] = net.output_divisor
    record["centipawns_per_output"] = net.centipawns_per_output
    record["has_draw"] = len(net.outputs) == 2
    if record["has_draw"]:
        record["log_table"] = place(LOG_TABLE, arrays)
        record["steps_per_centipawn"] = STEPS / net.cp_per_logit
        record["steps_per_draw_output"] = STEPS * net.logit_per_output
    return record
