"""A network as a C++ header and a file of weights, which evaluates to the same integers in a C++ engine.

The header is one file: `evaluation.h`, which reads the weights and computes the layers, with the network's constants,
the codes of `placement.h`, the kernels of `kernels.h` and the sums of `accumulator.h` put in.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import numpy as np

from search.evaluation.feature_sets import BONA_END, NO_KING, NO_ROW, feature_set
from search.evaluation.kernels import groups_together, padded_outputs
from search.evaluation.lane_order import balance_lanes
from search.evaluation.network import PAIRWISE, EvalNetwork
from search.evaluation.stacks import HANDS, KING_ZONES, PROGRESS, PROGRESS_STEPS, HandClasses, progress_thresholds
from search.rules.shogi import HAND_KINDS
from search.system.files import WholeFile

_TEMPLATE = Path(__file__).with_name("evaluation.h")
_PARTS = ("placement", "kernels", "accumulator")
"""Headers whose texts take the places of their names in the template."""
_WORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class
    co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype
    default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int
    long main mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast requires return short signed sizeof static static_assert static_cast std struct switch template
    this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t
    while xor xor_eq
"""
"""C++20's keywords, the namespace of its library, and `main`, which every program has.

Names of the C library's functions (`index`, `abs`) cannot be namespaces either, but they depend on the system: the
compiler reports them.
"""
_MACROS = """
    L_ctermid L_cuserid L_tmpnam P_tmpdir errno far hyper i386 interface linux near pascal sched_priority small stderr
    stdin stdout unix
"""
"""Object-like macros of compilers, of windows.h, and of the headers that `evaluation.h` includes, except names in
capitals, which are refused anyway."""
_HEADERS = """
    alloca arm_neon assert complex corecrt crtdefs ctype endian errno features fenv float inttypes iso646 limits locale
    malloc math memory mm_malloc pthread sal sched search semaphore setjmp signal stdalign stdarg stdatomic stdbool
    stdckdint stddef stdint stdio stdlib stdnoreturn string strings tgmath threads time uchar unistd vadefs vcruntime
    wchar wctype windows
"""
"""Headers of C and those that they include in compilers. A file of such a name, in any case on systems that ignore it,
would replace theirs where its folder is on the include path; so would `...intrin.h`."""


TOGETHER = (1, 2, 4)
"""Numbers of groups of inputs whose products the kernels of AVX2 and SSE4.1 may add as int16."""


def weights_file(header: Path) -> Path:
    """Return the file of weights of a header.

    Raises ValueError for a name that is no C++ namespace, or is that of a header of C.
    """
    name = header.stem
    # Names with two _ in a row are reserved for the compiler.
    well_formed = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) and "__" not in name
    shadows = name.lower() in _HEADERS.split() or name.lower().endswith("intrin")
    if not well_formed or name.isupper() or name in f"{_WORDS} {_MACROS}".split() or shadows:
        raise ValueError(
            f"{header}: its name becomes a C++ namespace: use letters (not only capitals), digits and single _, and no "
            f"keyword, macro or header of C++, such as lite_eval{header.suffix}"
        )
    return header.with_suffix(".bin")


def write_header(net: EvalNetwork, network: str, header: Path) -> tuple[int, int]:
    """Write header and weights, and return the bytes of each. network: its name, for the reader.

    Raises ValueError as `weights_file`, and OSError.

    The weights, little endian: rows, bias, of each layer weight [stacks][out][in] and bias [stacks][out], then int16
    [2][mirrors][CODES + 1] rows of codes by perspective (-1: none), u8 [81] buckets of the own king's square in its
    owner's view; with king zones u8 [82] the zone of each square; with progress int16 [2][CODES + 1] BonaPieces of
    codes and int32 [81][1548] the progress table.
    """
    weights = weights_file(header)
    net = balance_lanes(net, TOGETHER)
    content = _weights(net)
    words = {
        "NETWORK": network.encode("unicode_escape").decode(),  # MSVC reads files in the system's encoding
        "WEIGHTS": weights.name,
        "NAMESPACE": header.stem,
        "CONSTANTS": _constants(net, content),
        **{part.upper(): _TEMPLATE.with_name(f"{part}.h").read_text(encoding="utf-8").rstrip() for part in _PARTS},
    }
    text = re.sub(r"@([A-Z]+)@", lambda found: words[found[1]], _TEMPLATE.read_text(encoding="utf-8")).encode()
    with WholeFile(weights) as beside, WholeFile(header) as file:
        beside.write(content)
        beside.finish()
        file.write(text)
    return len(text), len(content)


def _weights(net: EvalNetwork) -> bytes:
    rows, codes = _rows_of_codes(net)
    arrays = [rows, net.bias]
    for number, layer in enumerate(net.layers):
        weight = layer.weight
        if number == 0 and net.shards is not None:
            weight = weight * net.shards.seen(layer.bias.shape[-1])
        arrays += [weight, layer.bias]
    arrays += [codes.astype(np.int16), _king_buckets(net).astype(np.uint8)]
    if net.stacks.king:
        arrays.append(KING_ZONES[net.stacks.king].astype(np.uint8))
    if net.stacks.progress_weight is not None:
        arrays += [feature_set("half_kp").codes_to_rows.astype(np.int16), net.stacks.progress_weight]
    return b"".join(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes() for array in arrays)


