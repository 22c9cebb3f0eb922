"""Pseudo-random nn.bin files of any architecture of YaneuraOu's family, the same bytes on every machine.

This is `make_sfnn.py` of the recorded vectors (`tests/data/yaneuraou_vectors.json`): every number is a function of
(seed, name of the tensor, index) alone, by SplitMix64. Bytes that pad a row, and weights that an output of a shard does
not see, are random on purpose: a reader must ignore them. `edge` gives a few neurons weights of thousands, so that
their sums wrap and LEB128 values take three bytes.
"""

from __future__ import annotations

import hashlib
import io
import struct
from dataclasses import dataclass, field

import numpy as np

M32 = 0xFFFFFFFF
SQ, FE_END = 81, 1548  # squares; BonaPiece planes without the kings
E_KING, FE_END2 = FE_END + SQ, FE_END + 2 * SQ


def joined(head, tail):
    """Hash of the feature set head + tail."""
    return (head ^ (tail << 1) ^ (tail >> 31)) & M32


# label in the architecture string, hash, number of inputs
FEATURES = {
    "halfkp": ("HalfKP(Friend)", 0x5D69D5B8, SQ * FE_END),
    "kp": ("K+P", joined(0xD3CEE169, 0x764CFB4B), 2 * SQ + FE_END),
    "ka2": ("K+A2", joined(0xD3CEE169, 0xA20DCB9B), 2 * SQ + E_KING),
    "halfkpe9": ("HalfKPE9(Friend)", 0x5D69D5B8, 9 * SQ * FE_END),
    "halfkpvm": ("HalfKP_vm(Friend)", 0x0B6B1D9A, 45 * FE_END),
    "halfka1": ("HalfKA1(Friend)", 0x5F134CB8, SQ * FE_END2),
    "halfkahm1": ("HalfKA_hm1(Friend)", 0x7F134CB8, 45 * FE_END2),
    "halfka2": ("HalfKA2(Friend)", 0x5F234CB8, SQ * E_KING),
    "halfkahm2": ("HalfKA_hm2(Friend)", 0x7F234CB8, 45 * E_KING),
}
HAND = {"HAND4": 4, "HAND16": 16, "HAND64": 64, "HAND64Z": 64, "HAND256": 256, "HAND1024": 1024}
KING = {"K3K3": 9, "K9K9": 81, "K9K9Z": 81, "K13K13Z": 169, "K21K21": 441, "K29K29": 841}
PROGRESS = {f"PROGRESS{n}": n for n in (2, 3, 4, 8, 16, 32)}
ALIASES = {
    "SFNN1536": "SFNN_HALFKAHM2_1536_15_32_K3K3",
    "": "HALFKP_256X2_32_32",
    "KP256": "KP_256X2_32_32",
    "HALFKPE9": "HALFKPE9_256X2_32_32",
    "HALFKP_VM_256X2_32_32": "HALFKPVM_256X2_32_32",
}


@dataclass
class Arch:
    name: str  # upper case, underscores
    feature: str
    width: int  # neurons of the feature transformer, one perspective
    h1: int
    h2: int
    sfnn: bool
    common: int = 0  # fc_0 inputs seen by every output
    shard: int = 0  # fc_0 inputs seen by one group of outputs (0: no shards)
    groups: int = 1
    buckets: dict = field(default_factory=lambda: {"hand": 1, "king": 1, "progress": 1})

    @property
    def stacks(self):
        return self.buckets["hand"] * self.buckets["king"] * self.buckets["progress"]

    @property
    def h1_outputs(self):
        """fc_0 of an SFNN has one more output, the shortcut, where H1 is 8n - 1."""
        return self.h1 + 1 if self.sfnn and self.h1 % 8 == 7 else self.h1


