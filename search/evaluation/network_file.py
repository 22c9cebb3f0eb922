"""The evaluated network's file: one safetensors file with a description, or an nn.bin of YaneuraOu.

Reading checks everything, with a checksum over all of it, and runs no code of the file. The rows come first in a file
of version 3, on a cache line, so that they can be used where the system maps them. Only files that nobody writes to are
mapped, those of the package and the copies through which large files are read (`shared_copy.py`): a program that wrote
to a mapped file would change the numbers of running searches, or end them.
"""

from __future__ import annotations

import json
import struct
import sys
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from search.compiling.cache_directory import check_owner
from search.compiling.jit import CACHE_DIRECTORY
from search.compiling.source_digest import code_name
from search.evaluation.feature_sets import feature_set
from search.evaluation.network import CLIPPED, MAX_LAYERS, PAIRWISE, EvalNetwork, Layer, Shards, require
from search.evaluation.nnue_file import is_nnue, read_nnue
from search.evaluation.shared_copy import copy_place, discard, mark_used, new_copy
from search.evaluation.shipped import is_in_package, network_file
from search.evaluation.stacks import make_stacks
from search.primitives.memory import CACHE_LINE, aligned_zeros
from search.system.files import (
    WholeFile,
    file_state,
    read_unchanged,
    require_file,
    require_utf8,
    write_atomically,
)
from search.system.metadata import one_line, parse_json, sort_header
from search.system.options import OptionError
from search.system.paths import PathLike

FORMAT = "liteshogi evaluation network"
SUFFIX = ".safetensors"
VERSIONS = ("1", "2", "3")
"""A network is written in the oldest version that can describe it, so that older programs read it."""
_OLD_FEATURES = ("piece_square", "king_piece_square", "half_kp", "k_p")
_LONGEST_COMPLAINT = 250
"""Most characters of a file's content that a message repeats."""
_LENGTH = struct.Struct("<Q")
_DTYPES = {"i1": "I8", "i2": "I16", "i4": "I32"}
LARGE_FILE = 32 << 20
"""Bytes of a file from which on it is read through a copy that processes share."""


class NetworkFolder(FileNotFoundError):
    """The error for a folder in place of a network's file, perhaps that of a training run; `path` is the folder."""

    def __init__(self, path: Path) -> None:
        inside = path / "nn.bin"  # users of YaneuraOu know the folder, EvalDir
        remedy = f"name {inside}" if inside.is_file() else "fold a training run to a network file first"
        super().__init__(f"{path}: a directory; {remedy}")
        self.path = path


class UnusedSetting(OptionError):
    """The error for settings of an nn.bin that are given for a file of another kind."""

    def __init__(self, path: PathLike, *fields: str) -> None:
        own = "has a scale of its own" if fields == ("fv_scale",) else "describes itself"
        super().__init__(f"{', '.join(f'`{field}`' for field in fields)}: {path} is no nn.bin and {own}", *fields)


def _version(net: EvalNetwork) -> str:
    later = net.activation == PAIRWISE or net.hidden_squares or net.shortcut or net.shards is not None
    later |= net.stacks.count != 1 or net.feature_set.name not in _OLD_FEATURES
    if later or any(layer.padding is not None for layer in net.layers):
        return VERSIONS[2]
    return VERSIONS[net.activation != CLIPPED or net.buckets != 1]


def _tensors(net: EvalNetwork, version: str | None = None) -> dict[str, np.ndarray]:
    """Return the arrays of a file, by default of the oldest version that can describe the network."""
    tensors = {"rows": _stored_rows(net, version or _version(net)), "bias": net.bias}
    for number, layer in enumerate(net.layers, 1):
        tensors |= {f"layer{number}.weight": layer.weight, f"layer{number}.bias": layer.bias}
        if layer.padding is not None:
            tensors[f"layer{number}.padding"] = layer.padding
    if net.feature_set.name == "king_piece_square":
        tensors["king_buckets"] = net.feature_set.king_bucket[:81]
    if net.stacks.progress_weight is not None:
        tensors["progress"] = net.stacks.progress_weight
    return {name: np.ascontiguousarray(array) for name, array in tensors.items()}


def _stored_rows(net: EvalNetwork, version: str) -> np.ndarray:
    """Return the rows as a file has them: int8 in version 3 if all of them fit, else int16."""
    if version == VERSIONS[2]:
        narrow = net.rows.astype(np.int8, copy=False)
        if narrow is net.rows or np.array_equal(narrow, net.rows):
            return narrow
    return net.rows.astype(np.int16, copy=False)


