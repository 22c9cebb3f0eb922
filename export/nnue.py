"""Write networks as YaneuraOu's `nn.bin`, and import an `nn.bin` as a network file.

`search.evaluation.nnue_file` reads these files. A network that was read from an nn.bin is written as the same bytes,
with LEB128 values in their shortest form, as YaneuraOu writes them. Any other whose arithmetic is that of an nn.bin
gets the text and hashes that YaneuraOu writes itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lite.datasets.provenance import sha256_of
from search.evaluation.feature_sets import YANEURAOU_NAMES
from search.evaluation.leb128 import encode_block
from search.evaluation.network import CLIPPED, PAIRWISE, EvalNetwork
from search.evaluation.network_file import SUFFIX, save_network
from search.evaluation.nnue_architecture import Architecture, padded_inputs
from search.evaluation.nnue_file import PROVENANCE, SHIFT, VERSION, Header, read_nnue
from search.system.files import WholeFile, check_output, read_unchanged, require_file

LARGEST_FV_SCALE = 128
"""Largest value of YaneuraOu's option."""


def nnue_architecture(net: EvalNetwork) -> Architecture:
    """Return the layout of a network in an nn.bin. Raises ValueError for one that the format cannot hold."""
    sfnn = net.activation == PAIRWISE
    wanted: list[tuple[str, object, tuple[object, ...]]] = [
        ("the feature set", net.feature_set.name, YANEURAOU_NAMES),
        ("perspectives", net.perspectives, (2,)),
        ("buckets of the output", net.buckets, (1,)),
        ("outputs", net.outputs, (("value",),)),
        ("the activation", net.activation, (CLIPPED, PAIRWISE)),
        ("input_shift", net.input_shift, (0,)),
        ("a hidden layer's shift", {layer.shift for layer in net.layers[:-1]} or {SHIFT}, ({SHIFT},)),
        ("sum_bits", net.sum_bits, (15 if sfnn else 16,)),
        ("hidden_squares", net.hidden_squares, (sfnn,)),
    ]
    if sfnn:
        wanted.append(("hidden layers", len(net.hidden), (2,)))
        outputs = net.hidden[0] if net.hidden else 0
        wanted.append(("outputs of the first hidden layer modulo 8", outputs % 8, (0,)))
    else:
        wanted += [("the shortcut", net.shortcut, (False,)), ("stacks", net.stacks.tokens, ((),))]
        wanted.append(("shards", net.shards, (None,)))
    for name, found, expected in wanted:
        if found not in expected:
            raise ValueError(
                f"an nn.bin holds no such network: {name} is {found}, expected {' or '.join(map(str, expected))}; "
                "end the output in .h for a C++ header"
            )
    hidden = net.hidden
    if net.shortcut:
        hidden = (hidden[0] - 1, *hidden[1:])
    return Architecture(net.feature_set.name, net.width, hidden, sfnn, net.shards, net.stacks.tokens)


def nnue_parts(net: EvalNetwork) -> Iterator[bytes | memoryview]:
    """Yield the bytes of an nn.bin. Raises ValueError for a network that the format cannot hold."""
    architecture = nnue_architecture(net)
    header = Header.of(net, architecture)
    words = header.encoded_words
    yield _words(VERSION, header.file_hash, len(words))
    yield words
    yield _words(header.feature_hash)
    if architecture.sfnn:
        yield from encode_block(net.bias)
        yield from encode_block(net.rows)
    else:
        yield _bytes(net.bias, "<i2")
        for start in range(0, len(net.rows), 4096):
            yield _bytes(net.rows[start : start + 4096], "<i2")
    if net.stacks.progress_weight is not None:
        yield _words(header.progress_hash)
        yield _bytes(np.array([net.stacks.progress_bias]), "<i4")
        yield _bytes(net.stacks.progress_weight, "<i4")
    stacked = [_stacked(net, number) for number in range(len(net.layers))]
    for stack, network_hash in enumerate(header.network_hashes):
        yield _words(network_hash)
        for bias, weight in stacked:
            yield _bytes(bias[stack], "<i4")
            yield _bytes(weight[stack], "i1")


