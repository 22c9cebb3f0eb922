"""ONNX files with graphs inside operators are refused before anything runs; truncated and foreign files, too."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from lite.training.testing import load_predictor
from search.puct.onnx_file import open_session

NUMBER = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])
RESULT = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])


def constant(name: str, value: object) -> onnx.NodeProto:
    kind = TensorProto.BOOL if isinstance(value, bool) else TensorProto.INT64
    return helper.make_node("Constant", [], [name], value=helper.make_tensor(name, kind, [], [value]))


def endless_loop() -> list[onnx.NodeProto]:
    """Return a loop of nearly 2**63 rounds."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Identity", ["s"], ["t"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("s", TensorProto.INT64, []),
        ],
        [
            helper.make_tensor_value_info("on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("t", TensorProto.INT64, []),
        ],
    )
    rounds = [constant("rounds", (1 << 63) - 1), constant("start", True), constant("s0", 0)]
    return [*rounds, helper.make_node("Loop", ["rounds", "start", "s0"], ["s1"], body=body)]


def branch() -> list[onnx.NodeProto]:
    out = helper.make_tensor_value_info("b", TensorProto.INT64, [])
    graphs = [helper.make_graph([constant("b", number)], name, [], [out]) for number, name in enumerate("pq")]
    node = helper.make_node("If", ["start"], ["s1"], then_branch=graphs[0], else_branch=graphs[1])
    return [constant("start", True), node]


def write(path: Path, nodes: list[onnx.NodeProto], functions: list[onnx.FunctionProto]) -> Path:
    graph = helper.make_graph([*nodes, helper.make_node("Identity", ["x"], ["y"])], "g", [NUMBER], [RESULT])
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    model = helper.make_model(graph, opset_imports=imports, functions=functions)
    model.ir_version = 9
    path.write_bytes(model.SerializeToString())
    return path


def in_function(nodes: list[onnx.NodeProto]) -> tuple[list[onnx.NodeProto], list[onnx.FunctionProto]]:
    function = helper.make_function("own", "f", [], ["s1"], nodes, [helper.make_opsetid("", 18)])
    return [helper.make_node("f", [], ["z"], domain="own")], [function]


@pytest.mark.parametrize(
    ("nodes", "functions", "operator"),
    [
        (endless_loop(), [], "Loop"),
        (branch(), [], "If"),
        (*in_function(endless_loop()), "Loop"),
    ],
)
def test_control_flow_is_refused_in_one_line(nodes, functions, operator, tmp_path: Path) -> None:
    path = write(tmp_path / "net.onnx", nodes, functions)
    for load in (open_session, lambda path: load_predictor(str(path))):
        with pytest.raises(ValueError, match=f"operator {operator} ") as refused:
            load(path)
        assert "\n" not in str(refused.value)


def test_plain_files_and_functions_are_opened(tmp_path: Path) -> None:
    for nodes, functions in (([], []), in_function([constant("s1", 1)])):
        assert open_session(write(tmp_path / "net.onnx", nodes, functions)).get_inputs()[0].name == "x"


def test_invalid_models_are_refused_in_one_line(tmp_path: Path) -> None:
    whole = write(tmp_path / "net.onnx", endless_loop(), []).read_bytes()
    with pytest.raises(FileNotFoundError, match="no such file"):
        open_session(tmp_path / "none.onnx")
    for number, content in enumerate([b"", b"text", *(whole[:size] for size in range(0, len(whole), 7))]):
        (tmp_path / f"{number}.onnx").write_bytes(content)
        with pytest.raises(ValueError, match=rf"{number}\.onnx: ") as refused:
            open_session(tmp_path / f"{number}.onnx")
        assert "\n" not in str(refused.value)