def parse_arch(text):
    name = text.replace("-", "_").upper().removeprefix("YANEURAOU_ENGINE_")
    name = "" if name == "NNUE" else name.removeprefix("NNUE_")
    name = ALIASES.get(name, name)
    part = name.split("_")
    if not part[0].startswith("SFNN"):
        width, _, two = part[1].partition("X")
        if len(part) != 4 or two != "2":
            raise ValueError(f"{text}: a classic name is FEATURE_Wx2_H1_H2")
        return Arch(name, part[0].lower(), int(width), int(part[2]), int(part[3]), False)
    arch = Arch(name, part[1].lower(), int(part[2]), int(part[3]), int(part[4]), True)
    if arch.h1 % 8 not in (0, 7):
        raise ValueError(f"{text}: H1 of an SFNN is 8n (no shortcut) or 8n - 1 (shortcut)")
    rest = part[5:]
    if rest and rest[0].startswith("C"):
        arch.common = int(rest[0][1:])
        arch.shard, arch.groups = map(int, rest[1][1:].split("X"))
        if arch.common + arch.shard * arch.groups != arch.width or arch.h1_outputs % arch.groups:
            raise ValueError(f"{text}: C + S*G must be W, and G must divide the outputs of fc_0")
        rest = rest[2:]
    spec = "_".join(rest)
    for n in ("3", "9", "21", "29", "9Z", "13Z", "9ZONE", "13ZONE"):  # long names of the king buckets
        short = "K{0}K{0}".format(n[:2] if n[:2].isdigit() else n[:1]) + ("Z" if "Z" in n else "")
        spec = spec.replace(f"KING{n}_BY_KING{n}", short)
    for token in filter(None, spec.split("_")):
        kind, table = next(
            ((k, t) for k, t in (("hand", HAND), ("king", KING), ("progress", PROGRESS)) if token in t), (None, None)
        )
        if kind is None or arch.buckets[kind] != 1:
            raise ValueError(f"{text}: unknown or doubled token {token}")
        arch.buckets[kind] = table[token]
    return arch


class Random:
    """Counter-based SplitMix64: element i of tensor `tag` depends only on (seed, tag, i)."""

    def __init__(self, seed):
        self.seed = seed

    def u64(self, tag, start, count):
        key = int.from_bytes(hashlib.sha256(f"{self.seed}/{tag}".encode()).digest()[:8], "little")
        with np.errstate(over="ignore"):
            z = np.arange(start + 1, start + count + 1, dtype=np.uint64)
            z *= np.uint64(0x9E3779B97F4A7C15)
            z += np.uint64(key)
            z ^= z >> np.uint64(30)
            z *= np.uint64(0xBF58476D1CE4E5B9)
            z ^= z >> np.uint64(27)
            z *= np.uint64(0x94D049BB133111EB)
            z ^= z >> np.uint64(31)
        return z

    def bell(self, tag, start, count, sd, mean=0):
        """Integers, nearly normal: the sum of four uniform 16-bit numbers (sd 37837), scaled to `sd`."""
        total = self.u64(tag, start, count).view("<u2").reshape(count, 4).sum(axis=1, dtype=np.int64)
        return (((total - 131070) * round(sd * 65536 / 37837) + 32768) >> 16) + mean


def ceil32(n):
    return (n + 31) // 32 * 32


def sleb128(values):
    """Signed LEB128 of an int16 array: 7 bits per byte, low bits first, bit 7 = another byte follows."""
    v = values.astype(np.int32)
    size = 1 + ((v < -64) | (v > 63)) + ((v < -8192) | (v > 8191))
    out = np.empty((v.size, 3), np.uint8)
    for k in range(3):
        out[:, k] = ((v >> (7 * k)) & 0x7F) | np.where(size > k + 1, 0x80, 0)
    return out[np.arange(3) < size[:, None]].tobytes()