def _description(net: EvalNetwork) -> dict[str, Any]:
    found = {
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
    }
    # Each of the others is described where it is not the default.
    if net.buckets != 1:
        found["buckets"] = net.buckets
    if net.sum_bits != 16:
        found["sum_bits"] = net.sum_bits
    if net.hidden_squares:
        found["hidden_squares"] = True
    if net.shortcut:
        found["shortcut"] = True
    if net.shards is not None:
        found["shards"] = [net.shards.common, net.shards.size, net.shards.groups]
    if net.stacks.tokens:
        found["stacks"] = list(net.stacks.tokens)
    if net.stacks.progress_bias:
        found["progress_bias"] = net.stacks.progress_bias
    return found


def _checksum(tensors: dict[str, np.ndarray], description: str) -> str:
    """Return the CRC-32 of the description and of every array with its name, type and shape."""
    total = zlib.crc32(description.encode())
    for name in sorted(tensors):
        array = tensors[name]
        total = zlib.crc32(f"\0{name} {array.dtype.str} {array.shape}\0".encode(), total)
        total = zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, total)
    return f"{total:08x}"


def save_network(net: EvalNetwork, path: Path | str) -> None:
    """Write the file whole or not at all; equal networks give equal bytes."""
    version = _version(net)
    tensors, header = _content(net, version)
    if version != VERSIONS[2]:
        write_atomically(Path(path), sort_header(save(tensors, header)))
        return
    with WholeFile(Path(path)) as file:
        for part in _rows_first(tensors, header):
            file.write(part)


def _content(net: EvalNetwork, version: str) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return the arrays and the metadata of a file."""
    tensors, data = _tensors(net, version), json.dumps(_description(net), sort_keys=True)
    return tensors, {"format": FORMAT, "version": version, "data": data, "checksum": _checksum(tensors, data)}


def _rows_first(tensors: dict[str, np.ndarray], metadata: dict[str, str]) -> Iterator[bytes | memoryview]:
    """Yield a safetensors file in parts: the rows first, on a cache line, then the others by name."""
    order = ["rows", *sorted(tensors.keys() - {"rows"})]
    header: dict[str, Any] = {"__metadata__": dict(sorted(metadata.items()))}
    place = 0
    for name in order:
        array = tensors[name]
        end = place + array.nbytes
        kind = _DTYPES[array.dtype.str[1:]]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [place, end]}
        place = end
    encoded = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    encoded += b" " * (-(len(encoded) + _LENGTH.size) % CACHE_LINE)
    yield _LENGTH.pack(len(encoded)) + encoded
    for name in order:
        little = tensors[name].astype(tensors[name].dtype.newbyteorder("<"), copy=False)
        yield little.reshape(-1).view(np.uint8).data


def _read(path: Path, may_map: bool) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    with safe_open(path, "numpy") as file:
        header = file.metadata() or {}
        found = header.get("format")
        if found != FORMAT:
            remedy = "; fold it first" if found == "liteshogi network" else ""
            what = "safetensors file of another program" if found is None else one_line(found)
            raise ValueError(f"this is a {what}, not a {FORMAT}{remedy}")
        if header.get("version") not in VERSIONS:
            known = f"{', '.join(VERSIONS[:-1])} and {VERSIONS[-1]}"
            version = one_line(header.get("version"))
            raise ValueError(f"a network file of version {version}; this program reads versions {known}")
        mapped = _map_rows(path) if header["version"] == VERSIONS[2] else {}
        if not may_map:
            mapped = {name: _on_a_cache_line(rows) for name, rows in mapped.items()}
        tensors = mapped | {name: file.get_tensor(name) for name in file.keys() if name not in mapped}  # noqa: SIM118
    if header["version"] != VERSIONS[2] and "rows" in tensors and tensors["rows"].dtype == np.int8:
        raise ValueError(f"rows must be int16 in a file of version {header['version']}, found int8")
    if header["checksum"] != _checksum(tensors, header["data"]):
        raise ValueError("the checksum does not fit: the file is damaged; copy or fold it again")
    return tensors, parse_json(header["data"])


def _map_rows(path: Path) -> dict[str, np.ndarray]:
    """Return the rows of a file that safetensors has checked, mapped: processes that use one file share its memory.

    Returns nothing where the rows are of another kind than integers, which `EvalNetwork` refuses, or have another byte
    order than the machine.
    """
    with open(path, "rb") as file:
        (length,) = _LENGTH.unpack(file.read(_LENGTH.size))
        rows = parse_json(file.read(length).decode()).get("rows", {})
    kinds = {"I8": np.int8, "I16": np.int16}
    if rows.get("dtype") not in kinds or 0 in rows["shape"] or sys.byteorder != "little":
        return {}
    place = _LENGTH.size + length + rows["data_offsets"][0]
    found = np.memmap(path, kinds[rows["dtype"]], "r", place, tuple(rows["shape"]))
    return {"rows": np.asarray(found)}


def _on_a_cache_line(rows: np.ndarray) -> np.ndarray:
    """Return a copy of rows in this process's memory, on a cache line as those of a mapped file."""
    found = aligned_zeros(rows.size, rows.dtype).reshape(rows.shape)
    found[:] = rows
    return found


