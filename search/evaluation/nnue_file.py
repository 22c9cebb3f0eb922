"""YaneuraOu's `nn.bin` as a network that this search evaluates, with NumPy alone.

    u32 version, u32 file hash, u32 length, text of the architecture   the header
    classic: u32 feature hash, i16 bias [W], i16 rows [features][W]    the first layer, one row per feature
             u32 network hash, the layers
    SFNN:    u32 feature hash, the same numbers as two LEB128 blocks
             with a progress axis: u32 hash, i32 bias, i32 [81][1548]
             per stack: u32 network hash, the layers
    a layer: i32 bias [out], i8 weight [out][in]                       rows padded to a multiple of 32

All little endian, nothing after it. `nnue_identification.py` says which architecture it is. Text, hashes and whatever
fills the padding are kept, so that writing gives the same bytes again where the LEB128 blocks have their shortest form,
as YaneuraOu writes them; nothing of what is kept is evaluated.

The arithmetic is `search.evaluation.network`'s own, with shifts of 6 bits and FV_SCALE as the divisor. A score is
YaneuraOu's value, the number that its command `e` prints and its search compares, with a pawn at 90; the centipawns of
its `info` lines are that times 10/9. This search limits scores to +-20,000, YaneuraOu to +-31,753. YaneuraOu doubles an
SFNN's rows and takes both halves of its pairwise product twice as large; sums that wrap at 15 bits give the same
numbers without doubling.
"""

from __future__ import annotations

import os
import re
import struct
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from search.evaluation.feature_sets import BONA_END, feature_set
from search.evaluation.leb128 import MAGIC, count_values, read_block_size, read_values
from search.evaluation.network import CLIPPED, LANES, MAX_WIDTH, PAIRWISE, EvalNetwork, Layer
from search.evaluation.nnue_architecture import (
    MASK,
    PROGRESS_HASH,
    SFNN_TEXT,
    Architecture,
    check_sizes,
    padded_inputs,
    quote,
)
from search.evaluation.nnue_identification import MissingSetting, Sizes, identify_classic, identify_sfnn
from search.evaluation.stacks import make_stacks
from search.primitives.memory import aligned_zeros
from search.rules.shogi import SQUARES
from search.score import CP_PER_LOGIT
from search.system.options import OptionError

VERSION = 0x7AF32F16
FV_SCALE = 16
"""Default divisor of the output: YaneuraOu's default of the option with this name."""
SHIFT = 6
"""Bits that a hidden layer's sums are shifted by."""
PROVENANCE = "nn_bin"
"""Key of a network's provenance under which text and hashes of its nn.bin are kept."""
MAX_FV_SCALE = 1024

_MAX_WORDS = 1 << 16
_HEADER = struct.Struct("<3I")
_HASH = struct.Struct("<I")
_SCALE_WORD = re.compile(r"\bfv_scale=([^,;{}\s\0]*)")
_PART_BYTES = 1 << 22
_MOST_VALUES = 1 << 15


def is_nnue(path: Path) -> bool:
    """Return whether a file means to be an nn.bin: by its first number, its text or, failing these, its name."""
    with open(path, "rb") as file:
        head = file.read(64)
    return head.startswith(_HASH.pack(VERSION)) or b"Features=" in head[12:] or path.suffix.lower() in (".bin", ".nnue")


