"""The evaluated network's file: one safetensors file with a description, or an nn.bin of YaneuraOu.

Reading checks everything, with a checksum over all of it, and runs no code of the file.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from search.evaluation.feature_sets import feature_set
from search.evaluation.network import CLIPPED, MAX_LAYERS, EvalNetwork, Layer, require
from search.evaluation.nnue_file import is_nnue, read_nnue
from search.evaluation.shipped import network_file
from search.system.files import require_file, require_utf8, write_atomically
from search.system.metadata import parse_json, quoted, sort_header
from search.system.paths import PathLike

FORMAT = "liteshogi evaluation network"
SUFFIX = ".safetensors"
VERSIONS = ("1", "2")
"""What is evaluated by the first one's arithmetic keeps that number, so that older programs read it."""
_LONGEST_COMPLAINT = 250
"""Characters: what a forged file holds is repeated no further."""


def _tensors(net: EvalNetwork) -> dict[str, np.ndarray]:
    tensors = {"rows": net.rows, "bias": net.bias}
    for number, layer in enumerate(net.layers, 1):
        tensors |= {f"layer{number}.weight": layer.weight, f"layer{number}.bias": layer.bias}
    if net.feature_set.name == "king_piece_square":
        tensors["king_buckets"] = net.feature_set.king_bucket[:81]
    return {name: np.ascontiguousarray(array) for name, array in tensors.items()}


def _description(net: EvalNetwork) -> dict[str, Any]:
    return {
        "feature_set": net.feature_set.name,
        "perspectives": net.perspectives,
        "input_shift": net.input_shift,
        "activation": net.activation,
        "shifts": [layer.shift for layer in net.layers],
        "outputs": list(net.outputs),
        "output_divisor": net.output_divisor,
        "logit_per_output": net.logit_per_output,
        "cp_per_logit": net.cp_per_logit,
        "provenance": net.provenance,
    } | ({"buckets": net.buckets} if net.buckets != 1 else {})


def _checksum(tensors: dict[str, np.ndarray], description: str) -> str:
    """CRC-32 over the description and every array with its name, type and shape."""
    total = zlib.crc32(description.encode())
    for name in sorted(tensors):
        array = tensors[name]
        total = zlib.crc32(f"\0{name} {array.dtype.str} {array.shape}\0".encode(), total)
        total = zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, total)
    return f"{total:08x}"


def save_network(net: EvalNetwork, path: Path | str) -> None:
    """Write the file whole or not at all; equal networks give equal bytes."""
    tensors, data = _tensors(net), json.dumps(_description(net), sort_keys=True)
    version = VERSIONS[net.activation != CLIPPED or net.buckets != 1]
    header = {"format": FORMAT, "version": version, "data": data, "checksum": _checksum(tensors, data)}
    write_atomically(Path(path), sort_header(save(tensors, header)))


def _read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    with safe_open(path, "numpy") as file:
        header = file.metadata() or {}
        found = header.get("format")
        if found != FORMAT:
            remedy = "; fold it first: liteshogi fold" if found == "liteshogi network" else ""
            what = "safetensors file of another program" if found is None else quoted(found)
            raise ValueError(f"this is a {what}, not a {FORMAT}{remedy}")
        if header.get("version") not in VERSIONS:
            known = " and ".join(VERSIONS)
            version = quoted(header.get("version"))
            raise ValueError(f"a network file of version {version}; this program reads versions {known}")
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    if header["checksum"] != _checksum(tensors, header["data"]):
        raise ValueError("the checksum does not fit: the file is damaged; copy or fold it again")
    return tensors, parse_json(header["data"])


def _build(tensors: dict[str, np.ndarray], data: dict[str, Any]) -> EvalNetwork:
    shifts = data["shifts"]
    require(isinstance(shifts, list) and 1 <= len(shifts) <= MAX_LAYERS, f"shifts {shifts!r}")
    outputs, king_buckets = data["outputs"], tensors.get("king_buckets")
    require(isinstance(outputs, list), f"outputs must be a list, found {outputs!r}")
    if king_buckets is not None:
        require(king_buckets.dtype == np.int32, f"king_buckets must be int32, found {king_buckets.dtype}")
    features = feature_set(data["feature_set"], king_buckets)
    layers = tuple(
        Layer(tensors[f"layer{number}.weight"], tensors[f"layer{number}.bias"], shift)
        for number, shift in enumerate(shifts, 1)
    )
    net = EvalNetwork(
        features,
        tensors["rows"],
        tensors["bias"],
        layers,
        data["perspectives"],
        data["input_shift"],
        tuple(outputs),
        data["activation"],
        data["output_divisor"],
        data["logit_per_output"],
        data["cp_per_logit"],
        data.get("buckets", 1),
        data["provenance"],
    )
    wanted = set(_tensors(net))
    require(wanted == set(tensors), f"missing or unexpected arrays {sorted(wanted ^ set(tensors))}")
    return net


def load_network(path: PathLike = "default", fv_scale: int | None = None) -> EvalNetwork:
    """The network of a file, an nn.bin of YaneuraOu too, or a shipped one by its name (`default`).

    fv_scale: the divisor of an nn.bin's output, see `nnue_file.read_nnue`; other files hold their own.
    Raises OSError or ValueError, one line that names the file and says what is wrong with it.
    """
    path = network_file(path)
    require_file(path, f"if it is a training run, `liteshogi fold {path} -o NET`")
    if is_nnue(path):
        return read_nnue(path, fv_scale)
    require_utf8(path)
    try:
        return _build(*_read(path))
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
            raise ValueError(f"{path}: not a {FORMAT}: {error}") from None
        raise ValueError(f"{path}: {quoted(error, _LONGEST_COMPLAINT)}") from None
    except KeyError as error:
        raise ValueError(f"{path}: not a {FORMAT}: {error} is missing in it") from None
    except (SafetensorError, TypeError, AttributeError, OverflowError, MemoryError) as error:
        said = quoted(error, _LONGEST_COMPLAINT)  # of a header, which may quote lines of it
        raise ValueError(f"{path}: not a {FORMAT}, or only a part of one ({said}); copy or fold it again") from None
