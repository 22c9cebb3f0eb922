"""Identify the architecture of an nn.bin by its text, hashes and sizes, or by the name that the caller gives.

YaneuraOu enforces the version and the size alone: it only warns where hashes differ and never reads the text, and
trainers exist that write a wrong text. So the text is believed if the file has the sizes that it asks for, else, for a
classic network, the hashes. What neither settles needs a name, and the error lists those that the sizes fit. The sizes
alone are never enough for an SFNN: a first layer of 7 outputs with a shortcut looks like one of 8 without, hand64 like
hand64z, k9k9 like k9k9z, and shards like none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from search.evaluation.network import LANES, MAX_LAYER, MAX_WIDTH
from search.evaluation.nnue_architecture import (
    FEATURES,
    PROGRESS_BYTES,
    Architecture,
    feature_rows,
    padded_inputs,
    parse_name,
)
from search.evaluation.stacks import HANDS, KING_ZONES, PROGRESS, ordered_tokens, stack_count
from search.system.options import OptionError

FIELD = "architecture"
"""The option that names an architecture."""
_OTHER_ARITHMETIC = re.compile(r"sqr|screlu|pairwise|sfnn|stack|\bqa=(?!127\b)|\bqb=(?!64\b)", re.IGNORECASE)
_LISTED = 8
_LONGEST_QUOTE = 300


def architecture_of_text(words: str) -> Architecture | None:
    """Return the architecture that a file's text names; None if it names none that can be evaluated.

    Raises ValueError for the name of an SFNN that is none, and for halfkpe9.
    """
    match = re.match(r"(?:ModelType=\w{1,40};)?Features=([^\[]{1,40})\[(\d{1,9})->(\d{1,5})x2\],", words)
    if match is None:
        return None
    if "e9" in match[1].lower():
        parse_name("halfkpe9_256x2_32_32")
    features = _features(match[1], int(match[2]))
    if features is None:
        return None
    width = int(match[3])
    if named := re.match(r"Network=([^{]{1,200})\{LayerStack=(\d{1,9})\}", words[match.end() :]):
        found = parse_name(named[1])
        agrees = (found.features, found.width, found.stacks) == (features, width, int(named[2]))
        return found if agrees else None
    if width == 0 or width % LANES or width > MAX_WIDTH:
        return None
    hidden = tuple(map(int, reversed(re.findall(r"ClippedReLU\[(\d{1,5})\]", words))))
    found = Architecture(features, width, hidden)
    said, expected = (text[text.find(",Network=") :].replace("SparseInput", "") for text in (words, found.words))
    return found if said == expected or said.startswith(expected + ",") else None


def _features(label: str, rows: int) -> str | None:
    """Return our feature set of a label and its number of rows; forks leave off the digit of HalfKA's kinds."""
    token = re.sub(r"\(friend\)|[_+-]", "", label.lower())
    for name, known in FEATURES.items():
        plain = known.token
        if rows == feature_rows(name) and token in (plain, plain.rstrip("12")):
            return name
    return None


# Classic networks


def identify_classic(
    words: str, feature_hash: int, network_hash: int, body_size: int, named: str | None = None
) -> Architecture:
    """Return the architecture of a classic file with `body_size` bytes after its text.

    `named`: YaneuraOu's name, for a file whose text and hashes settle nothing. Raises ValueError if nothing fits, and
    OptionError for a wrong name or a missing one.
    """
    if named is not None:
        found, said = parse_named(named), _said_or_none(words)
        if found.sfnn:
            raise OptionError(f"`{FIELD}` {found}: the file is no SFNN: its weights are not compressed", FIELD)
        if found.body_size != body_size:
            problem = f"expected {found.body_size:,} bytes after the text, found {body_size:,}"
            raise OptionError(f"`{FIELD}` {found}: {problem}{_listing(_classic_of_size(body_size))}", FIELD)
        if said is not None and not said.sfnn and said.body_size == body_size and said != found:
            raise OptionError(f"`{FIELD}` {found}: the file's text and size are those of {said}", FIELD)
        return found
    said = None if _OTHER_ARITHMETIC.search(words) else architecture_of_text(words)
    if said is not None and said.body_size == body_size:
        return said
    if not _OTHER_ARITHMETIC.search(words):
        hashed = _hashed(feature_hash, network_hash, body_size)
        if hashed is not None:
            return hashed
    if said is not None:
        missing = said.body_size - body_size
        problem = f"truncated: {missing:,} bytes are missing" if missing > 0 else f"{-missing:,} bytes too many"
        raise ValueError(f"{problem}: found {body_size:,} bytes after the text, expected {said.body_size:,} for {said}")
    quote = f"{words[:_LONGEST_QUOTE]!a} with feature hash 0x{feature_hash:08X}"
    fitting = _listing(_classic_of_size(body_size))
    raise OptionError(f"unknown architecture: found {quote}{fitting}; name it (`{FIELD}`)", FIELD)


def parse_named(named: str) -> Architecture:
    """Return the architecture that the option names. Raises OptionError for no name."""
    try:
        return parse_name(named)
    except ValueError as error:
        raise OptionError(f"`{FIELD}`: {error}", FIELD) from None


def _listing(fitting: Iterable[Architecture]) -> str:
    """Return the end of a message that lists what would fit."""
    names = [str(one) for one in fitting]
    if not names:
        return "; no known architecture has this size: the file may be damaged"
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"; by its size it could be {', '.join(names[:_LISTED])}{more}"