def _stacked(net: EvalNetwork, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a layer's biases [stacks, outputs] and its rows [stacks, outputs, padded inputs] as a file has them."""
    layer = net.layers[number]
    outputs, inputs = layer.weight.shape[-2:]
    rows = np.zeros((net.stacks.count, outputs, padded_inputs(inputs)), np.int8)
    rows[:, :, :inputs] = layer.weight.reshape(-1, outputs, inputs)
    padding = layer.padding
    if padding is not None and padding.shape[-1] == rows.shape[-1] - inputs:
        rows[:, :, inputs:] = padding.reshape(-1, outputs, padding.shape[-1])
    return layer.bias.reshape(-1, outputs), rows


def _words(*numbers: int) -> memoryview:
    return _bytes(np.array(numbers), "<u4")


def _bytes(array: np.ndarray, kind: str) -> memoryview:
    return np.ascontiguousarray(array.astype(kind, copy=False)).reshape(-1).view(np.uint8).data


def nnue_bytes(net: EvalNetwork) -> bytes:
    """Return the network as the bytes of an nn.bin. Raises ValueError for one that the format cannot hold."""
    return b"".join(nnue_parts(net))


def write_nnue(net: EvalNetwork, path: Path | str) -> int:
    """Write an nn.bin, whole or not at all, and return its size in bytes. Raises ValueError as `nnue_bytes`.

    FV_SCALE (`nearest_fv_scale`) is no part of the file: YaneuraOu has it as an option.
    """
    nnue_architecture(net)
    size = 0
    with WholeFile(Path(path)) as file:
        for part in nnue_parts(net):
            file.write(part)
            size += len(part)
    return size


def nearest_fv_scale(net: EvalNetwork) -> int:
    """Return the FV_SCALE of YaneuraOu at which its values are nearest to the network's centipawns.

    It divides as `net.output_divisor` does, dropping the remainder, but has no further factor.
    """
    return min(max(round(net.output_divisor / (net.logit_per_output * net.cp_per_logit)), 1), LARGEST_FV_SCALE)


def default_fv_scale(net: EvalNetwork) -> int:
    """Return the FV_SCALE with which a reader that has no setting for it reads the network's nn.bin."""
    return Header.of(net, nnue_architecture(net)).fv_scale


def names_itself(net: EvalNetwork) -> bool:
    """Return whether the network's nn.bin is read as this network by a reader that is given no name."""
    architecture = nnue_architecture(net)
    return Header.of(net, architecture).names(architecture)


@dataclass(frozen=True)
class ImportedNetwork:
    """An nn.bin that was written as a network file."""

    architecture: str
    """YaneuraOu's name of the architecture."""
    fv_scale: int
    """Divisor of the output."""
    sha256: str
    """Digest of the nn.bin."""
    bytes: int
    """Size of the network file."""


def import_nnue(
    source: Path,
    output: Path,
    fv_scale: int | None = None,
    overwrite: bool = False,
    architecture: str | None = None,
) -> ImportedNetwork:
    """Write an nn.bin of YaneuraOu as a network file.

    fv_scale: divisor of its output; default what the file's text says, else 16. overwrite: whether an existing file is
    replaced. architecture: YaneuraOu's name of the network, for a file that does not settle it. Raises OSError,
    ValueError or OptionError.
    """
    check_output(output, (SUFFIX,), overwrite, (source,))
    require_file(source)
    net, digest = read_unchanged(source, lambda: (read_nnue(source, fv_scale, architecture), sha256_of(source)))
    net.provenance[PROVENANCE] |= {"file": source.name, "sha256": digest}
    save_network(net, output)
    return ImportedNetwork(str(nnue_architecture(net)), net.output_divisor, digest, output.stat().st_size)
