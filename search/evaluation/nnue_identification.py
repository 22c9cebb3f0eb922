"""Identify the architecture of an nn.bin by its text, hashes and sizes, or by the name that the caller gives.

YaneuraOu enforces the version and the size alone: it only warns where hashes differ and never reads the text, and
trainers exist that write a wrong text. So the text is believed if the file has the sizes that it implies, else, for a
classic network, the hashes. A file that neither identifies needs a name, and the error lists the names that fit its
sizes. The sizes alone are never enough for an SFNN: a first layer of 7 outputs with a shortcut looks like one of 8
without, hand64 like hand64z, k9k9 like k9k9z, and shards like none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path

from search.evaluation.network import LANES, MAX_LAYER, MAX_WIDTH
from search.evaluation.nnue_architecture import (
    FEATURES,
    NO_EFFECTS,
    PROGRESS_BYTES,
    Architecture,
    BeyondLimits,
    check_sizes,
    feature_rows,
    padded_inputs,
    parse_name,
    quote,
)
from search.evaluation.stacks import HANDS, KING_ZONES, PROGRESS, ordered_tokens, stack_count
from search.system.options import OptionError

FIELD = "architecture"
"""The option that names an architecture."""
Fitting = Callable[[], list[Architecture]]
"""Finds the architectures that fit a file, which takes a moment: done for a message alone, and once."""
_OTHER_ARITHMETIC = re.compile(r"sqr|screlu|pairwise|sfnn|stack|\bqa=(?!127\b)|\bqb=(?!64\b)", re.IGNORECASE)
_FEATURES = re.compile(r"(?:ModelType=\w{1,40};)?Features=([^\[]{1,40})\[(\d{1,9})->(\d{1,5})x2\],")
_LISTED = 8
_LONGEST_QUOTE = 300
"""Most characters of the file's text that a message repeats."""
_LISTED_LAYERS = ((64, (32, 64, 16, 96, 128)), (128, tuple(range(8, 257, 8))))
"""Most outputs of an SFNN's first hidden layer, and outputs of its second one, that are listed: the usual ones, and
those that are tried where these fit no file."""
_SHARD = 64
"""Lanes that both parts of a network with shards are multiples of in YaneuraOu."""


class MissingSetting(OptionError):
    """The error for an nn.bin that is read only with an option, `field`; `path` is None before the file is known."""

    def __init__(self, message: str, field: str, path: Path | None = None) -> None:
        super().__init__(message, field)
        self.field, self.path = field, path


def architecture_of_text(words: str) -> Architecture | None:
    """Return the architecture that a file's text names; None if it names none.

    Raises ValueError for the name of an SFNN that is none, BeyondLimits for sizes that cannot be evaluated, and
    ValueError for halfkpe9.
    """
    match = _FEATURES.match(words)
    if match is None:
        return None
    if _has_effects(words):
        raise ValueError(f"the file's text: {NO_EFFECTS}")
    features = _features(match[1], int(match[2]))
    if features is None:
        return None
    width = int(match[3])
    if named := re.match(r"Network=([^{]{1,200})\{LayerStack=(\d{1,9})\}", words[match.end() :]):
        found = parse_name(named[1])
        agrees = (found.features, found.width, found.stacks) == (features, width, int(named[2]))
        return found if agrees else None
    hidden = tuple(map(int, reversed(re.findall(r"ClippedReLU\[(\d{1,5})\]", words))))
    check_sizes(width, hidden)
    found = Architecture(features, width, hidden)
    said, expected = (text[text.find(",Network=") :].replace("SparseInput", "") for text in (words, found.words))
    return found if said == expected or said.startswith(expected + ",") else None


def _has_effects(words: str) -> bool:
    """Return whether a file's text names halfkpe9, which cannot be evaluated."""
    match = _FEATURES.match(words)
    return match is not None and "e9" in match[1].lower()


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

    `named`: YaneuraOu's name, for a file whose text and hashes settle nothing. Raises ValueError if nothing fits,
    OptionError for a wrong name, and MissingSetting for a missing one.
    """
    fitting: Fitting = cache(lambda: list(_classic_of_size(body_size)))
    if named is not None:
        said = _said_or_none(words)
        fits = said is not None and not said.sfnn and said.body_size == body_size
        fitting = _beginning_with(said if fits else None, fitting)
        found = _parse_named(named, fitting)
        if found.sfnn:
            raise _misnamed(found, "the file is no SFNN: its weights are not compressed", fitting)
        if problem := _of_length(found.body_size, body_size, "text"):
            raise _misfitting(found, said, problem, fitting)
        if fits and said != found:
            raise OptionError(f"`{FIELD}` {found}: the file's text and size are those of {said}", FIELD)
        return found
    problem = ""
    if not _OTHER_ARITHMETIC.search(words):
        try:
            said = architecture_of_text(words)
        except BeyondLimits as error:
            said, problem = None, f"the file's text: {error}"
        if said is not None and not (problem := _of_length(said.body_size, body_size, "text")):
            return said
        hashed = _hashed(feature_hash, network_hash, body_size)
        if hashed is not None:
            return hashed
        if said is not None:
            problem = _of_text(problem, said)
    if problem:
        raise _disproved(problem, fitting)
    found_text = f"{quote(words, _LONGEST_QUOTE)} with feature hash 0x{feature_hash:08X}"
    raise _unnamed(f"unknown architecture: found {found_text}", fitting)


# What does not fit, in the messages


def _of_length(expected: int, found: int, before: str) -> str:
    """Return what is wrong with the number of bytes after a part of the file; "" if it is the expected one."""
    if found == expected:
        return ""
    fault = "truncated" if found < expected else "too long"
    return f"{fault}: expected {expected:,} bytes after the {before}, found {found:,}"


def _of_text(problem: str, said: Architecture) -> str:
    """Return a problem of the architecture that the file's text names."""
    return f"{problem}; the file's text names {said}"