def _build(tensors: dict[str, np.ndarray], data: dict[str, Any]) -> EvalNetwork:
    shifts = data["shifts"]
    require(isinstance(shifts, list) and 1 <= len(shifts) <= MAX_LAYERS, f"shifts {shifts!r}")
    outputs, king_buckets = data["outputs"], tensors.get("king_buckets")
    require(isinstance(outputs, list), f"outputs must be a list, found {outputs!r}")
    if king_buckets is not None:
        require(king_buckets.dtype == np.int32, f"king_buckets must be int32, found {king_buckets.dtype}")
    features = feature_set(data["feature_set"], king_buckets)
    layers = tuple(
        Layer(
            tensors[f"layer{number}.weight"],
            tensors[f"layer{number}.bias"],
            shift,
            tensors.get(f"layer{number}.padding"),
        )
        for number, shift in enumerate(shifts, 1)
    )
    tokens, shards = data.get("stacks", []), data.get("shards")
    require(isinstance(tokens, list) and all(isinstance(one, str) for one in tokens), f"stacks {tokens!r}")
    if shards is not None:
        require(isinstance(shards, list) and len(shards) == 3, f"shards {shards!r}")
        shards = Shards(*shards)
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
        data.get("sum_bits", 16),
        data.get("hidden_squares", False),
        data.get("shortcut", False),
        shards,
        make_stacks(tokens, tensors.get("progress"), data.get("progress_bias", 0)),
    )
    wanted = set(_tensors(net))
    require(wanted == set(tensors), f"missing or unexpected arrays {sorted(wanted ^ set(tensors))}")
    return net


def load_network(
    path: PathLike = "default", fv_scale: int | None = None, architecture: str | None = None
) -> EvalNetwork:
    """Return the network of a file, an nn.bin of YaneuraOu too, or a shipped one by its name (`default`).

    fv_scale, architecture: the divisor of an nn.bin's output and YaneuraOu's name of the network, see
    `nnue_file.read_nnue`. Other files hold their own: then one that is not None raises UnusedSetting. Raises OSError or
    ValueError, one line that names the file and the fault.
    """
    name, path = path, network_file(path)
    if path.is_dir():
        raise NetworkFolder(path)
    require_file(path)
    given = {"fv_scale": fv_scale, "architecture": architecture}
    unused = [field for field, value in given.items() if value is not None]
    if unused and not is_nnue(path):
        raise UnusedSetting(name, *unused)
    if is_in_package(path):
        return _load(path)
    read = _read_file if path.stat().st_size < LARGE_FILE else _read_large
    return read_unchanged(path, lambda: read(path, fv_scale, architecture))


def _read_file(path: Path, fv_scale: int | None, architecture: str | None) -> EvalNetwork:
    """Return the network of a file with its numbers in this process's memory."""
    return read_nnue(path, fv_scale, architecture) if is_nnue(path) else _load(path, may_map=False)


def _read_large(path: Path, fv_scale: int | None, architecture: str | None) -> EvalNetwork:
    """Return the network of a large file, mapped from its copy; without a copy as it is read."""
    before = file_state(path)
    reader = code_name(__file__, __spec__)
    copy = copy_place(CACHE_DIRECTORY.parent, path, reader, fv_scale, architecture)
    try:
        check_owner(copy.parent)  # whoever may write there could put another network in the file's place
        net = _load(copy)
        mark_used(copy)
        return net
    except OSError:
        pass  # there is no copy, or none to trust
    except ValueError:
        discard(copy)
    net = _read_file(path, fv_scale, architecture)
    with suppress(OSError, ValueError):  # the cache cannot be written, or the disk is full
        if file_state(path) != before:
            return net  # which may be of another content than the copy's digest, and is read again
        with new_copy(copy) as file:
            file.writelines(_rows_first(*_content(net, VERSIONS[2])))
        net = _load(copy)
    return net


def _load(path: Path, may_map: bool = True) -> EvalNetwork:
    """Return the network of a file of this format; `may_map`: its rows may be used where the system maps the file."""
    require_utf8(path)
    try:
        return _build(*_read(path, may_map))
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
            raise ValueError(f"{path}: not a {FORMAT}: {error}") from None
        raise ValueError(f"{path}: {one_line(error, _LONGEST_COMPLAINT)}") from None
    except KeyError as error:
        raise ValueError(f"{path}: not a {FORMAT}: {error} is missing in it") from None
    except (SafetensorError, TypeError, AttributeError, OverflowError, MemoryError) as error:
        said = one_line(error, _LONGEST_COMPLAINT)  # of a header, which may quote lines of it
        raise ValueError(f"{path}: not a {FORMAT}, or only a part of one ({said}); copy or fold it again") from None