def _rows_of_codes(net: EvalNetwork) -> tuple[np.ndarray, np.ndarray]:
    """Return the table int16, and the row in it of each code: [perspective][mirrors][CODES + 1].

    Where a code has two rows, the table ends with their sums.
    """
    features, rows = net.feature_set, net.rows.astype(np.int16, copy=False)
    codes = features.codes_to_rows.astype(np.int64)
    if features.second_rows is not None:
        doubled = features.second_rows != NO_ROW
        sums = rows[codes[doubled]] + rows[features.second_rows[doubled]]
        codes = codes.copy()
        codes[doubled] = len(rows) + np.arange(len(sums))
        rows = np.concatenate((rows, sums))
    if features.mirrored_codes_to_rows is None:
        return rows, codes[:, None]
    return rows, np.stack((codes, features.mirrored_codes_to_rows), 1)


def _king_buckets(net: EvalNetwork) -> np.ndarray:
    """Return the bucket of each square of the own king; in a mirrored set two for each block of rows."""
    features = net.feature_set
    buckets = features.king_bucket
    if features.mirrored_codes_to_rows is not None:
        buckets = 2 * buckets + features.mirrored
    return buckets[:NO_KING]


def _constants(net: EvalNetwork, content: bytes) -> str:
    features = net.feature_set
    rows = len(_rows_of_codes(net)[0])
    mirrors = 1 if features.mirrored_codes_to_rows is None else 2
    buckets = int(_king_buckets(net).max()) + 1
    check, missing = (-1 if row is None else row for row in (features.check_row, features.missing_row))
    sizes = ", ".join(str(layer.bias.shape[-1]) for layer in net.layers)
    shifts = ", ".join(str(layer.shift) for layer in net.layers)
    weights = [layer.weight for layer in net.layers]
    together = ", ".join(str(groups_together(one, padded_outputs(one.shape[-1]), TOGETHER)) for one in weights)
    lines = [
        f"inline constexpr int ROWS = {rows}, WIDTH = {net.width}, PERSPECTIVES = {net.perspectives};  "
        f"// of {features.name}",
        f"inline constexpr int KING_BUCKETS = {buckets}, KING_STRIDE = {features.king_stride}, MIRRORS = {mirrors};",
        f"inline constexpr int CHECK_ROW = {check}, MISSING_ROW = {missing};  // -1: there is none",
        f"inline constexpr int VIEW_INPUTS = {net.view_inputs}, SQUARE_OFFSET = {net.square_offset};  "
        "// of a perspective; -1: no squares",
        f"inline constexpr bool PAIRWISE = {_word(net.activation == PAIRWISE)}, DOUBLED = {_word(net.sum_bits == 15)};"
        "  // products of two halves; sums of 15 bits",
        f"inline constexpr int INPUT_SHIFT = {net.input_shift}, LAYERS = {len(net.layers)};",
        f"inline constexpr bool HIDDEN_SQUARES = {_word(net.hidden_squares)}, SHORTCUT = {_word(net.shortcut)};"
        "  // of the first hidden layer",
        f"inline constexpr int SIZES[LAYERS] = {{{sizes}}}, SHIFTS[LAYERS] = {{{shifts}}};",
        f"inline constexpr int TOGETHER[LAYERS] = {{{together}}};  // groups of four inputs whose products int16 holds",
        f"inline constexpr int OUTPUTS = {len(net.outputs)}, BUCKETS = {net.buckets};  // by men in hand",
        *_stack_constants(net),
        f"inline constexpr std::int64_t OUTPUT_DIVISOR = {net.output_divisor}, "
        f"CENTIPAWNS_PER_OUTPUT = {net.centipawns_per_output};  // 24 bits after the point",
        f"inline constexpr double LOGIT_PER_OUTPUT = {float(net.logit_per_output)!r};  // of the divided output",
        f"inline constexpr std::size_t FILE_BYTES = {len(content)};",
        f"inline constexpr std::uint32_t FILE_CHECKSUM = 0x{zlib.crc32(content):08X};",
    ]
    return "\n".join(lines)


def _stack_constants(net: EvalNetwork) -> list[str]:
    """Return the constants of the index that chooses one copy of the layers: hands, king zones, progress."""
    stacks, nothing = net.stacks, (0,) * HAND_KINDS
    hands = HANDS[stacks.hand] if stacks.hand else HandClasses(1, nothing)
    zones = int(KING_ZONES[stacks.king].max()) + 1 if stacks.king else 1
    parts = PROGRESS.get(stacks.progress, 1)
    steps = -(-np.arange(1, parts) * PROGRESS_STEPS // parts)  # a part's first step
    limits = ", ".join(map(str, [*progress_thresholds()[steps - 1].tolist(), "INT64_MAX"]))
    bits, weights = (", ".join(map(str, numbers)) for numbers in (hands.bits, hands.weights))
    return [
        f"inline constexpr std::size_t STACKS = {stacks.count};  // copies of all layers",
        f"inline constexpr int HAND_CLASSES = {hands.classes}, KING_ZONES = {zones}, PROGRESS_PARTS = {parts};",
        f"inline constexpr int HAND_BITS[] = {{{bits}}}, HAND_WEIGHTS[] = {{{weights}}};  // by kind",
        f"inline constexpr std::int64_t PROGRESS_BIAS = {stacks.progress_bias}, PROGRESS_LIMITS[] = {{{limits}}};",
        f"inline constexpr int BONA_PIECES = {BONA_END};",
    ]


def _word(value: bool) -> str:
    return "true" if value else "false"
