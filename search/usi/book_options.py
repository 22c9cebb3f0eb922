"""Book options by YaneuraOu's names, in its two versions, and the profile file that chooses the version.

Version 1 has one value for both sides; version 2, meant for large books, has separate values for black and white.
A file `engine_option_profile.txt` in the current folder with the line `BOOK_OPTIONS = V2` chooses version 2.
(YaneuraOu, source/book/book.cpp, BookMoveSelector::add_options; source/usioption.cpp, read_engine_option_profile)
"""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import normalize

from search.usi.usi_options import Check, FileName, Option, OptionValues, Spin

if TYPE_CHECKING:
    from search.book.choice import BookRules

NO_BOOK = "no_book"
PROFILE = Path("engine_option_profile.txt")
_LONGEST_PROFILE = 1 << 16
"""Bytes of a profile that are read."""
_VERSIONS = {"v1": 1, "1": 1, "v2": 2, "2": 2}

_LIMITS = (
    Spin("BookEvalBlackLimit", 0, -99_999, 99_999),
    Spin("BookEvalWhiteLimit", -140, -99_999, 99_999),
)
_COMMON = (
    Check("USI_OwnBook", True),
    FileName("BookDir", "book", "string"),
    Spin("BookIgnoreRate", 0, 0, 100),
    Check("BookOnTheFly", True),  # books are always searched on disk; scripts for YaneuraOu set it
    Check("IgnoreBookPly", True),
    Check("FlippedBook", True),
    *_LIMITS,
)
OPTIONS: dict[int, tuple[Option, ...]] = {
    1: (
        *_COMMON,
        FileName("BookFile", NO_BOOK),
        Spin("BookMoves", 16, 0, 10_000),
        Check("NarrowBook", False),
        Spin("BookEvalDiff", 30, 0, 99_999),
        Spin("BookDepthLimit", 0, 0, 99_999),
        Check("ConsiderBookMoveCount", True),
    ),
    2: (
        *_COMMON,
        FileName("BookFile", "user_book1.db"),
        Spin("BookMoves", 200, 0, 10_000),
        Spin("BookEvalBlackDiff", 0, 0, 99_999),
        Spin("BookEvalWhiteDiff", 0, 0, 99_999),
        Spin("BookDepthBlackLimit", 0, 0, 99_999),
        Spin("BookDepthWhiteLimit", 5, 0, 99_999),
    ),
}
"""The options of each version."""


@dataclass(frozen=True)
class BookProfile:
    """The version of the book options, and a message about a profile file that cannot be used."""

    version: int = 1
    message: str = ""


def read_profile(path: Path = PROFILE) -> BookProfile:
    """Read the version of the book options from a profile file; without one it is version 1.

    Lines that begin with `#` or `//` are comments, and other keys than BOOK_OPTIONS and BOOK_OPTIONS_V2 are ignored.
    """
    try:
        if not path.is_file():
            return BookProfile()
        with open(path, "rb") as file:
            text = _text(file.read(_LONGEST_PROFILE))
    except OSError as error:
        return BookProfile(message=f"{path}: {error.strerror or error}; using book options V1")
    version, message = 1, ""
    for line in map(str.strip, text.splitlines()):
        words = line.replace("=", " ").lower().split()
        if not words or line.startswith(("#", "//")):
            continue
        if words[0] == "book_options_v2":
            version = 2
        elif words[0] == "book_options":
            if len(words) > 1 and words[1] in _VERSIONS:
                version = _VERSIONS[words[1]]
            else:
                message = f"{path}: {line[:60]!r}: BOOK_OPTIONS must be V1 or V2; using V{version}"
    return BookProfile(version, message)


def _text(content: bytes) -> str:
    """Return the text of a profile in UTF-8 or, as editors of Windows write it, UTF-16, with characters of full width
    as those of ASCII."""
    encoding = "utf-16" if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"
    return normalize("NFKC", content.decode(encoding, "replace"))


def book_rules(options: OptionValues) -> BookRules:
    """The rules of a book's choice by the options that a GUI has set, in either version."""
    from search.book.choice import BookRules

    number, flag = options.number, options.flag
    split = options.has("BookEvalBlackDiff")

    def pair(name: str, black: str, white: str) -> tuple[int, int]:
        return (number(black), number(white)) if split else (number(name), number(name))

    return BookRules(
        moves=number("BookMoves"),
        ignore_percent=number("BookIgnoreRate"),
        narrow=not split and flag("NarrowBook"),
        value_differences=pair("BookEvalDiff", "BookEvalBlackDiff", "BookEvalWhiteDiff"),
        value_limits=(number("BookEvalBlackLimit"), number("BookEvalWhiteLimit")),
        depth_limits=pair("BookDepthLimit", "BookDepthBlackLimit", "BookDepthWhiteLimit"),
        by_count=not split and flag("ConsiderBookMoveCount"),
        ignore_ply=flag("IgnoreBookPly"),
        flipped=flag("FlippedBook"),
    )
