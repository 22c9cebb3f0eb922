"""YaneuraOu's `nn.bin` as a network that this search evaluates: HalfKP and K+P of any widths, with NumPy alone.

    u32 version, u32 file hash, u32 length, architecture in words      the header
    u32 feature hash, i16 bias [H], i16 rows [features][H]             the first layer, one row per feature
    u32 network hash, then per layer i32 bias [out], i8 weight [out][in]   `in` padded with zeros to a multiple of 32

All little endian, nothing after it. YaneuraOu enforces the version and the size alone: it only warns where hashes
differ and never reads the words, and trainers exist that write wrong words. So the words are believed if the file has
the size that they ask for, else the hashes; words and hashes are kept, so that writing gives the same bytes again.

The arithmetic is `search.evaluation.network`'s own, with shifts of 6 bits and FV_SCALE as the divisor. A score is
YaneuraOu's value, the number that its command `e` prints and its search compares, with a pawn at 90; the centipawns of
its `info` lines are that times 10/9.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from search.evaluation.feature_sets import feature_set
from search.evaluation.network import MAX_LAYER, MAX_WIDTH, EvalNetwork, Layer
from search.score import CP_PER_LOGIT

VERSION = 0x7AF32F16
FV_SCALE = 16
"""The divisor of the output when nothing else is said: YaneuraOu's default of the option with this name."""
SHIFT = 6
"""Bits that a hidden layer's sums are shifted by."""
PROVENANCE = "nn_bin"
"""The key of a network's provenance under which words and hashes of its nn.bin are kept."""
MAX_FV_SCALE = 1024

_KNOWN = {"half_kp": ("HalfKP(Friend)", 0x5D69D5B8), "k_p": ("K+P", 0x3F5717FF)}
"""By our feature set: YaneuraOu's name, and its hash."""
NNUE_FEATURES = tuple(_KNOWN)
_MAX_WORDS = 1 << 16
_PADDING = 32
_HEADER = struct.Struct("<3I")
_HASH = struct.Struct("<I")
_MASK = (1 << 32) - 1
_SCALE_WORD = re.compile(r"\bfv_scale=(\d{1,4})\b")
_OTHER_ARITHMETIC = re.compile(r"sqr|screlu|pairwise|sfnn|stack|\bqa=(?!127\b)|\bqb=(?!64\b)", re.IGNORECASE)


