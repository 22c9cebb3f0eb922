"""YaneuraOu's `nn.bin` out, and brought in as a network file.

What is written is what `search.evaluation.nnue_file` reads. A network that was read from an nn.bin is written as the
same bytes; any other whose arithmetic is that of an nn.bin gets the words and hashes that YaneuraOu writes itself.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from search.evaluation.network import EvalNetwork
from search.evaluation.network_file import SUFFIX, save_network
from search.evaluation.nnue_file import (
    NNUE_FEATURES,
    PROVENANCE,
    SHIFT,
    VERSION,
    Architecture,
    Header,
    padded_inputs,
    read_nnue,
)
from search.system.files import check_output, require_file, write_atomically

LARGEST_FV_SCALE = 128
"""Of YaneuraOu's option."""


def nnue_architecture(net: EvalNetwork) -> Architecture:
    """The layout that a network takes in an nn.bin. Raises ValueError in words for one that has no place there."""
    wanted = (
        ("the feature set", net.feature_set.name, NNUE_FEATURES),
        ("perspectives", net.perspectives, (2,)),
        ("buckets of the output", net.buckets, (1,)),
        ("outputs", net.outputs, (("value",),)),
        ("the activation", net.activation, ("clipped_relu",)),
        ("input_shift", net.input_shift, (0,)),
        ("a hidden layer's shift", {layer.shift for layer in net.layers[:-1]} or {SHIFT}, ({SHIFT},)),
    )
    for name, found, expected in wanted:
        if found not in expected:
            raise ValueError(
                f"an nn.bin holds no such network: {name} is {found}, expected {' or '.join(map(str, expected))}; "
                "end the output in .h for a C++ header"
            )
    return Architecture(net.feature_set.name, net.width, tuple(len(layer.bias) for layer in net.layers[:-1]))


def nnue_bytes(net: EvalNetwork) -> bytes:
    """The network as the bytes of an nn.bin. Raises ValueError in words for one that has no place in such a file."""
    architecture = nnue_architecture(net)
    header = Header.of(net, architecture)
    words = header.encoded_words
    parts = [np.array([VERSION, header.file_hash, len(words)], "<u4"), np.frombuffer(words, np.uint8)]
    parts += [np.array([header.feature_hash], "<u4")]
    parts += [net.bias.astype("<i2", copy=False), net.rows.astype("<i2", copy=False)]
    parts += [np.array([header.network_hash], "<u4")]
    for layer in net.layers:
        missing = padded_inputs(layer.weight.shape[1]) - layer.weight.shape[1]
        parts += [layer.bias.astype("<i4", copy=False), np.pad(layer.weight, ((0, 0), (0, missing)))]
    return b"".join(np.ascontiguousarray(part).data.cast("B") if part.size else b"" for part in parts)


def write_nnue(net: EvalNetwork, path: Path | str) -> int:
    """Write an nn.bin, whole or not at all; its size in bytes. Raises ValueError for a network that has no place there.

    FV_SCALE (`nearest_fv_scale`) is no part of the file: YaneuraOu has it as an option.
    """
    content = nnue_bytes(net)
    write_atomically(Path(path), content)
    return len(content)


def nearest_fv_scale(net: EvalNetwork) -> int:
    """The FV_SCALE of YaneuraOu's at which the values that it takes are nearest to the network's centipawns.

    It divides as `net.output_divisor` does, dropping the remainder, but has no further factor.
    """
    return min(max(round(net.output_divisor / (net.logit_per_output * net.cp_per_logit)), 1), LARGEST_FV_SCALE)


def import_nnue(source: Path, output: Path, fv_scale: int | None = None, overwrite: bool = False) -> dict[str, Any]:
    """Write an nn.bin (HalfKP or K+P of any widths) as a network file; {architecture, fv_scale, sha256, bytes}.

    fv_scale: divisor of its output; where None what the file's words say, else 16. overwrite: whether a file that is
    there is replaced. Raises OSError or ValueError in words.
    """
    check_output(output, (SUFFIX,), overwrite, (source,))
    require_file(source)
    net = read_nnue(source, fv_scale)
    with open(source, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    net.provenance[PROVENANCE] |= {"file": source.name, "sha256": digest}
    save_network(net, output)
    return {
        "architecture": str(nnue_architecture(net)),
        "fv_scale": net.output_divisor,
        "sha256": digest,
        "bytes": output.stat().st_size,
    }