def _classic_of_size(body_size: int) -> Iterator[Architecture]:
    """Yield the architectures with two hidden layers of usual sizes that have a file of this size."""
    for features, width in product(FEATURES, range(LANES, MAX_WIDTH + 1, LANES)):
        table = 2 * width * (feature_rows(features) + 1)
        if not table < body_size < table + (1 << 22):
            continue
        for first, second in product(range(8, 129, 8), range(8, 129, 8)):
            found = Architecture(features, width, (first, second))
            if found.body_size == body_size:
                yield found


def _hashed(feature_hash: int, network_hash: int, body_size: int) -> Architecture | None:
    """Return the architecture with two hidden layers that has these hashes and this size, if there is one."""
    for features, known in FEATURES.items():
        inputs = feature_hash ^ known.hash
        if inputs % (2 * LANES) or not 0 < inputs <= 2 * MAX_WIDTH:
            continue
        rest = body_size - Architecture(features, inputs // 2, ()).body_size + padded_inputs(inputs)
        for first in range(1, MAX_LAYER + 1):
            left, row = rest - first * (4 + padded_inputs(inputs)), 5 + padded_inputs(first)
            # The second layer's rows and the output's: b * (row - 1) + padded_inputs(b) = left.
            for second in range(max(1, -(-(left - 31) // row)), min(left // row, MAX_LAYER) + 1):
                found = Architecture(features, inputs // 2, (first, second))
                if found.body_size == body_size and found.network_hash == network_hash:
                    return found
    return None


# SFNN


@dataclass(frozen=True)
class Sizes:
    """The sizes in an SFNN's file that are known before its weights are decoded."""

    width: int
    payload: int
    """Bytes of the weights' LEB128 block."""
    tail: int
    """Bytes after it."""
    values: int | None = None
    """Weights in the block, if they have been counted."""

    def problem(self, architecture: Architecture) -> str:
        """Return what does not fit the architecture; "" if all does."""
        if architecture.width != self.width:
            return f"expected {architecture.width} lanes, found {self.width}"
        wanted = architecture.rows * architecture.width
        if self.values is not None and self.values != wanted:
            return f"expected {wanted:,} weights in the first layer, found {self.values:,}"
        if not wanted <= self.payload <= 3 * wanted:
            return f"{self.payload:,} bytes of the first layer cannot hold {wanted:,} weights"
        missing = architecture.tail_bytes - self.tail
        if missing > 0:
            return f"truncated: {missing:,} bytes are missing after the first layer"
        return f"{-missing:,} bytes too many" if missing < 0 else ""


def identify_sfnn(words: str, sizes: Sizes, named: str | None = None) -> Architecture:
    """Return the architecture of an SFNN's file.

    `named`: YaneuraOu's name, for a file whose text names none. Raises ValueError for a file of another size than its
    text asks for, and OptionError for a wrong name or a missing one; `sizes.values` makes its list exact.
    """
    if named is not None:
        found = parse_named(named)
        if not found.sfnn:
            raise OptionError(f"`{FIELD}` {found}: the file is an SFNN: its weights are compressed by LEB128", FIELD)
        if problem := sizes.problem(found):
            raise OptionError(f"`{FIELD}` {found}: {problem}{_listing(_sfnn_of_size(sizes))}", FIELD)
        said = _said_or_none(words)
        if (
            said is not None
            and said.sfnn
            and not sizes.problem(said)
            and said != found
            and not _was_renamed(said, found)
        ):
            raise OptionError(f"`{FIELD}` {found}: the file's text and sizes are those of {said}", FIELD)
        return found
    said = architecture_of_text(words)
    if said is not None and said.sfnn:
        if problem := sizes.problem(said):
            raise ValueError(f"{problem}; the file's text names {said}")
        return said
    quote = f"{words[:_LONGEST_QUOTE]!a}"
    fitting = _listing(_sfnn_of_size(sizes))
    raise OptionError(f"unknown architecture: found {quote}{fitting}; name it (`{FIELD}`)", FIELD)


def _said_or_none(words: str) -> Architecture | None:
    try:
        return architecture_of_text(words)
    except ValueError:
        return None


def _was_renamed(said: Architecture, found: Architecture) -> bool:
    """Return whether a file written before July 2026 may mean `found`: hand64z was called hand64 then."""
    tokens = tuple("hand64z" if token == "hand64" else token for token in said.tokens)
    return replace(said, tokens=tokens) == found


def _sfnn_of_size(sizes: Sizes) -> Iterator[Architecture]:
    """Yield the architectures without shards, and with layers of usual sizes, that fit a file."""
    axes = [ordered_tokens([token for token in three if token]) for three in product(
        ("", *HANDS), ("", *KING_ZONES), ("", *PROGRESS)
    )]  # fmt: skip
    for features in FEATURES:
        wanted = feature_rows(features) * sizes.width
        if sizes.values not in (None, wanted) or not wanted <= sizes.payload <= 3 * wanted:
            continue
        for first, second in product([size for size in range(7, 65) if size % 8 in (0, 7)], (32, 64, 16, 96, 128)):
            plain = Architecture(features, sizes.width, (first, second), True)
            for progress in (0, PROGRESS_BYTES):
                count, rest = divmod(sizes.tail - progress, plain.stack_bytes)
                if rest or count < 1:
                    continue
                for tokens in axes:
                    has_progress = any(token in PROGRESS for token in tokens)
                    if has_progress == (progress > 0) and stack_count(tokens) == count:
                        yield replace(plain, tokens=tokens)