def padded_inputs(count: int) -> int:
    """Weights in a file's row of a layer with `count` inputs."""
    return -(-count // _PADDING) * _PADDING


@dataclass(frozen=True)
class Architecture:
    """What the layout of a file depends on."""

    features: str
    """Our feature set's name: half_kp or k_p."""
    width: int
    """Lanes of a perspective."""
    hidden: tuple[int, ...]
    """Outputs of the hidden layers, the first one first."""

    def __str__(self) -> str:
        name = _KNOWN[self.features][0].removesuffix("(Friend)")
        return f"{name} {self.width}x2" + "".join(f"-{count}" for count in self.hidden)

    @property
    def rows(self) -> int:
        return feature_set(self.features).rows

    def layers(self) -> Iterator[tuple[int, int]]:
        """(outputs, inputs) of each layer, the output layer last."""
        inputs = 2 * self.width
        for outputs in (*self.hidden, 1):
            yield outputs, inputs
            inputs = outputs

    @property
    def body_size(self) -> int:
        """Bytes after the words."""
        rows = 2 * self.width * (self.rows + 1)
        return 2 * _HASH.size + rows + sum(out * (4 + padded_inputs(into)) for out, into in self.layers())

    @property
    def words(self) -> str:
        """The architecture as YaneuraOu writes it."""
        text = f"InputSlice[{2 * self.width}(0:{2 * self.width})]"
        for number, (outputs, inputs) in enumerate(self.layers()):
            kind = "AffineTransform" if number else "AffineTransformSparseInput"
            text = f"{kind}[{outputs}<-{inputs}]({text})"
            if number < len(self.hidden):
                text = f"ClippedReLU[{outputs}]({text})"
        return f"Features={_KNOWN[self.features][0]}[{self.rows}->{self.width}x2],Network={text}"

    @property
    def feature_hash(self) -> int:
        return _KNOWN[self.features][1] ^ 2 * self.width

    @property
    def network_hash(self) -> int:
        found = 0xEC42E90D ^ 2 * self.width
        for number, (outputs, _) in enumerate(self.layers()):
            found = (0xCC03DAE4 + outputs & _MASK) ^ found >> 1 ^ found << 31 & _MASK
            if number < len(self.hidden):
                found = found + 0x538D24C7 & _MASK
        return found

    @property
    def file_hash(self) -> int:
        return self.feature_hash ^ self.network_hash


def _said(words: str) -> Architecture | None:
    """The architecture of the words, if they name one that this program knows."""
    match = re.match(r"Features=([^\[]{1,40})\[\d{1,9}->(\d{1,5})x2\],", words)
    if match is None or int(match[2]) == 0:
        return None
    hidden = tuple(map(int, reversed(re.findall(r"ClippedReLU\[(\d{1,5})\]", words))))

    def plain(text: str) -> str:
        # Older files do not tell layers with sparse inputs apart; another trainer has its own name for K+P.
        return text.replace("SparseInput", "").replace("Features=K-P(Friend)", "Features=K+P")

    for features in _KNOWN:
        found = Architecture(features, int(match[2]), hidden)
        if plain(words) == plain(found.words) or plain(words).startswith(plain(found.words) + ","):
            return found
    return None


def _hashed(feature_hash: int, network_hash: int, body_size: int) -> Architecture | None:
    """The architecture with two hidden layers that has these hashes and this size, if there is one."""
    for features, (_, base) in _KNOWN.items():
        inputs = feature_hash ^ base
        if inputs % 2 or not 0 < inputs <= 2 * MAX_WIDTH:
            continue
        rest = body_size - Architecture(features, inputs // 2, ()).body_size + padded_inputs(inputs)
        for first in range(1, MAX_LAYER + 1):
            left, row = rest - first * (4 + padded_inputs(inputs)), 5 + padded_inputs(first)
            # The second layer's rows and the output's: b * (row - 1) + padded_inputs(b) = left.
            for second in range(max(1, -(-(left - _PADDING + 1) // row)), min(left // row, MAX_LAYER) + 1):
                found = Architecture(features, inputs // 2, (first, second))
                if found.body_size == body_size and found.network_hash == network_hash:
                    return found
    return None


def is_nnue(path: Path) -> bool:
    """Whether a file means to be an nn.bin: by its first number, its words or, failing these, its name."""
    with open(path, "rb") as file:
        head = file.read(64)
    return head.startswith(_HASH.pack(VERSION)) or b"Features=" in head[12:] or path.suffix.lower() in (".bin", ".nnue")


def read_nnue(path: Path | str, fv_scale: int | None = None) -> EvalNetwork:
    """The network of an nn.bin. fv_scale: the output's divisor; without it what the file's words say, else 16.

    Raises OSError, or ValueError in one line that names the file, what was found in it and what was expected.
    """
    path = Path(path)
    try:
        with open(path, "rb") as file:
            return _read(file, fv_scale)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _read(file: BinaryIO, fv_scale: int | None) -> EvalNetwork:
    size = os.fstat(file.fileno()).st_size
    words, file_hash = _read_header(file, size)
    body_size = size - file.tell()
    (feature_hash,) = _HASH.unpack(file.read(_HASH.size).ljust(_HASH.size, b"\0"))
    architecture = find_architecture(words, feature_hash, feature_hash ^ file_hash, body_size)
    bias = _numbers(file, "<i2", architecture.width)
    rows = _numbers(file, "<i2", architecture.rows, architecture.width)
    (network_hash,) = _HASH.unpack(file.read(_HASH.size))
    layers = []
    for number, (outputs, inputs) in enumerate(architecture.layers(), 1):
        constant = _numbers(file, "<i4", outputs)
        weight = _numbers(file, "<i1", outputs, padded_inputs(inputs))
        if weight[:, inputs:].any():
            raise ValueError(f"layer {number}: weights for more than its {inputs} inputs: they must be 0")
        last = number == len(architecture.hidden) + 1
        layers.append(Layer(np.ascontiguousarray(weight[:, :inputs]), constant, 0 if last else SHIFT))
    kept = {"architecture": words, "file_hash": file_hash, "feature_hash": feature_hash, "network_hash": network_hash}
    return EvalNetwork(
        feature_set(architecture.features),
        rows,
        bias,
        tuple(layers),
        perspectives=2,
        output_divisor=_divisor(words, fv_scale),
        logit_per_output=1 / CP_PER_LOGIT,  # a score is the output divided by FV_SCALE, no less and no more
        cp_per_logit=CP_PER_LOGIT,
        provenance={PROVENANCE: kept},
    )


def _read_header(file: BinaryIO, size: int) -> tuple[str, int]:
    """The words and the file hash."""
    head = file.read(_HEADER.size)
    if len(head) >= _HASH.size and (version := _HASH.unpack_from(head)[0]) != VERSION:
        raise ValueError(f"version 0x{version:08X}, expected 0x{VERSION:08X} (YaneuraOu's nn.bin)")
    if len(head) < _HEADER.size:
        raise ValueError(f"truncated: {size} bytes, expected an nn.bin with a header of {_HEADER.size} and a network")
    _, file_hash, length = _HEADER.unpack(head)
    if length > _MAX_WORDS:
        raise ValueError(f"damaged: {length:,} bytes of words for its architecture, expected at most {_MAX_WORDS:,}")
    if size < _HEADER.size + length + _HASH.size:
        raise ValueError(f"truncated: {size:,} bytes, expected {length} bytes of words and then a network")
    # Words that are no UTF-8 survive reading and writing as well.
    return file.read(length).decode("utf-8", "surrogateescape"), file_hash


def find_architecture(words: str, feature_hash: int, network_hash: int, body_size: int) -> Architecture:
    """The architecture that words or hashes name and that the size (bytes after the words) fits.

    Raises ValueError in words if there is none.
    """
    known = " and ".join(f"{name}, hash 0x{base:08X}" for name, base in _KNOWN.values())
    expected = f"expected {known} (^ 2H), Hx2-a-b with ClippedReLU"
    found = f"{words[:300]!a} with feature hash 0x{feature_hash:08X}"
    if _OTHER_ARITHMETIC.search(words):
        raise ValueError(f"unknown architecture: found {found}; {expected}")
    said = _said(words)
    if said is not None and said.body_size == body_size:
        return said
    hashed = _hashed(feature_hash, network_hash, body_size)
    if hashed is not None:
        return hashed
    if said is None:
        raise ValueError(f"unknown architecture: found {found}; {expected}")
    missing = said.body_size - body_size
    problem = f"truncated: {missing:,} bytes are missing" if missing > 0 else f"{-missing:,} bytes too many"
    raise ValueError(f"{problem}: found {body_size:,} bytes after the words, expected {said.body_size:,} for {said}")


def _numbers(file: BinaryIO, kind: str, *shape: int) -> np.ndarray:
    """The file's next numbers in the machine's own byte order."""
    kind_here = np.dtype(kind).newbyteorder("=")
    numbers = np.fromfile(file, kind, int(np.prod(shape)))
    return numbers.astype(kind_here, copy=False).reshape(shape)


def _divisor(words: str, fv_scale: int | None) -> int:
    if fv_scale is None:
        found = _SCALE_WORD.search(words)
        fv_scale = int(found[1]) if found else FV_SCALE
    if not 1 <= fv_scale <= MAX_FV_SCALE:
        raise ValueError(f"FV_SCALE {fv_scale}: 1 to {MAX_FV_SCALE} can be used")
    return fv_scale


@dataclass(frozen=True)
class Header:
    """What an nn.bin says of itself and YaneuraOu does not enforce."""

    words: str
    file_hash: int
    feature_hash: int
    network_hash: int

    @staticmethod
    def of(net: EvalNetwork, architecture: Architecture) -> Header:
        """The header of the nn.bin that the network was read from, else the one that YaneuraOu would write.

        Where the words tell a scale, it is the network's, which may have been read with another.
        """
        kept = net.provenance.get(PROVENANCE)
        if isinstance(kept, dict):
            words = kept.get("architecture")
            hashes = [kept.get(name) for name in ("file_hash", "feature_hash", "network_hash")]
            whole = [one for one in hashes if isinstance(one, int) and 0 <= one <= _MASK]
            if isinstance(words, str) and len(whole) == len(hashes):
                if (told := _SCALE_WORD.search(words)) and int(told[1]) != net.output_divisor:
                    words = _SCALE_WORD.sub(f"fv_scale={net.output_divisor}", words)
                found = Header(words, *whole)
                if found._names(architecture):
                    return found
        made = architecture
        return Header(made.words, made.file_hash, made.feature_hash, made.network_hash)

    @property
    def encoded_words(self) -> bytes:
        """The words as the file holds them."""
        return self.words.encode("utf-8", "surrogateescape")

    def _names(self, architecture: Architecture) -> bool:
        """Whether a file with this header would be read as that architecture."""
        network_hash = self.feature_hash ^ self.file_hash
        try:
            found = find_architecture(self.words, self.feature_hash, network_hash, architecture.body_size)
            return found == architecture and len(self.encoded_words) <= _MAX_WORDS
        except ValueError:
            return False