# What a file's size allows, in the messages


def _parse_named(named: str, fitting: Fitting) -> Architecture:
    """Return the architecture that the option names. Raises OptionError for no name."""
    try:
        return parse_name(named)
    except ValueError as error:
        listing = "" if isinstance(error, BeyondLimits) and not fitting() else _listing(fitting)
        raise OptionError(f"`{FIELD}`: {error}{listing}", FIELD) from None


def _misnamed(found: Architecture, problem: str, fitting: Fitting) -> OptionError:
    """Return the error for a name that does not fit the file."""
    return OptionError(f"`{FIELD}` {found}: {problem}{_listing(fitting)}", FIELD)


def _misfitting(found: Architecture, said: Architecture | None, problem: str, fitting: Fitting) -> ValueError:
    """Return the error for a name that does not fit the file's size: a name that its text has, too, is hardly wrong."""
    return _disproved(_of_text(problem, found), fitting) if found == said else _misnamed(found, problem, fitting)


def _unnamed(problem: str, fitting: Fitting) -> MissingSetting:
    """Return the error for a file that needs a name."""
    whole = "" if fitting() else "if it is whole, "
    return MissingSetting(f"{problem}{_listing(fitting)}; {whole}name it (`{FIELD}`)", FIELD)


def _disproved(problem: str, fitting: Fitting) -> ValueError:
    """Return the error for a file whose text its size or a limit disproves: a name helps if one fits the size."""
    return _unnamed(problem, fitting) if fitting() else ValueError(problem)


def _beginning_with(said: Architecture | None, fitting: Fitting) -> Fitting:
    """Return what finds the same architectures, that of the file's text first; None: its text names none that fits."""
    if said is None:
        return fitting
    return lambda: [said, *(one for one in fitting() if one != said)]


def _listing(fitting: Fitting) -> str:
    """Return the end of a message that lists what would fit."""
    found = fitting()
    if not found:
        return "; no usual architecture has this size: the file may be damaged"
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    shards = any(one.sfnn and one.width >= 2 * _SHARD and one.width % _SHARD == 0 for one in found)
    end = ", each also with shards (cC_sSxG)" if shards else ""
    return f"; by its size it could be {', '.join(map(str, found[:_LISTED]))}{more}{end}"


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
    """Bytes after the LEB128 block of the weights."""
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
        return _of_length(architecture.tail_bytes, self.tail, "first layer")


def identify_sfnn(words: str, sizes: Sizes, named: str | None = None) -> Architecture:
    """Return the architecture of an SFNN's file.

    `named`: YaneuraOu's name, for a file whose text names none. Raises ValueError for a file of another size than its
    text implies, OptionError for a wrong name, and MissingSetting for a missing one; `sizes.values` makes their lists
    exact.
    """
    fitting: Fitting = cache(lambda: list(_sfnn_of_size(sizes)))
    if named is not None:
        said = _said_or_none(words)
        fits = said is not None and said.sfnn and not sizes.problem(said)
        fitting = _beginning_with(said if fits else None, fitting)
        found = _parse_named(named, fitting)
        if not found.sfnn:
            raise _misnamed(found, "the file is an SFNN: its weights are compressed by LEB128", fitting)
        if problem := sizes.problem(found):
            raise _misfitting(found, said, problem, fitting)
        if said is not None and fits and said != found and not _was_renamed(said, found):
            raise OptionError(f"`{FIELD}` {found}: the file's text and sizes are those of {said}", FIELD)
        return found
    try:
        said = architecture_of_text(words)
    except BeyondLimits as error:
        raise _disproved(f"the file's text: {error}", fitting) from None
    except ValueError as error:
        if _has_effects(words):
            raise
        raise _unnamed(f"the file's text: {error}", fitting) from None
    if said is not None and said.sfnn:
        if problem := sizes.problem(said):
            raise _disproved(_of_text(problem, said), fitting)
        return said
    raise _unnamed(f"unknown architecture: found {quote(words, _LONGEST_QUOTE)}", fitting)


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
    """Yield the architectures without shards that fit a file: with layers of usual sizes, else of other sizes."""
    for most, second in _LISTED_LAYERS:
        first = [size for size in range(7, most + 1) if size % 8 in (0, 7)]
        found = list(_sfnn_with_layers(sizes, list(product(first, second))))
        if found:
            yield from found
            return


def _sfnn_with_layers(sizes: Sizes, hidden: list[tuple[int, int]]) -> Iterator[Architecture]:
    """Yield the architectures without shards, and with one of these pairs of hidden layers, that fit a file."""
    axes: dict[tuple[bool, int], list[tuple[str, ...]]] = {}
    for three in product(("", *HANDS), ("", *KING_ZONES), ("", *PROGRESS)):
        tokens = ordered_tokens([token for token in three if token])
        axes.setdefault((three[2] != "", stack_count(tokens)), []).append(tokens)
    for features in FEATURES:
        wanted = feature_rows(features) * sizes.width
        if sizes.values not in (None, wanted) or not wanted <= sizes.payload <= 3 * wanted:
            continue
        for pair in hidden:
            plain = Architecture(features, sizes.width, pair, True)
            for progress in (0, PROGRESS_BYTES):
                count, rest = divmod(sizes.tail - progress, plain.stack_bytes)
                if rest == 0:
                    for tokens in axes.get((progress > 0, count), []):
                        yield replace(plain, tokens=tokens)