def read_nnue(path: Path | str, fv_scale: int | None = None, architecture: str | None = None) -> EvalNetwork:
    """Return the network of an nn.bin.

    fv_scale: the output's divisor; default what the file's text says, else 16. architecture: YaneuraOu's name, for a
    file that does not settle it; a blank one is none. Raises OSError, or ValueError in one line that names the file,
    what was found in it and what was expected; OptionError with the field `architecture` for a name that is wrong,
    MissingSetting for an option that the file needs.
    """
    path = Path(path)
    try:
        with open(path, "rb") as file:
            return _read(file, fv_scale, (architecture or "").strip() or None)
    except MissingSetting as error:
        raise MissingSetting(f"{path}: {error}", error.field, path) from None
    except OptionError as error:
        raise OptionError(f"{path}: {error}", *error.fields) from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _read(file: BinaryIO, fv_scale: int | None, named: str | None) -> EvalNetwork:
    size = os.fstat(file.fileno()).st_size
    words, file_hash = _read_header(file, size)
    body_size = size - file.tell()
    feature_hash = _read_hash(file)
    kept: dict[str, Any] = {"architecture": words, "file_hash": file_hash, "feature_hash": feature_hash}
    place = file.tell()
    compressed = file.read(len(MAGIC)) == MAGIC
    file.seek(place)
    if compressed or (words.startswith(SFNN_TEXT) and named is None):
        architecture, bias, rows = _read_compressed(file, size, words, named)
    else:
        architecture = identify_classic(words, feature_hash, feature_hash ^ file_hash, body_size, named)
        bias = _numbers(file, "<i2", architecture.width)
        rows = _read_rows(file, architecture.rows, architecture.width)
    weight, constant = None, 0
    if architecture.has_progress:
        kept["progress_hash"] = _read_hash(file)
        constant = int(_numbers(file, "<i4", 1)[0])
        weight = _numbers(file, "<i4", SQUARES, BONA_END)
    layers, hashes = _read_layers(file, architecture)
    kept["network_hash"] = hashes
    if named is not None:
        kept["named"] = architecture.name
    return EvalNetwork(
        feature_set(architecture.features),
        rows,
        bias,
        layers,
        perspectives=2,
        activation=PAIRWISE if architecture.sfnn else CLIPPED,
        output_divisor=_divisor(words, fv_scale),
        logit_per_output=1 / CP_PER_LOGIT,  # a score is the output divided by FV_SCALE, no less and no more
        cp_per_logit=CP_PER_LOGIT,
        provenance={PROVENANCE: kept},
        sum_bits=15 if architecture.sfnn else 16,
        hidden_squares=architecture.sfnn,
        shortcut=architecture.shortcut,
        shards=architecture.shards,
        stacks=make_stacks(architecture.tokens, weight, constant),
    )


def _read_header(file: BinaryIO, size: int) -> tuple[str, int]:
    """Return the text and the file hash."""
    head = file.read(_HEADER.size)
    if head[8:10] == b'{"':
        raise ValueError(
            "a safetensors file, not an nn.bin; a network of LiteShogi needs no import, and a name in .safetensors"
        )
    if len(head) >= _HASH.size and (version := _HASH.unpack_from(head)[0]) != VERSION:
        raise ValueError(f"version 0x{version:08X}, expected 0x{VERSION:08X} (YaneuraOu's nn.bin)")
    if len(head) < _HEADER.size:
        raise ValueError(f"truncated: expected an nn.bin with a header of {_HEADER.size} bytes, found {size}")
    _, file_hash, length = _HEADER.unpack(head)
    if length > _MAX_WORDS:
        raise ValueError(f"damaged: {length:,} bytes of text for its architecture, expected at most {_MAX_WORDS:,}")
    if size < _HEADER.size + length + _HASH.size:
        raise ValueError(f"truncated: expected {length:,} bytes of text and then a network, found {size:,} bytes")
    # Text that is no UTF-8 survives reading and writing as well.
    return file.read(length).decode("utf-8", "surrogateescape"), file_hash


def _read_hash(file: BinaryIO) -> int:
    (found,) = _HASH.unpack(file.read(_HASH.size).ljust(_HASH.size, b"\0"))
    return int(found)


