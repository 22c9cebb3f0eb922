"""Opening ONNX files from untrusted sources.

A graph inside a node (the body of a Loop, a Scan, a branch of an If) lets a file compute without end, even in the trial
run that checks it. No network of this program's kinds has one, so files with one are refused before anything runs. Only
the protocol buffer's frame is read (https://protobuf.dev/programming-guides/encoding/, field numbers from onnx.proto):
no other package is needed, and weights are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from search.system.files import require_file, require_utf8
from search.system.metadata import one_line

Device = Literal["auto", "cpu", "gpu"]
"""Where onnxruntime computes; "auto" means on a GPU if the installed onnxruntime can use one, else on the CPU."""
_CPU = "CPUExecutionProvider"
# A search for the fastest convolution runs again for each batch of another size, which takes longer than the batch.
_GPUS: dict[str, dict[str, str]] = {
    "CUDAExecutionProvider": {"cudnn_conv_algo_search": "HEURISTIC"},
    "ROCMExecutionProvider": {},
}

_MODEL_GRAPH, _MODEL_FUNCTION = 7, 25
_GRAPH_NODE, _FUNCTION_NODE, _FUNCTION_ATTRIBUTE = 1, 7, 11
_NODE_OPERATOR, _NODE_ATTRIBUTE = 4, 5
_ATTRIBUTE_GRAPHS = (6, 11)
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5


def require_onnx(path: Path) -> None:
    """Raise OSError unless `path` is a file that can be read; its content is not checked."""
    require_file(path, "a training run must be exported to an ONNX file first")


def open_session(path: Path, device: Device = "cpu") -> Any:
    """Open the file in an onnxruntime session on one core of the CPU, or on a GPU.

    Raises OSError, or ValueError with a message of one line, also if "gpu" is requested and cannot be used.
    """
    require_onnx(path)
    try:
        import onnxruntime
    except ImportError:
        raise ValueError(f"{path}: an ONNX file needs onnxruntime: pip install 'liteshogi[export]'") from None
    require_utf8(path)
    operator = _operator_with_graph(path)
    if operator is not None:
        raise ValueError(
            f"{path}: its operator {one_line(operator)} has a graph inside, which may run without end; export it "
            "without loops and branches"
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = 1, 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.load_model_format", "ONNX")
    installed = onnxruntime.get_available_providers()
    gpus = [one for one in _GPUS.items() if one[0] in installed] if device != "cpu" else []
    try:
        # Its fallback would try the same again and print a message to standard output.
        session = onnxruntime.InferenceSession(str(path), options, [*gpus, _CPU], enable_fallback=0)
    except Exception as error:  # onnxruntime raises classes of its own that it does not export
        if gpus and device == "auto":  # a driver or a library may be missing
            return open_session(path)
        raise ValueError(f"{path}: onnxruntime cannot read it: {first_line(error)}") from None
    if device == "gpu" and session.get_providers()[0] == _CPU:
        raise ValueError(
            f"{path}: onnxruntime finds no GPU (it has {', '.join(installed)}); install the onnxruntime-gpu that fits "
            "the driver, or use the CPU"
        )
    try:
        for tensor in (*session.get_inputs(), *session.get_outputs()):
            _ = tensor.name, tensor.shape  # axes have names, too; onnxruntime decodes names when they are read
    except UnicodeDecodeError:
        raise ValueError(f"{path}: the name of a tensor or an axis is not valid UTF-8; export it again") from None
    return session


def first_line(error: Exception) -> str:
    """Return the first line of an error's message."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _operator_with_graph(path: Path) -> str | None:
    """Return the first operator with a graph among its attributes, in the model's graph or its functions; None
    without any."""
    model = memoryview(path.read_bytes())
    try:
        for body, nodes in ((_MODEL_GRAPH, _GRAPH_NODE), (_MODEL_FUNCTION, _FUNCTION_NODE)):
            for part in _messages(model, body):
                if body == _MODEL_FUNCTION and _has_graph(part, _FUNCTION_ATTRIBUTE):
                    return "of a function"
                for node in _messages(part, nodes):
                    if _has_graph(node, _NODE_ATTRIBUTE):
                        return b"".join(_messages(node, _NODE_OPERATOR)).decode("utf-8", "replace")
    except (IndexError, ValueError):
        raise ValueError(f"{path}: not an ONNX file, or only a part of one; copy or export it again") from None
    return None


def _has_graph(message: memoryview, attributes: int) -> bool:
    found = (_messages(one, field) for one in _messages(message, attributes) for field in _ATTRIBUTE_GRAPHS)
    return any(True for graphs in found for _ in graphs)


def _messages(message: memoryview, number: int) -> Iterator[memoryview]:
    """Yield the contents of a message's fields with this number. Raises ValueError or IndexError for an invalid
    message."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == _VARINT:
            _, at = _varint(message, at)
        elif kind == _EIGHT_BYTES or kind == _FOUR_BYTES:
            at += 8 if kind == _EIGHT_BYTES else 4
        elif kind == _BYTES:
            size, at = _varint(message, at)
            if at + size > len(message):
                raise ValueError("a field longer than its message")
            if key >> 3 == number:
                yield message[at : at + size]
            at += size
        else:
            raise ValueError(f"a field of kind {kind}")


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """Return the number that begins at the byte `at`, seven bits per byte, and the index after it."""
    value = 0
    for shift in range(0, 70, 7):
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError("a number without end")
