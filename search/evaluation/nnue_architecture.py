"""YaneuraOu's architectures: their names, and what a name determines of an nn.bin (layers, sizes, hashes, text).

    classic   FEATURE_Wx2_H1_H2                                  halfkp_1024x2-8-64
    SFNN      SFNN_FEATURE_W_H1_H2[_cC_sSxG][_HAND][_KING][_PROGRESS]   SFNN_halfka2_1024_7_64_k3k3

Names are case-free, and `-` equals `_`. Source: `source/eval/nnue/architectures/nnue_arch_gen.py` of YaneuraOu.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from search.evaluation.feature_sets import feature_set
from search.evaluation.network import LANES, MAX_LAYER, MAX_LAYERS, MAX_WIDTH, Shards
from search.evaluation.stacks import STACK_TOKENS, ordered_tokens, stack_count
from search.rules.shogi import SQUARES

MASK = (1 << 32) - 1
_PADDING = 32
SFNN_FILE_HASH, SFNN_FEATURE_HASH, SFNN_NETWORK_HASH = 0x3C203B32, 0x5F134AB8, 0x6333718A
PROGRESS_HASH = 0x6F50524F
PROGRESS_BYTES = 4 + 4 + 4 * SQUARES * 1548
_HASH_BYTES = 4


class BeyondLimits(ValueError):
    """The error for an architecture of sizes that cannot be evaluated."""


@dataclass(frozen=True)
class Features:
    """YaneuraOu's names of one of our feature sets."""

    token: str
    """Name of the set in the names of architectures."""
    label: str
    """Name of the set in the text of a file."""
    hash: int


FEATURES = {
    "half_kp": Features("halfkp", "HalfKP(Friend)", 0x5D69D5B8),
    "k_p": Features("kp", "K+P", 0x3F5717FF),
    "k_a2": Features("ka2", "K+A2", 0x97D5765E),
    "half_kp_vm": Features("halfkpvm", "HalfKP_vm(Friend)", 0x0B6B1D9A),
    "half_ka1": Features("halfka1", "HalfKA1(Friend)", 0x5F134CB8),
    "half_ka_hm1": Features("halfkahm1", "HalfKA_hm1(Friend)", 0x7F134CB8),
    "half_ka2": Features("halfka2", "HalfKA2(Friend)", 0x5F234CB8),
    "half_ka_hm2": Features("halfkahm2", "HalfKA_hm2(Friend)", 0x7F234CB8),
}
_BY_TOKEN = {known.token: name for name, known in FEATURES.items()}
_EFFECTS = "halfkpe9"
NO_EFFECTS = f"{_EFFECTS} cannot be evaluated: its features depend on the attacks on every piece"
_ALIASES = {
    "": "halfkp_256x2_32_32",
    "kp256": "kp_256x2_32_32",
    "halfkp_vm_256x2_32_32": "halfkpvm_256x2_32_32",
    "sfnn1536": "sfnn_halfkahm2_1536_15_32_k3k3",
    "sfnn_1536": "sfnn_halfkahm2_1536_15_32_k3k3",
}
SFNN_TEXT = "ModelType=SFNN"
_SFNN1536_TEXT = "SFNN-1536"
_SFNN_NAME = "an SFNN's name is SFNN_FEATURE_W_H1_H2 and its stacks, as SFNN_halfka2_1024_7_64_k3k3"
_LONG_KINGS = {
    "king3_by_king3": "k3k3",
    "king9_by_king9": "k9k9",
    "king21_by_king21": "k21k21",
    "king29_by_king29": "k29k29",
    **{f"king{count}z{end}_by_king{count}z{end}": f"k{count}k{count}z" for count in (9, 13) for end in ("", "one")},
}