def _read_compressed(
    file: BinaryIO, size: int, words: str, named: str | None
) -> tuple[Architecture, np.ndarray, np.ndarray]:
    """Return an SFNN's architecture, its bias int16 [W] and its rows int8 or int16 [features, W]."""
    length = read_block_size(file, size, "the first layer's bias")
    start = file.tell()
    width = count_values(file, length) if length <= 3 * _MOST_VALUES else 0
    file.seek(start)
    if width == 0:
        raise ValueError(
            f"the first layer's bias: a LEB128 block of {length:,} bytes, expected {LANES} to {MAX_WIDTH:,} values"
        )
    check_sizes(width)
    bias = read_values(file, length, width, "the first layer's bias").astype(np.int16)
    payload = read_block_size(file, size, "the first layer's weights")
    start = file.tell()
    sizes = Sizes(width, payload, size - start - payload)
    try:
        architecture = identify_sfnn(words, sizes, named)
    except OptionError:
        # The list of what would fit is shorter when the weights are counted, which reads all of them.
        architecture = identify_sfnn(words, replace(sizes, values=count_values(file, payload)), named)
    file.seek(start)
    rows = read_values(file, payload, architecture.rows * width, "the first layer's weights")
    return architecture, bias, rows.reshape(architecture.rows, width)