def write_transformer(stream, arch, rnd, edge):
    """Biases, then weights feature-major.  SFNN: two LEB128 blocks of half the values in use; classic: plain int16."""
    width, (_, raw_hash, inputs) = arch.width, FEATURES[arch.feature]
    stream.write(struct.pack("<I", 0x5F134AB8 if arch.sfnn else raw_hash ^ (2 * width)))
    gain = np.ones(width, np.int64)
    gain[5::16] = 4  # neurons that mostly saturate
    if edge:
        gain[7::32] = 900  # neurons whose sums wrap
    bias = rnd.bell("ft.bias", 0, width, 20, 45) * np.minimum(gain, 4)
    sd = 7 if arch.sfnn else 9
    step = max(1, (1 << 21) // width)

    def blocks():
        yield bias.astype("<i2")
        for a in range(0, inputs, step):
            n = min(step, inputs - a)
            w = rnd.bell("ft.weight", a * width, n * width, sd).reshape(n, width) * gain
            yield np.clip(w, -32768, 32767).astype("<i2").ravel()

    if not arch.sfnn:
        for block in blocks():
            stream.write(block.tobytes())
        return
    source = blocks()
    for parts in ([next(source)], source):  # the bias block, then the weight block
        stream.write(b"COMPRESSED_LEB128")
        at = stream.tell()
        stream.write(b"\0\0\0\0")  # length in bytes, known at the end
        for part in parts:
            stream.write(sleb128(part))
        end = stream.tell()
        stream.seek(at)
        stream.write(struct.pack("<I", end - at - 4))
        stream.seek(end)


def affine(rnd, tag, first, count, inputs, outputs, sd, bias_sd, bias_mean=0, pad_zero=False):
    """Return `count` stacks of one layer, u8 [count, bytes]: int32 biases, int8 rows of ceil32(inputs)."""
    row = ceil32(inputs)
    bias = rnd.bell(tag + ".bias", first * outputs, count * outputs, bias_sd, bias_mean).astype("<i4")
    w = np.clip(rnd.bell(tag + ".weight", first * outputs * row, count * outputs * row, sd), -128, 127)
    w = w.astype(np.int8).reshape(count, outputs, row)
    w[:, 0, :2] = 127, -128  # the extremes occur
    if pad_zero:
        w[:, :, inputs:] = 0
    return np.hstack([bias.view(np.uint8).reshape(count, outputs * 4), w.view(np.uint8).reshape(count, -1)])


def affine_hash(before, outputs):
    return ((0xCC03DAE4 + outputs) & M32) ^ (before >> 1) ^ ((before << 31) & M32)


def network_hash(arch):
    if arch.sfnn:
        return 0x6333718A
    h = 0xEC42E90D ^ (2 * arch.width)
    for outputs in (arch.h1, arch.h2):
        h = (affine_hash(h, outputs) + 0x538D24C7) & M32
    return affine_hash(h, 1)


def write_networks(stream, arch, rnd):
    """One section per stack: hash, first layer, second layer, last layer."""
    head = np.frombuffer(struct.pack("<I", network_hash(arch)), np.uint8)
    inputs = arch.width if arch.sfnn else 2 * arch.width
    seen = arch.common + arch.shard if arch.shard else inputs
    middle = 2 * arch.h1 if arch.sfnn else arch.h1
    step = max(1, (1 << 21) // (inputs * arch.h1_outputs))
    for a in range(0, arch.stacks, step):
        n = min(step, arch.stacks - a)
        parts = [
            np.tile(head, (n, 1)),
            affine(rnd, "layer1", a, n, inputs, arch.h1_outputs, 110 / seen**0.5, 2500, 1200),
            affine(rnd, "layer2", a, n, middle, arch.h2, 80 / middle**0.5, 2000, 800),
            affine(rnd, "layer3", a, n, arch.h2, 1, 120 / arch.h2**0.5, 2500, 0, pad_zero=True),
        ]
        stream.write(np.hstack(parts).tobytes())


def write_progress(stream, rnd):
    """Hash, int32 bias, int32 weights [king square][BonaPiece], all in 1/65536."""
    bias = rnd.bell("progress.bias", 0, 1, 60000)
    weight = rnd.bell("progress.weight", 0, SQ * FE_END, 22000)
    stream.write(struct.pack("<I", 0x6F50524F) + bias.astype("<i4").tobytes() + weight.astype("<i4").tobytes())


def architecture_string(arch):
    label, _, inputs = FEATURES[arch.feature]
    features = f"Features={label}[{inputs}->{arch.width}x2],Network="
    if arch.sfnn:
        name = "SFNN-1536" if arch.name == ALIASES["SFNN1536"] else arch.name
        return f"ModelType=SFNNWithoutPsqt;{features}{name}{{LayerStack={arch.stacks}}}"
    n = 2 * arch.width
    text = f"AffineTransformSparseInput[{arch.h1}<-{n}](InputSlice[{n}(0:{n})])"
    for outputs, before in ((arch.h2, arch.h1), (1, arch.h2)):
        text = f"AffineTransform[{outputs}<-{before}](ClippedReLU[{before}]({text}))"
    return features + text


def file_hash(arch):
    if arch.sfnn:
        return 0x3C203B32 ^ (0x6F50524F if arch.buckets["progress"] != 1 else 0)
    return FEATURES[arch.feature][1] ^ (2 * arch.width) ^ network_hash(arch)


def write_net(stream, arch, seed, edge):
    rnd, text = Random(seed), architecture_string(arch).encode()
    stream.write(struct.pack("<III", 0x7AF32F16, file_hash(arch), len(text)) + text)
    write_transformer(stream, arch, rnd, edge)
    if arch.buckets["progress"] != 1:
        write_progress(stream, rnd)
    write_networks(stream, arch, rnd)


def network_bytes(name: str, seed: int = 1, edge: bool = False) -> bytes:
    """Return the nn.bin of YaneuraOu's name of an architecture."""
    stream = io.BytesIO()
    write_net(stream, parse_arch(name), seed, edge)
    return stream.getvalue()


def without_text(content: bytes) -> bytes:
    """Return an nn.bin with an empty text."""
    return content[:8] + bytes(4) + content[12 + int.from_bytes(content[8:12], "little") :]