def padded_inputs(count: int) -> int:
    """Return the weights in a file's row of a layer with `count` inputs."""
    return -(-count // _PADDING) * _PADDING


@dataclass(frozen=True)
class Architecture:
    """Everything that the layout of an nn.bin depends on. Raises ValueError for what cannot be evaluated."""

    features: str
    """Our feature set's name."""
    width: int
    """Lanes of a perspective."""
    hidden: tuple[int, ...]
    """Outputs of the hidden layers, the first one first, as the name has them: without an SFNN's shortcut."""
    sfnn: bool = False
    shards: Shards | None = None
    tokens: tuple[str, ...] = ()
    """Axes of the stack index, in the order hand, king, progress."""

    @property
    def name(self) -> str:
        """YaneuraOu's name of the architecture."""
        token = FEATURES[self.features].token
        if not self.sfnn:
            return f"{token}_{self.width}x2" + "".join(f"-{count}" for count in self.hidden)
        parts = ["SFNN", token, *map(str, (self.width, *self.hidden))]
        if self.shards is not None:
            parts += [f"c{self.shards.common}", f"s{self.shards.size}x{self.shards.groups}"]
        return "_".join((*parts, *self.tokens))

    def __str__(self) -> str:
        return self.name

    @property
    def rows(self) -> int:
        """Rows of the feature set's table."""
        return feature_rows(self.features)

    @property
    def shortcut(self) -> bool:
        """Whether the first hidden layer has one more output, which is added to the network's."""
        return self.sfnn and self.hidden[0] % 8 == 7

    @property
    def has_progress(self) -> bool:
        """Whether an axis of the stack index is the progress of the game."""
        return any(token.startswith("progress") for token in self.tokens)

    @property
    def stacks(self) -> int:
        """Copies of the layers."""
        return stack_count(self.tokens)

    def layers(self) -> Iterator[tuple[int, int]]:
        """Yield (outputs, inputs) of each layer, the output layer last."""
        if self.sfnn:
            first, second = self.hidden
            yield first + self.shortcut, self.width
            yield second, 2 * first
            yield 1, second
            return
        inputs = 2 * self.width
        for outputs in (*self.hidden, 1):
            yield outputs, inputs
            inputs = outputs

    @property
    def stack_bytes(self) -> int:
        """Bytes of one copy of the layers, with the hash before them."""
        return _HASH_BYTES + sum(out * (4 + padded_inputs(into)) for out, into in self.layers())

    @property
    def tail_bytes(self) -> int:
        """Bytes after the feature transformer."""
        return self.stacks * self.stack_bytes + (PROGRESS_BYTES if self.has_progress else 0)

    @property
    def body_size(self) -> int:
        """Bytes after the text of a classic network's file."""
        assert not self.sfnn
        return _HASH_BYTES + 2 * self.width * (self.rows + 1) + self.stack_bytes

    @property
    def words(self) -> str:
        """The text as YaneuraOu writes it."""
        features = f"Features={FEATURES[self.features].label}[{self.rows}->{self.width}x2],Network="
        if self.sfnn:
            name = self.name.upper()
            name = _SFNN1536_TEXT if self == parse_name("SFNN1536") else name
            return f"{SFNN_TEXT}WithoutPsqt;{features}{name}{{LayerStack={self.stacks}}}"
        text = f"InputSlice[{2 * self.width}(0:{2 * self.width})]"
        for number, (outputs, inputs) in enumerate(self.layers()):
            kind = "AffineTransform" if number else "AffineTransformSparseInput"
            text = f"{kind}[{outputs}<-{inputs}]({text})"
            if number < len(self.hidden):
                text = f"ClippedReLU[{outputs}]({text})"
        return features + text

    @property
    def feature_hash(self) -> int:
        """Hash of the feature transformer, as YaneuraOu computes it."""
        return SFNN_FEATURE_HASH if self.sfnn else FEATURES[self.features].hash ^ 2 * self.width

    @property
    def network_hash(self) -> int:
        """Hash of the layers, as YaneuraOu computes it."""
        if self.sfnn:
            return SFNN_NETWORK_HASH
        found = 0xEC42E90D ^ 2 * self.width
        for number, (outputs, _) in enumerate(self.layers()):
            found = (0xCC03DAE4 + outputs & MASK) ^ found >> 1 ^ found << 31 & MASK
            if number < len(self.hidden):
                found = found + 0x538D24C7 & MASK
        return found

    @property
    def file_hash(self) -> int:
        """Hash in the file's header, as YaneuraOu computes it."""
        if self.sfnn:
            return SFNN_FILE_HASH ^ (PROGRESS_HASH if self.has_progress else 0)
        return self.feature_hash ^ self.network_hash


@cache
def feature_rows(features: str) -> int:
    """Return the rows of a feature set's table."""
    return feature_set(features).rows


def check_sizes(width: int, hidden: Sequence[int] = ()) -> None:
    """Raise BeyondLimits for lanes or outputs of hidden layers that cannot be evaluated."""
    if not 1 <= width <= MAX_WIDTH:
        raise BeyondLimits(f"width {width}: 1 to {MAX_WIDTH} can be evaluated")
    if width % LANES:
        raise BeyondLimits(f"width {width}: only multiples of {LANES} can be evaluated")
    for outputs in hidden:
        if not 1 <= outputs <= MAX_LAYER:
            raise BeyondLimits(f"hidden layer {outputs}: 1 to {MAX_LAYER} can be evaluated")


def quote(text: str, most: int = 40) -> str:
    """Return a text in ASCII and in quotation marks, of at most `most` characters, for a message."""
    found = ascii(text)
    return found if len(found) <= most else f"{found[: most - 4]}...{found[0]}"


def parse_name(text: str) -> Architecture:
    """Return the architecture of YaneuraOu's name.

    Raises ValueError that names the part at fault: BeyondLimits for sizes that cannot be evaluated.
    """
    name = text.strip().lower().replace("-", "_").removeprefix("yaneuraou_engine_")
    name = "" if name == "nnue" else name.removeprefix("nnue_")
    parts = _ALIASES.get(name, name).split("_")
    try:
        return _parse_sfnn(parts[1:]) if parts[0] == "sfnn" else _parse_classic(parts)
    except ValueError as error:
        raise type(error)(f"the architecture {quote(text, 80)}: {error}") from None


def _features(token: str) -> str:
    if token == _EFFECTS:
        raise ValueError(NO_EFFECTS)
    if token not in _BY_TOKEN:
        raise ValueError(f"unknown feature set {quote(token)}: known are {', '.join(_BY_TOKEN)}")
    return _BY_TOKEN[token]


def _number(text: str, name: str, most: int) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise ValueError(f"{name} {quote(text)}: must be 1 to {most}")
    return int(text)


def _parse_classic(parts: list[str]) -> Architecture:
    if parts[0].startswith("sfnn"):
        raise ValueError(_SFNN_NAME)
    features, size = _features(parts[0]), parts[1] if len(parts) > 1 else ""
    if not size.endswith("x2") or len(parts) - 2 >= MAX_LAYERS:
        raise ValueError("a classic name is FEATURE_Wx2_H1_H2, as halfkp_256x2-32-32")
    hidden = tuple(_number(part, "hidden layer", MAX_LAYER) for part in parts[2:])
    width = _number(size.removesuffix("x2"), "width", MAX_WIDTH)
    check_sizes(width, hidden)
    return Architecture(features, width, hidden)


def _parse_sfnn(parts: list[str]) -> Architecture:
    if len(parts) < 4:
        raise ValueError(_SFNN_NAME)
    features, width = _features(parts[0]), _number(parts[1], "width", MAX_WIDTH)
    first, second = (_number(part, "hidden layer", MAX_LAYER) for part in parts[2:4])
    check_sizes(width, (first, second))
    if first % 8 not in (0, 7):
        raise ValueError(f"first hidden layer {first}: must be 8n - 1 (with a shortcut) or 8n (without)")
    rest, shards = parts[4:], None
    if rest and re.fullmatch(r"c[0-9]{1,9}", rest[0]):
        found = re.fullmatch(r"s([0-9]{1,9})x([0-9]{1,9})", rest[1]) if len(rest) > 1 else None
        if found is None:
            raise ValueError("shards are named cC_sSxG, as c128_s64x2")
        shards = Shards(int(rest[0][1:]), int(found[1]), int(found[2]))
        outputs = first + (first % 8 == 7)
        fits = shards.size > 0 and shards.groups > 0 and shards.common + shards.size * shards.groups == width
        if not fits or outputs % shards.groups:
            raise ValueError(f"shards {'_'.join(rest[:2])}: C + S*G must be {width}, and G must divide {outputs}")
        rest = rest[2:]
    text = "_".join(rest)
    for long, short in _LONG_KINGS.items():
        text = text.replace(long, short)
    tokens = tuple(filter(None, text.split("_")))
    for token in tokens:
        if token not in STACK_TOKENS:
            raise ValueError(f"unknown part {quote(token)}: stacks are {', '.join(STACK_TOKENS)}")
    return Architecture(features, width, (first, second), True, shards, ordered_tokens(tokens))