def _read_rows(file: BinaryIO, count: int, width: int) -> np.ndarray:
    """Return plain rows on a cache line: int8 if all numbers fit, else int16."""
    rows = aligned_zeros(count * width, np.int8).reshape(count, width)
    step = max(1, _PART_BYTES // (2 * width))
    for start in range(0, count, step):
        part = _numbers(file, "<i2", min(step, count - start), width)
        if rows.dtype == np.int8 and (int(part.min()) < -128 or int(part.max()) > 127):
            narrow, rows = rows, aligned_zeros(count * width, np.int16).reshape(count, width)
            rows[:start] = narrow[:start]
        rows[start : start + len(part)] = part
    return rows


def _read_layers(file: BinaryIO, architecture: Architecture) -> tuple[tuple[Layer, ...], int | list[int]]:
    """Return the layers of all stacks, and their hashes: one number if all are equal."""
    stacks, shapes = architecture.stacks, list(architecture.layers())
    biases = [np.empty((stacks, outputs), np.int32) for outputs, _ in shapes]
    weights = [np.empty((stacks, outputs, inputs), np.int8) for outputs, inputs in shapes]
    paddings: list[np.ndarray | None] = [None for _ in shapes]
    hashes = np.empty(stacks, np.uint32)
    step = max(1, _PART_BYTES // architecture.stack_bytes)
    for start in range(0, stacks, step):
        count = min(step, stacks - start)
        stop = start + count
        part = _numbers(file, "<u1", count, architecture.stack_bytes)
        hashes[start:stop] = part[:, : _HASH.size].copy().view("<u4")[:, 0]
        place = _HASH.size
        for number, (outputs, inputs) in enumerate(shapes):
            row = padded_inputs(inputs)
            biases[number][start:stop] = part[:, place : place + 4 * outputs].copy().view("<i4")
            place += 4 * outputs
            whole = part[:, place : place + outputs * row].view(np.int8).reshape(count, outputs, row)
            place += outputs * row
            weights[number][start:stop] = whole[:, :, :inputs]
            rest = whole[:, :, inputs:]
            if rest.any() and paddings[number] is None:
                paddings[number] = np.zeros((stacks, outputs, row - inputs), np.int8)
            if (padding := paddings[number]) is not None:
                padding[start:stop] = rest
    shifts = [SHIFT] * (len(shapes) - 1) + [0]
    made = []
    for bias, weight, shift, padding in zip(biases, weights, shifts, paddings, strict=True):
        if stacks == 1:
            made.append(Layer(weight[0], bias[0], shift, None if padding is None else padding[0]))
        else:
            made.append(Layer(weight, bias, shift, padding))
    same = bool((hashes == hashes[0]).all())
    return tuple(made), int(hashes[0]) if same else hashes.tolist()


def _numbers(file: BinaryIO, kind: str, *shape: int) -> np.ndarray:
    """Return the file's next numbers in the machine's own byte order. Raises ValueError if they are not there."""
    kind_here = np.dtype(kind).newbyteorder("=")
    wanted = int(np.prod(shape))
    numbers = np.fromfile(file, kind, wanted)
    if len(numbers) != wanted:
        size = np.dtype(kind).itemsize
        raise ValueError(f"truncated: expected {wanted:,} numbers of {size} bytes, found {len(numbers):,}")
    return numbers.astype(kind_here, copy=False).reshape(shape)


def _divisor(words: str, fv_scale: int | None) -> int:
    """Return the output's divisor: the given one, else the one that the text says, else FV_SCALE."""
    if fv_scale is None:
        found = _SCALE_WORD.search(words)
        fv_scale = _said_scale(found[1]) if found else FV_SCALE
    if not 1 <= fv_scale <= MAX_FV_SCALE:
        raise ValueError(f"FV_SCALE {fv_scale}: 1 to {MAX_FV_SCALE} can be used")
    return fv_scale


def _said_scale(text: str) -> int:
    """Return the divisor in a file's text. Raises ValueError: another divisor would change every score."""
    if re.fullmatch(r"[0-9]{1,4}", text) and 1 <= int(text) <= MAX_FV_SCALE:
        return int(text)
    raise MissingSetting(
        f"the file's text: fv_scale={quote(text)}: must be 1 to {MAX_FV_SCALE}; set `fv_scale`", "fv_scale"
    )


@dataclass(frozen=True)
class Header:
    """The text and the hashes of an nn.bin, which YaneuraOu does not enforce."""

    words: str
    file_hash: int
    feature_hash: int
    network_hashes: tuple[int, ...]
    """Hash of the layers, once per stack."""
    progress_hash: int

    @staticmethod
    def of(net: EvalNetwork, architecture: Architecture) -> Header:
        """Return the header of the nn.bin that the network was read from, else the one that YaneuraOu would write.

        A scale in a text that was read becomes the network's, which may have been read with another.
        """
        made = Header(
            architecture.words,
            architecture.file_hash,
            architecture.feature_hash,
            (architecture.network_hash,) * architecture.stacks,
            PROGRESS_HASH,
        )
        kept = net.provenance.get(PROVENANCE)
        if not isinstance(kept, dict):
            return made
        words, hashes = kept.get("architecture"), kept.get("network_hash")
        of_stacks: list[Any] = hashes if isinstance(hashes, list) else [hashes] * architecture.stacks
        others: list[Any] = [kept.get("file_hash"), kept.get("feature_hash"), kept.get("progress_hash", PROGRESS_HASH)]
        fitting = all(isinstance(one, int) and 0 <= one <= MASK for one in (*of_stacks, *others))
        if not (isinstance(words, str) and fitting and len(of_stacks) == architecture.stacks):
            return made
        if (said := _SCALE_WORD.search(words)) and said[1].lstrip("0") != str(net.output_divisor):
            words = _SCALE_WORD.sub(f"fv_scale={net.output_divisor}", words)
        found = Header(words, others[0], others[1], tuple(of_stacks), others[2])
        return found if found.names(architecture, kept.get("named")) else made

    @property
    def encoded_words(self) -> bytes:
        """The text as the file holds it."""
        return self.words.encode("utf-8", "surrogateescape")

    @property
    def fv_scale(self) -> int:
        """Divisor of the output for a reader that is given none."""
        return _divisor(self.words, None)

    def names(self, architecture: Architecture, named: Any = None) -> bool:
        """Return whether a file with this header is read as that architecture; `named`: the name that a reader gives,
        None without one."""
        if len(self.encoded_words) > _MAX_WORDS or not isinstance(named, str | None):
            return False
        rows = architecture.rows * architecture.width
        try:
            if architecture.sfnn:
                sizes = Sizes(architecture.width, rows, architecture.tail_bytes)
                found = identify_sfnn(self.words, sizes, named)
            else:
                network_hash = self.feature_hash ^ self.file_hash
                size = architecture.body_size
                found = identify_classic(self.words, self.feature_hash, network_hash, size, named)
        except ValueError:
            return False
        return found == architecture
