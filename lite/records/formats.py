"""Layouts of the record files: hcpe (38 B a position), psv (40 B a position), hcpe3 (games), and their constants.

Scores are centipawns of the side to move, +-32000 a mate in most writers. hcpe and hcpe3 come from dlshogi and cshogi
(HuffmanCodedPosAndEval, HuffmanCodedPosAndEval3), psv is YaneuraOu's PackedSfenValue.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from search.system.files import leads_to_file

HCPE, HCPE3, PSV = "hcpe", "hcpe3", "psv"
RECORD_FORMATS = (HCPE, HCPE3, PSV)

hcpe_dtype = np.dtype(
    [
        ("hcp", np.uint8, 32),
        ("score", "<i2"),  # the mover's
        ("move", "<u2"),  # 16 bits as in search.rules.shogi, 0 = none
        ("result", np.uint8),  # see below
        ("padding", np.uint8),  # NO_SCORE in it and a score of 0: none is known
    ]
)
psv_dtype = np.dtype(
    [
        ("sfen", np.uint8, 32),
        ("score", "<i2"),  # the mover's, on the writing engine's own scale
        ("move", "<u2"),  # YaneuraOu's 16 bits: target 7, origin or kind + 1 of a drop 7, drop 1, promotion 1
        ("move_number", "<u2"),  # 1 at the start position
        ("result", np.int8),  # the mover's: 1 win, 0 draw, -1 loss; the kind of result is not kept
        ("padding", np.uint8),  # as in hcpe
    ]
)
# hcpe3: a header for each game, a move header for each move, and behind that its candidates.
game_dtype = np.dtype([("hcp", np.uint8, 32), ("moves", "<u2"), ("result", np.uint8), ("opponent", np.uint8)])
move_dtype = np.dtype([("move", "<u2"), ("score", "<i2"), ("candidates", "<u2")])
candidate_dtype = np.dtype([("move", "<u2"), ("visits", "<u2")])
MOST_VISITS = 65535
"""Of a candidate."""

POSITION_BYTES = {HCPE: hcpe_dtype.itemsize, PSV: psv_dtype.itemsize}

DRAW, BLACK_WINS, WHITE_WINS = 0, 1, 2
WINNER_MASK = 3
"""The low two bits of a result in hcpe and hcpe3 say who won; the others how."""
SENNICHITE, DECLARATION, MOVE_LIMIT = 4, 8, 16
KIND_MASK = SENNICHITE | DECLARATION | MOVE_LIMIT
RESULT_MASK = WINNER_MASK | KIND_MASK
# Where no search scored a position, no format has a word for it, and other programs would learn from any score but 0.
# So the score is 0, as they write it, and beside it stands what they pass over. NO_SCORE is in the byte that fills up a
# position's record; some writers leave that byte to chance, so it is not just any value, and counts beside a 0 only.
# ZERO_IS_NO_SCORE is a bit in the result of a game of hcpe3, which has no byte to spare for each move; a score of 0
# that was found is written as 1 in such a game. Files of other programs bear no marks: a game of several moves in
# hcpe3, or a file of hcpe or psv, whose scores are all 0 is taken to have none.
NO_SCORE = 0x6E
ZERO_IS_NO_SCORE = 128
NO_RESULT = 0x52
"""In the byte that fills up a position's record, beside a draw: no game stands behind it that could have a result. Its
score was found, even if it is 0: what a record without either would bear is NO_SCORE."""
NO_GAME = 64
"""In memory only, in the kind of a result that is a draw: no game stands behind the position, see NO_RESULT."""
ENTERED = 32
"""In memory only, where a reader is asked for it: the mover's king stands in the enemy camp when the game is over."""

MAX_CANDIDATES = 593
"""The most legal moves of any position; a larger number in an hcpe3 file means that it is broken there."""
MAX_MOVES = 2047
"""The longest game read: what a position record of the search can hold."""

_PACKED = (".7z", ".bz2", ".gz", ".lzh", ".lzma", ".rar", ".tar", ".tgz", ".xz", ".zip", ".zst")
_SUFFIXES = {".hcpe": HCPE, ".hcpe3": HCPE3, ".psv": PSV, ".bin": PSV}
RECORD_SUFFIXES = tuple(_SUFFIXES)


class RecordError(ValueError):
    """A record file that cannot be used; one line that names the file, the place and the remedy."""


def record_format(path: Path) -> str:
    """`hcpe`, `hcpe3` or `psv`, by the file's suffix (`.bin` is psv). Raises RecordError for any other."""
    try:
        return _SUFFIXES[path.suffix.lower()]
    except KeyError:
        if path.suffix.lower() in _PACKED:
            raise RecordError(
                f"{path}: a packed file, and such are neither read nor written; unpack it, and name what was in it"
            ) from None
        known = ", ".join(_SUFFIXES)
        raise RecordError(
            f"{path}: not a record file by its suffix; rename it to one of {known}, or, if it holds games, convert "
            f"it first: liteshogi convert {path} -o {path.stem}.hcpe3"
        ) from None


def is_record_name(path: Path) -> bool:
    """Whether a file of this name in a directory is taken for a record file."""
    return path.suffix.lower() in (".hcpe", ".hcpe3", ".psv")


def record_files(paths: Iterable[Path | str]) -> list[Path]:
    """The files named, directories replaced by their record files in order of name. Raises OSError, RecordError.

    A `.bin` may be anything, so it must be named itself."""
    files: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(entry for entry in path.iterdir() if is_record_name(entry) and leads_to_file(entry))
            if not inside:
                raise RecordError(f"{path}: no record files (.hcpe, .hcpe3, .psv) in this directory")
            files += inside
        elif path.is_file():
            record_format(path)
            files.append(path)
        else:
            raise FileNotFoundError(f"{path}: no such file")
    if not files:
        raise RecordError("no record files named: give at least one hcpe, hcpe3 or psv file")
    return files
