"""A policy-value network in ONNX without training: a random linear function of the planes that is not symmetric."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LABELS = 2187
AXES = {"input1": 62, "input2": 57}


def write_linear(path: Path, seed: int = 1) -> Path:
    """Write a network whose win rates are spread between 0 and 1."""
    random = np.random.default_rng(seed)
    constants, nodes, sums = [], [], []
    for name, planes in AXES.items():
        weights = random.normal(0, 0.1, (planes * 81, 1)).astype(np.float32)
        constants.append(numpy_helper.from_array(weights, f"{name}_weights"))
        nodes += [
            helper.make_node("Flatten", [name], [f"{name}_flat"], axis=1),
            helper.make_node("MatMul", [f"{name}_flat", f"{name}_weights"], [f"{name}_sum"]),
        ]
        sums.append(f"{name}_sum")
    constants.append(numpy_helper.from_array(np.zeros((1, LABELS), np.float32), "zeros"))
    nodes += [
        helper.make_node("Add", sums, ["logit"]),
        helper.make_node("Sigmoid", ["logit"], ["output_value"]),
        helper.make_node("Mul", ["logit", "zeros"], ["output_policy"]),
    ]
    outputs = {"output_policy": LABELS, "output_value": 1}
    graph = helper.make_graph(
        nodes,
        "linear",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size, 9, 9]) for name, size in AXES.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size]) for name, size in outputs.items()],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, str(path))
    return path
